"""A Dask cluster on this machine, of which a part is killed while it works for us."""

import contextlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from understudy.trust.attacks.machine import started
from understudy.trust.campaign import Attack, Fault, Ground, faults_of
from understudy.trust.command import Kill, run, shown
from understudy.trust.sameness import differences
from understudy.workers.processes import ENVIRONMENT

_BEGINS = 60.0
"""Seconds for a scheduler to say where it is."""


def killed(ground: Ground, place: Path, dice: random.Random) -> Attack:
    """A worker, the scheduler or the command is killed; another cluster then does the rest."""
    whole, case, stage = started(ground, place, dice)
    if importlib.util.find_spec("distributed") is None:
        return Attack("no Dask here", "", [], 0)
    who, after = dice.choice(("worker", "scheduler", "command")), dice.uniform(0.0, 6.0)
    arguments = [*stage.command.split(), "--out", str(case), "--workers"]
    kill = Kill(signal.SIGKILL, after, "first") if who == "command" else None
    with _cluster(place / "one") as (address, parts):
        later = threading.Timer(after, parts[who].kill) if who != "command" else None
        if later is not None:
            later.start()
        done = run(ground.main, [*arguments, address], kill=kill, seconds=300)
        if later is not None:
            later.cancel()
            later.join()
    faults = faults_of(done) if done.code != -signal.SIGKILL else []
    with _cluster(place / "other") as (address, _):
        last = run(ground.main, [*arguments, address], seconds=300)
    faults += faults_of(last)
    if last.code:
        faults.append(Fault("lost", f"cannot go on: {last.err.strip()[-200:]}"))
    elif wrong := differences(whole / stage.makes, case / stage.makes):
        faults.append(Fault("lost", f"not as unbroken: {wrong[0]}"))
    told = f"{stage.makes}, the {who} after {after:.1f} s, ended with {done.code}"
    return Attack(told, shown([*arguments, address], place), faults)


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """Its address, and its processes: a scheduler and two workers."""
    folder.mkdir()
    told = folder / "scheduler.json"
    alone = ["--no-dashboard", "--host=127.0.0.1"]
    parts = {
        "scheduler": _begun(
            folder, "dask_scheduler", "--port=0", f"--scheduler-file={told}", *alone
        )
    }
    try:
        until = time.monotonic() + _BEGINS
        while not (told.is_file() and told.read_text().endswith("}")):
            if time.monotonic() > until or parts["scheduler"].poll() is not None:
                raise RuntimeError("no Dask scheduler could be begun here")
            time.sleep(0.05)
        address = str(json.loads(told.read_text())["address"])
        for name in ("worker", "other worker"):
            options = ["--nthreads=1", "--no-nanny", "--death-timeout=60"]
            parts[name] = _begun(folder, "dask_worker", address, *options, *alone)
        yield address, parts
    finally:
        for part in parts.values():
            part.kill()
            part.wait()


def _begun(folder: Path, program: str, *told: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{program}", *told],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
