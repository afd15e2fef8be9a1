"""A run as stages would have left it, written by hand in no time."""

import json
import os
import socket

from understudy.data.integrity.json_files import json_line, write_json
from understudy.data.runs import MANIFEST, ModelFolder, Run, tasks_file

BEGUN, ENDED = "2026-11-18T12:00:00+00:00", "2026-11-18T12:10:00+00:00"
GONE = 4_000_000
"""A process that there cannot be."""


def stage(folder, kind, finished=ENDED, command=("understudy",), game="arena", **settings):
    """A folder with a manifest."""
    write_json(
        folder / MANIFEST,
        {
            **{"stage": kind, "settings": {"game": game, **settings}, "inputs": {}},
            **{"command": list(command), "versions": {}, "begun": BEGUN, "finished": finished},
        },
    )
    return folder


def model(run, name, steps=10, total=None, finished=ENDED, **settings):
    """A model that was trained so far."""
    folder = run.model(name)
    command = ("understudy", "train", "arena", name, "--out", str(run.folder))
    stage(folder, "train", finished, command, recipe=name, steps=total or steps, **settings)
    with ModelFolder(folder).metrics.open("w") as file:
        for step in range(1, steps + 1):
            file.write(json_line({"step": step, "train/loss": 1 / step, "val/loss": 2 / step}))
    return folder


def small_run(folder, name="imitate", **settings):
    """A run with recordings and one model."""
    run = Run(folder)
    stage(run.recordings, "record", matches=4)
    model(run, name, **settings)
    return run


def lock(folder, pid):
    """As a process leaves it that writes to a folder."""
    about = {"host": socket.gethostname(), "pid": pid, "since": BEGUN}
    (folder.parent / f".{folder.name}.lock").write_text(json.dumps(about))


def lock_of_this_process(folder):
    lock(folder, os.getpid())


def tasks(folder, total, done, failed=()):
    """As a stage of tasks leaves it."""
    reasons = dict.fromkeys(failed, "ValueError: no")
    write_json(tasks_file(folder), {"total": total, "table": "results", "failed": reasons})
    for number in range(done):
        (folder / f"results-{number:05d}.parquet").touch()
