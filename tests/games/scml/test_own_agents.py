"""Agents that people bring along play, are recorded and shown like champions."""

import json

import pytest

from tests.small_runs import assert_refused, contents, rows, understudy
from understudy.data.runs import Run, read_manifest
from understudy.pipeline import report as report_stage

AGENTS = """
from scml.std import StdSyncAgent
from scml.std.agents import GreedyStdAgent, SyncRandomStdAgent
from understudy.games.scml.agent.hrl import L1Agent

WORLDS = []  # what is kept here must not reach the next world

class Mine(SyncRandomStdAgent):
    def init(self):
        WORLDS.append(self.awi.n_steps)
        assert len(WORLDS) <= 4, "the module of another world"
        super().init()

class Greedy(GreedyStdAgent):
    pass

class Layered(L1Agent):
    pass

class Fails(GreedyStdAgent):
    def __init__(self, *given, **named):
        raise ValueError("no luck")

class Half(StdSyncAgent):
    pass

class Stranger:
    pass
"""
COMPETE = "compete scml {mine}:Mine {mine}:Greedy Penguin --configs 3 --steps 6 --keep 1 --quiet"


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("theirs") / "my_agent.py"
    path.write_text(AGENTS)
    return path


def run_in(folder, mine, workers):
    done = understudy(COMPETE.format(mine=mine), "--out", folder, "--workers", workers)
    assert (done.code, done.err) == (0, "")
    return done


@pytest.fixture(scope="module")
def cup(mine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cup")
    run_in(folder, mine, 0)
    return folder


def test_names_are_clean_and_the_files_hash_is_in_the_manifest(cup):
    (folder,) = (cup / "results").iterdir()
    settings = read_manifest(folder)["settings"]
    assert settings["competitors"] == ["Mine", "my_agent.Greedy", "Penguin"]
    assert settings["code"].keys() == {"Mine", "my_agent.Greedy"}
    assert settings["code"]["Mine"].startswith("my_agent.py:Mine ")
    players = {row["player"] for row in rows(folder, "results") if row["competes"]}
    assert players == {"Mine", "my_agent.Greedy", "Penguin"}
    ranked = json.loads((folder / "strength.json").read_text())["players"]
    assert {one["player"] for one in ranked} == players
    assert not any(row["faults"] for row in rows(folder, "results"))


def test_report_and_explorer_show_them(cup):
    page = report_stage.report(Run(cup)).read_text()
    assert "my_agent.Greedy" in page
    assert page.count("my_agent.py") == 2  # in the command, as it was typed
    (folder,) = (cup / "results").iterdir()
    match = next(iter(rows(folder, "decisions")))["match"]
    world = report_stage.replay(Run(cup), match, cup / "world.html").read_text()
    assert '"Mine"' in world


def test_changed_code_is_other_work(cup, mine, tmp_path):
    changed = tmp_path / "my_agent.py"
    changed.write_text(AGENTS + "\n# better\n")
    done = understudy(COMPETE.format(mine=changed), "--out", cup, "--workers", 0)
    assert_refused(done, "holds other work: code of Mine was", "--fresh")


def test_only_they_are_watched_and_their_layers_traced(mine, tmp_path):
    command = f"record scml --agents {mine}:Mine,{mine}:Layered --track-only my_agent.py:Mine"
    more = ("--configs", 1, "--steps", 6, "--trace", "--quiet", "--workers", 0, "--out", tmp_path)
    done = understudy(command, *more)
    assert (done.code, done.err) == (0, "")
    worlds = {row["match"]: row["players"] for row in rows(tmp_path / "recordings", "worlds")}
    watched = rows(tmp_path / "recordings", "decisions")
    assert {worlds[row["match"]][row["factory"]] for row in watched} == {"Mine"}
    assert "Layered" in (tmp_path / "trace.jsonl").read_text()


def test_by_default_those_recorded_to_learn_from_are_encoded(mine, tmp_path):
    command = f"record scml --agents {mine}:Mine,Penguin --configs 1 --steps 6 --quiet --workers 0"
    assert understudy(command, "--out", tmp_path).code == 0
    assert understudy("encode scml --quiet --workers 0", "--out", tmp_path).code == 0
    decided = rows(tmp_path / "samples", "rounds")
    assert {row["player"] for row in decided} == {"Mine", "Penguin"}


MISTAKES = {
    "compete scml {mine}:Fails Penguin": ["my_agent.py:Fails fails in __init__", "no luck (line "],
    "compete scml {mine}:Half Penguin": ["not complete: it lacks counter_all, first_proposals"],
    "compete scml {mine}:Stranger Penguin": ["no SCML agent, but a class derived from object"],
    "compete scml {mine}:Mine Rchan --track oneshot": ["agent of Standard, not OneShot"],
    "compete scml {mine}:Nobody Penguin": ["there is no Nobody in it; there is Fails, Greedy"],
    "compete scml nowhere.py:Mine Penguin": ["there is no file nowhere.py"],
    "compete scml nowhere:Mine Penguin": ["nowhere:Mine cannot be imported", "No module named"],
    "compete scml {mine}:Mine": ["Mine alone cannot be compared", "such as Penguin"],
    "record scml --agents {mine}:Fails": ["fails in __init__"],
    "compete scml {mine}:Mine Penguin --simulator batch": ["Mine cannot play in the compiled"],
}


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_one_line(command, mine, tmp_path):
    done = understudy(command.format(mine=mine), "--out", tmp_path / "new")
    assert_refused(done, *MISTAKES[command])
    assert not (tmp_path / "new").exists()


def test_verify_takes_them_too(mine):
    done = understudy(f"verify scml --agents {mine}:Fails --worlds 1")
    assert_refused(done, "fails in __init__")


@pytest.mark.slow
def test_processes_and_a_dask_cluster_change_nothing(mine, tmp_path):
    from distributed import LocalCluster

    run_in(tmp_path / "two", mine, 2)
    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        run_in(tmp_path / "dask", mine, cluster.scheduler_address)
    assert contents(tmp_path / "dask") == contents(tmp_path / "two")
    for folder in (tmp_path / "two", tmp_path / "dask"):
        assert "my_agent.Greedy" in report_stage.report(Run(folder)).read_text()


@pytest.mark.slow
def test_verified_beside_the_real_package(mine):
    done = understudy(f"verify scml --agents {mine}:Mine --worlds 1 --quiet --workers 0")
    assert (done.code, done.err) == (0, "") and "Mine" in done.out
