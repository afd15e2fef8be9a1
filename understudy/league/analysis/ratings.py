"""Strength as one number each: Bradley-Terry ratings over all results, on the Elo scale.

The Elo scale here: 400 points more are odds of 10 to 1, and the player all began from has 1000.
Ratings are fitted to all results at once, so the order of matches does not matter; the interval
is that of the difference to the beginning. A draw is half a win. One number each cannot show
who beats whom in a circle: see `mixture`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

POINTS_PER_NAT = 400 / np.log(10)
ANCHOR = 1000.0
PRIOR = 1.0  # drawn games of everybody against one imagined player: keeps all ratings finite
_Z = 1.96  # 95 %


class Rating(NamedTuple):
    """Elo points with a 95 % interval."""

    value: float
    low: float
    high: float


class Fit(NamedTuple):
    """Log-odds against the imagined player, and how they vary together."""

    strength: Float[np.ndarray, " N"]
    covariance: Float[np.ndarray, "N N"]


def bradley_terry(
    points: Float[np.ndarray, "N N"], prior: float = PRIOR, tolerance: float = 1e-10
) -> Fit:
    """The most likely strengths (Bradley and Terry 1952), by Newton's method.

    `points[i, j]` are those i won against j. Player i beats j with probability
    sigmoid(strength[i] - strength[j]). With a prior above 0 there is exactly one answer.
    """
    strength = np.zeros(len(points))
    likelihood, gradient, curvature = _slopes(points, strength, prior)
    for _ in range(100):
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max(initial=0.0) < tolerance:
            break
        found = _slopes(points, strength + step, prior)
        while found[0] < likelihood and np.abs(step).max() > tolerance:  # too far: half of it
            step = step / 2
            found = _slopes(points, strength + step, prior)
        if found[0] < likelihood:  # as high as the precision of numbers allows
            break
        strength = strength + step
        likelihood, gradient, curvature = found
    return Fit(strength, np.linalg.inv(curvature))


def _slopes(
    points: Float[np.ndarray, "N N"], strength: Float[np.ndarray, " N"], prior: float
) -> tuple[float, Float[np.ndarray, " N"], Float[np.ndarray, "N N"]]:
    """The log-likelihood, its gradient, and minus its second derivatives."""
    difference = strength[:, None] - strength[None, :]
    games = points + points.T
    expected = _sigmoid(difference)
    spread = games * expected * (1 - expected)
    imagined = _sigmoid(strength)
    likelihood = -(points * np.logaddexp(0, -difference)).sum()
    likelihood -= prior / 2 * (np.logaddexp(0, -strength) + np.logaddexp(0, strength)).sum()
    gradient = (points - games * expected).sum(axis=1) + prior * (0.5 - imagined)
    curvature = np.diag(spread.sum(axis=1) + prior * imagined * (1 - imagined)) - spread
    return float(likelihood), gradient, curvature


def elo(names: Sequence[str], points: Float[np.ndarray, "N N"], anchor: str) -> dict[str, Rating]:
    """Ratings by name; `anchor` has exactly 1000."""
    fit = bradley_terry(points)
    place = list(names).index(anchor)
    value = (fit.strength - fit.strength[place]) * POINTS_PER_NAT + ANCHOR
    own = np.diag(fit.covariance)
    variance = own + own[place] - 2 * fit.covariance[:, place]
    reach = _Z * np.sqrt(np.maximum(variance, 0)) * POINTS_PER_NAT
    return {
        name: Rating(float(value[i]), float(value[i] - reach[i]), float(value[i] + reach[i]))
        for i, name in enumerate(names)
    }


def win_probability(rating: float, other: float) -> float:
    """What a difference of ratings predicts."""
    return float(1 / (1 + 10 ** ((other - rating) / 400)))


def _sigmoid(x: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """1 / (1 + exp(-x)) without overflow."""
    return 0.5 * (1 + np.tanh(x / 2))
