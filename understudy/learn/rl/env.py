"""What a game must offer for its players to learn by playing.

A game that gives `Matches` can be refined and can play in a league; nothing in `learn/` knows more
of it. Axes: N matches side by side, S seats (players) in each, F features, H heads, O options.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float32, Int64, Shaped

Array = Shaped[np.ndarray, "..."]
SELF = "self"
"""The name of the opponent that is the learner as it is now."""


class Seen(NamedTuple):
    """What every player sees, ended matches included."""

    observation: Float32[np.ndarray, "N S F"]
    legal: Bool[np.ndarray, "N S O"]


class Stepped(NamedTuple):
    """What came of one step; all zero or false for matches that had ended before."""

    reward: Float32[np.ndarray, "N S"]
    score: Float32[np.ndarray, "N S"]
    """How the match ended for each player, +1 to -1; read only where it ended."""
    ended: Bool[np.ndarray, " N"]
    """Over by the rules: nothing more is to be gained."""
    cut: Bool[np.ndarray, " N"]
    """Cut short by a limit that is no part of the rules: there would have been more."""


@runtime_checkable
class Matches(Protocol):
    """N matches side by side. A match must depend on its seed and on what is chosen only.

    A step is: `observe`, then `choose` or `script` for every seat, then `step`. Ended matches stay
    as they are, whatever is chosen in them, until `begin` starts new ones in their place.
    """

    seats: int

    def begin(self, which: Int64[np.ndarray, " n"], seeds: Int64[np.ndarray, " n"]) -> None:
        """Start a new match of each seed, in these places."""
        ...

    def observe(self) -> Seen:
        """What every player sees and may do now."""
        ...

    def choose(
        self,
        which: Int64[np.ndarray, " n"],
        seat: Int64[np.ndarray, " n"],
        options: Int64[np.ndarray, "n H"],
    ) -> None:
        """Note what some players will do in the next step: one option per head."""
        ...

    def script(self, player: str, which: Int64[np.ndarray, " n"], seat: int) -> None:
        """Let a scripted player choose in these matches."""
        ...

    def step(self) -> Stepped:
        """Do what was chosen."""
        ...

    def state(self) -> dict[str, Array]:
        """Everything needed to go on from here."""
        ...

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        ...


MakeMatches = Callable[[int, float], Matches]
"""Makes room for that many matches, with so much of the game's pseudo-reward (0: the score alone).

Other processes must be able to import it."""
