"""What a game must offer for its players to learn by playing.

A game that gives a `BatchedEnv` can be refined and can play in a league; nothing in `learn/` knows
more of it. Axes: N matches side by side, S slots (players) in each, F features, H heads, O options.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float32, Int64, Shaped

Array = Shaped[np.ndarray, "..."]
SELF = "self"
"""The name of the opponent that is the learner as it is now."""


class Observation(NamedTuple):
    """What every player sees, ended matches included."""

    observation: Float32[np.ndarray, "N S F"]
    legal: Bool[np.ndarray, "N S O"]


class StepResult(NamedTuple):
    """What came of one step; all zero or false for matches that had ended before."""

    reward: Float32[np.ndarray, "N S"]
    score: Float32[np.ndarray, "N S"]
    """How the match ended for each player, +1 to -1; read only where it ended."""
    terminated: Bool[np.ndarray, " N"]
    """Over by the rules: nothing more is to be gained."""
    truncated: Bool[np.ndarray, " N"]
    """Truncated short by a limit that is no part of the rules: there would have been more."""


@runtime_checkable
class BatchedEnv(Protocol):
    """N matches side by side. A match must depend on its seed and on what is chosen only.

    A step is: `observe`, then `set_actions` or `script` for every slot, then `step`. Ended matches
    stay as they are, whatever is chosen in them, until `reset` starts new ones in their place.
    """

    num_players: int

    def reset(self, which: Int64[np.ndarray, " n"], seeds: Int64[np.ndarray, " n"]) -> None:
        """Start a new match of each seed, in these places."""
        ...

    def observe(self) -> Observation:
        """What every player sees and may do now."""
        ...

    def set_actions(
        self,
        which: Int64[np.ndarray, " n"],
        slot: Int64[np.ndarray, " n"],
        options: Int64[np.ndarray, "n H"],
    ) -> None:
        """Note what some players will do in the next step: one option per head."""
        ...

    def script(self, player: str, which: Int64[np.ndarray, " n"], slot: int) -> None:
        """Let a scripted player choose in these matches."""
        ...

    def step(self) -> StepResult:
        """Do what was chosen."""
        ...

    def state(self) -> dict[str, Array]:
        """Everything needed to go on from here."""
        ...

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        ...


MakeEnv = Callable[[int, float], BatchedEnv]
"""Makes room for that many matches, with so much of the game's pseudo-reward (0: the score alone).

Other processes must be able to import it."""
