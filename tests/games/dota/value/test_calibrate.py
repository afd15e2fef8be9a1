"""A calibrated model: its chances are the old ones moved, and it is read like any other."""

import os
import shutil

import numpy as np
import pytest

from tests.games.dota.small_matches import blank_samples, made_up
from tests.small_runs import contents
from understudy.data import shards
from understudy.data.runs import Run
from understudy.data.stats import logistic, logit
from understudy.errors import InputError
from understudy.games.dota.features import kept_ratings
from understudy.games.dota.features.encode import VALUE
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.sources.tables import MATCHES, PLAYERS
from understudy.games.dota.value import checkpoint
from understudy.games.dota.value.blend import Blend
from understudy.games.dota.value.calibrate import calibrate
from understudy.games.dota.value.linear import CHANGES, Constant, Linear
from understudy.games.dota.value.symmetric import symmetric

SCALE = 1.6
"""How much surer the world is than the model."""


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    lead = rng.normal(0, 2000, 300).repeat(2)
    won = (rng.random(300) < logistic(SCALE * lead[::2] / 1000)).repeat(2).astype(float)
    labels = {"y_win": won, "y_dgold_adv": np.full(600, 400.0), "y_dxp_adv": np.zeros(600)}
    return blank_samples(
        np.arange(300).repeat(2), labels, t=60, t_min=1, radiant_gold_adv=lead, gold_total=lead
    )


@pytest.fixture(scope="module")
def model(rows, tmp_path_factory):
    """Log odds of one per thousand gold, which is too timid; trained on the first forty."""
    folder = tmp_path_factory.mktemp("model")
    weights = np.zeros(len(checkpoint.NAMES) + 1)
    weights[checkpoint.NAMES.index("gold")] = 1.0
    every = {"y_win": weights, **{label: np.zeros(len(weights)) for label in CHANGES}}
    linear = Linear(symmetric, every, np.full(len(weights), 0.1))
    first = rows.where(rows.match_id < 40)
    checkpoint.save(folder, Blend(linear, Constant().fit(first, first, 0)), first, seed=0)
    return folder


def write_run(folder, rows: Samples):
    """A run with these samples and some results."""
    columns = {name: rows.column(name) for name in ALL_NAMES}
    columns |= {name: getattr(rows, name) for name in ("match_id", "patch", "start_time")}
    columns |= rows.labels
    kinds = {one.name: one.type.to_pandas_dtype() for one in VALUE.columns}
    samples = VALUE.build({name: columns[name].astype(kind) for name, kind in kinds.items()})
    shards.write_shard(shards.shard_path(folder / "samples", VALUE, "00001"), samples)
    tables = made_up(3)
    for one in (MATCHES, PLAYERS):
        path = shards.shard_path(folder / "recordings", one, "00001")
        shards.write_shard(path, tables[one.name])
    return Run(folder)


def test_slope_and_bias_go_into_the_weights(rows, model, tmp_path):
    run = write_run(tmp_path, rows)
    made = calibrate(model, run, tmp_path / "out")
    assert (made["matches"], made["left_out"]) == (260, 40)
    assert 1.1 < made["slope"] < SCALE + 0.2 and made["gain"] > 0
    before, after = (checkpoint.load(f / "model.json") for f in (model, tmp_path / "out"))
    moved = logistic(made["slope"] * logit(before.chance(rows)) + made["shift"])
    np.testing.assert_allclose(after.chance(rows), moved, atol=1e-6)
    assert 300 < after.change("y_dgold_adv", rows)[0] <= 400  # every match gained 400
    assert after.change("y_dxp_adv", rows)[0] == 0
    assert after.trained_on == tuple(range(300)) and len(before.trained_on) == 40
    ratio = after.linear.standard_errors / before.linear.standard_errors
    assert ratio == pytest.approx(made["slope"])
    assert kept_ratings.load(tmp_path / "out").matches == 3


def test_a_model_that_is_right_stays_as_it_is(rows, model, tmp_path):
    right = rows.where(np.arange(len(rows)))
    rng = np.random.default_rng(3)
    chance = checkpoint.load(model / "model.json").chance(rows)
    won = (rng.random(300) < chance[::2]).repeat(2).astype(float)
    right = Samples(
        right.features,
        right.match_id,
        right.patch,
        right.start_time,
        {**rows.labels, "y_win": won, "y_dgold_adv": np.zeros(600)},
    )
    run = write_run(tmp_path, right)
    made = calibrate(model, run, tmp_path / "out")
    assert (made["changed"], made["slope"], made["shift"]) == (False, 1.0, 0.0)
    after = checkpoint.load(tmp_path / "out/model.json")
    np.testing.assert_array_equal(after.chance(rows), chance)
    forced = calibrate(model, run, tmp_path / "other", "always")
    assert forced["changed"] and forced["slope"] != 1.0


def test_what_cannot_be_calibrated_is_one_line(rows, model, tmp_path):
    run = write_run(tmp_path, rows.where(rows.match_id < 69))
    with pytest.raises(InputError, match="holds 29 matches the model has not learnt from; 30 are"):
        calibrate(model, run, tmp_path / "out")
    with pytest.raises(InputError, match="--method must be cautious or always"):
        calibrate(model, run, tmp_path / "out", "platt")
    with pytest.raises(InputError, match="holds a model; give another --name"):
        calibrate(model, run, model)


def test_stopped_anywhere_the_same_command_makes_the_whole_model(rows, model, tmp_path):
    run, replace, stopped = write_run(tmp_path / "run", rows), os.replace, 0
    model = shutil.copytree(model, tmp_path / "model")
    (model / "y_none.json").write_text("{}")
    calibrate(model, run, tmp_path / "whole")
    for moment in range(1, 10):
        done = []

        def put(source, target, done=done, moment=moment):
            done.append(target)
            if len(done) == moment:
                raise KeyboardInterrupt
            replace(source, target)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", put)
            try:
                calibrate(model, run, tmp_path / "out")
                break
            except KeyboardInterrupt:
                stopped += 1
    assert stopped == 3
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
