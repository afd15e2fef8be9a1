"""What a side's own wards say about its next one: where they stand, stood, and were just placed.

A place that is watched already is seldom warded again before the ward there is gone; a spot that a
side has used in this match is one that it likes; and who has just placed a ward is still there, so
the next is near: an observer within seconds of its sentry.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from understudy.data.arrays import Floats

Table = np.ndarray[Any, np.dtype[np.float32]]
MOST_OWN, MOST_OTHER = 12, 6
"""Wards of a side that are looked at, the newest first: of the same kind, and of the other."""
WITHIN = (3.0, 6.0, 10.0, 16.0)
"""Cells of the map: how near wards are counted; one that is nearer counts for the wider, too."""
SAME, LATELY = 4.0, 480.0
"""Cells within which an earlier ward stood here; seconds within which it was placed lately."""
JUST, NEAR_JUST = (15.0, 90.0), (4.0, 10.0, 20.0)
"""Seconds since wards were just placed, and cells within which the next may follow."""
COLUMNS = (
    *(f"standing within {near:g}" for near in WITHIN),
    *("stood here", "stood here lately"),
    *(
        f"{whose} within {near:g} in the last {seconds:g} s"
        for whose in ("placed", "of the other kind")
        for seconds in JUST
        for near in NEAR_JUST
    ),
)

Ward = tuple[float, float, float, float]
"""When it was placed, until when it stands, x, y."""


def known_at(own: Sequence[Ward], other: Sequence[Ward], t: float) -> tuple[Table, Table]:
    """Wards of the same kind: x, y, age, does it stand; of the other kind: x, y, age.

    Wards placed in strictly earlier seconds count; NaN where there are no more.
    """
    mine = np.full((MOST_OWN, 4), np.nan, np.float32)
    theirs = np.full((MOST_OTHER, 3), np.nan, np.float32)
    past = sorted((ward for ward in own if ward[0] < t), reverse=True)[:MOST_OWN]
    just = sorted((w for w in other if t - JUST[-1] <= w[0] < t), reverse=True)[:MOST_OTHER]
    for k, (placed, until, x, y) in enumerate(past):
        mine[k] = x, y, t - placed, until > t
    for k, (placed, _, x, y) in enumerate(just):
        theirs[k] = x, y, t - placed
    return mine, theirs


def columns(own: Table, other: Table, x: Floats, y: Floats) -> Table:
    """[P, cells, COLUMNS] for places x, y: [cells] as seen by P sides."""
    counted = np.zeros((len(own), len(x), len(COLUMNS)), np.float32)
    first = len(WITHIN) + 2
    for k in range(own.shape[1]):
        if np.isnan(own[:, k, 0]).all():
            break  # the newest come first
        far, age = _distance(own[:, k], x, y), own[:, k, 2, None]
        stands = own[:, k, 3, None] == 1
        for place, near in enumerate(WITHIN):
            counted[:, :, place] += (far < near) & stands
        here = (far < SAME) & ~stands
        counted[:, :, first - 2] += here
        counted[:, :, first - 1] += here & (age < LATELY)
        _just(counted[:, :, first:], far, age)
    for k in range(other.shape[1]):
        if np.isnan(other[:, k, 0]).all():
            break
        far = _distance(other[:, k], x, y)
        _just(counted[:, :, first + len(JUST) * len(NEAR_JUST) :], far, other[:, k, 2, None])
    return counted


def _just(counted: Table, far: Table, age: Table) -> None:
    for place, (seconds, near) in enumerate((s, n) for s in JUST for n in NEAR_JUST):
        there = (far < near) & (age <= seconds)
        counted[:, :, place] = np.maximum(counted[:, :, place], there)


def _distance(places: Table, x: Floats, y: Floats) -> Table:
    gaps = (places[:, k, None] - v.astype(np.float32) for k, v in enumerate((x, y)))
    far: Table = np.hypot(*gaps)  # NaN where there is no ward: near to nothing
    return far
