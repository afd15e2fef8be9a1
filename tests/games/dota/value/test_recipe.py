"""The model comparison on made-up matches whose chances are known."""

import json

import numpy as np
import pytest

from understudy import games
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import Run
from understudy.data.stats import logit
from understudy.errors import InputError
from understudy.games.dota.features import team_rating
from understudy.games.dota.features.encode import encode
from understudy.games.dota.features.samples import Outline, read_samples, samples_of, swapped
from understudy.games.dota.recipes import RECIPES
from understudy.games.dota.sources.synthetic import World, generate, true_chance
from understudy.games.dota.value import checkpoint, linear, splits
from understudy.games.dota.value.blend import Blend
from understudy.games.dota.value.metrics import calibration_error, log_losses, reliability
from understudy.games.dota.value.symmetric import Symmetric
from understudy.games.dota.value.trees import import_xgboost
from understudy.pipeline import encode as encode_stage
from understudy.pipeline import import_matches as import_matches_stage
from understudy.pipeline import report as report_stage
from understudy.pipeline import train as train_stage
from understudy.pipeline.train import evaluate

GAME = games.load("dota")
WORLD = World(seed=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("dota"))
    import_matches_stage.take_in(GAME, run, generate(WORLD, 2500), {"synthetic": 2500})
    encode_stage.encode(GAME, run, options={"horizon": 180}, worker=0, quiet=True)
    return run


@pytest.fixture(scope="module")
def samples(run):
    return read_samples(run.samples)


@pytest.fixture(scope="module")
def trained(samples):
    split = splits.by_time(samples.outline(), since=0)
    train, test = samples.of(split.train).begun(), samples.of(split.test).begun()
    return train, test, Symmetric().fit(train, train, 0)


def truth_of(samples, run):
    """The chance that made each row, from the recordings."""
    from understudy.data import shards
    from understudy.games.dota.sources.tables import MATCHES

    strengths, gap = WORLD.strengths(), {}
    for path in shards.shard_paths(run.recordings, MATCHES):
        rows = shards.read_shard(path, MATCHES).to_pandas()
        teams = rows.radiant_team_id.to_numpy(int) - 1, rows.dire_team_id.to_numpy(int) - 1
        found = strengths[teams[0]] - strengths[teams[1]]
        gap |= dict(zip(rows.match_id, found, strict=True))
    gaps = np.array([gap[number] for number in samples.match_id.tolist()])
    lead = samples.column("radiant_gold_adv")
    return true_chance(samples.column("t_min").astype(int), lead, gaps)


def test_the_known_chance_is_recovered(run, trained):
    _, test, model = trained
    predicted, truth = model.predict("y_win", test), truth_of(test, run)
    assert calibration_error(reliability(truth, predicted, test.weights())) < 0.02
    assert np.abs(predicted - truth).mean() < 0.06
    assert np.corrcoef(predicted, truth)[0, 1] > 0.97


def test_swapping_sides_turns_the_prediction_around(trained):
    _, test, model = trained
    constant = model.weights["y_win"][-1]
    score = logit(model.predict("y_win", test)) - constant
    other = logit(model.predict("y_win", swapped(test))) - constant
    unsure = np.abs(score) < 10
    np.testing.assert_allclose(score[unsure], -other[unsure], atol=1e-4)
    twice = swapped(swapped(test))
    np.testing.assert_array_equal(twice.features, test.features)
    np.testing.assert_array_equal(twice.labels["y_win"], test.labels["y_win"])


def test_the_order_of_matches_and_rows_does_not_matter(trained):
    train, test, model = trained
    mixed = train.where(np.random.default_rng(0).permutation(len(train)))
    again = Symmetric().fit(mixed, mixed, 0)
    np.testing.assert_allclose(
        again.predict("y_win", test), model.predict("y_win", test), atol=1e-6
    )


def test_every_match_weighs_the_same(samples):
    weight, numbers = samples.weights(), samples.match_id
    assert weight[numbers == numbers[0]].sum() == pytest.approx(1)
    assert weight.sum() == pytest.approx(len(np.unique(numbers)))


def test_a_saved_model_says_the_same(trained, tmp_path):
    train, test, model = trained
    checkpoint.save(tmp_path, Blend(model, linear.Constant().fit(train, train, 0)), train, 0)
    read = checkpoint.load(tmp_path / "model.json")
    np.testing.assert_allclose(read.chance(test), model.predict("y_win", test), atol=1e-6)
    assert read.patches == ("7.36", "7.37", "7.38") and read.out_of_range(train) == []
    far = train.where(np.arange(3))
    far.features[:] = 1e9
    assert "the lead in gold is beyond the" in read.out_of_range(far)[0]
    content = json.loads((tmp_path / "model.json").read_text())
    write_json(tmp_path / "model.json", content | {"columns": ["gold"]})
    with pytest.raises(InputError, match="made for other features"):
        checkpoint.load(tmp_path / "model.json")
    with pytest.raises(InputError, match="Train one: understudy train dota value"):
        checkpoint.load(tmp_path / "nothing.json")


def outline(patches):
    patches = np.array(patches)
    return Outline(np.arange(len(patches)) + 100, patches, np.arange(len(patches)))


def test_split_by_patch_keeps_the_newest_aside():
    split = splits.by_patch(outline([41] * 5 + [54] * 10 + [56] * 10 + [57] * 4))
    assert split.test.tolist() == [125, 126, 127, 128]
    assert len(split.train) == 18 and split.val.tolist() == [123, 124]
    other = splits.by_patch(outline([54] * 10 + [56] * 10 + [57] * 4), test=56)
    assert other.test.tolist() == list(range(110, 120))
    with pytest.raises(InputError, match=r"no match of 7\.35 or later before 7\.38"):
        splits.by_patch(outline([41, 57]))


def test_split_by_time_goes_in_order():
    split = splits.by_time(outline([57] * 100))
    assert [len(split.train), len(split.val), len(split.test)] == [70, 10, 20]
    assert split.train.max() < split.val.min() <= split.val.max() < split.test.min()


def test_split_files_are_read_back(tmp_path):
    split = splits.by_time(outline([57] * 1000))
    paths = splits.write_split(tmp_path, split, seed=3)
    names = {path.name for path in paths}
    assert {"train.txt", "test_calib_25.txt", "test_eval_100.txt"} <= names
    assert "test_calib_200.txt" not in names  # 200 matches: too few would be left
    again = splits.read_split(tmp_path)
    assert all(np.array_equal(getattr(split, n), getattr(again, n)) for n in ("train", "val"))
    calibrate, evaluate = (
        {int(line) for line in (tmp_path / f"test_{part}_50.txt").read_text().split()}
        for part in ("calib", "eval")
    )
    assert len(calibrate) == 50 and calibrate | evaluate == set(split.test.tolist())
    assert not calibrate & evaluate
    (tmp_path / "val.txt").write_text("5\nx\n")
    with pytest.raises(InputError, match="'x' is no match number"):
        splits.read_split(tmp_path)
    (tmp_path / "val.txt").write_text(f"{split.train[0]}\n")
    with pytest.raises(InputError, match="in two of train, val and test"):
        splits.read_split(tmp_path)


def test_the_quick_comparison_is_fitted_judged_and_printed(run, tmp_path, capsys):
    pytest.importorskip("xgboost", reason="the model comparison needs XGBoost")
    from understudy.games.dota.report.terminal import print_comparison

    evaluation = train_stage.train(GAME, run, "value-quick", seed=1)
    scores = evaluation["line_up"]
    assert list(scores) == ["constant", "LR-7", "XGBoost v0", "XGBoost v1", "best"]
    assert scores["best"]["log_loss"] < scores["constant"]["log_loss"] - 0.1
    assert scores["best"]["dgold_rmse"] < scores["constant"]["dgold_rmse"]
    assert scores["LR-7"]["beside_bar"]["mean"] == 0
    assert [row["matches"] for row in evaluation["few_shot"]] == [25, 50, 100, 200]
    judged = evaluate(run.model("value-quick"), split="test")["test"]
    ours = evaluation["line_up"]["best"]
    assert judged["rows"] == evaluation["rows"]
    assert judged["log_loss"] == pytest.approx(ours["log_loss"], abs=1e-4)
    assert judged["auc"] == pytest.approx(ours["auc"], abs=1e-3)
    assert evaluate(run.model("value-quick"))["val"]["rows"] != judged["rows"]
    again = train_stage.train(GAME, run, "value-quick", seed=1)
    assert again == evaluation  # read, not fitted again
    print_comparison(evaluation)
    printed = capsys.readouterr().out
    assert "beside LR-7" in printed and "is it still right?" in printed
    assert checkpoint.load(run.model("value-quick") / "model.json").patches
    text = report_stage.report(run, tmp_path / "report.html").read_text()
    assert "Value: value-quick" in text and "Who is first wins how often" in text
    assert "value-quick: loss" not in text  # it has no steps to draw


def test_without_xgboost_the_comparison_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xgboost", None)
    with pytest.raises(InputError, match=r"pip install .understudy\[dota\]."):
        import_xgboost()


def test_recipes_tell_their_settings_apart():
    settings = {json.dumps(recipe.settings()) for recipe in RECIPES.values()}
    assert len(settings) == len(RECIPES)


def test_a_regression_on_few_matches_does_not_run_away():
    """Where a whole step of Newton's method overshoots, shorter ones are taken."""
    (batch,) = generate(World(patches=(56, 57, 58)), 150)
    known = team_rating.strengths(team_rating.results_of(batch.tables["matches"]))
    rows = encode(batch.tables, known)["value"]
    whole = samples_of({name: rows[name].to_numpy() for name in rows.column_names})
    few = whole.of(np.unique(whole.match_id)[:90]).begun()
    fitted = linear.Seven().fit(few, few, 0)
    loss = log_losses(few.labels["y_win"], fitted.predict("y_win", few))
    weight = few.weights()
    assert weight @ loss / weight.sum() < 0.6
    columns, miss = linear.seven(few), fitted.predict("y_win", few) - few.labels["y_win"]
    assert np.abs(columns.T @ (weight * miss)).max() < 1e-2
