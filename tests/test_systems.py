"""Other systems than Linux: nothing they lack is needed at import, and time is limited there too.

A process from which all is taken that Windows does not have stands for Windows.
"""

import ast
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from understudy.workers.attempt import OVER, attempt, interrupt

PACKAGE = Path(__file__).parents[1] / "understudy"
MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "tty", "posix", "syslog")
NAMES = {
    "os": (
        *("getuid", "geteuid", "getgid", "fork", "setsid", "killpg", "getpgid", "mkfifo", "nice"),
        *("posix_spawn", "pidfd_open", "waitid", "WIFEXITED", "WNOHANG", "O_NONBLOCK", "uname"),
        *("sched_getaffinity", "sysconf", "getloadavg", "openpty"),
    ),
    "signal": (
        *("SIGALRM", "SIGVTALRM", "SIGKILL", "SIGPIPE", "SIGXCPU", "SIGXFSZ", "SIGHUP", "SIGSTOP"),
        *("setitimer", "alarm", "pthread_kill", "ITIMER_REAL", "SIGUSR1", "SIGUSR2", "SIGCHLD"),
    ),
    "select": ("poll", "POLLIN", "epoll"),
}
"""What Windows does not have."""
EVERY = {name for names in NAMES.values() for name in names}

TAKEN = f"""
import importlib, os, select, signal, sys, types
import numba, pyarrow.parquet, loky, rich.console, typer, gymnasium, pettingzoo, msgspec  # theirs
import safetensors, tempfile, subprocess, multiprocessing, socket, uuid, scipy.stats, asyncio
from loky.backend import context
context.cpu_count()
for module in {MODULES!r}:
    sys.modules[module] = None
for module, names in {NAMES!r}.items():
    for name in names:
        vars(sys.modules[module]).pop(name, None)
locked = []
sys.modules["msvcrt"] = types.SimpleNamespace(
    LK_LOCK=1, LK_NBLCK=2, locking=lambda *told: locked.append(told)
)
"""


def at_import(tree):
    """The nodes that run when a module is imported: what is in functions does not."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += [*node.args.defaults, *(one for one in node.args.kw_defaults if one)]
            waiting += getattr(node, "decorator_list", [])
            continue
        yield node
        waiting += ast.iter_child_nodes(node)


def lacking(source):
    """What a module takes at import that Windows does not have."""
    for node in at_import(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = {one.name for one in node.names}
            yield from names.intersection(NAMES.get(node.module, ()))
            yield from [node.module] if node.module in MODULES else []
        elif isinstance(node, ast.Attribute) and node.attr in EVERY:
            yield ast.unparse(node)


def test_nothing_is_needed_at_import_that_windows_lacks():
    suspect = re.compile(rf"\b({'|'.join((*MODULES, *EVERY))})\b")
    texts = {path.relative_to(PACKAGE): path.read_text() for path in PACKAGE.rglob("*.py")}
    found = {path: list(lacking(text)) for path, text in texts.items() if suspect.search(text)}
    assert len(found) > 5
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import fcntl", ["fcntl"]),
        ("from os import fork", ["fork"]),
        ("import signal\nS = signal.SIGVTALRM", ["signal.SIGVTALRM"]),
        ("import os\ndef f(a=os.getuid()): pass", ["os.getuid"]),
        ("import os\ndef f(): return os.fork()", []),
        ("import os\nclass A:\n    user = os.getuid()", ["os.getuid"]),
    ],
)
def test_what_is_needed_at_import_is_found(source, names):
    assert list(lacking(source)) == names


def test_without_signals_a_thread_interrupts_what_takes_too_long(monkeypatch):
    def endless(argument):
        while True:
            time.sleep(0.001)

    began = time.monotonic()
    with monkeypatch.context() as patch:  # the time limit of this test needs it in the end
        patch.delattr("signal.setitimer")
        value, error = attempt(endless, None, 0.05, interrupt)
        late = time.monotonic() - began
        quick = attempt(lambda argument: argument + 1, 1, 30.0, interrupt)
    assert value is None and OVER in error and late < 10
    assert quick == (2, None)


def test_without_signals_a_process_over_its_limit_ends():
    """Also one that holds Python's lock in C: here, by adding for hours."""
    code = (
        "import signal, sys; del signal.setitimer\n"
        "from understudy.workers.attempt import attempt\n"
        "attempt(lambda argument: sum(range(10**12)), None, 0.3)\n"
        "print('it came back')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")


RUN = """
import contextlib, io, json, pkgutil, shlex
import understudy
from understudy import cli
imported = []
for one in pkgutil.walk_packages(understudy.__path__, "understudy."):
    if not one.name.endswith("__main__"):
        importlib.import_module(one.name)
        imported.append(one.name)
told = {"modules": len(imported), "commands": []}
for line in json.loads(sys.argv[1]):
    sys.argv, code, err = ["understudy", *shlex.split(line)], 0, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
    told["commands"].append([line, code, err.getvalue()])
told["locked"] = len(locked)
print(json.dumps(told))
"""


@pytest.mark.slow
def test_the_arena_is_recorded_learnt_and_played_without_what_windows_lacks(tmp_path):
    here, there = (f"--out {tmp_path / run} --workers 0 --quiet" for run in ("run", "scml"))
    lines = [
        f"record arena --opponents rusher --matches 60 --task-seconds 100 {here}",
        f"encode arena {here}",
        f"train arena imitate-quick --set steps=20 --out {tmp_path / 'run'} --quiet",
        f"compete arena imitate-quick expert --matches 4 {here}",
        f"compete scml Greedy Random --configs 1 --steps 6 --max-worlds-per-config 2 {there}",
        f"report {tmp_path / 'run'}",
        f"check {tmp_path / 'run'}",
        "selftest --minutes 1",
    ]
    theirs = "import torch, scml.std, negmas, scml.oneshot.world, open_spiel, xgboost, fastapi\n"
    done = subprocess.run(
        [sys.executable, "-c", theirs + TAKEN + RUN, json.dumps(lines)],
        capture_output=True,
        text=True,
        timeout=250,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["modules"] > 400 and told["locked"] > 2
    *played, refused = told["commands"]
    assert [one for one in played if one[1]] == []
    assert refused[1] == 2 and "Linux and macOS" in refused[2]
