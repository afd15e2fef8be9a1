"""What goes wrong while worlds are played is told, and nothing of the others is lost."""

import gc
import time
from functools import partial

import pytest
from scml.std.agents import RandomStdAgent, SyncRandomStdAgent

from tests.small_runs import (
    a_disk_that_takes_files_up_to,
    assert_refused,
    contents,
    rows,
    succeed,
    understudy,
)
from understudy.data.runs import Run
from understudy.games.scml.engine.world import World
from understudy.games.scml.game import GAME
from understudy.games.scml.players import catalogue
from understudy.games.scml.recording import failures
from understudy.games.scml.recording.failures import LONGEST_ERROR, MOST_LINES, summary
from understudy.games.scml.tournament import play as match
from understudy.pipeline import report as report_stage

STEPS = 6
WORLDS = 2  # each of two plays each of two slots
PLAY = f"--competitors-per-world 2 --configs 1 --steps {STEPS} --seed 10"
COMPETE = f"compete scml Bad Greedy --keep {WORLDS} {PLAY}"
RECORD = f"record scml --agents Greedy,SyncRandom {PLAY}"
CPU_LIMIT = {"call_seconds": 0.3, "call_wall_seconds": 60.0}  # a busy machine takes longer
WALL_LIMIT = {"call_seconds": 0.3, "call_wall_seconds": 0.8}


class Unborn(RandomStdAgent):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        raise KeyError("lost at birth")


class LostInNegotiations(SyncRandomStdAgent):
    def counter_all(self, offers, states):
        raise KeyError("lost in negotiations")


class LostAtNight(RandomStdAgent):
    day = 0

    def step(self):
        if self.awi.current_step >= self.day:
            raise KeyError("lost at night")


class Asleep(RandomStdAgent):
    def step(self):
        if self.awi.current_step == 1:
            time.sleep(10**6)


class Endless(RandomStdAgent):
    def before_step(self):
        while self.awi.current_step == 2:
            pass


FIRST = {
    Unborn: (0, "KeyError: 'lost at birth'"),
    LostInNegotiations: (0, "KeyError: 'lost in negotiations'"),
    LostAtNight: (0, "KeyError: 'lost at night'"),
    Asleep: (1, "CallTimeout: no answer after 0.8 s"),
    Endless: (2, "CallTimeout: no answer after 0.3 s of CPU time"),
}
"""The day of the first failure, and what it is called."""


@pytest.fixture
def bad(monkeypatch):
    """Have a class, or what is to be imported, play under the name of Bad."""

    def be(kind):
        path = kind if isinstance(kind, str) else f"{__name__}.{kind.__name__}"
        monkeypatch.setitem(catalogue.STD, "Bad", path)
        monkeypatch.setitem(GAME.players, "Bad", "fails")
        if kind in (Asleep, Endless):
            limits = CPU_LIMIT if kind is Endless else WALL_LIMIT
            monkeypatch.setattr(match, "World", partial(World, **limits))

    gc.disable()  # in a process with many modules it may take longer than an answer may here
    yield be
    gc.enable()


@pytest.mark.parametrize("kind", FIRST)
def test_a_failing_agent_is_told_and_the_others_have_their_worlds(kind, bad, tmp_path):
    bad(kind)
    told = succeed(COMPETE, tmp_path).out
    (folder,) = (tmp_path / "results").iterdir()
    worlds, results = rows(folder, "worlds"), rows(folder, "results")
    assert len(worlds) == WORLDS
    assert len(results) == sum(len(world["players"]) for world in worlds)
    assert len(rows(folder, "days")) == STEPS * len(results)
    for world in worlds:
        failed = {int(line.split()[0]) for line in world["faults"]}
        assert failed == {world["players"].index("Bad")}
        _, day, error = world["faults"][0].split(" ", 2)
        assert (int(day), error) == FIRST[kind]
    for row in results:
        assert (row["faults"] > 0) == (row["player"] == "Bad")
    count = sum(len(world["faults"]) for world in worlds)
    day, error = FIRST[kind]
    first = worlds[0]["match"]
    line = f"faults: Bad {count} in {WORLDS} worlds (first: {first}, day {day}, {error})"
    assert [one for one in told.splitlines() if "faults" in one] == [line]
    assert {"Bad", "Greedy"} <= set(told.split())


def told(done):
    """What came of it, without the commands that may follow."""
    return [line for line in done.out.splitlines() if not line.startswith("Next: ")]


@pytest.mark.parametrize("day", [0, 2])
def test_in_scml_the_world_ends_there_and_that_is_told(day, bad, tmp_path, monkeypatch):
    bad(LostAtNight)
    monkeypatch.setattr(LostAtNight, "day", day)
    command = f"record scml --simulator scml --agents Bad,Greedy --csv {PLAY}"
    _, line, csv = told(succeed(command, tmp_path))
    assert line.startswith(f"faults: Bad {WORLDS} in {WORLDS} worlds (first: ")
    assert line.endswith(f", day {day}, KeyError: 'lost at night')")
    results = rows(tmp_path / "recordings", "results")
    assert [row["faults"] for row in results if row["player"] == "Bad"] == [1] * WORLDS
    assert {row["faults"] for row in results if row["player"] != "Bad"} == {0}
    assert len(rows(tmp_path / "recordings", "days")) == day * len(results)
    assert csv.startswith(f"{WORLDS if day else 0} folders of CSV files")
    page = report_stage.report(Run(tmp_path)).read_text()
    assert ("lost at night" in page) == (day > 0)  # a world without a day is not shown


def test_where_nobody_fails_nothing_is_told(tmp_path):
    (line,) = told(succeed(RECORD, tmp_path))
    assert "faults" not in line


def test_an_agent_that_is_not_there_is_one_line_and_the_command_can_be_repeated(bad, tmp_path):
    bad("understudy.nowhere.Agent")
    told = "No module named 'understudy.nowhere'"
    done = understudy(COMPETE, "--out", tmp_path, "--quiet", "--workers", "0")
    assert_refused(done, "2 of 2 tasks failed", told, "the same command tries these again")
    assert not list(tmp_path.rglob("*.parquet"))
    bad(RandomStdAgent)
    succeed(COMPETE, tmp_path)


def test_a_full_disk_is_one_line_and_the_same_command_does_the_rest(tmp_path):
    whole, run = tmp_path / "whole", tmp_path / "run"
    succeed(RECORD, whole)
    sizes = sorted(p.stat().st_size for p in (whole / "recordings").glob("decisions-*"))
    assert len(sizes) == WORLDS and sizes[0] < sizes[1]
    with a_disk_that_takes_files_up_to(sizes[0]):
        done = understudy(RECORD, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "1 of 2 tasks failed", "cannot write", "File too large", "free some space")
    kept = {path: path.stat().st_mtime_ns for path in run.rglob("*.parquet")}
    assert len(kept) == 5
    assert not list(run.rglob("*.part"))
    succeed(RECORD, run)
    assert contents(run) == contents(whole)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


# --- The lines -----------------------------------------------------------------------------------


def world(match, players, *faults):
    return {"match": match, "players": players, "faults": list(faults)}


def test_who_fails_most_comes_first_and_worlds_count_once():
    worlds = [
        world("m0", ["a", "b"], "1 4 KeyError: 'x'"),
        world("m1", ["b", "a"], "1 2 ValueError: no", "0 3 KeyError: 'y'", "1 9 ValueError: no"),
        world("m2", ["a", "b"], "0 5 ValueError: no"),
    ]
    assert summary(worlds) == [
        "faults: a 3 in 2 worlds (first: m1, day 2, ValueError: no)",
        "faults: b 2 in 2 worlds (first: m0, day 4, KeyError: 'x')",
    ]
    assert summary(worlds[:1]) == ["faults: b 1 in 1 world (first: m0, day 4, KeyError: 'x')"]
    assert summary([world("m", ["a"])]) == []


def test_a_long_story_is_one_short_line():
    (line,) = summary([world("m", ["a"], "0 1 Error: one\n  two\t" + "x" * 500)])
    assert "Error: one two xxx" in line and "\n" not in line
    assert len(line) < LONGEST_ERROR + 60
    assert line.endswith("...)")


def test_many_that_fail_are_counted():
    names = [f"p{index}" for index in range(MOST_LINES + 3)]
    lines = summary([world("m", names, *(f"{index} 0 E: e" for index in range(len(names))))])
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == "faults: and of 3 more players"


def test_what_is_written_down_reads_the_same():
    assert failures.Failure.read("12 3 E: a b  c") == (12, 3, "E: a b  c")
