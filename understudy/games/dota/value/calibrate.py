"""A trained value model, brought in line with matches of a run it had not learnt from.

Slope and shift go into its weights, so the result is a model like any other and every command that
reads one uses it. Ratings of teams learn from the run's results, too.
"""

from pathlib import Path
from typing import Any

import numpy as np

from understudy.data.files import sweep, write_bytes
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.shapes import ValueWeights
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.dota.features import kept_ratings
from understudy.games.dota.features.samples import Samples, read_samples
from understudy.games.dota.value.calibration import (
    SHIFT_STD,
    SLOPE_STD,
    SURE,
    bias,
    gain_left_out,
    row_weights,
    slope_and_shift,
)
from understudy.games.dota.value.checkpoint import MODEL_FILE, ValueModel, load
from understudy.games.dota.value.drift import ENOUGH
from understudy.games.dota.value.linear import CHANGES

CAUTIOUS, ALWAYS = "cautious", "always"
METHODS = (CAUTIOUS, ALWAYS)


def calibrate(model: Path, run: Run, out: Path, method: str = CAUTIOUS) -> dict[str, Any]:
    """Write the calibrated model of the folder `model` into `out`; what was changed and why."""
    if method not in METHODS:
        raise InputError(f"--method must be {' or '.join(METHODS)}, not '{method}'")
    if (out / MODEL_FILE).exists():
        raise InputError(f"{out} holds a model; give another --name, or delete it")
    value = load(model / MODEL_FILE)
    rows = read_samples(run.samples).begun()
    known = np.isin(rows.match_id, np.array(value.trained_on, np.int64))
    fresh = rows.where(~known)
    matches = np.unique(fresh.match_id)
    if len(matches) < ENOUGH:
        raise InputError(
            f"{run.samples} holds {len(matches)} matches the model has not learnt from; "
            f"{ENOUGH} are needed. Record and encode more"
        )
    made = _fitted(value, fresh, method)
    content = read_json(model / MODEL_FILE, ValueWeights, "Give another model")
    assert content is not None  # it was loaded above
    learnt = sorted({*value.trained_on, *matches.tolist()} if made["changed"] else value.trained_on)
    sweep(out)
    for path in model.glob("y_*.json"):  # the trees of the changes
        write_bytes(out / path.name, path.read_bytes())
    results = kept_ratings.recorded_results(run.recordings)
    kept_ratings.save(out, kept_ratings.learnt(results, kept_ratings.of_model(model)))
    # Last, for it tells that all is there.
    write_json(out / MODEL_FILE, {**_moved(dict(content), made), "trained_on": learnt})
    left_out = len(np.unique(rows.match_id[known]))
    return {"matches": len(matches), "left_out": left_out, **made}


def _fitted(value: ValueModel, fresh: Samples, method: str) -> dict[str, Any]:
    """The slope and shift of the chance, biases of the changes, and what is gained left out."""
    won, chance = fresh.labels["y_win"], value.chance(fresh)
    weight = row_weights(fresh.match_id)
    gain, error = gain_left_out(won, chance, weight, fresh.match_id)
    changed = method == ALWAYS or gain > SURE * error
    slope, shift = 1.0, 0.0
    if changed:
        slope, shift = slope_and_shift(won, chance, weight, SLOPE_STD**-2, SHIFT_STD**-2)
    biases = {
        label: bias(fresh.labels[label], value.change(label, fresh), fresh.match_id)[1]
        for label in CHANGES
    }
    changed = bool(changed or any(biases.values()))
    return {
        "changed": changed,
        "slope": slope,
        "shift": shift,
        "gain": gain,
        "gain_error": error,
        "biases": biases,
    }


def _moved(content: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """The model's file with the calibration in its weights."""
    weights = {label: list(values) for label, values in content["weights"].items()}
    weights["y_win"] = [made["slope"] * one for one in weights["y_win"]]
    weights["y_win"][-1] += made["shift"]
    for label, amount in made["biases"].items():
        weights[label][-1] += amount
    spread = [made["slope"] * one for one in content["spread"]]
    noted = {name: made[name] for name in ("slope", "shift", "biases")}
    return {**content, "weights": weights, "spread": spread, "calibrated": noted}
