"""Other ways of fitting the value model that were tried and did not help it enough.

`dota_folds.py` measures each of them: groups of columns held tighter or looser, slopes by minute,
softened results, matches drawn again, and trees on what the regression leaves.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from dota_columns import OWN, RIDGE, fitted

from understudy.data.arrays import Floats, Ints
from understudy.data.stats import logistic, logit
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value.calibration import slope_and_shift
from understudy.games.dota.value.linear import Fitted, Linear, Model
from understudy.games.dota.value.symmetric import HEROES, MAJOR, MINOR, symmetric
from understudy.games.dota.value.trees import import_xgboost

FOLDS = 5
NAMES = (*MAJOR, *MINOR, *HEROES)
GROUPS = {
    "main": frozenset(MAJOR),
    "items": frozenset(name for name in MINOR if name.startswith("has_")),
    "vision": frozenset(names_of("vision")),
    "skirmish": frozenset(names_of("skirmish")),
}


def fits_tried() -> dict[str, Model]:
    """By name."""
    tight = (("main", 0.3), ("main", 0.1), ("main", 3.0), ("items", 2.0), ("items", 0.5))
    tight += (("vision", 2.0), ("skirmish", 2.0), ("skirmish", 0.5))
    found: dict[str, Model] = {f"{g} held x {by:g}": Tightened(g, by) for g, by in tight}
    found |= {f"log odds x {by:g}": Sloped(by) for by in (0.95, 1.05, 1.1)}
    found |= {f"slope by ten minutes, prior {p:g}": SlopedByMinute(p) for p in (40.0, 200.0)}
    for ahead, share in ((5, 0.3), (10, 0.3), (10, 0.5), (20, 0.5)):
        found[f"results softened, {ahead} minutes ahead, {share:g}"] = Softened(ahead, share)
    found["matches drawn again, 8 times"] = Bagged(8)
    for depth, rounds, ridge in ((2, 50, 20.0), (3, 50, 50.0), (5, 30, 20.0)):
        for share in (0.5, 1.0):
            name = f"trees of depth {depth}, {rounds}, ridge {ridge:g}, x {share:g}"
            found[name] = Boosting(depth, rounds, ridge, share)
    return found


def ours(train: Samples, **more: Any) -> Linear:
    """The model as it is."""
    return fitted(symmetric, train, RIDGE * OWN, **more)


def left_out(train: Samples) -> Floats:
    """Log odds of each row by the model that has not learnt from its match."""
    fold, odds = _fold_of(train.match_id), np.empty(len(train))
    for k in range(FOLDS):
        held = fold == k
        odds[held] = logit(ours(train.where(~held)).predict("y_win", train.where(held)))
    return odds


def _fold_of(match_id: Ints) -> Ints:
    numbers, match = np.unique(match_id, return_inverse=True)
    return (np.random.default_rng(0).permutation(len(numbers)) % FOLDS)[match]


@dataclass(frozen=True)
class Tightened:
    """A group of columns held tighter or looser."""

    group: str
    by: float

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        chosen = np.array([name in GROUPS[self.group] for name in NAMES])
        return fitted(symmetric, train, RIDGE * OWN * np.where(chosen, self.by, 1.0))


@dataclass(frozen=True)
class Corrected:
    """The log odds of a model, changed."""

    model: Fitted
    change: Any
    """Log odds and samples to log odds."""

    def predict(self, label: str, samples: Samples) -> Floats:
        """The chance alone."""
        odds = logit(self.model.predict(label, samples))
        return logistic(self.change(odds, samples))


@dataclass(frozen=True)
class Sloped:
    """All log odds by one factor."""

    by: float

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        return Corrected(ours(train), lambda odds, samples: self.by * odds)


@dataclass(frozen=True)
class SlopedByMinute:
    """A slope for each ten minutes, from matches left out, held near 1."""

    prior: float
    """Up: nearer to 1."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        chance, won = logistic(left_out(train)), train.labels["y_win"]
        slopes = np.ones(6)
        for k in range(6):
            rows = _band(train) == k
            if rows.any():
                matches = len(np.unique(train.match_id[rows]))
                weight = np.full(int(rows.sum()), matches / rows.sum())
                slopes[k], _ = slope_and_shift(won[rows], chance[rows], weight, self.prior, 1e9)
        return Corrected(ours(train), lambda odds, samples: slopes[_band(samples)] * odds)


def _band(samples: Samples) -> Ints:
    return np.minimum(samples.column("t_min").astype(np.int64) // 10, 5)


@dataclass(frozen=True)
class Softened:
    """A part of each result is what the model says minutes later (of a match left out)."""

    ahead: int
    share: float

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        order = np.lexsort((train.column("t"), train.match_id))
        train = train.where(order)
        later = np.arange(len(train)) + self.ahead
        there = later < len(train)
        there[there] &= train.match_id[later[there]] == train.match_id[there]
        target, chance = train.labels["y_win"].copy(), logistic(left_out(train))
        target[there] += self.share * (chance[later[there]] - target[there])
        return ours(train, target=target)


@dataclass(frozen=True)
class Bagged:
    """The mean log odds of models whose matches are drawn with replacement."""

    models: int

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        numbers, match = np.unique(train.match_id, return_inverse=True)
        rng, found = np.random.default_rng(seed), []
        for _ in range(self.models):
            drawn = np.bincount(rng.integers(0, len(numbers), len(numbers)), minlength=len(numbers))
            found.append(ours(train, weight=train.weights() * drawn[match]).weights["y_win"])
        return Linear(symmetric, {"y_win": np.mean(found, axis=0)})


@dataclass(frozen=True)
class Boosting:
    """Trees, odd in the sides, on what the regression leaves of matches left out of its fit."""

    depth: int
    rounds: int
    ridge: float
    share: float
    """Of what the trees say."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone; trees of two seeds, averaged."""
        xgboost, odds, won = import_xgboost(), left_out(train), train.labels["y_win"]
        data = xgboost.DMatrix(
            np.concatenate([_seen(train, 1), _seen(train, -1)]),
            np.concatenate([won, 1 - won]),
            weight=np.tile(train.weights(), 2) / 2,
            base_margin=np.concatenate([odds, -odds]),
        )
        settings = {"objective": "binary:logistic", "max_depth": self.depth, "eta": 0.03}
        settings |= {"subsample": 0.5, "colsample_bytree": 0.4, "reg_lambda": self.ridge}
        settings |= {"min_child_weight": 5, "nthread": 1, "max_bin": 64}
        grown = [xgboost.train({**settings, "seed": k}, data, self.rounds) for k in range(2)]

        def change(before: Floats, samples: Samples) -> Floats:
            even = np.zeros(len(samples))  # in place of the boosters' own constant
            sides = [xgboost.DMatrix(_seen(samples, s), base_margin=even) for s in (1, -1)]
            said = [[one.predict(side, output_margin=True) for side in sides] for one in grown]
            return before + self.share * np.mean([(a - b) / 2 for a, b in said], axis=0)

        return Corrected(ours(train), change)


def _seen(samples: Samples, sign: int) -> Any:
    kept = [k for k, n in enumerate((*MAJOR, *MINOR)) if not n.startswith("has_")]
    even = samples.columns(("t_min", "gold_total", "kills_total", "strength_unsure"))
    return np.concatenate([sign * symmetric(samples)[:, kept], even], axis=1).astype(np.float32)
