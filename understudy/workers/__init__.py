"""Turn a function and many named arguments into one outcome each, on however many workers.

Workers are this process (0, for debugging), N local processes, or a Dask cluster by address.
Outcomes come in the order of the tasks, and tasks draw their numbers from `task_seed`, so
nothing depends on how many workers there are. A task that fails, hangs or crashes is recorded
and the rest goes on.

A local process runs one task at a time, and the kernel kills it when the task exceeds its time
limit: being stuck in C code is no escape, and no other task is hurt. A Dask worker runs tasks in
threads, so each thread keeps such a process beside it. Whatever a task started itself is not
killed with it. In this process, TimeoutError is raised in the task, as soon as Python code runs;
that works in the main thread only.
"""

import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import loky
from rich.console import Console

from understudy import extras
from understudy.errors import InputError
from understudy.workers.attempt import (
    Function,
    Outcome,
    Outcomes,
    attempt,
    interrupt,
    one_torch_thread,
)
from understudy.workers.cluster import DASK_ADDRESS, on_dask
from understudy.workers.processes import Process, in_processes
from understudy.workers.progress import Tally
from understudy.workers.shipping import Put, Shipment

__all__ = ["Outcome", "Shipment", "parse", "run", "task_seed"]


def task_seed(seed: int, *path: int) -> int:
    """An independent 63-bit seed. Same seed, same task: same numbers, whoever runs it."""
    text = ",".join(str(int(part)) for part in (seed, *path))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) >> 1


def parse(workers: str | int | None) -> int | str:
    """A number of local processes (0: none, run here) or the address of a Dask scheduler."""
    if workers is None:
        return int(loky.cpu_count())  # those this process may use, not those the machine has
    text = str(workers).strip()
    if re.fullmatch("[0-9]+", text):
        return int(text)
    if DASK_ADDRESS.fullmatch(text):
        extras.require(["distributed"], f"--workers {text}")
        return text
    raise InputError(
        f"cannot run on workers '{text}': give a number of local processes (0 runs all in this "
        "one) or the address of a Dask scheduler, such as tcp://host:8786"
    )


def run(
    function: Function,
    tasks: Mapping[str, Any],
    *,
    workers: str | int | None,
    title: str,
    seconds_per_task: float | None = None,
    is_done: Callable[[str], bool] | None = None,
    ship: Callable[[Any], Shipment] | None = None,
    put: Put | None = None,
    quiet: bool = False,
    console: Console | None = None,
) -> list[Outcome]:
    """Call `function` on the argument of every task that is not done, and show progress.

    On a cluster nothing is shared with us: `ship` says which files a task reads and where it writes
    them, and `put` writes down what comes back.

    Returns the outcomes of the tasks run, in the order of `tasks`. Whatever ends the call, Ctrl-C
    included, its processes are gone afterwards.
    """
    if seconds_per_task is not None and seconds_per_task <= 0:
        raise ValueError(f"seconds_per_task must be above 0, got {seconds_per_task}")
    chosen = parse(workers)
    todo = {key: tasks[key] for key in tasks if not (is_done and is_done(key))}
    found: dict[str, Outcome] = {}
    tally = Tally(title, len(tasks), len(tasks) - len(todo), console or Console(stderr=True), quiet)
    if isinstance(chosen, str):
        source = on_dask(function, todo, chosen, seconds_per_task, ship, put) if todo else _none()
    else:
        source = _outcomes(function, todo, chosen, seconds_per_task)
    with tally.shown(), contextlib.closing(source) as outcomes:
        for outcome in outcomes:
            found[outcome.key] = outcome
            tally.add(outcome)
    return [found[key] for key in todo]


def _none() -> Outcomes:
    """Nothing is to be done."""
    yield from ()


def _outcomes(
    function: Function, tasks: Mapping[str, Any], workers: int, seconds: float | None
) -> Outcomes:
    """Outcomes as they come, of this machine."""
    if not tasks:
        return
    if workers == 0:
        for key, argument in tasks.items():
            with one_torch_thread():
                found = attempt(function, argument, seconds, interrupt)
            yield Outcome(key, *found)
    else:
        processes = [Process() for _ in range(min(workers, len(tasks)))]
        try:
            yield from in_processes(function, tasks, processes, seconds)
        finally:
            for process in processes:
                process.close()
