"""The stages leave the same files however they are run, stopped or repeated."""

import contextlib
import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyarrow.parquet as pq
import pytest

from tests.pipeline import tasks
from tests.pipeline.rewriting import identity, rewritten
from tests.small_runs import (
    COMPETE,
    ENCODE,
    RECORD,
    TRAIN,
    a_disk_that_takes_files_up_to,
    assert_refused,
    contents,
    succeed,
    tiny_recipe,
    understudy,
)
from understudy import games
from understudy.data.runs import read_manifest
from understudy.pipeline import record as record_stage

PROGRAM = "from understudy.cli import main; main()"
ARENA = games.load("arena")
KEYS = ["00000", "00001", "00002", "00003"]
EVERYBODY = "record arena --players {0} --opponents {0} --matches 50 --seed 4".format(
    "expert,rusher,kiter,camper,collector"
)


# --- Killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [RECORD, ENCODE, pytest.param(TRAIN, marks=pytest.mark.slow)],
    ids=["record", "encode", "train"],
)
def test_being_killed_over_and_over_changes_nothing(command, recorded, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    if "record" not in command:
        for folder in (broken, whole):
            shutil.copytree(recorded, folder)
    if "encode" in command:
        for folder in (broken, whole):
            shutil.rmtree(folder / "samples")
    here = [] if "train" in command else ["--workers", "0"]
    program = [sys.executable, Path(__file__).parents[1] / "killed_often.py", "2", whole]
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


@pytest.mark.parametrize(
    ("command", "made"), [(EVERYBODY, "recordings"), (ENCODE, "samples")], ids=["record", "encode"]
)
def test_workers_die_with_the_program_and_the_same_command_goes_on(command, made, many, tmp_path):
    run = tmp_path / "run"
    if command == ENCODE:
        shutil.copytree(many / "recordings", run / "recordings")
    shards = random.Random(made).randint(2, 8)
    kill_when(shards, run / made, [*command.split(), "--out", str(run)])
    assert read_manifest(run / made)["finished"] is None
    kept = identity(run / made)
    assert len(kept) >= shards
    succeed(command, run)
    assert contents(run / made) == contents(many / made)
    assert len(rewritten(kept, run / made)) <= len(identity(run / made)) - shards + 1


def kill_when(shards, folder, arguments):
    """Start a command on two workers; kill it when there are that many shards, and see all end."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments, "--quiet", "--workers", "2"],
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


# --- Wherever it runs ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_recordings_do_not_depend_on_the_number_of_workers(workers, recorded, tmp_path):
    succeed(RECORD, tmp_path / "run", "--workers", workers)
    assert contents(tmp_path / "run" / "recordings") == contents(recorded / "recordings")


@pytest.mark.slow
def test_a_cluster_makes_the_same_recordings_and_samples(cluster, recorded, tmp_path):
    succeed(RECORD, tmp_path / "run", "--workers", cluster)
    succeed(ENCODE, tmp_path / "run", "--workers", cluster)
    assert contents(tmp_path / "run") == contents(recorded)


# --- Tasks that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "limit", "told"),
    [("0", "1", "OverLimit: over its time limit"), ("2", "3", "no answer within 3 s, killed")],
)
def test_a_hung_task_is_told_and_the_same_command_does_the_rest(
    workers, limit, told, recorded, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    options = ["--out", run, "--quiet", "--workers", workers, "--task-seconds", limit]
    with monkeypatch.context() as patch:
        patch.setattr(record_stage, "_play_fixture", tasks.play_or_hang)
        assert_refused(
            understudy(RECORD, *options),
            f"1 of 4 tasks failed, the first ({tasks.HUNG}) because: {told}",
            "The others are kept; the same command tries these again",
        )
    kept = identity(run / "recordings")
    assert len(kept) == 9
    assert not list(run.rglob("*.part"))
    succeed(RECORD, run)
    assert rewritten(kept, run / "recordings") == [
        f"{table}-00002.parquet" for table in ("matches", "results", "steps")
    ]
    assert contents(run / "recordings") == contents(recorded / "recordings")


def test_a_failed_write_leaves_nothing_half_written(recorded, tmp_path):
    run = tmp_path / "run"
    sizes = sorted(p.stat().st_size for p in (recorded / "recordings").glob("steps-*.parquet"))
    with a_disk_that_takes_files_up_to(sizes[1]):
        done = understudy(RECORD, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "2 of 4 tasks failed", "cannot write", "File too large", "free some space")
    assert len(identity(run / "recordings")) == 6
    assert not list(run.rglob("*.part"))
    succeed(RECORD, run)
    assert contents(run / "recordings") == contents(recorded / "recordings")


def test_a_full_disk_during_encode_is_one_line(run, monkeypatch):
    shutil.rmtree(run / "samples")
    write, left = pq.write_table, iter(range(2))

    def write_twice(rows, path, **options):
        write(rows, path, **options)
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq, "write_table", write_twice)
    done = understudy(ENCODE, "--out", run, "--quiet", "--workers", "0")
    assert_refused(done, "2 of 4 tasks failed", "No space left on device", "free some space")
    assert len(identity(run / "samples")) == 2
    assert not list(run.rglob("*.part"))


def test_a_full_disk_during_training_is_one_line_and_it_goes_on_afterwards(run, finished):
    whole, model = (folder / "models" / "imitate-quick" for folder in (finished, run))
    with tiny_recipe():
        for name in ("weights.safetensors", "checkpoint.pt"):
            with a_disk_that_takes_files_up_to((whole / name).stat().st_size - 1):
                done = understudy(TRAIN, "--out", run, "--quiet")
            assert_refused(done, f"cannot write {model / name}: ", "free some space")
            assert not list(run.rglob("*.part"))
            assert not (model / name).exists()
        succeed(TRAIN, run)
    assert contents(model) == contents(whole)


# --- Manifests -----------------------------------------------------------------------------------


def test_manifests_say_how_all_was_made(finished):
    (results,) = (finished / "results").iterdir()
    folders = (finished / "recordings", finished / "samples", finished / "models" / "imitate-quick")
    recordings, samples, model, results = (read_manifest(path) for path in (*folders, results))
    for manifest, command in zip(
        (recordings, samples, model, results), (RECORD, ENCODE, TRAIN, COMPETE), strict=True
    ):
        assert manifest["command"][: 1 + len(command.split())] == ["understudy", *command.split()]
        assert manifest["stage"] == command.split()[0]
        assert manifest["settings"]["game"] == "arena"
        assert {"understudy", "python", "torch", "numba"} <= manifest["versions"].keys()
        assert manifest["begun"] <= manifest["finished"]
    assert [m["settings"].get("seed") for m in (recordings, samples, model, results)] == [
        9,
        None,
        9,
        0,
    ]
    assert samples["facts"]["inputs"].keys() == set(KEYS)
    assert model["inputs"].keys() == {f"samples/moves-{key}.parquet" for key in KEYS}
    assert model["settings"]["steps"] == 24
    assert results["settings"]["players"].keys() == {"imitate-quick", "expert"}
    assert len(results["settings"]["players"]["imitate-quick"]) == 32  # the digest of its weights
    assert results["settings"]["players"]["expert"] is None
