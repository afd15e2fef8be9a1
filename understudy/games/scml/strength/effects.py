"""How sure a number is when configurations are what chance draws: bootstrap, effects, intervals.

Worlds of one configuration share sizes, prices and fillers, so they are drawn together or not at
all. Everything resampled is a sum over configurations: a resample is a row of weights, and all of
them are one product of matrices.
Axes: R resamples, C configurations, N players, M unordered pairs of players.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

TAIL = 0.025  # on each side of a 95 % interval
ANCHOR = 1e-6  # weight of the first estimate, which holds what a resample leaves open
BATCH = 200_000  # numbers worked on at a time: more would leave the processor's cache
T_QUANTILES = (12.706, 4.303, 3.182, 2.776)  # of Student's t at 1 - TAIL, for 1 to 4 degrees
UPPER_LIMIT = 2.0  # scml cuts scores above the third quartile by this many interquartile ranges


class Estimate(NamedTuple):
    """A number and its 95 % interval; no interval: too few configurations to give one."""

    value: float
    low: float | None = None
    high: float | None = None

    def flipped(self, around: float = 0.0) -> "Estimate":
        """The same seen from the other side: 0 for differences, 1 for shares."""
        low = None if self.high is None else around - self.high
        high = None if self.low is None else around - self.low
        return Estimate(around - self.value, low, high)


def weights(configurations: int, resamples: int, seed: int) -> Array:
    """(R, C): how often each resample draws each configuration."""
    share = np.full(configurations, 1 / configurations)
    drawn = np.random.default_rng(seed).multinomial(configurations, share, size=resamples)
    return drawn.astype(np.float64)


def estimates(
    values: Array, draws: Array, configurations: Array, known: Array | None = None
) -> list[Estimate]:
    """One per column of `draws` (R, K), which rests on so many `configurations`.

    The percentile interval, widened as Student's t is wider than the normal curve, because few
    configurations understate their own spread. A draw that says nothing (NaN, or not `known`) may
    be anything, so it counts at both ends: what is missing from many draws gets no interval.
    """
    open_draw = np.isnan(draws) if known is None else ~known
    place = int(TAIL * (len(draws) - 1))
    low = np.sort(np.where(open_draw, -np.inf, draws), axis=0)[place]
    high = np.sort(np.where(open_draw, np.inf, draws), axis=0)[-1 - place]
    found = []
    for value, least, most, count in zip(values, low, high, configurations, strict=True):
        if count < 2 or not np.isfinite(least) or not np.isfinite(most):
            found.append(Estimate(float(value)))
            continue
        wider = widening(int(count))
        found.append(
            Estimate(
                float(value),
                float(min(value, value - wider * (value - least))),
                float(max(value, value + wider * (most - value))),
            )
        )
    return found


def widening(configurations: int) -> float:
    """What the percentile interval of so few must be multiplied by (Hesterberg 2015, section 5)."""
    z, degrees = 1.959964, configurations - 1
    if degrees <= len(T_QUANTILES):
        quantile = T_QUANTILES[degrees - 1]
    else:  # Cornish and Fisher: off by less than 1 % from 5 degrees on
        quantile = z + (z**3 + z) / (4 * degrees)
        quantile += (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
    return float(quantile / z * np.sqrt(configurations / degrees))


def ratio(above: Array, below: Array) -> Array:
    """`above / below`, and NaN where there is nothing below."""
    empty = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    return np.divide(above, below, out=empty, where=below > 0)


# Effects of players beside effects of blocks


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
        met = self.ends[self.links.sum(axis=0) > 0]
        group = np.arange(self.gains.shape[1])
        while True:
            before = group.copy()
            for one, other in (met.T, met.T[::-1]):
                np.minimum.at(group, one, before[other])
            if (group == before).all():
                break
        _, member, count = np.unique(group, return_inverse=True, return_counts=True)
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
    place = np.maximum(upto[:, -1] - 1, 0) * share
    below = np.floor(place)
    apart = np.arange(len(upto)) * (upto.max() + 2)  # makes one sorted line of all resamples
    line = (upto + apart[:, None]).reshape(-1)
    start, last = np.arange(len(upto)) * len(ranked), len(ranked) - 1
    lower, upper = (
        ranked[np.minimum(np.searchsorted(line, at + apart, side="right") - start, last)]
        for at in (below, below + 1)
    )
    between: Array = lower + (upper - lower) * (place - below)
    return between
