import os
import signal
import subprocess
import sys
import time

import pytest

from understudy.data.integrity import locks
from understudy.data.runs import begin, finish
from understudy.errors import InputError

HOLDER = """
import sys, time
from pathlib import Path
from understudy.data.integrity.locks import hold
hold(Path(sys.argv[1])); print("held", flush=True); time.sleep(60)
"""


@pytest.fixture(autouse=True)
def nothing_held_afterwards():
    yield
    locks.release_all()
    locks.wait_for_others(False)


@pytest.fixture
def other(tmp_path):
    """Another process that holds tmp_path / "work"."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "work")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_process_gets_one_line_that_says_who(tmp_path, other):
    with pytest.raises(InputError) as error:
        begin(tmp_path / "work", "train", {})
    message = str(error.value)
    assert f"process {other.pid} on {os.uname().nodename} since 20" in message
    assert "--wait" in message
    assert not (tmp_path / "work").exists()  # nothing was touched


def test_a_lock_whose_process_was_killed_is_free(tmp_path, other):
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    begin(tmp_path / "work", "train", {})
    finish(tmp_path / "work")
    assert [path.name for path in tmp_path.iterdir()] == ["work"]


def test_with_wait_it_waits(tmp_path, other, capfd):
    locks.wait_for_others(True)
    began = time.monotonic()
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -9 {other.pid}"])
    locks.hold(tmp_path / "work")
    assert time.monotonic() - began >= 0.4
    assert f"waiting for process {other.pid}" in capfd.readouterr().err
    killer.wait()


def test_work_that_cannot_begin_leaves_no_lock(tmp_path):
    begin(tmp_path / "work", "train", {"a": 1})
    finish(tmp_path / "work")
    with pytest.raises(InputError, match="holds other work"):
        begin(tmp_path / "work", "train", {"a": 2})
    assert [path.name for path in tmp_path.iterdir()] == ["work"]


def test_the_holder_may_claim_again_and_after_a_failure_all_is_released(tmp_path):
    @locks.released
    def fails():
        begin(tmp_path / "work", "train", {})
        begin(tmp_path / "work", "train", {})
        assert (tmp_path / ".work.lock").exists()
        raise RuntimeError("oops")

    with pytest.raises(RuntimeError):
        fails()
    assert not (tmp_path / ".work.lock").exists()
