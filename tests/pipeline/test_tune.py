"""Settings are searched by validation, and a study that was killed goes on as it would have."""

import json
import shutil
import subprocess
import sys

import pytest

from tests.small_runs import assert_refused, contents, succeed, tiny_recipe, understudy
from understudy import games
from understudy.data.runs import Run, TuningFolder
from understudy.errors import InputError
from understudy.learn.search_space import Tried, space
from understudy.pipeline import tune as stage
from understudy.pipeline.pairings import to_compete, to_record, to_tune
from understudy.pipeline.players import resolve

TUNE = "tune arena imitate-quick --try learning_rate=1e-4..1e-1 --try hidden=8|16 --trials 3"


@pytest.fixture(scope="module", autouse=True)
def recipe():
    with tiny_recipe():
        yield


@pytest.fixture(scope="module")
def tuned(recorded, tmp_path_factory):
    """A study of three trials; not to be changed."""
    folder = tmp_path_factory.mktemp("tuned") / "run"
    shutil.copytree(recorded, folder)
    return folder, succeed(TUNE, folder)


def trials(folder, name="imitate-quick"):
    return stage.read_trials(TuningFolder(Run(folder).tuning(name)))


def test_the_lowest_validation_loss_is_best_and_the_recipe_as_it_is_comes_first(tuned):
    folder, done = tuned
    found = trials(folder)
    assert found[0].settings == {"learning_rate": 0.004, "hidden": "16"}
    assert len({one.settings["learning_rate"] for one in found}) == 3
    for one in found:
        model = TuningFolder(Run(folder).tuning("imitate-quick")).trial(one.number)
        assert one.value == json.loads((model / "evaluation.json").read_text())["val"]["loss"]
    best = min(found, key=lambda one: one.value)
    summary = json.loads((folder / "tuning/imitate-quick/summary.json").read_text())
    assert (summary["best"]["number"], summary["as_it_is"]) == (best.number, found[0].value)
    model = folder / f"tuning/imitate-quick/trials/{best.number:03d}"
    assert str(model) in done.out
    assert understudy(f"evaluate {model} --split test").code == 0


def test_more_trials_are_added_and_a_killed_study_goes_on_as_it_would_have(tuned, run):
    folder, _ = tuned
    succeed(TUNE.replace("--trials 3", "--trials 2"), run)
    (run / "tuning/imitate-quick/summary.json").unlink()
    succeed(TUNE, run)
    assert contents(run / "tuning") == contents(folder / "tuning")


def test_damaged_trials_are_refused(tuned, tmp_path):
    path = tuned[0] / "tuning/imitate-quick/trials.jsonl"
    for damaged in (path.read_bytes()[:-9], path.read_bytes().partition(b"\n")[2]):
        (tmp_path / path.name).write_bytes(damaged)
        with pytest.raises(InputError, match=r"is damaged .* --fresh"):
            stage.read_trials(TuningFolder(tmp_path))


@pytest.mark.slow
def test_a_study_killed_again_and_again_ends_the_same(run, tmp_path):
    shutil.copytree(run, tmp_path / "whole")
    told = [sys.executable, "-m", "tests.killed_often", "3", str(tmp_path / "whole")]
    command = [*told, *TUNE.split(), "--quiet", "--workers", "0", "--out", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) > 3
    assert contents(run / "tuning") == contents(tmp_path / "whole/tuning")


def test_what_plays_is_judged_by_matches_that_serve_to_choose_alone(run, clone, tmp_path):
    refine = "tune arena refine-quick --set iterations=1 --set matches=8 --set steps=4 --trials 2"
    told = f"{refine} --set updates=2 --set rollouts=1 --set critic_first=0 --from {clone}"
    done = understudy(
        f"{told} --against rusher,expert --matches 4 --workers 0 --out {run}", "--quiet"
    )
    assert (done.code, done.err) == (0, "")
    found = trials(run, "refine-quick")
    assert len(found) == 2 and all(0 <= one.value <= 1 for one in found)
    arena = games.load("arena")
    refs = [resolve(arena, Run(run), name) for name in ("expert", "rusher")]
    chosen = to_tune(arena, refs[0], refs[1:], matches=4, seed=0)
    seeds = {seed for one in chosen.fixtures.values() for seed in one.seeds}
    assert chosen.matches == 4 and len(seeds) == 2  # each seed from both sides
    others = [
        to_compete(arena, refs, matches=10**6, seed=10**9),
        to_record(arena, players=["expert"], opponents=["rusher"], matches=10**6, seed=10**9),
    ]
    latest = max(one.seeds[-1] for each in others for one in each.fixtures.values())
    assert min(seeds) > latest


def test_a_trial_that_cannot_be_trained_is_told_and_the_study_goes_on(run):
    lost = "tune arena imitate-quick --try gradient_norm_max=1e-3..1e-2 --set learning_rate=1e30"
    done = understudy(f"{lost} --trials 2 --workers 0 --out {run}")
    assert_refused(done._replace(out=""), "none of 2 trials could be trained", "learning_rate")
    assert [one.value for one in trials(run)] == [None, None]


MISTAKES = {
    "imitate-quick --try learnin_rate=1..2": "(did you mean learning_rate?)",
    "imitate-quick --try learning_rate": "give NAME=LOW..HIGH or NAME=ONE|OTHER",
    "imitate-quick --try learning_rate=1": "give at least two different values",
    "imitate-quick --try learning_rate=2..1": "2 is not below 1",
    "imitate-quick --try learning_rate=a..1": "learning_rate is a number, not 'a'",
    "imitate-quick --try cosine=no..yes": "cosine is no number; give cosine=ONE|OTHER",
    "imitate-quick --try steps=0..9": "steps must be at least 1",
    "imitate-quick --try steps=1..9 --try steps=1..5": "--try steps is there twice",
    "imitate-quick --try objective.label_smoothing=0..0.1": "--by play",
    "imitate-quick --by test": "judged by val (the validation split) or by play",
    "imitate-quick --place first": "--place is for scml steward",
    "imitat-quick": "(did you mean imitate-quick?)",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake, run):
    assert_refused(understudy(f"tune arena {mistake} --out {run}"), MISTAKES[mistake])
    assert not (run / "tuning").exists()


def test_without_optuna_the_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert_refused(understudy(f"{TUNE} --out {run}"), 'pip install "understudy[tune]"')


def test_steward_takes_its_own_options_only(run):
    done = understudy(f"tune scml steward --try learning_rate=1..2 --out {run}")
    assert_refused(done, "'steward' is no recipe and takes no --try")
    assert_refused(understudy(f"tune scml steward --place top --out {run}"), "first, middle or")


def test_a_wide_range_is_searched_by_factors():
    assert Tried("rate", 1e-4, 1e-2).by_factors
    assert not Tried("rate", 1.0, 9.0).by_factors
    assert not Tried("rate", 0.0, 9.0).by_factors
    recipe = games.load("arena").recipe("imitate-quick")
    (usual,) = space(recipe, (), "arena imitate-quick")
    rate = recipe.learning_rate
    assert (usual.name, usual.low, usual.high) == ("learning_rate", rate / 10, rate * 10)
    assert Tried("rate", 1e-4, 1e-2).rounded(0.00999999) == 0.01
