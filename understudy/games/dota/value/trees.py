"""Gradient boosting by XGBoost.

The seed's trees get its features (`V0`), or those and skirmishes, wards and items known by t
(`V1`); trees can also be made symmetric, by learning every minute with the sides swapped, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy import extras
from understudy.data.arrays import Floats
from understudy.data.stats import logistic
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.samples import ALL_NAMES, Samples, swapped
from understudy.games.dota.value.linear import CHANGES, Fitted

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
    """The features it reads."""
    swap: bool = False
    """Learn every minute twice, the second time with the sides swapped; predict the same way."""
    depth: int = 5
    """Of each tree. Up: more features at once, more overfitting."""
    rate: float = 0.05
    """Of what a tree says that is added. Down: more trees, steadier."""
    rounds: int = 2000
    """The most trees; `patience` ends it sooner."""
    patience: int = 40
    """Rounds without a better validation score before stopping."""
    rows: float = 0.8
    """Share of the rows each tree sees."""
    columns: float = 0.8
    """Share of the features each tree sees."""
    ridge: float = 1.0
    """Up: leaves say less, less overfitting."""
    labels: tuple[str, ...] = ("y_win", *CHANGES)
    """What it predicts."""

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
        return booster[: booster.best_iteration + 1]  # without the rounds that patience ran on


@dataclass(frozen=True)
class Boosted:
    """Boosters by label."""

    names: tuple[str, ...]
    swap: bool
    boosters: Mapping[str, Any]

    def predict(self, label: str, samples: Samples) -> Floats:
        """With `swap`, half the difference between both ways to look at it."""
        score = self._score(label, samples)
        if self.swap:  # of margins, so that swapping the sides turns the sign exactly
            score = (score - self._score(label, swapped(samples))) / 2
        return logistic(score) if label == "y_win" else score

    def _score(self, label: str, samples: Samples) -> Floats:
        data = import_xgboost().DMatrix(samples.columns(self.names))
        return self.boosters[label].predict(data, output_margin=True).astype(np.float64)


def import_xgboost() -> Any:
    """The library, or what to do where it is missing."""
    extras.require(["xgboost"], "the model comparison")
    import xgboost

    return xgboost
