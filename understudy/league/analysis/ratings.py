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

from understudy.data.stats import Estimate, Z, newton

POINTS_PER_NAT = 400 / np.log(10)
ANCHOR = 1000.0
PRIOR = 1.0  # drawn games of everybody against one imagined player: keeps all ratings finite


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
    games = points + points.T

    def loss(strength: Float[np.ndarray, " N"]) -> float:
        difference = strength[:, None] - strength[None, :]
        unlikely = (points * np.logaddexp(0, -difference)).sum()
        imagined = np.logaddexp(0, -strength) + np.logaddexp(0, strength)
        return float(unlikely + prior / 2 * imagined.sum())

    def slopes(
        strength: Float[np.ndarray, " N"],
    ) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N N"]]:
        expected = _chance(strength[:, None] - strength[None, :])
        spread = games * expected * (1 - expected)
        imagined = _chance(strength)
        gradient = (games * expected - points).sum(axis=1) + prior * (imagined - 0.5)
        return gradient, np.diag(spread.sum(axis=1) + prior * imagined * (1 - imagined)) - spread

    start = np.zeros(len(points))
    strength = newton(slopes, start, loss, rounds=100, tolerance=tolerance, last="dropped")
    return Fit(strength, np.linalg.inv(slopes(strength)[1]))


def elo(names: Sequence[str], points: Float[np.ndarray, "N N"], anchor: str) -> dict[str, Estimate]:
    """Ratings by name; `anchor` has exactly 1000."""
    fit = bradley_terry(points)
    place = list(names).index(anchor)
    value = (fit.strength - fit.strength[place]) * POINTS_PER_NAT + ANCHOR
    own = np.diag(fit.covariance)
    variance = own + own[place] - 2 * fit.covariance[:, place]
    reach = Z * np.sqrt(np.maximum(variance, 0)) * POINTS_PER_NAT
    return {
        name: Estimate(float(value[i]), float(value[i] - reach[i]), float(value[i] + reach[i]))
        for i, name in enumerate(names)
    }


def win_probability(rating: float, other: float) -> float:
    """What a difference of ratings predicts."""
    return float(1 / (1 + 10 ** ((other - rating) / 400)))


def _chance(lead: Float[np.ndarray, "*s"]) -> Float[np.ndarray, "*s"]:
    """Of the stronger one by so much: 1 / (1 + exp(-lead)), for however great a lead."""
    return 0.5 * (1 + np.tanh(lead / 2))
