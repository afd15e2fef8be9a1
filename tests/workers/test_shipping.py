"""A cluster whose workers share nothing with us gives the bytes that this process gives.

Its workers are processes that may not touch the run's folder: an audit hook ends whoever tries.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.small_runs import assert_refused, contents, understudy
from understudy.trust.sameness import differences
from understudy.workers import shipping
from understudy.workers.fingerprint import difference, fingerprint
from understudy.workers.shipping import Shipment

SITE = """
import os, sys

FORBIDDEN = {forbidden!r}

def watch(event, told):
    if event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove"):
        if any(isinstance(one, (str, os.PathLike)) and str(one).startswith(FORBIDDEN)
               for one in told):
            sys.stderr.write(f"touched {{told}}\\n")
            os._exit(99)

sys.addaudithook(watch)
"""


OTHER = """
from importlib import metadata

real = metadata.version
metadata.version = lambda name: "0.1" if name == "numpy" else real(name)
"""


@dataclass(frozen=True)
class Job:
    out: Path
    logs: Path
    model: Path
    missing: Path


def works(job):
    (job.out / "sub").mkdir()
    (job.out / "sub" / "first").write_text((job.logs / "a").read_text().upper())
    (job.out / "last").write_bytes((job.model / "weights.bin").read_bytes() * 2)
    return str(job.missing)


def test_what_a_task_reads_travels_and_what_it_writes_comes_back(tmp_path):
    logs, model, out = (tmp_path / name for name in ("logs", "model", "out"))
    for folder in (logs, model):
        folder.mkdir()
    (logs / "a").write_text("told")
    (logs / "b").write_text("of no concern")
    (model / "weights.bin").write_bytes(b"12")
    (model / "checkpoint.pt").write_bytes(b"large")
    job, shipment = Job(out, logs, model, tmp_path / "no"), Shipment(out, logs, (logs / "a",))
    parcel, bundles = shipping.packed(job, shipment)
    assert parcel.reads == {"a": b"told"}
    assert list(bundles.values()) == [{"weights.bin": b"12"}]
    for digest, files in bundles.items():
        shipping.store(digest, files)
        shipping.store(digest, files)
    returned = shipping.call(works, parcel)
    assert returned.made == [("sub/first", b"TOLD"), ("last", b"1212")]
    assert not out.exists()
    put = {}
    assert shipping.unpacked(returned, shipment, put.__setitem__) == str(tmp_path / "no")
    assert list(put) == [out / "sub" / "first", out / "last"]
    with pytest.raises(ValueError, match="outside"):
        shipping.unpacked(returned._replace(made=[("../x", b"")]), shipment, put.__setitem__)


def test_what_makes_another_result_is_told_and_what_is_not_used_may_be_missing():
    ours = fingerprint()
    assert difference(ours, dict(ours)) == ""
    assert "our code is other" in difference(ours, {**ours, "our code": "other"})
    assert "numpy is missing" in difference(ours, {k: v for k, v in ours.items() if k != "numpy"})
    assert difference(ours, {k: v for k, v in ours.items() if k != "scml"}) == ""
    assert "scml is 0.1" in difference({**ours, "scml": "0.8"}, {**ours, "scml": "0.1"})


# --- A real cluster ------------------------------------------------------------------------------


class Cluster:
    """A scheduler and workers as processes of their own, which may not touch a folder."""

    def __init__(self, folder, forbidden):
        (folder / "site").mkdir(parents=True)
        (folder / "site" / "sitecustomize.py").write_text(SITE.format(forbidden=str(forbidden)))
        self.folder, self.address = folder, ""
        path = os.pathsep.join([str(folder / "site"), os.environ.get("PYTHONPATH", "")])
        self.environment = {**os.environ, "PYTHONPATH": path, "DASK_LOGGING__DISTRIBUTED": "error"}
        self.workers = []

    def begin(self, command):
        program = [sys.executable, "-m", "distributed.cli." + command[0], *command[1:]]
        return subprocess.Popen(
            program, env=self.environment, stderr=subprocess.DEVNULL, cwd=self.folder
        )

    def start(self, port=0):
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        options = [f"--port={port}", "--no-dashboard", f"--scheduler-file={told}"]
        self.scheduler = self.begin(["dask_scheduler", "--host=127.0.0.1", *options])
        until = time.monotonic() + 60
        while not (told.is_file() and told.read_text().endswith("}")):
            assert time.monotonic() < until and self.scheduler.poll() is None
            time.sleep(0.05)
        import json

        self.address = json.loads(told.read_text())["address"]

    def hire(self):
        quick = ["--nthreads=1", "--no-nanny", "--no-dashboard", "--death-timeout=60"]
        worker = self.begin(["dask_worker", self.address, *quick])
        self.workers.append(worker)
        return worker

    def close(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path / "cluster", tmp_path / "dask")
    made.start()
    made.hire()
    yield made
    made.close()


RECORD = "record arena --opponents rusher,kiter --matches 160 --seed 9 --quiet"
STAGES = (
    RECORD,
    "encode arena --quiet",
    "train arena imitate-quick --set steps=20 --set evaluate_every=10 --set hidden=16 --quiet",
    "compete arena imitate-quick expert --matches 8 --quiet",
    "league arena --recipe demo --from imitate-quick --quiet --set rounds=1"
    " --set agent_steps=20000 --set matches=4 --set exploiter_steps=0",
)


def run(command, folder, workers):
    done = understudy(f"{command} --workers {workers}", "--out", folder)
    assert done.code == 0, f"{command}: {done.err}"


@pytest.mark.slow
def test_workers_that_share_nothing_give_the_same_bytes_stage_by_stage(cluster, tmp_path):
    for command in STAGES:
        run(command, tmp_path / "here", 0)
        run(command, tmp_path / "dask", cluster.address)
    assert differences(tmp_path / "dask", tmp_path / "here") == []


@pytest.mark.slow
def test_a_worker_a_scheduler_and_a_client_killed_leave_the_same_bytes(cluster, tmp_path):
    run(RECORD, tmp_path / "here", 0)
    command = [sys.executable, "-m", "understudy", *RECORD.split(), "--out", tmp_path / "dask"]

    def begun(address, until):
        client = subprocess.Popen(
            [*map(str, command), "--workers", address], stderr=subprocess.PIPE, text=True
        )
        wait_for(lambda: len(shards_in(tmp_path / "dask")) >= until or client.poll() is not None)
        return client

    cluster.hire()
    client = begun(cluster.address, 10)
    cluster.workers[0].kill()  # the other goes on with its work
    wait_for(lambda: len(shards_in(tmp_path / "dask")) >= 20 or client.poll() is not None)
    client.send_signal(signal.SIGKILL)
    client.communicate()
    client = begun(cluster.address, 35)
    cluster.scheduler.kill()
    told = client.communicate(timeout=120)[1]
    assert client.returncode in (0, 2), told
    assert "Traceback" not in told
    cluster.scheduler.wait()
    cluster.start()
    cluster.hire()
    run(RECORD, tmp_path / "dask", cluster.address)
    assert contents(tmp_path / "dask") == contents(tmp_path / "here")


def shards_in(folder):
    return list((folder / "recordings").glob("results-*.parquet"))


def wait_for(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.slow
def test_a_worker_of_another_make_is_one_line_before_the_first_task(cluster, tmp_path):
    site = tmp_path / "cluster" / "site" / "sitecustomize.py"
    site.write_text(OTHER)
    cluster.hire()
    from distributed import Client

    with Client(cluster.address) as client:
        client.wait_for_workers(2, timeout=60)
    done = understudy(f"{RECORD} --workers {cluster.address}", "--out", tmp_path / "dask")
    assert_refused(done, "would not compute what this machine does: numpy is 0.1, here")
    assert not shards_in(tmp_path / "dask")
