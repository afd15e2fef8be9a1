"""Play matches side by side to their end: see, let everybody choose, step, until none is running.

Matches are recorded and leagues are played this way; torch is imported only by players that need
it. Axes: N matches, S slots. `see` says what players and recorder are shown (type V): all that
`BatchedEnv.observe` gives, or something that the game has at less cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from jaxtyping import Bool, Float32, Int, Int32, Int64

from understudy.learn.rl.env import Array, BatchedEnv, StepResult

V = TypeVar("V")


class Outcome(NamedTuple):
    """How the matches ended."""

    score: Float32[np.ndarray, "N S"]
    """+1 to -1 for each player."""
    steps: Int32[np.ndarray, " N"]
    """How long each took."""
    truncated: Bool[np.ndarray, " N"]
    """Whether it was cut short by a limit that is no part of the rules."""


@dataclass(frozen=True)
class Recorder(Generic[V]):
    """Keeps what happened in the first matches, step by step."""

    keep: int
    """In how many."""
    before: Callable[[V, Array], tuple[Array, ...]]
    """What to keep of these matches when all have chosen; a row each."""
    after: Callable[[StepResult, Array], tuple[Array, ...]]
    """What to keep of them once the step is done."""
    _kept: list[tuple[Array, ...]] = field(default_factory=list)

    def step(self, seen: V, running: Array, step: Callable[[], StepResult]) -> StepResult:
        """Do a step and keep it."""
        kept = running[running < self.keep]
        before = self.before(seen, kept)
        result = step()
        number = np.full(len(kept), len(self._kept), np.int32)  # all began together
        self._kept.append((kept, number, *before, *self.after(result, kept)))
        return result

    def columns(self) -> list[Array]:
        """Which match, which step, then all that was kept: match by match, in each step by step."""
        which, *others = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        order = np.argsort(which, kind="stable")  # within a match the steps are in order already
        return [part[order] for part in (which, *others)]


def playout(
    game: BatchedEnv,
    seeds: Int64[np.ndarray, " N"],
    who: Int[np.ndarray, "N S"],
    choosers: Sequence[Callable[[V, Array, int], None]],
    *,
    see: Callable[[], V],
    recorder: Recorder[V] | None = None,
) -> Outcome:
    """Begin a match of each seed and play all to their end; `who` holds places in `choosers`.

    A chooser is shown what is seen now, some running matches and a slot, and notes in the game what
    its player does there: one call for all matches in which it has that slot.
    """
    score = np.zeros((len(seeds), game.num_players), np.float32)
    steps, truncated = np.zeros(len(seeds), np.int32), np.zeros(len(seeds), bool)
    players = [
        (choosers[number], np.flatnonzero(who[:, slot] == number), slot)
        for slot in range(game.num_players)
        for number in np.unique(who[:, slot])
    ]
    running = np.arange(len(seeds))
    game.reset(running, seeds)
    step = 0
    while len(running):
        seen = see()
        for choose, which, slot in players:
            choose(seen, which, slot)
        result = recorder.step(seen, running, game.step) if recorder else game.step()
        step += 1
        over = result.terminated | result.truncated
        if not over.any():
            continue
        score[over], steps[over] = result.score[over], step
        truncated |= result.truncated
        running = running[~over[running]]
        still = [(choose, which[~over[which]], slot) for choose, which, slot in players]
        players = [player for player in still if len(player[1])]
    return Outcome(score, steps, truncated)
