"""When not to trust a value model: patch by patch, is what it predicts still what is observed?

The slope is that of the log odds: 1 where leads mean what they meant, below 1 where the model is
too sure. `excess` is the log loss beyond what the model itself expects; both with intervals by
match. Calibrating is advised where it helps matches left out of its fit, by the same rule as
`understudy calibrate`. A feature is out of range where it lies beyond anything trained on.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.data.arrays import Floats
from understudy.data.runs import ModelFolder
from understudy.data.stats import Estimate, percentile, resamples_one_by_one
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value import splits
from understudy.games.dota.value.calibration import (
    SURE,
    gain_left_out,
    row_weights,
    slope_and_shift,
)
from understudy.games.dota.value.metrics import log_losses

if TYPE_CHECKING:
    from understudy.games.dota.value.checkpoint import ValueModel

ENOUGH = 30
"""Matches below which nothing is said."""
FAR = 0.25
"""A slope this far from 1 for certain: the model is not to be trusted before it is trained anew."""
RANGED = {
    "radiant_gold_adv": "the lead in gold",
    "radiant_xp_adv": "the lead in xp",
    "gold_total": "all gold",
    "t_min": "the minute",
    **{
        f"{what}_adv_change_{minutes}": f"the change of the lead in {what} over {minutes} min"
        for what in ("gold", "xp")
        for minutes in (1, 3, 5)
    },
}
"""Levels, and how fast they change, in words."""


@dataclass(frozen=True)
class Drift:
    """How a model fares on one patch."""

    patch: str
    matches: int
    log_loss: float
    excess: float
    excess_low: float
    excess_high: float
    slope: float
    slope_low: float
    slope_high: float
    calibrating: float
    """What calibrating takes off the log loss of matches left out of its fit."""
    calibrating_error: float
    out_of_range: float
    """Share of rows beyond the training range."""
    verdict: str


def ranges(train: Samples) -> dict[str, tuple[float, float]]:
    """The least and most that a model was trained on, of the features that decide most."""
    return {
        name: (float(values.min()), float(values.max()))
        for name, values in ((name, train.column(name)) for name in RANGED)
    }


def drift(
    samples: Samples,
    chance: Floats,
    feature_ranges: dict[str, tuple[float, float]],
    *,
    seed: int = 0,
    draws: int = 200,
) -> list[dict[str, Any]]:
    """A line per patch, oldest first."""
    lines = []
    for patch in np.unique(samples.patch).tolist():
        rows = samples.patch == patch
        line = _of_one(
            facts.patch_name(patch), samples.where(rows), chance[rows], feature_ranges, seed, draws
        )
        lines.append(asdict(line))
    return lines


def watch(model: "ValueModel", samples: Samples, folder: Path, seed: int = 0) -> dict[str, Any]:
    """A trained model's drift on samples of any run, without the matches it was trained on.

    The model says which those are; in its `folder` its split may, too.
    """
    path = ModelFolder(folder).splits / "train.txt"
    trained = list(splits.numbers_in(path)) if path.is_file() else []
    known = np.isin(samples.match_id, np.array([*trained, *model.trained_on], np.int64))
    fresh = samples.where(~known).begun()
    if not len(fresh):
        raise InputError("all matches of this run were trained on; drift needs others")
    return {
        "trained_on": list(model.patches),
        "left_out": len(np.unique(samples.match_id[known])),
        "drift": drift(fresh, model.chance(fresh), model.feature_ranges, seed=seed),
    }


def _of_one(
    name: str,
    samples: Samples,
    chance: Floats,
    feature_ranges: dict[str, tuple[float, float]],
    seed: int,
    draws: int,
) -> Drift:
    won = samples.labels["y_win"]
    loss = log_losses(won, chance)
    expected = log_losses(chance, chance)  # the entropy: what a calibrated model would lose
    numbers, match = np.unique(samples.match_id, return_inverse=True)
    weight = row_weights(samples.match_id)

    # Normal priors of variance 1 keep the slope finite where a resample is one-sided.
    def figures(weight: Floats) -> tuple[float, float]:
        slope, _ = slope_and_shift(won, chance, weight, 1.0, 1.0)
        return slope, float(weight @ (loss - expected) / weight.sum())

    drawn = resamples_one_by_one(len(numbers), draws, seed)
    again = np.array([figures(weight * often[match]) for often in drawn])  # whole matches redrawn
    slope, excess = map(percentile, figures(weight), again.T)
    gain, error = gain_left_out(won, chance, weight, samples.match_id)
    outside = np.zeros(len(samples), bool)
    for feature, (least, most) in feature_ranges.items():
        values = samples.column(feature)
        outside |= (values < least) | (values > most)
    return Drift(
        patch=name,
        matches=len(numbers),
        log_loss=float(loss.mean()),
        excess=excess.value,
        excess_low=excess.low,
        excess_high=excess.high,
        slope=slope.value,
        slope_low=slope.low,
        slope_high=slope.high,
        calibrating=gain,
        calibrating_error=error,
        out_of_range=float(outside.mean()),
        verdict=verdict(len(numbers), slope, gain > SURE * error),
    )


def verdict(matches: int, slope: Estimate, helps: bool) -> str:
    """In words; `helps`: calibrating was shown to."""
    if matches < ENOUGH:
        return f"too few to say ({matches} of {ENOUGH})"
    if slope.high < 1 - FAR or slope.low > 1 + FAR:
        return "do not trust: train again on this patch"
    if helps:
        return f"calibrate: too {'sure' if slope.value < 1 else 'timid'}"
    return "trust"
