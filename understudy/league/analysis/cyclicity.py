"""How cyclic is a population? The share of what makes win rates differ that no rating explains.

Where strength is one number, ratings tell who beats whom (Bradley and Terry 1952), and whoever is
strongest is all one needs. Where players beat each other in circles they do not, and only then has
a league something to offer beside self-play (Balduzzi et al. 2019). Variance is that of win rates
around a half, over all pairs that have met; what chance adds to it is taken off.
Axes: N players, P pairs that have met, R resamples.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from understudy.data.stats import TAIL, Estimate, logistic
from understudy.league.analysis.ratings import bradley_terry

LEAST_PAIRS = 3
"""Two players cannot go in a circle."""
RESAMPLES = 500
_PRIOR = 0.1  # draws of everybody against an imagined player: ratings stay finite, hardly moved


def cyclicity(points: Float[np.ndarray, "N N"], seed: int = 0) -> Estimate:
    """The share, with a 95 % interval of the chance in matches; `n` counts the pairs.

    `points[i, j]` are those i won against j, a draw as half. Where no circle is possible, nothing
    is known. The interval holds for these players; others would beat each other otherwise.
    """
    one, other = np.nonzero(np.triu(points + points.T, 1))
    if len(one) < LEAST_PAIRS:
        return Estimate(0.0, 0.0, 1.0, len(one))
    fit = _Fit(points, one, other)
    won = points[one, other][None]
    found = float(fit.share(won, noisy=True)[0])
    # Resamples vary around what was observed, its chance included, and not around what is true; so
    # it is their distance to it that tells the error.
    observed = fit.share(won, noisy=False)[0]
    rng, rate = np.random.default_rng(seed), (won + 0.5) / (fit.games + 1)
    drawn = rng.binomial(np.rint(fit.games).astype(int), rate, (RESAMPLES, len(one)))
    moved = fit.share(drawn.astype(float), noisy=True) - observed
    low, high = found - np.quantile(moved, [1 - TAIL, TAIL])
    ends = np.clip([min(low, found), max(high, found)], 0, 1)
    return Estimate(found, float(ends[0]), float(ends[1]), len(one))


@dataclass
class _Fit:
    """Ratings of a population, and what they become when its matches end a little otherwise."""

    points: Float[np.ndarray, "N N"]
    one: Int[np.ndarray, " P"]
    other: Int[np.ndarray, " P"]

    def __post_init__(self) -> None:
        self.games = (self.points + self.points.T)[self.one, self.other]
        fitted = bradley_terry(self.points, _PRIOR)
        self.covariance = fitted.covariance
        self.lead = fitted.strength[self.one] - fitted.strength[self.other]
        players = len(np.unique(np.r_[self.one, self.other]))
        self.left = max(0.0, 1 - (players - 1) / len(self.one))
        """The share of chance that a fit leaves in what it does not explain."""

    def share(self, won: Float[np.ndarray, "R P"], *, noisy: bool) -> Float[np.ndarray, " R"]:
        """The cyclic share where so many points are won; `noisy`: by chance, in part."""
        rate = won / self.games
        chance = rate * (1 - rate) / np.maximum(self.games - 1, 1) if noisy else np.zeros_like(rate)
        cyclic = ((rate - self._expected(won)) ** 2 - self.left * chance).sum(1)
        total = ((rate - 0.5) ** 2 - chance).sum(1)
        known = total > 0  # where all are alike, there is nothing to explain
        return np.where(known, np.clip(cyclic / np.where(known, total, 1.0), 0, 1), 0.0)

    def _expected(self, won: Float[np.ndarray, "R P"]) -> Float[np.ndarray, "R P"]:
        """By ratings: one step of Newton's method from those of the matches as they were."""
        more = won - self.points[self.one, self.other]
        pull = np.zeros((len(won), len(self.points)))
        for row, gain in zip(pull, more, strict=True):
            np.add.at(row, self.one, gain)
            np.add.at(row, self.other, -gain)
        step = pull @ self.covariance
        return logistic(self.lead + step[:, self.one] - step[:, self.other])
