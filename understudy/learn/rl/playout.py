"""Play matches side by side to their end: see, let everybody choose, step, until none is running.

Matches are recorded and leagues are played this way; torch is imported only by players that need
it. Axes: N matches, S seats. `see` says what players and recorder are shown (type V): all that
`Matches.observe` gives, or something that the game has at less cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Float32, Int, Int32, Int64

from understudy.learn.rl.env import Array, Matches, Stepped

V = TypeVar("V")


class Outcome(NamedTuple):
    """How the matches ended."""

    score: Float32[np.ndarray, "N S"]
    """+1 to -1 for each player."""
    steps: Int32[np.ndarray, " N"]
    """How long each took."""
    cut: Bool[np.ndarray, " N"]
    """Whether it was cut short by a limit that is no part of the rules."""


@dataclass(frozen=True)
class Recorder(Generic[V]):
    """Keeps what happened in the first matches, step by step."""

    keep: int
    """In how many."""
    before: Callable[[V, Array], tuple[Array, ...]]
    """What to keep of these matches when all have chosen; a row each."""
    after: Callable[[Stepped, Array], tuple[Array, ...]]
    """What to keep of them once the step is done."""
    _kept: list[tuple[Array, ...]] = field(default_factory=list)

    def step(self, seen: V, running: Array, step: Callable[[], Stepped]) -> Stepped:
        """Do a step and keep it."""
        kept = running[running < self.keep]
        before = self.before(seen, kept)
        stepped = step()
        number = np.full(len(kept), len(self._kept), np.int32)  # all began together
        self._kept.append((kept, number, *before, *self.after(stepped, kept)))
        return stepped

    def columns(self) -> list[Array]:
        """Which match, which step, then all that was kept: match by match, in each step by step."""
        which, *others = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        order = np.argsort(which, kind="stable")  # within a match the steps are in order already
        return [part[order] for part in (which, *others)]


def playout(
    game: Matches,
    seeds: Int64[np.ndarray, " N"],
    who: Int[np.ndarray, "N S"],
    choosers: Sequence[Callable[[V, Array, int], None]],
    *,
    see: Callable[[], V],
    recorder: Recorder[V] | None = None,
) -> Outcome:
    """Begin a match of each seed and play all to their end; `who` holds places in `choosers`.

    A chooser is shown what is seen now, some running matches and a seat, and notes in the game what
    its player does there: one call for all matches in which it has that seat.
    """
    is_running = np.ones(len(seeds), bool)
    score = np.zeros((len(seeds), game.seats), np.float32)
    steps, cut = np.zeros(len(seeds), np.int32), np.zeros(len(seeds), bool)
    players = [
        (choosers[number], np.flatnonzero(who[:, seat] == number), seat)
        for seat in range(game.seats)
        for number in np.unique(who[:, seat])
    ]
    game.begin(np.arange(len(seeds)), seeds)
    while is_running.any():
        seen = see()
        for choose, theirs, seat in players:
            if len(which := theirs[is_running[theirs]]):
                choose(seen, which, seat)
        if recorder:
            stepped = recorder.step(seen, np.flatnonzero(is_running), game.step)
        else:
            stepped = game.step()
        steps += is_running
        over = stepped.ended | stepped.cut
        score[over] = stepped.score[over]
        cut |= stepped.cut
        is_running &= ~over
    return Outcome(score, steps, cut)
