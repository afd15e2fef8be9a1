"""Results of SCML worlds as rows, and every two rows that compare: same slot, all else equal.

Sums are kept by configuration, because configurations are what a bootstrap draws.
Axes: C configurations, N players, M unordered pairs of players.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.games.scml.strength.effects import Equations

LEVEL_NAMES: Final = ("first", "middle", "last")


@dataclass(frozen=True)
class Rows:
    """The results of those that compete, numbered."""

    table: pa.Table
    names: list[str]
    player: Array
    configuration: Array
    block: Array
    """Configuration and slot: in it, all else is equal."""
    run: Array
    level: Array
    """Place in LEVEL_NAMES."""
    score: Array
    num_configurations: int
    num_worlds: int

    @classmethod
    def read(cls, results: pa.Table) -> "Rows":
        """From `record.RESULTS`."""
        table = results.filter(results["competes"])
        score = table["score"].to_numpy()
        if not np.isfinite(score).all():
            raise ValueError("results hold scores that are not finite")
        names, player = np.unique(np.asarray(table["player"].to_pylist(), str), return_inverse=True)
        _, field = np.unique(np.asarray(table["field"].to_pylist(), str), return_inverse=True)
        seed, slot = table["seed"].to_numpy(), table["slot"].to_numpy()
        level, levels = table["level"].to_numpy(), table["levels"].to_numpy()
        configuration = _numbered(field, seed)
        return cls(
            table=table,
            names=names.tolist(),
            player=player,
            configuration=configuration,
            block=_numbered(configuration, slot),
            run=table["run"].to_numpy(),
            level=np.where(level == 0, 0, np.where(level == levels - 1, 2, 1)),
            score=score,
            num_configurations=int(configuration.max(initial=-1)) + 1,
            num_worlds=len(table["match"].unique()),
        )

    def sums(self, values: Array, chosen: Array | slice = slice(None)) -> Array:
        """(C, N): what each player has in each configuration."""
        return _sums(
            values[chosen],
            self.configuration[chosen],
            self.player[chosen],
            (self.num_configurations, len(self.names)),
        )


@dataclass(frozen=True)
class PairedComparisons:
    """Every two rows of different players in the same block."""

    ends: Array
    """(M, 2): the players of each pair; the first comes first in the alphabet."""
    pair: Array
    """Which pair, by comparison."""
    one: Array
    """Its row, of the pair's first player."""
    other: Array

    @classmethod
    def within(cls, rows: Rows) -> "PairedComparisons":
        """Sorted by block, partners lie 1, 2, ... rows apart: one pass for each distance."""
        order = np.lexsort((rows.player, rows.block))
        block, found = rows.block[order], []
        for gap in range(1, int(np.bincount(block).max())):
            at = np.flatnonzero(block[gap:] == block[:-gap])
            found.append(np.stack([order[at], order[at + gap]]))
        one, other = np.concatenate([np.empty((2, 0), int), *found], axis=1)
        differ = rows.player[one] != rows.player[other]
        one, other = one[differ], other[differ]
        code = rows.player[one] * len(rows.names) + rows.player[other]
        codes, pair = np.unique(code, return_inverse=True)
        return cls(np.stack(np.divmod(codes, len(rows.names)), axis=1), pair, one, other)

    def sums(self, rows: Rows, values: Array, chosen: Array) -> Array:
        """(C, M): what each pair has in each configuration."""
        return _sums(
            values[chosen],
            rows.configuration[self.one[chosen]],
            self.pair[chosen],
            (rows.num_configurations, len(self.ends)),
        )

    def duels(self, rows: Rows) -> tuple[Array, Array, Array]:
        """(C, M) each, with the same random state: how many, the first player's wins, and gaps.

        A tie is half a win; a gap is what the first player scored above the second.
        """
        gap = rows.score[self.one] - rows.score[self.other]
        paired = rows.run[self.one] == rows.run[self.other]
        count, wins, gaps = (
            self.sums(rows, values, paired)
            for values in (np.ones_like(gap), (np.sign(gap) + 1) / 2, gap)
        )
        return count, wins, gaps

    def equations(self, rows: Rows, level: int | None = None) -> Equations:
        """For the effects of players, at one level or at all."""
        size = np.bincount(rows.block)
        mean = np.bincount(rows.block, rows.score) / size
        inside = np.full(len(rows.score), True) if level is None else rows.level == level
        share = 1 / size[rows.block[self.one]]
        return Equations(
            ends=self.ends,
            links=self.sums(rows, share, inside[self.one]),
            gains=rows.sums(rows.score - mean[rows.block], inside),
        )


def _numbered(*keys: Array) -> Array:
    """Rows with equal keys get the same number, from 0."""
    return np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _sums(values: Array, row: Array, column: Array, shape: tuple[int, int]) -> Array:
    flat = np.bincount(row * shape[1] + column, values, minlength=shape[0] * shape[1])
    return flat.reshape(shape)
