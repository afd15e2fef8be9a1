"""The line-up: from a constant to our best. Each is fitted on samples and predicts three things.

All are trained with equal weight per match. The seed's trees get its features (`v0`), or those and
skirmishes, wards and items known by t (`v1`); ours is symmetric: what it says changes to the
opposite when the sides swap, but for one constant that favours a side.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from understudy.errors import InputError
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.samples import ALL_NAMES, Samples, swapped
from understudy.games.dota.features.timeline import Floats

CHANGES = ("y_dgold_adv", "y_dxp_adv")


class Fitted(Protocol):
    """What came of fitting."""

    def predict(self, label: str, samples: Samples) -> Floats:
        """The chance that Radiant wins for `y_win`; the expected change for the others."""
        ...


class Model(Protocol):
    """One entry of the line-up."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Learn from `train`; `val` only says when to stop."""
        ...


# --- linear --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linear:
    """Coefficients of columns that are made from samples."""

    columns: Callable[[Samples], Floats]
    weights: Mapping[str, Floats]
    """By label; the last is the constant."""
    spread: Floats | None = None
    """How uncertain each weight of `y_win` is, one standard error; None: not known."""

    def predict(self, label: str, samples: Samples) -> Floats:
        """By a dot product, for `y_win` through the logistic function."""
        known = self.columns(samples)
        score = known @ self.weights[label][:-1] + self.weights[label][-1]
        return logistic(score) if label == "y_win" else score


def logistic(score: Floats) -> Floats:
    """1 / (1 + exp(-score))."""
    return 1.0 / (1.0 + np.exp(-np.clip(score, -50, 50)))


def logit(chance: Floats) -> Floats:
    """The inverse of `logistic`, for chances away from 0 and 1."""
    sure = np.clip(chance, 1e-6, 1 - 1e-6)
    return np.log(sure / (1 - sure))


def fit_logistic(columns: Floats, won: Floats, weight: Floats, penalty: Floats) -> Floats:
    """Weights and a constant that minimise log loss + penalty/2 · weight², by Newton's method."""
    known = np.concatenate([columns, np.ones((len(columns), 1))], axis=1)
    ridge = np.append(penalty, 1e-9)
    light = known.astype(np.float32)  # the curvature only steers; the gradient is exact

    def loss(tried: Floats) -> float:
        score = known @ tried
        return float(weight @ (np.logaddexp(0, score) - won * score) + ridge @ tried**2 / 2)

    beta = np.zeros(known.shape[1])
    best = loss(beta)
    for _ in range(50):
        chance = logistic(known @ beta)
        gradient = known.T @ (weight * (chance - won)) + ridge * beta
        curve = (weight * chance * (1 - chance)).astype(np.float32)
        hessian = (light * curve[:, None]).T @ light + np.diag(ridge)
        step = np.linalg.solve(hessian.astype(np.float64), gradient)
        while (found := loss(beta - step)) > best and np.abs(step).max() > 1e-7:
            step = step / 2  # far from the best, a whole step may go too far
        if found > best:
            break
        beta, best = beta - step, found
        if np.abs(step).max() < 1e-7:
            break
    return beta


def spread_of(columns: Floats, beta: Floats, weight: Floats, penalty: Floats) -> Floats:
    """Standard errors of weights that `fit_logistic` found, by Laplace's approximation.

    Rows weigh as many as there are matches, so the minutes of a match count as one result.
    """
    known = np.concatenate([columns, np.ones((len(columns), 1))], axis=1).astype(np.float32)
    chance = logistic(known @ beta)
    curve = (weight * chance * (1 - chance)).astype(np.float32)
    hessian = (known * curve[:, None]).T @ known + np.diag(np.append(penalty, 1e-9))
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
        weights["y_win"] = logit(weights["y_win"])
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
    """Regression on seven features: the bar."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """With a penalty too small to matter."""
        known, weight = seven(train), train.weights()
        none = np.full(known.shape[1], 1e-6)
        won = fit_logistic(known, train.labels["y_win"], weight, none)
        changes = {label: fit_linear(known, train.labels[label], weight, none) for label in CHANGES}
        return Linear(seven, {"y_win": won, **changes})


# --- ours ----------------------------------------------------------------------------------------

MINOR = tuple(
    name
    for name in ALL_NAMES
    if name in {*names_of("items"), *names_of("vision"), *names_of("skirmish")}
    or name in {"roshans", "aegis", "first_blood", "couriers", "strength_heroes"}
    or (name.startswith(("gold_adv_change_", "xp_adv_change_")) and not name.endswith("_3"))
    if name not in observe.EVEN and name not in {"spent", "unspent", "big_items"}
)
"""Features that each tell little: they are held closer to 0."""


def symmetric(samples: Samples) -> Floats:
    """Columns that change their sign when the sides swap, the telling ones first."""
    minute = samples.column("t_min")
    late, safe = minute / 30, np.maximum(minute, 1.0)
    parts = []
    for name in ("gold", "xp"):
        lead = samples.column(f"radiant_{name}_adv") / 1000
        parts += [lead, lead * late, lead / safe, lead / np.sqrt(safe)]
        parts.append(samples.column(f"{name}_adv_change_3") / 1000)
    parts.append(sum_of(samples, ("towers_1", "towers_2", "towers_3", "towers_4")))
    parts.append(sum_of(samples, ("barracks_melee", "barracks_range")))
    strength = samples.column("strength_teams")
    parts += [strength, strength * np.exp(-minute / 15), strength * late]
    major = np.stack(parts, axis=1)
    return np.concatenate([major, samples.columns(MINOR).astype(np.float64)], axis=1)


MAJOR = (
    *("gold", "gold x time", "gold / time", "gold / root of time", "gold change"),
    *("xp", "xp x time", "xp / time", "xp / root of time", "xp change"),
    *("towers", "barracks", "strength", "strength early", "strength x time"),
)
"""What the first columns are, for people."""


def sum_of(samples: Samples, names: Sequence[str]) -> Floats:
    """Of some features."""
    return samples.columns(names).sum(axis=1).astype(np.float64)


@dataclass(frozen=True)
class Symmetric:
    """Ridge regression on columns that change sign with the sides; minor ones held tighter."""

    ridge: float = 30.0
    """Weight of the prior in matches. Up: nearer to even."""
    tighter: float = 16.0
    """How much more the prior weighs for minor features."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Columns are brought to a root mean square of 1 before they are penalised."""
        known, weight = symmetric(train), train.weights()
        scale = np.sqrt((known**2).mean(axis=0))
        scale[scale == 0] = 1.0
        known = known / scale
        penalty = self.ridge * np.where(np.arange(known.shape[1]) < len(MAJOR), 1.0, self.tighter)
        won = fit_logistic(known, train.labels["y_win"], weight, penalty)
        changes = {
            label: fit_linear(known, train.labels[label], weight, penalty) for label in CHANGES
        }
        weights = {"y_win": won, **changes}
        scale = np.append(scale, 1.0)
        spread = spread_of(known, won, weight, penalty) / scale
        return Linear(symmetric, {n: w / scale for n, w in weights.items()}, spread)


# --- trees ---------------------------------------------------------------------------------------

V0 = tuple(
    name
    for name in names_of("economy")
    if "change" not in name and name not in ("gold_total", "gold_share")
)
V1 = (*V0, *names_of("skirmish"), *names_of("vision"), *names_of("items"))
ODD = tuple(
    name
    for name in ALL_NAMES
    if name not in observe.EVEN and not name.startswith(("rad_", "dire_", "has_", "hero_"))
)


@dataclass(frozen=True)
class Trees:
    """Gradient boosting with early stopping, by XGBoost."""

    names: tuple[str, ...]
    swap: bool = False
    """Learn every minute twice, the second time with the sides swapped; predict the same way."""
    depth: int = 5
    rate: float = 0.05
    rounds: int = 2000
    patience: int = 40
    """Rounds without a better validation score before stopping."""
    rows: float = 0.8
    """Share of the rows each tree sees."""
    columns: float = 0.8
    """Share of the features each tree sees."""
    ridge: float = 1.0
    labels: tuple[str, ...] = ("y_win", *CHANGES)

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """One booster per label."""
        boosters = {label: self._boost(label, train, val, seed) for label in self.labels}
        return Boosted(self.names, self.swap, boosters)

    def _boost(self, label: str, train: Samples, val: Samples, seed: int) -> Any:
        xgboost = import_xgboost()
        both = [train, swapped(train)] if self.swap else [train]
        features = np.concatenate([part.columns(self.names) for part in both])
        target = np.concatenate([part.labels[label] for part in both])
        weight = np.concatenate([part.weights() for part in both])
        data = xgboost.DMatrix(features, target, weight=weight)
        watched = xgboost.DMatrix(val.columns(self.names), val.labels[label], weight=val.weights())
        settings = {
            "objective": "binary:logistic" if label == "y_win" else "reg:squarederror",
            "eval_metric": "logloss" if label == "y_win" else "rmse",
            "max_depth": self.depth,
            "eta": self.rate,
            "subsample": self.rows,
            "colsample_bytree": self.columns,
            "reg_lambda": self.ridge,
            "seed": seed,
            "nthread": 1,
            "verbosity": 0,
        }
        booster = xgboost.train(
            settings,
            data,
            self.rounds,
            evals=[(watched, "val")],
            early_stopping_rounds=self.patience,
            verbose_eval=False,
        )
        return booster[: booster.best_iteration + 1]


@dataclass(frozen=True)
class Boosted:
    """Boosters by label."""

    names: tuple[str, ...]
    swap: bool
    boosters: Mapping[str, Any]

    def predict(self, label: str, samples: Samples) -> Floats:
        """With `swap`, half the difference between both ways to look at it."""
        score = self._score(label, samples)
        if self.swap:
            score = (score - self._score(label, swapped(samples))) / 2
        return logistic(score) if label == "y_win" else score

    def _score(self, label: str, samples: Samples) -> Floats:
        data = import_xgboost().DMatrix(samples.columns(self.names))
        return self.boosters[label].predict(data, output_margin=True).astype(np.float64)


def import_xgboost() -> Any:
    """The library, or what to do where it is missing."""
    try:
        import xgboost
    except ImportError as failure:
        raise InputError(
            "the line-up compares with XGBoost, which is not installed: pip install xgboost-cpu"
        ) from failure
    return xgboost


# --- our best ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Best:
    """Chances by symmetric regression; changes by the mean of that and of symmetric trees."""

    linear: Symmetric = Symmetric()
    trees: Trees = Trees(
        ("t_min", "gold_total", *ODD),
        swap=True,
        depth=4,
        rows=0.6,
        columns=0.4,
        ridge=20.0,
        labels=CHANGES,
    )

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Both parts."""
        return Blend(self.linear.fit(train.begun(), val, seed), self.trees.fit(train, val, seed))

    def quick(self) -> "Best":
        """With fewer trees."""
        return replace(self, trees=replace(self.trees, rounds=20, rate=0.3))


@dataclass(frozen=True)
class Blend:
    """Two parts of one prediction."""

    linear: Fitted
    trees: Fitted

    def predict(self, label: str, samples: Samples) -> Floats:
        """The linear part alone for chances."""
        guess = self.linear.predict(label, samples)
        if label == "y_win":
            return guess
        return (guess + 2 * self.trees.predict(label, samples)) / 3
