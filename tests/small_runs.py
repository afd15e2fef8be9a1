"""Small runs for the tests: the command line in this process, a tiny recipe, folders to compare."""

import contextlib
import fcntl
import io
import json
import os
import resource
import shlex
import sys
from dataclasses import replace
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from understudy import cli

RECORD = "record arena --opponents rusher,kiter --matches 40 --seed 9"  # all splits are in it
ENCODE = "encode arena"
TRAIN = "train arena imitate-quick --seed 9"
COMPETE = "compete arena imitate-quick expert --matches 6"
_TIMES = ("begun", "seconds", "samples_per_second", "command", "seal", "crc", "hash_seed")
"""What tells the time, and how the process was begun: a test runs commands here and elsewhere."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


def understudy(command, *more):
    """Run a command, as a line and further arguments, and see what it says."""
    out, err = io.StringIO(), io.StringIO()
    arguments = ["understudy", *shlex.split(command), *map(str, more)]
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", arguments)
        patch.setenv("OMP_NUM_THREADS", "1")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
            except SystemExit as end:
                code = end.code or 0
    return Done(code, out.getvalue(), err.getvalue())


def succeed(command, folder, *more):
    """Run a command quietly, here, on the run in `folder`; it must end well."""
    here = () if "train" in command else ("--workers", "0")
    done = understudy(command, "--out", folder, "--quiet", *here, *more)
    assert (done.code, done.err) == (0, "")
    return done


def finished_run(tmp_path_factory):
    """A run that has been through every stage, made once for all tests; not to be changed."""
    root = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent  # shared by the workers
    made, making = root / "finished", root / "making"
    with (root / "finished.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            with tiny_recipe():
                for command in (RECORD, ENCODE, TRAIN, COMPETE):
                    succeed(command, making)
            making.rename(made)
    return made


@contextlib.contextmanager
def tiny_recipe():
    """`imitate-quick` in no time, without TensorBoard, which takes a second to import."""
    import torch

    from understudy.games.arena.recipes import RECIPES
    from understudy.learn import metrics_log

    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(RECIPES, "imitate-quick", tiny(RECIPES["imitate-quick"]))
        patch.setattr(metrics_log, "tensorboard", lambda folder, step: None)
        yield


def tiny(recipe):
    """Looks and checkpoints at different times."""
    return replace(
        recipe,
        steps=24,
        hidden=(16,),
        batch_size=64,
        warmup=3,
        evaluate_every=4,
        checkpoint_every=6,
    )


def contents(folder):
    """All files below a folder, by name: data as bytes, JSON without what tells the time."""
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.name == "checkpoint.pt":
            found[name] = "there"  # it holds seconds, and all else in it decides `last`
        elif path.suffix == ".json":
            found[name] = _timeless(json.loads(path.read_text()))
        elif path.suffix == ".jsonl":
            found[name] = [_timeless(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.suffix == ".safetensors":
            found[name] = _weights(path.read_bytes())
        elif "tensorboard" not in path.parts:
            found[name] = path.read_bytes()
    return found


def rows(folder, table):
    """A table's rows of all its shards."""
    shards = sorted(folder.glob(f"{table}-*.parquet"))
    return [row for path in shards for row in pq.read_table(path).to_pylist()]


def _weights(raw):
    """Header and tensors; the header's entries come in any order."""
    size = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + size]), raw[8 + size :]


def _timeless(value):
    if isinstance(value, dict):
        kept = {key: _timeless(item) for key, item in value.items() if key not in _TIMES}
        return kept | {key: bool(kept[key]) for key in kept if key == "finished"}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def assert_refused(done, *words):
    """Exactly one line on stderr, exit code 2, and the line says these words."""
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("understudy: ")
    assert done.err.endswith("\n")
    assert done.err.count("\n") == 1
    for word in words:
        assert str(word) in done.err


@contextlib.contextmanager
def a_disk_that_takes_files_up_to(size):
    """Writing beyond fails as on a full disk; Python ignores the signal that comes with it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
