"""`record scml` and `compete scml`: the same however they are run, and clear about mistakes."""

import json
import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from small_runs import assert_refused, contents, understudy

from understudy import games, stages
from understudy.data.runs import Run
from understudy.errors import InputError

AGENTS = "--agents Greedy,SyncRandom --competitors-per-world 2"
RECORD = f"record scml {AGENTS} --configs 2 --steps 8 --seed 4"
COMPETE = "compete scml Penguin Greedy --configs 4 --competitors-per-world 2 --steps 8 --keep 1"
TABLES = ("worlds", "contracts", "days", "decisions", "results")


def made(command, folder, *more):
    """Run in a process of its own, where the order of sets is fixed: agents hang on it."""
    done = understudy(command, "--out", folder, "--quiet", "--workers", "1", *more)
    assert (done.code, done.err) == (0, "")
    return done


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scml")
    made(RECORD, folder)
    return folder


def rows(folder, table):
    return [
        row for path in sorted(folder.glob(f"{table}-*")) for row in pq.read_table(path).to_pylist()
    ]


def test_a_recording_holds_every_table(recorded):
    worlds = rows(recorded / "recordings", "worlds")
    assert len(worlds) == 4
    matches = {world["match"] for world in worlds}
    for table in TABLES:
        found = rows(recorded / "recordings", table)
        assert {row["match"] for row in found} == matches
    decided = {(row["match"], row["factory"]) for row in rows(recorded / "recordings", "decisions")}
    assert decided == {(w["match"], k) for w in worlds for k in range(len(w["players"]))}


def test_the_number_of_processes_changes_nothing(recorded, tmp_path):
    assert understudy(RECORD, "--out", tmp_path, "--quiet", "--workers", "2").code == 0
    assert contents(tmp_path) == contents(recorded)


def test_the_real_package_gives_the_same_recordings(recorded, tmp_path):
    made(RECORD, tmp_path, "--simulator", "scml")
    for table in TABLES:
        assert rows(tmp_path / "recordings", table) == rows(recorded / "recordings", table)


def test_only_those_to_be_tracked_are_filmed(recorded, tmp_path):
    made(RECORD, tmp_path, "--track-only", "Greedy")
    players = {w["match"]: w["players"] for w in rows(tmp_path / "recordings", "worlds")}
    filmed = rows(tmp_path / "recordings", "decisions")
    assert {players[row["match"]][row["factory"]] for row in filmed} == {"Greedy"}
    for table in ("worlds", "contracts", "days", "results"):
        assert rows(tmp_path / "recordings", table) == rows(recorded / "recordings", table)


def test_csv_files_on_request(tmp_path):
    done = made(RECORD, tmp_path, "--csv")
    assert "4 folders of CSV files" in done.out
    folders = sorted((tmp_path / "recordings" / "csv").iterdir())
    assert len(folders) == 4
    assert {"contracts.csv", "negotiations.csv", "stats.csv"} <= {
        path.name for path in folders[0].iterdir()
    }


def test_a_competition_ranks_everybody_and_tells_programs_too(tmp_path):
    told = json.loads(made(COMPETE, tmp_path, "--json").out)
    assert {player["player"] for player in told["players"]} == {"Penguin", "Greedy"}
    (folder,) = (tmp_path / "results").iterdir()
    assert json.loads((folder / "strength.json").read_text()) == told
    assert len({row["match"] for row in rows(folder, "decisions")}) == 1
    table = made(COMPETE, tmp_path).out
    assert "Penguin" in table and "8 worlds of 4 configurations" in table


def test_a_killed_recording_goes_on(recorded, tmp_path):
    command = [sys.executable, "-m", "understudy", *RECORD.split(), "--quiet", "--workers", "1"]
    program = subprocess.Popen([*command, "--out", tmp_path / "run"], start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("decisions-*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    made(RECORD, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(recorded)
    assert not list(tmp_path.rglob("*.part"))


def test_in_the_background_it_goes_on_alone(recorded, tmp_path):
    done = understudy(RECORD, "--out", tmp_path, "--workers", "0", "--background")
    assert done.code == 0 and f"tail -f {tmp_path / 'record.log'}" in done.out
    deadline = time.monotonic() + 90
    log = tmp_path / "record.log"
    while f"4 worlds in {tmp_path / 'recordings'}" not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    log.unlink()
    assert contents(tmp_path) == contents(recorded)


MISTAKES = {
    "record scml --agents Pengiun": ["no SCML agent 'Pengiun'; there is", "Penguin"],
    "record scml --agents ,": ["no SCML agent is named"],
    "record scml --field desert": ["no field 'desert'; there is official, champions, penguins"],
    "record scml --simulator real": ["no simulator 'real'; there is engine, scml"],
    "record scml --track oneshoot": ["no track 'oneshoot'; there is std, oneshot"],
    "record scml --max-worlds-per-config 1": ["no fair assignment", "Raise it to 4"],
    "record scml --track-only Nobody": ["no SCML agent 'Nobody'"],
    "record scml --simulator scml --conserve-stock --configs 1 --steps 6": ["scml cannot conserve"],
    "compete scml": ["Missing argument 'PLAYERS...'"],
    "compete scml Pengiun AS0": ["no player 'Pengiun'"],
    "compete scml Penguin AS0 --field champions": ["needs 4 competitors", "--field official"],
    "compete scml Suzuka Penguin": ["no SCML agent 'Suzuka'"],
    "encode scml": ["holds no scml.worlds. Make some: understudy record scml"],
}


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_one_line_and_leaves_nothing(command, tmp_path):
    done = understudy(command, "--out", tmp_path / "new")
    assert_refused(done, *MISTAKES[command])
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_run_of_worlds_has_a_report(tmp_path):
    made(COMPETE, tmp_path)
    page = stages.report(Run(tmp_path)).read_text()
    assert "Strength" in page and "Penguin" in page
    with pytest.raises(InputError, match=r"holds no scml\.worlds"):
        stages.encode(games.load("scml"), Run(tmp_path))
