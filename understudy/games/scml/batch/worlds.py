"""Worlds side by side, from Python: founded, played, asked, saved and restored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.data.arrays import Array, Bools, Floats, Ints
from understudy.games.scml.batch.course import NUM_NOTED, advance, found
from understudy.games.scml.batch.decisions import room_for
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import FACTORIES, FIXED, MOST_DAYS, TALKS, WORLD


@dataclass(frozen=True)
class Log:
    """What may be written down of worlds as they are played."""

    contracts: Array
    """[worlds, most, 8]: seller, buyer, product, units, day, price, signed on, delivered."""
    days: Array
    """[worlds, days, FACTORIES, NUM_NOTED]: see `course.py`."""
    profits: Floats
    """[worlds, days, FACTORIES]."""
    decisions: Array
    """[worlds, rows, ...]: see `decisions.py`; without rows none is written down."""

    @staticmethod
    def of(worlds: int, days: int, talks: int = TALKS, decisions: int = 0) -> "Log":
        """Space for everything that can happen in so many days of so many talks, and for so many
        rows of decisions at a time."""
        return Log(
            np.zeros((worlds, days * talks, 8), np.int32),
            np.zeros((worlds, days, FACTORIES, NUM_NOTED), np.int32),
            np.zeros((worlds, days, FACTORIES)),
            room_for(worlds, decisions),
        )


NO_LOG = Log.of(1, 0)


class Worlds:
    """An array of worlds; `fixed` and `state` are all there is, and may be copied at any time."""

    def __init__(self, fixed: Sequence[Array] | Array) -> None:
        self.fixed = np.array(fixed, FIXED)
        self.state = np.zeros(len(self.fixed), WORLD)
        found_all(self.fixed, self.state)

    def part(self, which: slice) -> "Worlds":
        """Some of them, in the same memory."""
        found = object.__new__(Worlds)
        found.fixed, found.state = self.fixed[which], self.state[which]
        return found

    def play(self, log: Log | None = None, until: int = MOST_DAYS) -> Ints:
        """Go on until learners must be asked or the day `until` begins; the worlds that wait."""
        waits, kept = np.zeros(len(self.fixed), np.bool_), log or NO_LOG
        notes = kept.contracts, kept.days, kept.profits, kept.decisions
        advance_all(self.fixed, self.state, *notes, until, waits)
        return np.flatnonzero(waits)

    @property
    def scores(self) -> Floats:
        """Final over initial balance, [worlds, FACTORIES]; 0 where there is no factory."""
        there = self.fixed["initial"] > 0
        return np.divide(
            self.state["balance"], self.fixed["initial"], out=np.zeros(there.shape), where=there
        )

    @property
    def bankrupt(self) -> Bools:
        """[worlds, FACTORIES]."""
        return self.state["bankrupt"] != 0


@kernel
def found_all(fixed, state):  # type: ignore[no-untyped-def]
    """All worlds before their first day."""
    for index in range(len(fixed)):
        found(fixed[index], state[index])


@kernel
def advance_all(fixed, state, contracts, days, profits, decisions, until, waits):  # type: ignore[no-untyped-def]
    """Play each world until a learner must be asked; `waits` says where."""
    for index in range(len(fixed)):
        # Each to its next stop before the next one: its memory stays near.
        row = index if len(contracts) > 1 else 0
        notes = contracts[row], days[row], profits[row], decisions[row]
        waits[index] = advance(fixed[index], state[index], *notes, until)
