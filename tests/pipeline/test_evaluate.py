"""A model is judged again on any split, as its training judged it."""

import json
import shutil

import pytest

from tests.small_runs import assert_refused, finished_run, succeed, tiny_recipe, understudy
from understudy.data.runs import Run
from understudy.games.arena.recipes import RECIPES
from understudy.learn.recipe import TrainingJob
from understudy.learn.rl.recipe import RLRecipe
from understudy.pipeline.train import _cloning, evaluate, trained_with


@pytest.fixture(scope="module", autouse=True)
def recipe():
    with tiny_recipe():
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return finished_run(tmp_path_factory)


@pytest.mark.parametrize("split", ["val", "test"])
def test_a_model_is_judged_as_its_training_judged_it(run, split):
    model = run / "models/imitate-quick"
    known = json.loads((model / "evaluation.json").read_text())
    assert evaluate(model, split=split) == {split: known[split]}
    done = understudy(f"evaluate {model} --split {split} --json")
    assert (done.code, json.loads(done.out)) == (0, {split: known[split]})
    assert f"{split} split: {known[split]['rows']:,} decisions of matches never" in (
        understudy(f"evaluate {model} --split {split}").out
    )


def test_what_was_trained_on_is_not_called_new(run):
    said = understudy(f"evaluate {run}/models/imitate-quick --split train").out
    assert "train split" in said and "never trained on" not in said


def test_the_recipe_is_the_one_that_was_trained_whatever_was_set(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    for told in ("--memory 4 --set sequence=4 --set burn_in=2", "--plans 3"):
        again = f"train arena imitate-quick --seed 3 --set steps=4 {told} --fresh --name other"
        succeed(again, tmp_path / "run")
        model = tmp_path / "run/models/other"
        known = json.loads((model / "evaluation.json").read_text())
        assert evaluate(model) == {"val": known["val"]}
        _, recipe, manifest = trained_with(model)
        assert json.loads(json.dumps(recipe.settings())).items() <= manifest["settings"].items()


def test_a_refined_policy_is_judged_by_what_it_still_foretells(run):
    refine = RECIPES["refine-quick"]
    assert isinstance(refine, RLRecipe)
    clone = json.loads((run / "models/imitate-quick/evaluation.json").read_text())
    job = TrainingJob(run=Run(run), out=run / "models/imitate-quick")
    found = _cloning(refine).judge(job, "val")["val"]
    assert found["heads"] == clone["val"]["heads"]


MISTAKES = {
    "evaluate {run}/models/imitate-quick --split all": "no split 'all'; there is train, val, test",
    "evaluate {run}/samples": "{run}/samples is not the folder of a trained model",
    "evaluate {run}/models/nobody": "is not the folder of a trained model. Train one",
    "evaluate {run}/models/imitate-quick --samples {run}/x": "there is no run at {run}/x",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake, run):
    assert_refused(understudy(mistake.format(run=run)), MISTAKES[mistake].format(run=run))
