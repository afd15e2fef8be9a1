"""`record scml` and `compete scml`: the same however they are run, and clear about mistakes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.small_runs import Done, assert_refused, contents, rows, understudy
from understudy import games
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline import encode as encode_stage
from understudy.pipeline import report as report_stage

PART = "record scml --agents Greedy,SyncRandom --competitors-per-world 2 --steps 8 --seed 10"
PART_WORLDS = 2
RECORD = f"{PART} --configs 2 --runs 2"  # the same worlds and more
WORLDS = 8
COMPETE = "compete scml Penguin Greedy --configs 4 --competitors-per-world 2 --steps 8 --keep 1"
TABLES = ("worlds", "contracts", "days", "decisions", "results")

COMMANDS = {
    "whole": RECORD,
    "killed": RECORD,
    "watched": f"{PART} --configs 1 --track-only Greedy",
    "csv": f"{PART} --configs 1 --csv",
    "real": f"{PART} --configs 1 --simulator scml",
    "cup": f"{COMPETE} --json",
    "cup again": COMPETE,
}
PROGRAM = """
import json, sys
from tests.small_runs import understudy
json.dump([understudy(command) for command in json.load(sys.stdin)], sys.stdout)
"""
ELSEWHERE = ("MPLCONFIGDIR", "NEGMAS_LOG_BASE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
"""What would lead libraries away from the home directory."""


class Runs(NamedTuple):
    root: Path
    home: Path
    outputs: dict[str, Done]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A recording killed with its worker once a part of it is written; its folder."""
    folder = tmp_path_factory.mktemp("scml") / "killed"
    command = [sys.executable, "-m", "understudy", *RECORD.split(), "--quiet", "--workers", "1"]
    program = subprocess.Popen([*command, "--out", folder], start_new_session=True)
    deadline = time.monotonic() + 60
    while not list(folder.rglob("decisions-*")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    return folder


@pytest.fixture(scope="module")
def runs(killed):
    """All commands in one process, where the order of sets is fixed: agents depend on it.

    One, because it takes seconds to import scml. The killed recording is gone on with.
    """
    root, home = killed.parent, killed.parent / "home"
    home.mkdir()
    commands = [
        f"{command} --out {root / name.split()[0]} --quiet --workers 0"
        for name, command in COMMANDS.items()
    ]
    commands.append("verify scml --agents Penguin --worlds 1 --quiet --workers 0")
    environment = {key: value for key, value in os.environ.items() if key not in ELSEWHERE}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(commands),
        env=environment | {"HOME": str(home), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    outputs = [Done(*one) for one in json.loads(done.stdout)]
    assert [(one.code, one.err) for one in outputs] == [(0, "")] * len(commands)
    return Runs(root, home, dict(zip(COMMANDS, outputs, strict=False)))


@pytest.fixture(scope="module")
def whole(runs):
    return runs.root / "whole"


def assert_a_part(folder, whole, *tables):
    """These tables say of the worlds they know what those of the whole recording say."""
    matches = {world["match"] for world in rows(folder / "recordings", "worlds")}
    assert len(matches) == PART_WORLDS
    for table in tables:
        expected = [row for row in rows(whole / "recordings", table) if row["match"] in matches]
        assert rows(folder / "recordings", table) == expected


def test_a_recording_holds_every_table(whole):
    worlds = rows(whole / "recordings", "worlds")
    assert len(worlds) == WORLDS == len(list((whole / "recordings").glob("worlds-*")))
    matches = {world["match"] for world in worlds}
    for table in TABLES:
        found = rows(whole / "recordings", table)
        assert {row["match"] for row in found} == matches
    decided = {(row["match"], row["factory"]) for row in rows(whole / "recordings", "decisions")}
    assert decided == {(w["match"], k) for w in worlds for k in range(len(w["players"]))}


@pytest.mark.slow
def test_in_the_background_it_goes_on_alone_and_the_number_of_processes_changes_nothing(
    whole, tmp_path
):
    done = understudy(RECORD, "--out", tmp_path, "--workers", "2", "--background")
    assert done.code == 0 and f"tail -f {tmp_path / 'record.log'}" in done.out
    deadline = time.monotonic() + 90
    log = tmp_path / "record.log"
    while f"{WORLDS} worlds in {tmp_path / 'recordings'}" not in log.read_text():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    os.waitpid(int(re.search(r"process (\d+)", done.out)[1]), 0)  # it must not stay a zombie here
    log.unlink()
    assert contents(tmp_path) == contents(whole)


def test_a_killed_recording_goes_on(runs, whole):
    assert contents(runs.root / "killed") == contents(whole)
    assert not list(runs.root.rglob("*.part"))


def test_the_real_package_gives_the_same_recordings(runs, whole):
    assert_a_part(runs.root / "real", whole, *TABLES)


def test_only_those_to_be_tracked_are_recorded(runs, whole):
    found = runs.root / "watched"
    players = {w["match"]: w["players"] for w in rows(found / "recordings", "worlds")}
    recorded = rows(found / "recordings", "decisions")
    assert {players[row["match"]][row["factory"]] for row in recorded} == {"Greedy"}
    assert_a_part(found, whole, "worlds", "contracts", "days", "results")


def test_csv_files_on_request(runs):
    assert f"{PART_WORLDS} folders of CSV files" in runs.outputs["csv"].out
    folders = sorted((runs.root / "csv" / "recordings" / "csv").iterdir())
    assert len(folders) == PART_WORLDS
    assert {"contracts.csv", "negotiations.csv", "stats.csv"} <= {
        path.name for path in folders[0].iterdir()
    }


def test_a_competition_ranks_everybody_and_tells_programs_too(runs):
    told = json.loads(runs.outputs["cup"].out)
    assert {player["player"] for player in told["players"]} == {"Penguin", "Greedy"}
    (folder,) = (runs.root / "cup" / "results").iterdir()
    written = json.loads((folder / "strength.json").read_text())
    assert {name: value for name, value in written.items() if name != "seal"} == told
    assert len({row["match"] for row in rows(folder, "decisions")}) == 1
    table = runs.outputs["cup again"].out
    assert "Penguin" in table and "8 worlds of 4 configurations" in table


def test_a_run_of_worlds_has_a_report(runs):
    run = Run(runs.root / "cup")
    page = report_stage.report(run).read_text()
    assert "Strength" in page and "Penguin" in page
    with pytest.raises(InputError, match=r"holds no scml\.worlds"):
        encode_stage.encode(games.load("scml"), run)


def test_nothing_is_written_under_the_home_directory(runs):
    """Not by recording, competing or verifying, in either simulator."""
    assert list(runs.home.iterdir()) == []


MISTAKES = {
    "record scml --agents Pengiun": ["no player 'Pengiun'", "Penguin"],
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
