"""Effects of players beside effects of slots, and the tournament's own score, for all resamples.

Worlds of one configuration share sizes, prices and background agents, so they are drawn together or
not at all. Everything resampled is a sum over configurations: a resample is a row of weights, and
all of them are one product of matrices.
Axes: R resamples, C configurations, N players, M unordered pairs of players.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from understudy.data.arrays import Array
from understudy.data.stats import ratio

ANCHOR = 1e-6  # weight of the first estimate, which holds what a resample leaves open
BATCH = 200_000  # numbers worked on at a time: more would leave the processor's cache
UPPER_LIMIT = 2.0  # scml cuts scores above the third quartile by this many interquartile ranges


@dataclass(frozen=True)
class Equations:
    """Normal equations of `score = block + player`, the blocks eliminated, by configuration.

    A block with n_i rows of player i, n in all, adds n_i n_j / n to `links` of the pair (i, j), and
    to `gains` of i what its rows have above the mean of the block. The matrix of the equations is
    the Laplacian of the links, so whole configurations can be weighted and added.
    """

    ends: Array
    """(M, 2): the players of each pair."""
    links: Array
    """(C, M)."""
    gains: Array
    """(C, N)."""

    @cached_property
    def groups(self) -> Array:
        """(N,): players joined by a chain of shared blocks share a number; the largest group is 0.

        Across groups nothing can be compared.
        """
        one, other = self.ends[self.links.sum(axis=0) > 0].T
        size = self.gains.shape[1]
        met = coo_array((np.ones(len(one)), (one, other)), shape=(size, size))
        _, member = connected_components(met, directed=False)
        count = np.bincount(member)
        by_size: Array = np.argsort(np.argsort(-count, kind="stable"))[member]
        return by_size

    @property
    def configurations(self) -> Array:
        """(N,): how many configurations say something about each player."""
        touches = np.zeros((len(self.ends), self.gains.shape[1]))
        np.put_along_axis(touches, self.ends, 1.0, axis=1)
        return (self.links @ touches > 0).sum(axis=0)

    def solve(self) -> Array:
        """(N,): the effects, with mean 0 within each group."""
        laplacian = self._laplacian(self.links.sum(axis=0)[None])[0]
        gains = self.gains.sum(axis=0)
        found: Array = np.linalg.lstsq(laplacian, gains, rcond=1e-10)[0]
        return found

    def resample(self, weight: Array) -> tuple[Array, Array]:
        """(R, N) effects by resample, and whether the resample can tell.

        A resample may cut a player off from the others. A faint pull towards the first estimate
        then places it, so that the others keep their zero; but it is not known. How large the
        island is that a player sits on can be read off the inverse: 1 / (ANCHOR * its diagonal).
        """
        first, size = self.solve(), self.gains.shape[1]
        company = np.bincount(self.groups)[self.groups]
        effects, known = np.empty((len(weight), size)), np.empty((len(weight), size), bool)
        step = max(1, BATCH // max(1, size * size))
        for start in range(0, len(weight), step):
            part = slice(start, start + step)
            matrix = self._laplacian(weight[part] @ self.links) + ANCHOR * np.eye(size)
            inverse = np.linalg.inv(matrix)
            pull = weight[part] @ self.gains + ANCHOR * first
            effects[part] = (inverse @ pull[:, :, None])[:, :, 0]
            island = ANCHOR * np.diagonal(inverse, axis1=1, axis2=2)
            known[part] = island < 1.9 / company  # on more than half of its group
        return effects, known

    def _laplacian(self, links: Array) -> Array:
        size = self.gains.shape[1]
        flat = np.zeros((len(links), size * size))
        one, other = self.ends.T
        flat[:, one * size + other] = flat[:, other * size + one] = -links
        matrix = flat.reshape(-1, size, size)
        flat[:, :: size + 1] = -matrix.sum(axis=2)
        return matrix


# The score of the tournament


def official_score(scores: Array) -> float:
    """What `anac2024_std` ranks by: the mean without upper outliers (negmas' `truncated_mean`)."""
    first, third = np.quantile(scores, (0.25, 0.75))
    return float(scores[scores <= third + UPPER_LIMIT * (third - first)].mean())


def official_scores(scores: Array, weight: Array, configuration: Array) -> Array:
    """(R,): `official_score` with each score as often as its configuration; NaN without any."""
    order = np.argsort(scores)
    ranked = scores[order]
    found = np.empty(len(weight))
    step = max(1, BATCH // len(scores))
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        repeats = weight[part][:, configuration[order]]
        upto, money = np.cumsum(repeats, axis=1), np.cumsum(repeats * ranked, axis=1)
        first, third = (_quantile(ranked, upto, share) for share in (0.25, 0.75))
        limit = third + UPPER_LIMIT * (third - first)
        last = np.searchsorted(ranked, limit, side="right") - 1
        row = np.arange(len(last))
        found[part] = ratio(money[row, last], upto[row, last])
    return found


def _quantile(ranked: Array, upto: Array, share: float) -> Array:
    """As numpy's, of `ranked` values repeated until there are `upto` of them."""
    position = np.maximum(upto[:, -1] - 1, 0) * share
    below = np.floor(position)
    apart = np.arange(len(upto)) * (upto.max() + 2)  # makes one sorted line of all resamples
    line = (upto + apart[:, None]).reshape(-1)
    start, last = np.arange(len(upto)) * len(ranked), len(ranked) - 1
    lower, upper = (
        ranked[np.minimum(np.searchsorted(line, at + apart, side="right") - start, last)]
        for at in (below, below + 1)
    )
    between: Array = lower + (upper - lower) * (position - below)
    return between
