"""Counts of wards: the baseline, and counts that go on from match to match as a run's do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.dota.policies import wards

EVEN_SHARES = (0.02, 0.05, 0.1, 0.2)
"""Shares of the even map that are tried."""


_BAND = "side, time"


@dataclass(frozen=True)
class Baseline:
    """Counts by side and five minutes, with something of an even map."""

    counts: Mapping[str, Floats]
    even: float

    def chances(self, rows: wards.Placements) -> Floats:
        """[P, cells]."""
        table = wards.mixture({_BAND: self.counts[_BAND]})[_BAND, 0.0]
        return (1 - self.even) * table[wards.conditions(rows)[_BAND]] + self.even / wards.SIZE


def baseline(train: wards.Placements, val: wards.Placements) -> Baseline:
    """With as much of an even map as `val` likes."""
    early = wards.counted(train)

    def loss(even: float) -> float:
        chosen = Baseline(early, even).chances(val)[np.arange(len(val)), val.cell]
        return float(-np.log(chosen).mean())

    return Baseline(wards.counted(wards.joined(train, val)), min(EVEN_SHARES, key=loss))


BLOCK = 20
"""Matches, in the order they began, that are counted together."""


def counting_on(
    counts: Mapping[str, Floats],
    rows: wards.Placements,
    order: Ints,
    chances: Callable[[Mapping[str, Floats], wards.Placements], Floats],
) -> Floats:
    """[P, cells]: what counts say that go on over the matches in `order`.

    A block of matches is counted one block late: by then all of its matches have ended.
    """
    found = np.empty((len(rows), wards.SIZE))
    known, pending = dict(counts), wards.counted(rows.where(np.zeros(0, np.int64)))
    for first in range(0, len(order), BLOCK):
        block = np.flatnonzero(np.isin(rows.match_id, order[first : first + BLOCK]))
        some = rows.where(block)
        found[block] = chances(known, some)
        known = {name: table + pending[name] for name, table in known.items()}
        pending = wards.counted(some)
    return found
