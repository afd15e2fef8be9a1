"""The game of `examples/nim` goes through the whole pipeline by the commands of `docs/adding.md`.

Its best play is known, so that it can be said what each stage must achieve.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from distributed import LocalCluster

from tests import nim_package
from tests.small_runs import rows, understudy
from understudy.data.players import PlayerRef
from understudy.learn import metrics_log
from understudy.learn.policy import load_policy
from understudy.pipeline.pairings import Fixture

PAGE = Path(__file__).parents[1] / "docs" / "adding.md"
STAGES = (
    "record nim --matches 600",
    "encode nim",
    "train nim imitate",
    "train nim awr",
    "train nim refine --from imitate",
    "league nim --recipe quick",
)


@pytest.fixture(scope="module", autouse=True)
def nim():
    torch.set_num_threads(1)
    with nim_package.installed() as module, pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics_log, "tensorboard", lambda folder, step: None)
        yield module


@pytest.fixture(scope="module")
def run(nim, tmp_path_factory):
    """A run that has been through all stages."""
    folder = tmp_path_factory.mktemp("nim") / "run"
    for stage in STAGES:
        understood(stage, folder)
    return folder


def understood(command, folder, *more):
    """Run a command in this process."""
    done = understudy(command, "--out", folder, "--quiet", "--workers", "0", *more)
    assert (done.code, done.err) == (0, "")
    return done


@pytest.fixture(scope="module")
def rates(run):
    """How players of the run fare against each other, by their names."""
    main = run / "leagues/quick/players/main-003"
    names = ("refine", "imitate", "awr", "guesser", "perfect", main)
    done = understood("compete nim --matches 300 --json", run, *names)
    return {(rate["player"], rate["opponent"]): rate for rate in json.loads(done.out)}


def test_it_is_a_whole_game_of_under_150_lines(nim):
    assert Path(nim.__file__).read_text().count("\n") < 150
    assert nim.GAME.play and nim.GAME.encode and nim.GAME.league
    assert all(f"understudy {stage}" in PAGE.read_text() for stage in STAGES)


@pytest.mark.parametrize("left", range(1, 17))
def test_whoever_leaves_a_multiple_of_four_has_won(nim, left):
    """Best play by trying everything, beside what the page says it is."""
    won = [False]  # whether whoever is to take wins, by how many are left
    for number in range(1, left + 1):
        won.append(not all(won[number - take] for take in range(1, min(number, 3) + 1)))
    assert won[left] == (left % 4 > 0)
    game = nim.Nim(1)
    game.left[:] = left
    game.script("perfect", np.array([0]), 0)
    game.step()
    assert won[game.left[0]] is not won[left]  # a won match stays won


def test_a_recorded_row_is_what_the_player_saw(nim):
    """And there is one wherever it had a choice."""
    played = nim.GAME.play(Fixture((PlayerRef("expert"), PlayerRef("guesser")), (5, 6)))
    samples = nim.GAME.encode(played.recordings, frozenset({"expert"}))["moves"].to_pylist()
    game, expected = nim.Nim(2), []
    game.reset(np.arange(2), np.array([5, 6]))
    while game.left.any():
        for seat, name in enumerate(("expert", "guesser")):
            game.script(name, np.arange(2), seat)
        for place in (0, 1):
            if game.steps[place] % 2 == 0 and game.left[place] > 1:
                expected.append((5 + place, game.steps[place], game.left[place],
                                 game.chosen[place, 0, 0]))  # fmt: skip
        game.step()
    seen = [
        (int(row["match"].split("-")[2]), row["step"],
         next(k for k in range(nim.MOST + 1) if row[f"left_{k}"]), row["take"])
        for row in samples
    ]  # fmt: skip
    assert seen == sorted(expected)
    assert {row["turn"] for row in samples} == {1.0}


def test_the_clone_plays_like_the_expert_and_beats_who_guesses(run, rates):
    assert rates["imitate", "guesser"]["low"] > 0.8
    assert rates["imitate", "perfect"]["high"] < 0.2  # as the expert, who guesses at first
    evaluation = json.loads((run / "models/imitate/evaluation.json").read_text())
    head = evaluation["test"]["heads"]["take"]
    assert head["accuracy"] > head["majority_legal"]


def test_by_the_outcomes_alone_the_clone_learns_what_the_expert_only_guesses(rates):
    assert rates["awr", "imitate"]["low"] > 0.55
    assert rates["awr", "guesser"]["low"] > 0.8


def test_the_refined_clone_beats_the_clone_and_plays_at_best(run, rates, nim):
    assert rates["refine", "imitate"]["low"] > 0.8
    assert rates["refine", "perfect"]["high"] > 0.5  # nobody can do better than even
    policy = load_policy(run / "models/refine", nim.MOVES)
    game = nim.Nim(nim.MOST)
    game.left[:] = np.arange(nim.MOST) + 1
    view = (torch.from_numpy(part[:, 0]) for part in game.observe())
    best = policy.probabilities(*view).argmax(1).numpy()
    winning = game.left % 4 > 0
    assert best[winning].tolist() == (game.left[winning] % 4).tolist()


def test_the_league_ends_with_somebody_whom_nobody_exploits(run, rates):
    assert rates["main-003", "imitate"]["low"] > 0.7
    summary = json.loads((run / "leagues/quick/summary.json").read_text())
    ratings = {one["name"]: one for one in summary["players"]}
    assert ratings["main-003"]["low"] > ratings["imitate"]["rating"]
    assert summary["best_response"]["main"]["mean"] < 0.6
    trained = json.loads((run / "leagues/quick/league_state.json").read_text())
    assert trained["start"] == "imitate"


def test_the_report_shows_all_of_it(run, rates):
    done = understudy("report", run)
    assert (done.code, done.err) == (0, "")
    page = (run / "report.html").read_text()
    for words in ("nim: whoever takes the last one has won", "Strength: ", "League: quick",
                  "understudy train nim refine", "refine"):  # fmt: skip
        assert words in page


def test_every_match_is_recorded_with_both_sides(run):
    outline = rows(run / "recordings", "matches")
    assert len(outline) == 600
    assert {row["score"] for row in outline} == {1.0, -1.0}
    assert len(rows(run / "recordings", "steps")) == 2 * sum(row["steps"] for row in outline)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_installed_into_a_fresh_environment_it_has_the_whole_pipeline(tmp_path, monkeypatch):
    """By pip from its folder, then by commands alone; processes and Dask find it by its name."""
    packages, out = tmp_path / "packages", tmp_path / "run"
    install = ("pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    source = shutil.copytree(nim_package.FOLDER, tmp_path / "nim")  # pip builds in the folder
    started(*install, "--disable-pip-version-check", "--target", packages, source)
    path = os.pathsep.join([str(packages), os.environ["PYTHONPATH"]])

    def in_fresh(command):
        words = command.split()
        return started("understudy", *words, *more(words[0]), path=path, cwd=tmp_path)

    def more(verb):
        return () if verb == "report" else ("--out", out, "--workers", "2", "--quiet")

    for stage in (*STAGES[:3], "train nim refine --from imitate --iterations 20", STAGES[-1]):
        in_fresh(stage)
    rates = json.loads(in_fresh("compete nim refine imitate guesser --matches 200 --json"))
    found = {(rate["player"], rate["opponent"]): rate for rate in rates}
    assert found["refine", "imitate"]["low"] > 0.6
    assert found["imitate", "guesser"]["low"] > 0.7
    in_fresh(f"report {out}")
    assert "League: quick" in (out / "report.html").read_text()
    monkeypatch.setenv("PYTHONPATH", path)
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        command = ("record", "nim", "--matches", "120", "--quiet", "--out", tmp_path / "dask")
        started("understudy", *command, "--workers", cluster.scheduler_address, path=path)
    assert len(rows(tmp_path / "dask" / "recordings", "matches")) == 120


def started(module, *arguments, path="", cwd=None):
    """What a program of its own prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
