"""Tasks in local processes, one at a time in each, so that a task can be killed alone."""

import faulthandler
import os
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import loky
from loky.backend.utils import kill_process_tree
from loky.process_executor import BrokenProcessPool, TerminatedWorkerError

from understudy.workers.attempt import (
    DIED,
    LATE,
    Attempt,
    Function,
    Outcome,
    Outcomes,
    attempt,
    line_of,
)
from understudy.workers.forking import held_back

THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
ENVIRONMENT = {**dict.fromkeys(THREAD_SETTINGS, "1"), "PYTHONHASHSEED": "0"}
"""Of a local process. We are parallel by processes, not by threads; and a set of strings has the
same order in all of them, so that code which goes through one does the same in each."""
GRACE = 30.0
"""Seconds for a process to begin, and to be ended by the kernel."""
_LOOK = 5.0  # seconds between two looks at who is over its limit


class Process:
    """A process for one task at a time, replaced when a task has killed it.

    A pool of N processes would break as a whole and not tell which task broke it; N pools of
    one lose only the task to blame. loky forks and executes anew, so threads here do no harm.
    """

    def __init__(self, idle_seconds: float | None = None) -> None:
        self._idle_seconds = idle_seconds
        self._open()

    def _open(self) -> None:
        self._pool = loky.ProcessPoolExecutor(
            1,
            timeout=self._idle_seconds,
            env=ENVIRONMENT,
            initializer=_end_with_parent,
            initargs=(os.getpid(),),
        )

    def submit(self, *call: Any) -> "Future[Attempt]":
        """Run one call there, in a new process if the last task killed the old one.

        A terminal tells every process of Ctrl-C. It is this one's to end the others: they would
        break off with a traceback each.
        """
        with held_back(signal.SIGINT):
            try:
                return self._pool.submit(*call)
            except BrokenProcessPool:
                self.close()
                self._open()
                return self._pool.submit(*call)

    def kill(self) -> None:
        """End what runs there, and be ready for the next task."""
        for process in list(self._pool._processes.values()):  # loky has no name for that
            kill_process_tree(process)

    def close(self) -> None:
        """Kill it."""
        self._pool.shutdown(wait=True, kill_workers=True)


def _end_with_parent(parent: int) -> None:
    """In a new process: do not outlive the parent, however it ends; a crash is told in one line."""
    faulthandler.disable()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def in_processes(
    function: Function,
    tasks: Mapping[str, Any],
    processes: Sequence[Process],
    seconds: float | None,
) -> Outcomes:
    """Outcomes as they come; a task whose process crashed is tried once more, last.

    The kernel ends a task at its limit. One that stops its process or no longer hears the kernel is
    ended from here, `GRACE` later.
    """
    waiting, idle = deque(tasks), list(processes)
    running: dict[Future[Attempt], tuple[str, Process, float]] = {}
    crashed: set[str] = set()
    while waiting or running:
        while waiting and idle:
            key, process = waiting.popleft(), idle.pop()
            future = process.submit(attempt, function, tasks[key], seconds)
            running[future] = key, process, time.monotonic()
        done = wait(running, _LOOK if seconds else None, return_when=FIRST_COMPLETED).done
        for future, (_, process, began) in running.items():
            if future not in done and seconds and time.monotonic() - began > seconds + GRACE:
                process.kill()
        for future in done:
            key, process, began = running.pop(future)
            idle.append(process)
            error = future.exception()
            late = seconds is not None and time.monotonic() - began >= seconds
            if error is None:
                yield Outcome(key, *future.result())
            elif _is_crash(error, late) and key not in crashed:
                crashed.add(key)
                waiting.append(key)  # once more, last: others may have used up the memory
            else:
                yield Outcome(key, None, _cause_of_death(error, late, seconds))


def _is_crash(error: BaseException, late: bool) -> bool:
    # loky tells a process's end only in words; with one process per pool they are about ours.
    # Where there is no SIGALRM, a process that is over its limit ends by itself, or by SIGKILL.
    ended = any(how in str(error) for how in ("EXIT(1)", "SIGKILL"))
    of_time = "SIGALRM" in str(error) or (late and ended)
    return isinstance(error, TerminatedWorkerError) and not of_time


def _cause_of_death(error: BaseException, late: bool, seconds: float | None) -> str:
    if _is_crash(error, late):
        how = re.search(r"\{(.*)\}", str(error))
        return f"{DIED} (out of memory or a crash{f': {how[1]}' if how else ''})"
    if isinstance(error, TerminatedWorkerError) and seconds:
        return f"{LATE} {seconds:g} s, killed"
    return line_of(error)  # an argument or a value that cannot be pickled, most likely
