"""`understudy train arena refine --from imitate`, small."""

import json
import shutil
import webbrowser
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from tests.small_runs import TRAIN, contents, finished_run, succeed, tiny_recipe, understudy
from tests.small_runs import tiny as small_recipe
from understudy.cli.league import _made
from understudy.data.runs import read_manifest
from understudy.games.arena.recipes import RECIPES
from understudy.learn.policy import load_policy
from understudy.terminal.console import no_next_steps


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return finished_run(tmp_path_factory)


@pytest.fixture
def run(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """In no time."""
    small = {
        "iterations": 3,
        "matches": 16,
        "steps": 8,
        "updates": 2,
        "critic_first": 1,
    }
    for name in ("refine", "refine-quick"):
        recipe = replace(RECIPES[name], **small, rollouts=2, log_every=1, checkpoint_every=2)
        monkeypatch.setitem(RECIPES, name, recipe)
    monkeypatch.setitem(RECIPES, "awr-quick", small_recipe(RECIPES["awr-quick"]))
    with tiny_recipe():
        yield


def train(run, *more):
    return understudy("train arena refine-quick --workers 0 --quiet --out", run, *more)


def test_a_clone_is_refined_and_can_compete(run):
    done = train(run)
    assert (done.code, done.err) == (0, "")
    assert "opponent" in done.out and "1,008 steps of play" in done.out
    assert "refine-quick: 6 steps in" in done.out
    model = run / "models" / "refine-quick"
    manifest = json.loads((model / "manifest.json").read_text())
    assert manifest["settings"]["start"] == "imitate-quick"
    assert manifest["settings"]["objective"]["name"] == "OffPolicy"
    assert list(manifest["inputs"]) == ["models/imitate-quick/weights.safetensors"]
    assert manifest["finished"] and manifest["facts"]["evaluation"]["iterations"] == 3
    met = understudy(
        "compete arena refine-quick imitate-quick --matches 4 --workers 0 --quiet --out", run
    )
    assert met.code == 0 and "refine-quick" in met.out
    assert understudy("report", run).code == 0
    assert "refine-quick" in (run / "report.html").read_text()


def test_the_same_command_again_changes_nothing(run):
    train(run)
    before = contents(run / "models" / "refine-quick")
    assert train(run).code == 0
    assert contents(run / "models" / "refine-quick") == before


def test_another_model_can_be_named(run):
    shutil.copytree(run / "models" / "imitate-quick", run / "models" / "other")
    assert train(run, "--from", "other").code == 0
    refused = train(run)
    assert refused.code == 2
    assert 'start was "other", now "imitate-quick"' in refused.err


def test_a_model_that_changed_since_is_not_gone_on_from(run):
    assert train(run).code == 0
    weights = run / "models" / "imitate-quick" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes() + b" ")
    refused = train(run)
    assert refused.code == 2 and "its inputs have changed since" in refused.err


def test_a_fresh_start_keeps_the_model_it_begins_with(run):
    assert train(run).code == 0
    before = contents(run)
    refused = train(run, "--from", "refine-quick", "--fresh")
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert "--fresh would delete" in refused.err
    assert contents(run) == before


def test_iterations_rollouts_updates_and_pseudo_reward_can_be_told(run):
    told = ["--iterations", "2", "--rollouts", "1", "--updates", "3", "--pseudo-reward", "0.1"]
    assert train(run, *told).code == 0
    manifest = json.loads((run / "models" / "refine-quick" / "manifest.json").read_text())
    found = {name: manifest["settings"][name] for name in ("iterations", "rollouts", "updates")}
    assert found == {"iterations": 2, "rollouts": 1, "updates": 3}
    assert manifest["settings"]["pseudo_reward"] == 0.1
    assert manifest["facts"]["evaluation"]["steps"] == 6


def test_recorded_outcomes_refine_a_clone_without_playing(run):
    awr = "train arena awr-quick --quiet --out"
    assert understudy(awr, run).code == 0
    model = run / "models" / "awr-quick"
    manifest = json.loads((model / "manifest.json").read_text())
    assert manifest["settings"]["start"] == "imitate-quick"
    assert "models/imitate-quick/weights.safetensors" in manifest["inputs"]
    assert any(name.startswith("samples/") for name in manifest["inputs"])
    before = contents(model)
    assert understudy(awr, run).code == 0
    assert contents(model) == before
    shutil.copytree(run / "models" / "imitate-quick", run / "models" / "other")
    refused = understudy(awr, run, "--from", "other")
    assert refused.code == 2 and 'start was "imitate-quick", now "other"' in refused.err
    assert understudy(awr, run, "--from", "other", "--fresh").code == 0
    met = understudy("compete arena awr-quick expert --matches 4 --workers 0 --quiet --out", run)
    assert met.code == 0


def test_a_clone_with_a_memory_competes_and_is_refined_with_it(run):
    """Also the teacher remembers: it is the clone."""
    clone = "train arena imitate-quick --memory 6 --quiet --out"
    refused = understudy(clone, run)  # it was trained without
    assert refused.code == 2 and "holds other work" in refused.err
    assert understudy(clone, run, "--fresh").code == 0
    model = run / "models" / "imitate-quick"
    settings = json.loads((model / "manifest.json").read_text())["settings"]
    assert (settings["memory"], settings["sequence"], settings["burn_in"]) == (6, 32, 32)
    assert load_policy(model).shape.memory == 6
    before = contents(model)
    assert understudy(clone, run).code == 0
    assert contents(model) == before
    assert "imitate-quick" in succeed("compete arena imitate-quick expert --matches 4", run).out
    assert train(run).code == 0
    assert load_policy(run / "models" / "refine-quick").shape.memory == 6
    assert understudy("train arena awr-quick --quiet --out", run).code == 0
    assert load_policy(run / "models" / "awr-quick").shape.memory == 6


def test_a_clone_with_plans_competes_and_keeps_them_through_refinement(run):
    clone = "train arena imitate-quick --memory 6 --plans 5 --fresh --quiet --out"
    assert understudy(clone, run).code == 0
    model = run / "models" / "imitate-quick"
    settings = json.loads((model / "manifest.json").read_text())["settings"]
    assert settings["plans"] == 5 and "firing" in settings["statistic"]["names"]
    table = load_policy(model).table
    assert table.shape == (5, len(settings["statistic"]["names"]))
    succeed("compete arena imitate-quick expert --matches 4", run)
    assert understudy("train arena awr-quick --quiet --out", run).code == 0
    assert train(run, "--plans", "3").code == 0  # it has its own already
    for name in ("awr-quick", "refine-quick"):
        assert load_policy(run / "models" / name).table.equal(table)


def test_a_second_model_of_a_recipe_has_its_own_settings_and_name(run):
    again = f"{TRAIN} --set steps=8 --set objective.value_weight=0.5 --name second"
    done = succeed(again, run)
    assert f"{run}/models/second: 8 steps" in done.out
    settings = read_manifest(run / "models/second")["settings"]
    assert (settings["recipe"], settings["steps"]) == ("imitate-quick", 8)
    assert settings["objective"]["value_weight"] == 0.5
    first = read_manifest(run / "models/imitate-quick")["settings"]
    assert first["steps"] == 24
    before = contents(run)
    succeed(again, run)
    assert contents(run) == before
    succeed("compete arena second imitate-quick --matches 2", run)


def test_a_clone_may_begin_with_the_weights_of_another(run):
    weights = run / "models/imitate-quick/weights.safetensors"
    succeed(f"{TRAIN} --set steps=1 --set learning_rate=1e-12 --name on --init {weights}", run)
    begun, first = (load_policy(run / "models" / name) for name in ("on", "imitate-quick"))
    for one, other in zip(begun.parameters(), first.parameters(), strict=True):
        assert (one - other).abs().max() < 1e-6


MISTAKES = {
    "train arena refine --out {run}": "there is no model 'imitate-small'. Trained in",
    "train arena refine --from expert --out {run}": "'expert' is scripted and cannot be refined",
    "train arena refine-quick --workers two --out {run}": "workers 'two': give a number",
    "train arena imitate-quick --from other --out {run}": "learns from samples, not by playing",
    "train arena imitate-quick --updates 3 --out {run}": "learns from samples, not by playing",
    "train arena awr-quick --updates 3 --out {run}": "not by playing; leave out --updates",
    "train arena awr-quick --plans 3 --out {run}": "makes no plans of recorded matches; leave out",
    "train arena awr-quick --init {run} --out {run}": "{run} holds no weights yet",
    "train arena awr-quick --init x --from y --out {run}": "--from y and --init x: give one of",
    "train arena awr --out {run}": "there is no model 'imitate'. Trained in",
    "train arena refine-quick --init nobody --out {run}": "there is no model 'nobody'",
    "train arena imitate-quick --init nobody --out {run}": "there is no model 'nobody'",
    "train arena imitate-quick --set stepz=4 --out {run}": "(did you mean steps?); see them all",
    "train arena imitate-quick --seed 9 --set steps=4 --out {run}": "holds other work: steps was",
    "train arena imitate-quick --set steps=0 --out {run}": "steps must be at least 1, got 0",
    "train arena imitate-quick --name expert --out {run}": "that is a player or recipe of arena",
    "train arena imitate-quick --name a/b --out {run}": "use letters, digits, dots and hyphens",
    "recipes arena refin": "arena has no recipe 'refin' (did you mean refine?)",
    "train arena refine-quick --updates 300 --out {run}": "staleness_max must be at least 599",
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_claims_nothing(mistake, run):
    before = contents(run)
    done = understudy(mistake.format(run=run))
    assert done.code == 2 and done.err.count("\n") == 1
    assert MISTAKES[mistake].format(run=run) in done.err
    assert contents(run) == before


def test_every_command_says_what_may_follow(run, monkeypatch, tmp_path):
    encoded = understudy("encode arena --quiet --workers 0", "--out", run)
    assert f"Next: understudy train arena imitate --out {run}" in encoded.out
    assert f"Next: understudy report {run}\n" in encoded.out
    trained = understudy(TRAIN, "--quiet", "--out", run)
    assert f"Next: understudy compete arena imitate-quick expert --out {run}\n" in trained.out
    with no_next_steps():
        assert "Next:" not in understudy(TRAIN, "--quiet", "--out", run).out
    for line in (encoded.out + trained.out).splitlines():
        if line.startswith("Next: understudy report"):
            assert understudy(line.removeprefix("Next: understudy ")).code == 0


def test_a_page_is_shown_where_that_is_asked_for(run, monkeypatch):
    shown = []
    monkeypatch.setattr(webbrowser, "open", shown.append)
    assert understudy("report", run).code == 0 and not shown
    assert understudy("report --open", run).code == 0
    assert shown == [(run / "report.html").resolve().as_uri()]


def test_a_match_is_found_in_whatever_run_it_is(run, monkeypatch, tmp_path):
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True)
    shutil.copytree(run, home / "runs" / "mine")
    (home / "runs" / "empty").mkdir()
    monkeypatch.chdir(home)
    match = pq.read_table(next((run / "recordings").glob("matches-*")))["match"][0].as_py()
    assert understudy(f"replay {match}").out == "replay.html\n"
    assert match in (home / "replay.html").read_text()
    assert "no run in runs has a match 'nobody'" in understudy("replay nobody").err
    shutil.copytree(run, home / "runs" / "yours")
    assert f"runs/mine/{match}, runs/yours/{match}" in understudy(f"replay {match}").err


def test_options_are_understood_by_the_names_the_seeds_gave_them(run, tmp_path):
    told = f"--output-dir {run} --resumable --num-workers 0 --quiet"
    assert understudy(f"encode arena {told}").code == 0
    assert understudy(f"encode arena --out {run} --workers 0 --quiet").code == 0
    clone = run / "models/imitate-quick/weights.safetensors"
    refine = f"train arena refine-quick --supervised-checkpoint {clone} --iterations 1"
    wrong = understudy(f"{refine} --actor-rollouts 1 --learner-updates 300 {told}")
    assert "staleness_max must be at least 599" in wrong.err
    assert "--output-dir" not in understudy("encode --help").out


def test_leagues_are_offered_where_there_are_some():
    said = " ".join(understudy("league --help").out.split())
    assert "Which game: arena, scml, " in said and "openspiel:NAME" in said
    assert "dota has no leagues; there is arena" in understudy("league dota").err


@pytest.mark.parametrize(
    ("way", "made"), [("NashResponse", "quick-psro/mixture"), ("ByRole", "quick-psro")]
)
def test_what_a_league_of_best_responses_made_is_their_mixture(way, made):
    assert _made("quick-psro", {"way": way}) == made
