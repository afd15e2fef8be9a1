"""How wards fare where they are placed: how long they stand, how often they are taken down."""

from dataclasses import dataclass

import numpy as np

from understudy.data.arrays import Floats
from understudy.games.dota.policies import wards


@dataclass(frozen=True)
class Fates:
    """How wards of a kind fared, by side and cell, each cell leaning on all of its side."""

    stands: Floats
    """[2, cells]: seconds on average."""
    taken: Floats
    """[2, cells]: the share taken down by the other side."""


LEANS = 5.0
"""Wards that the mean of all counts for in each cell."""


def fates(rows: wards.Placements, kind: str = "obs") -> Fates:
    """Of some wards; those whose end is not recorded are left out."""
    ended = ~np.isnan(rows.life)
    cell, life = (rows.team * wards.SIZE + rows.cell)[ended], rows.life[ended]
    early = (life < wards.LIFE[kind] - wards.SLACK).astype(np.float64)
    count = np.bincount(cell, minlength=2 * wards.SIZE).reshape(2, wards.SIZE)

    def leaning(values: Floats) -> Floats:
        total = np.bincount(cell, values, 2 * wards.SIZE).reshape(2, wards.SIZE)
        mean = total.sum(axis=1, keepdims=True) / np.maximum(count.sum(axis=1, keepdims=True), 1)
        return (total + LEANS * mean) / (count + LEANS)

    return Fates(leaning(life), leaning(early))


@dataclass(frozen=True)
class WardModel:
    """Where wards of a kind go, and how they fare there."""

    spots: wards.WardSpots
    asked: Floats
    """`spots.near` for whoever asks at a whole minute."""
    fates: Fates
