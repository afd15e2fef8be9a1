"""Numbers with intervals, and the fit behind them: every strength figure passes through here.

Rows seldom stand alone: a seed is played from both sides, the minutes of a match agree, worlds of
one configuration share their prices. Such clusters are drawn together or not at all.
Axes: R resamples, C clusters, K numbers estimated at once.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev, variance
from typing import Literal

import numpy as np
from scipy.special import betaincinv, stdtrit

from understudy.data.arrays import Array

TAIL = 0.025  # on each side of a 95 % interval
Z = 1.96  # of the normal curve at 1 - TAIL
BATCH = 250  # resamples drawn at a time; sums of other batches differ in the last bit


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, of 95 % unless somebody says otherwise.

    Without bounds nothing is known: too little was seen to give an interval.
    """

    value: float
    low: float = -math.inf
    high: float = math.inf
    n: int | None = None
    """How many rows it rests on, where that is told."""

    @property
    def bounded(self) -> bool:
        """Whether it has an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def flipped(self, around: float = 0.0) -> "Estimate":
        """The same seen from the other side: 0 for differences, 1 for shares."""
        return Estimate(around - self.value, around - self.high, around - self.low, self.n)

    def plain(self) -> tuple[float, float | None, float | None]:
        """Value, low and high; None for bounds that are not known."""
        return (self.value, self.low, self.high) if self.bounded else (self.value, None, None)

    def named(self, name: str = "mean") -> dict[str, float]:
        """For JSON: the value under a name of its own, and the bounds of its interval."""
        return {name: self.value, "low": self.low, "high": self.high}


# Shares


def wilson(successes: float, trials: int, z: float = Z) -> Estimate:
    """A share with Wilson's interval (Wilson 1927); anything in [0, 1] without trials."""
    if trials == 0:
        return Estimate(math.nan, 0.0, 1.0, 0)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low, high = float((centre - spread) / scale), float((centre + spread) / scale)
    return Estimate(share, max(0.0, low), min(1.0, high), trials)


def as_share(found: Estimate, successes: float, trials: int) -> Estimate:
    """A bootstrapped share within [0, 1] and never surer than Wilson.

    All wins or all losses leave a bootstrap no spread at all; Wilson's interval keeps it honest.
    """
    if not found.bounded:
        return found
    least = wilson(successes, trials)
    low, high = min(found.low, least.low), max(found.high, least.high)
    return replace(found, low=max(0.0, low), high=min(1.0, high))


def beta_posterior(won: float, lost: float, confidence: float = 0.95) -> Estimate:
    """The mean of Beta(won, lost); with `confidence` it lies above `low`, and so below `high`."""
    low, high = np.sort(betaincinv(won, lost, np.array([1 - confidence, confidence])))
    return Estimate(won / (won + lost), float(low), float(high))


# Few numbers


def t_quantile(degrees: float, tail: float = TAIL) -> float:
    """Of Student's t at 1 - tail."""
    return float(stdtrit(degrees, 1 - tail))


def student(values: Sequence[float], tail: float = TAIL) -> Estimate:
    """The mean of independent numbers with Student's interval; none of fewer than two."""
    if len(values) < 2:
        return Estimate(values[0], n=1) if values else Estimate(math.nan, n=0)
    middle = mean(values)
    reach = t_quantile(len(values) - 1, tail) * stdev(values) / math.sqrt(len(values))
    return Estimate(middle, middle - reach, middle + reach, len(values))


# Bootstrap


def welch(one: Sequence[float], other: Sequence[float]) -> Estimate:
    """The difference of two means whose runs share nothing, with Welch's interval.

    Runs that have only a seed number in common are of this kind: to pair them would call luck
    a pattern.
    """
    gap = mean(one) - mean(other)
    if min(len(one), len(other)) < 2:
        return Estimate(gap)
    parts = [variance(each) / len(each) for each in (one, other)]
    degrees = sum(parts) ** 2 / sum(
        part**2 / (len(each) - 1) for part, each in zip(parts, (one, other), strict=True)
    )
    reach = t_quantile(degrees) * math.sqrt(sum(parts))
    return Estimate(gap, gap - reach, gap + reach)


def cluster_bootstrap(
    values: Array, cluster: Array, *, seed: int = 0, resamples: int = 2000
) -> Estimate:
    """The mean over rows; its interval is that of drawing whole clusters with replacement."""
    if not len(values):
        return Estimate(math.nan, n=0)
    _, place = np.unique(cluster, return_inverse=True)
    total = np.bincount(place, values).astype(np.float64)
    rows = np.bincount(place).astype(np.float64)
    drawn = _drawn(len(total), resamples, seed)
    means = np.concatenate([(part @ total) / (part @ rows) for part in drawn])
    return percentile(float(total.sum() / rows.sum()), means, len(values))


def paired_difference(
    one: Array, other: Array, cluster: Array, *, seed: int = 0, resamples: int = 2000
) -> Estimate:
    """The mean of `one` less `other`, row by row: what both share of luck drops out."""
    return cluster_bootstrap(one - other, cluster, seed=seed, resamples=resamples)


def percentile(value: float, draws: Array | Sequence[float], n: int | None = None) -> Estimate:
    """A number between the ends of the middle 95 % of what resamples found."""
    low, high = np.quantile(draws, [TAIL, 1 - TAIL])
    return Estimate(value, float(low), float(high), n)


def resample_weights(clusters: int, resamples: int, seed: int) -> Array:
    """(R, C): how often each resample draws each cluster.

    For sums over clusters: all resamples of all of them are then one product of matrices.
    """
    return np.concatenate([*_drawn(clusters, resamples, seed)]).astype(np.float64)


def _drawn(clusters: int, resamples: int, seed: int) -> Iterator[Array]:
    rng, share = np.random.default_rng(seed), np.full(clusters, 1 / clusters)
    for start in range(0, resamples, BATCH):
        yield rng.multinomial(clusters, share, min(BATCH, resamples - start))


def resamples_one_by_one(clusters: int, resamples: int, seed: int) -> Iterator[Array]:
    """(C,) each: how often it draws each cluster, where something is fitted to every resample.

    Not the draws of `resample_weights`: this takes one random number for every cluster drawn.
    """
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(rng.integers(clusters, size=clusters), minlength=clusters)


FEW = 6
"""Clusters from which a spread of 0 is believed."""


def widened(
    values: Array, draws: Array, clusters: Array, known: Array | None = None, *, few: int = FEW
) -> list[Estimate]:
    """One per column of `draws` (R, K), which rests on so many `clusters`.

    The percentile interval, widened as Student's t is wider than the normal curve, because few
    clusters understate their own spread. A draw that says nothing (NaN, or not `known`) may be
    anything, so it counts at both ends: what is missing from many draws gets no interval. Nor does
    what does not differ between fewer than `few` clusters: that it never would is not known.
    Shares pass 2: Wilson's interval keeps them honest (`as_share`).
    """
    open_draw = np.isnan(draws) if known is None else ~known
    place = int(TAIL * (len(draws) - 1))
    low = np.sort(np.where(open_draw, -np.inf, draws), axis=0)[place]
    high = np.sort(np.where(open_draw, np.inf, draws), axis=0)[-1 - place]
    found = []
    for value, least, most, count in zip(values, low, high, clusters, strict=True):
        alike = count < few and most - least <= 1e-5 * max(1.0, abs(value))
        if count < 2 or alike or not np.isfinite(least) or not np.isfinite(most):
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


def widening(clusters: int) -> float:
    """What the percentile interval of so few must be multiplied by (Hesterberg 2015, section 5)."""
    degrees = clusters - 1
    return float(t_quantile(degrees) / 1.959964 * np.sqrt(clusters / degrees))


def ratio(above: Array, below: Array) -> Array:
    """`above / below`, and NaN where there is nothing below."""
    empty = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    return np.divide(above, below, out=empty, where=below > 0)


# Fits


def logistic(score: Array) -> Array:
    """1 / (1 + exp(-score)): log odds to chances."""
    chance: Array = 1.0 / (1.0 + np.exp(-np.clip(score, -50, 50)))
    return chance


def logit(chance: Array) -> Array:
    """The inverse of `logistic`, for chances away from 0 and 1."""
    sure = np.clip(chance, 1e-6, 1 - 1e-6)
    odds: Array = sure / (1 - sure)
    return np.log(odds)


def newton(
    slopes: Callable[[Array], tuple[Array, Array]],
    start: Array,
    loss: Callable[[Array], float] | None = None,
    *,
    rounds: int,
    tolerance: float,
    shortest: float | None = None,
    longest: float = math.inf,
    last: Literal["dropped", "tried", "taken"] = "tried",
) -> Array:
    """Where a convex loss is least, by Newton's method from `start`.

    `slopes` gives the gradient and the second derivatives. A step has the length of its largest
    part, of `longest` at most in each. With a `loss`, a step that leads upwards is halved until it
    is as short as `shortest` (None: `tolerance`). A step below `tolerance` ends the search: `last`
    says whether it is dropped at once, tried but not taken upwards, or taken in any case.
    """
    point, best = start, loss(start) if loss else 0.0
    for _ in range(rounds):
        gradient, hessian = slopes(point)
        step = np.clip(np.linalg.solve(hessian, gradient), -longest, longest)
        if last == "dropped" and _length(step) < tolerance:
            break
        step, found = _downwards(loss, point, step, best, shortest or tolerance)
        if found > best and last != "taken":  # as low as the precision of numbers allows
            break
        point, best = point - step, found
        if last != "dropped" and _length(step) < tolerance:
            break
    return point


def _downwards(
    loss: Callable[[Array], float] | None, point: Array, step: Array, best: float, shortest: float
) -> tuple[Array, float]:
    """A step that leads no higher than `best`, or is too short to be halved; and where it leads."""
    if loss is None:
        return step, best
    while (found := loss(point - step)) > best and _length(step) > shortest:
        step = step / 2  # far from the best, a whole step may go too far
    return step, found


def _length(step: Array) -> float:
    return float(np.abs(step).max(initial=0.0))
