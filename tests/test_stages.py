"""The stages leave the same files however they are run, stopped or repeated."""

import contextlib
import errno
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest
import tasks_for_stages
from small_runs import (
    COMPETE,
    ENCODE,
    RECORD,
    TRAIN,
    assert_refused,
    contents,
    succeed,
    tiny_recipe,
    understudy,
)

from understudy import games, stages
from understudy.data.runs import Run, read_manifest
from understudy.errors import InputError
from understudy.games import PlayerRef

ARENA = games.load("arena")
KEYS = ["00000", "00001", "00002", "00003"]
EVERYBODY = "record arena --players {0} --opponents {0} --matches 50 --seed 4".format(
    "expert,rusher,kiter,camper,collector"
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run that has been recorded and encoded; not to be changed."""
    folder = tmp_path_factory.mktemp("recorded") / "run"
    succeed(RECORD, folder)
    succeed(ENCODE, folder)
    return folder


@pytest.fixture
def run(recorded, tmp_path):
    """A copy to work on."""
    shutil.copytree(recorded, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The folder of a model that has learnt nothing; it is named like the recipe."""
    from understudy.learn.policy import FactoredPolicy, save_policy

    folder = tmp_path_factory.mktemp("models") / "imitate-quick"
    folder.mkdir()
    save_policy(folder, FactoredPolicy(ARENA.recipe("imitate-quick").shape, seed=1))
    return folder


def shard(folder, table, key):
    (path,) = folder.glob(f"*/{table}-{key}.parquet")
    return path


def identity(folder):
    """Changes for every file that is written again, be it with the same content."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.glob("*.parquet")
    }


def rewritten(before, folder):
    after = identity(folder)
    return sorted(name for name in after if after[name] != before.get(name))


def cut(path):
    """As a copy that broke off leaves it."""
    os.truncate(path, path.stat().st_size // 2)


# --- Killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [RECORD, ENCODE, TRAIN], ids=["record", "encode", "train"])
def test_being_killed_over_and_over_changes_nothing(command, recorded, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    if "record" not in command:
        for folder in (broken, whole):
            shutil.copytree(recorded, folder)
    if "encode" in command:
        for folder in (broken, whole):
            shutil.rmtree(folder / "samples")
    here = [] if "train" in command else ["--workers", "0"]
    program = [sys.executable, Path(__file__).with_name("killed_often.py"), "1", whole]
    done = subprocess.run(
        [*program, *command.split(), "--quiet", *here, "--out", broken],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout.split()[-1]) >= 2  # times it was killed
    assert contents(broken) == contents(whole)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A run of many shards, made without a break."""
    folder = tmp_path_factory.mktemp("many") / "run"
    succeed(EVERYBODY, folder)
    succeed(ENCODE, folder)
    return folder


@pytest.mark.parametrize("stage", ["record", "encode"])
def test_workers_die_with_the_program_and_the_same_command_goes_on(stage, many, tmp_path):
    run, (command, made) = (
        tmp_path / "run",
        {"record": (EVERYBODY, "recordings"), "encode": (ENCODE, "samples")}[stage],
    )
    if stage == "encode":
        shutil.copytree(many / "recordings", run / "recordings")
    dice = random.Random(stage)
    killed_at = [dice.randint(1, 10), dice.randint(20, 30)]
    for shards in killed_at:
        kill_when(shards, run / made, [*command.split(), "--out", str(run)])
        assert read_manifest(run / made)["finished"] is None
        assert shards <= len(list((run / made).glob("*.parquet"))) < 50
    before = identity(run / made)
    succeed(command, run, "--workers", "2")
    assert contents(run / made) == contents(many / made)
    assert len(before) + len(rewritten(before, run / made)) == len(contents(many / made)) - 1


def kill_when(shards, folder, arguments):
    """Start a command on two workers; kill it when there are that many shards, and see all end."""
    program = subprocess.Popen(
        [sys.executable, "-c", "from understudy.cli import main; main()", *arguments]
        + ["--quiet", "--workers", "2"],
        start_new_session=True,
    )
    with program:
        wait_until(lambda: len(list(folder.glob("*.parquet"))) >= shards)
        program.kill()
        try:
            wait_until(lambda: not group_of(program.pid))
        finally:
            for survivor in group_of(program.pid):
                survivor.kill()


def group_of(leader):
    """Running processes of that group; the leader itself may still wait to be reaped."""
    found = []
    for process in psutil.process_iter(["status"]):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(process.pid) == leader and process.info["status"] != "zombie":
                found.append(process)
    return found


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.003)
