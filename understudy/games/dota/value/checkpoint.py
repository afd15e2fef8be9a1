"""A value model on disk: numbers as JSON, nothing that is run when it is read.

The chance of winning and the linear guess of the changes need numpy alone, so advice and reports
work without XGBoost; the trees that better the changes lie beside them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data.files import writing
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.shapes import ValueWeights
from understudy.errors import InputError
from understudy.games.dota.facts import patch_name
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value.blend import Blend
from understudy.games.dota.value.drift import RANGED, ranges
from understudy.games.dota.value.linear import CHANGES, Fitted, Linear
from understudy.games.dota.value.symmetric import HEROES, MAJOR, MINOR, symmetric

FORMAT = 4
MODEL_FILE = "model.json"
NAMES = (*MAJOR, *MINOR, *HEROES)


@dataclass(frozen=True)
class ValueDelta:
    """The value of one state less that of another, for one side, as a value model sees it."""

    gain: float
    """Change of the side's chance to win."""
    error: float
    """One standard error of it, by how certain the model is of its own weights."""

    def __str__(self) -> str:
        """In points of a hundred."""
        return f"{round(100 * self.gain, 1) + 0.0:+.1f} ± {100 * self.error:.1f}"


@dataclass(frozen=True)
class ValueModel:
    """Our best, read back."""

    linear: Linear
    patches: tuple[str, ...]
    """What it was trained on."""
    feature_ranges: dict[str, tuple[float, float]]
    """The least and most it was trained on, of the features that decide most."""
    trained_on: tuple[int, ...] = ()
    """The matches, where it says so."""
    missed: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    """By label: between what bounds 80 % of its errors lay in matches it had not learnt from, by
    ten minutes of a match."""

    def changes_ahead(self, samples: Samples) -> dict[str, tuple[float, float, float]]:
        """Of one row: the expected change of each lead, with bounds of 80 %; none without errors.

        Over the horizon of training, three minutes unless the user said otherwise.
        """
        found = {}
        for label, bands in self.missed.items():
            middle = float(self.change(label, samples)[0])
            low, high = bands[min(int(samples.column("t_min")[0]) // ERROR_BAND, len(bands) - 1)]
            found[label] = (middle, middle + low, middle + high)
        return found

    def change(self, label: str, samples: Samples) -> Any:
        """The expected change of a lead over the horizon, for every row, by the regression."""
        return self.linear.predict(label, samples)

    def chance(self, samples: Samples) -> Any:
        """That Radiant wins, for every row."""
        return self.linear.predict("y_win", samples)

    def value_deltas(self, states: Samples, beside: Samples, team: int) -> list[ValueDelta]:
        """The change of a side's chance from each row of `beside` to the same row of `states`.

        Errors of weights count as independent of each other.
        """
        before, after = self.chance(beside), self.chance(states)
        apart = self.linear.columns(states) - self.linear.columns(beside)  # the constant drops out
        assert self.linear.standard_errors is not None
        error = np.sqrt(((apart * self.linear.standard_errors[:-1]) ** 2).sum(axis=1))
        middle = (before + after) / 2
        gain = (1 - 2 * team) * (after - before)
        error = middle * (1 - middle) * error  # from log odds to a chance: the logistic's slope
        return [ValueDelta(*pair) for pair in zip(gain.tolist(), error.tolist(), strict=True)]

    def out_of_range(self, samples: Samples) -> list[str]:
        """Features of any row that lie beyond what was trained on, each with a word."""
        words = []
        for name, (least, most) in self.feature_ranges.items():
            values = samples.column(name)
            if (values < least).any() or (values > most).any():
                what = RANGED.get(name, name)
                words.append(f"{what} is beyond the {least:,.0f} to {most:,.0f} of training")
        return words


ERROR_BAND = 10  # minutes
_LAST = 5
"""Bands; the last holds all later minutes."""


def errors_of(model: Fitted, scored: Samples) -> dict[str, list[tuple[float, float]]]:
    """Of the regression's changes: bounds of 80 %, by ten minutes of a match."""
    assert isinstance(model, Blend)
    band = np.minimum(scored.column("t_min") // ERROR_BAND, _LAST - 1)
    found = {}
    for label in CHANGES:
        error = scored.labels[label] - model.linear.predict(label, scored)
        bounds = [
            np.quantile(part if len(part) else error, (0.1, 0.9)).tolist()
            for part in (error[band == k] for k in range(_LAST))
        ]
        found[label] = [(round(low), round(high)) for low, high in bounds]
    return found


def save(
    folder: Path,
    model: Fitted,
    train: Samples,
    seed: int,
    missed: Mapping[str, Any] | None = None,
) -> None:
    """Write a model that `load` reads; `missed` as `errors_of` says."""
    assert isinstance(model, Blend) and isinstance(model.linear, Linear)
    assert model.linear.standard_errors is not None
    patches = [patch_name(patch) for patch in np.unique(train.patch).tolist()]
    weights = {label: _rounded(values) for label, values in model.linear.weights.items()}
    content = {
        "format": FORMAT,
        "columns": [*NAMES, "constant"],
        "weights": weights,
        "spread": _rounded(model.linear.standard_errors),
        "patches": patches,
        "matches": len(np.unique(train.match_id)),
        "seed": seed,
        "seen": ranges(train),
        "trained_on": np.unique(train.match_id).tolist(),
        "missed": dict(missed or {}),
    }
    write_json(folder / MODEL_FILE, content)
    for label, booster in getattr(model.trees, "boosters", {}).items():
        with writing(folder / f"{label}.json") as aside:
            aside.write_bytes(booster.save_raw("json"))


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.9g}") for value in values.tolist()]  # as many digits as a float32 has


def load(path: Path) -> ValueModel:
    """A model that `save` wrote."""
    cure = "Train one: understudy train dota value"
    content = read_json(path, ValueWeights, cure)
    if content is None:
        raise InputError(f"{path}: there is no value model. {cure}")
    try:
        if content["format"] != FORMAT or content["columns"] != [*NAMES, "constant"]:
            raise ValueError("made for other features")
        weights = {label: np.array(values) for label, values in content["weights"].items()}
        standard_errors = np.array(content["spread"], np.float64)
        feature_ranges = {
            name: (float(low), float(high)) for name, (low, high) in content["seen"].items()
        }
        patches = tuple(map(str, content["patches"]))
        if not all(np.isfinite(values).all() for values in (*weights.values(), standard_errors)):
            raise ValueError("a weight is no number")
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise InputError(
            f"{path} is no value model this program reads ({failure}). {cure}"
        ) from failure
    linear = Linear(symmetric, weights, standard_errors)
    missed = {label: tuple(bands) for label, bands in content.get("missed", {}).items()}
    trained_on = tuple(content.get("trained_on", ()))
    return ValueModel(linear, patches, feature_ranges, trained_on, missed)
