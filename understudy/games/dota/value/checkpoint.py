"""A value model on disk: numbers as JSON, nothing that is run when it is read.

The chance of winning and the linear guess of the changes need numpy alone, so advice and reports
work without XGBoost; the trees that better the changes lie beside them.
"""

from dataclasses import dataclass
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
from understudy.games.dota.value.drift import ranges
from understudy.games.dota.value.linear import Fitted, Linear
from understudy.games.dota.value.symmetric import MAJOR, MINOR, symmetric

FORMAT = 3
MODEL_FILE = "model.json"
NAMES = (*MAJOR, *MINOR)


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
                words.append(f"{name} is beyond the {least:,.0f} to {most:,.0f} of training")
        return words


def save(folder: Path, model: Fitted, train: Samples, seed: int) -> None:
    """Write a model that `load` reads."""
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
    return ValueModel(linear, patches, feature_ranges, tuple(content.get("trained_on", ())))
