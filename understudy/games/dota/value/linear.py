"""Regressions on a few columns made from samples, and what every value model is.

All are trained with equal weight per match.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from understudy.data.arrays import Floats
from understudy.data.stats import logistic, logit, newton
from understudy.games.dota.features.samples import Samples

CHANGES = ("y_dgold_adv", "y_dxp_adv")


class Fitted(Protocol):
    """What came of fitting."""

    def predict(self, label: str, samples: Samples) -> Floats:
        """The chance that Radiant wins for `y_win`; the expected change for the others."""
        ...


class Model(Protocol):
    """One entry of the model comparison."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Learn from `train`; `val` only says when to stop."""
        ...


@dataclass(frozen=True)
class Linear:
    """Coefficients of columns that are made from samples."""

    columns: Callable[[Samples], Floats]
    weights: Mapping[str, Floats]
    """By label; the last is the constant."""
    standard_errors: Floats | None = None
    """Of each weight of `y_win`; None: not known."""

    def predict(self, label: str, samples: Samples) -> Floats:
        """By a dot product, for `y_win` through the logistic function."""
        known = self.columns(samples)
        score = known @ self.weights[label][:-1] + self.weights[label][-1]
        return logistic(score) if label == "y_win" else score


def fit_logistic(columns: Floats, won: Floats, weight: Floats, penalty: Floats) -> Floats:
    """Weights and a constant that minimise log loss + penalty/2 · weight², by Newton's method."""
    known = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    ridge = np.append(penalty, 1e-9)  # the constant is free; enough to keep the Hessian regular
    light = known.astype(np.float32)  # the curvature only steers; the gradient is exact

    def loss(tried: Floats) -> float:
        score = known @ tried
        return float(weight @ (np.logaddexp(0, score) - won * score) + ridge @ tried**2 / 2)

    def slopes(tried: Floats) -> tuple[Floats, Floats]:
        chance = logistic(known @ tried)
        gradient = known.T @ (weight * (chance - won)) + ridge * tried
        curve = (weight * chance * (1 - chance)).astype(np.float32)
        hessian = (light * curve[:, None]).T @ light + np.diag(ridge)
        return gradient, hessian.astype(np.float64)

    return newton(slopes, np.zeros(known.shape[1]), loss, rounds=50, tolerance=1e-7)


def standard_errors(columns: Floats, beta: Floats, weight: Floats, penalty: Floats) -> Floats:
    """Standard errors of weights that `fit_logistic` found, by Laplace's approximation.

    Rows weigh as many as there are matches, so the minutes of a match count as one result.
    """
    known = np.concatenate([columns, np.ones((len(columns), 1))], axis=1).astype(np.float32)
    chance = logistic(known @ beta)
    curve = (weight * chance * (1 - chance)).astype(np.float32)
    hessian = (known * curve[:, None]).T @ known + np.diag(np.append(penalty, 1e-9))
    # The posterior near its mode is normal, with the inverse Hessian as its covariance.
    return np.sqrt(np.diag(np.linalg.inv(hessian.astype(np.float64))))


def fit_linear(columns: Floats, target: Floats, weight: Floats, penalty: Floats) -> Floats:
    """Weights and a constant that minimise squared error + penalty · weight²."""
    known = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    heavy = known * weight[:, None]
    ridge = np.diag(np.append(penalty, 1e-9))
    return np.linalg.solve(heavy.T @ known + ridge, heavy.T @ target)


@dataclass(frozen=True)
class Constant:
    """Says the mean, whatever happens."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The mean over matches."""
        weight = train.weights()
        means = {label: weight @ y / weight.sum() for label, y in train.labels.items()}
        weights = {label: np.array([mean]) for label, mean in means.items()}
        weights["y_win"] = logit(weights["y_win"])  # `Linear` predicts chances through log odds
        return Linear(_no_columns, weights)


def _no_columns(samples: Samples) -> Floats:
    return np.zeros((len(samples), 0))


def seven(samples: Samples) -> Floats:
    """Leads in gold and xp, each by itself, times and over the minutes; and the minutes."""
    minute = samples.column("t_min")
    parts = [minute / 30]
    for name in ("gold", "xp"):
        lead = samples.column(f"radiant_{name}_adv") / 1000
        parts += [lead, lead * minute / 30, lead / np.maximum(minute, 1.0)]
    return np.stack(parts, axis=1)


@dataclass(frozen=True)
class Seven:
    """Regression on seven features: the baseline."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """With a penalty too small to matter."""
        known, weight = seven(train), train.weights()
        none = np.full(known.shape[1], 1e-6)
        won = fit_logistic(known, train.labels["y_win"], weight, none)
        changes = {label: fit_linear(known, train.labels[label], weight, none) for label in CHANGES}
        return Linear(seven, {"y_win": won, **changes})
