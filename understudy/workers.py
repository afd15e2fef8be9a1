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

import asyncio
import contextlib
import hashlib
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import loky
from loky.process_executor import BrokenProcessPool, TerminatedWorkerError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from understudy.errors import InputError

if TYPE_CHECKING:  # distributed takes a second to import, and few runs need it
    from distributed import Client

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""Environment of a local process: we are parallel by processes, not by threads."""

DASK_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss)://[^\s/]+:\d+/?")
DASK_CONNECT = 5.0  # seconds to wait for the scheduler
DASK_PATIENCE = 15.0  # seconds of silence before looking for workers, and then to wait for one
DASK_IDLE = 60.0  # seconds after which a process leaves that its run could not close
DASK_IN_FLIGHT = 2_000  # more than a cluster has threads, few enough for the scheduler's memory
LINE_EVERY = 10.0  # seconds between progress lines where there is no terminal

Function = Callable[[Any], Any]  # at the top of a module, so that workers can import it
Attempt = tuple[Any, str | None]  # value and error of an outcome


@dataclass(frozen=True)
class Outcome:
    """What came of one task."""

    key: str
    value: Any
    error: str | None
    """None if all went well, else one line a person can read; `value` is None then."""


Outcomes = Generator[Outcome, None, None]


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
    quiet: bool = False,
    console: Console | None = None,
) -> list[Outcome]:
    """Call `function` on the argument of every task that is not done, and show progress.

    Returns the outcomes of the tasks run, in the order of `tasks`. Whatever ends the call, Ctrl-C
    included, its processes are gone afterwards.
    """
    if seconds_per_task is not None and seconds_per_task <= 0:
        raise ValueError(f"seconds_per_task must be above 0, got {seconds_per_task}")
    chosen = parse(workers)
    todo = {key: tasks[key] for key in tasks if not (is_done and is_done(key))}
    found: dict[str, Outcome] = {}
    tally = _Tally(
        title, len(tasks), len(tasks) - len(todo), console or Console(stderr=True), quiet
    )
    source = _outcomes(function, todo, chosen, seconds_per_task)
    with tally.shown(), contextlib.closing(source) as outcomes:
        for outcome in outcomes:
            found[outcome.key] = outcome
            tally.add(outcome)
    return [found[key] for key in todo]


def _outcomes(
    function: Function, tasks: Mapping[str, Any], workers: int | str, seconds: float | None
) -> Outcomes:
    """Outcomes as they come."""
    if not tasks:
        return
    if isinstance(workers, str):
        yield from _on_dask(function, tasks, workers, seconds)
    elif workers == 0:
        for key, argument in tasks.items():
            with _one_torch_thread():
                attempt = _attempt(function, argument, seconds, _interrupt)
            yield Outcome(key, *attempt)
    else:
        processes = [_Process() for _ in range(min(workers, len(tasks)))]
        try:
            yield from _in_processes(function, tasks, processes, seconds)
        finally:
            for process in processes:
                process.close()


# --- One task, wherever it runs ---


def _attempt(
    function: Function, argument: Any, seconds: float | None, at_limit: Any = signal.SIG_DFL
) -> Attempt:
    """The value, or the error in one line. `sys.exit` in a task ends that task only.

    The default action at the limit is the kernel's: to end this process.
    """
    try:
        with _alarm(seconds, at_limit) if seconds else contextlib.nullcontext():
            return function(argument), None
    except (Exception, SystemExit) as error:
        return None, _line(error)


@contextlib.contextmanager
def _alarm(seconds: float, action: Any) -> Iterator[None]:
    started = time.monotonic()
    action_before = signal.signal(signal.SIGALRM, action)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, action_before)
        if left:  # somebody else's alarm, a test's time limit for one, goes on
            left = max(left - (time.monotonic() - started), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def _interrupt(*_: object) -> None:
    raise TimeoutError("over its time limit")


def _line(error: BaseException) -> str:
    """Type, message and place, in one line: ZeroDivisionError: division by zero (play.py:12)."""
    message = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "/lib/python" not in frame.filename
    ]  # the innermost line of our own code says more than one inside a library
    return f"{text} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text


@contextlib.contextmanager
def _one_torch_thread() -> Iterator[None]:
    """As in the other processes, whose environment says so: sums come out the same."""
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else None
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)


# --- Local processes ---


class _Process:
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
            env=ONE_THREAD,
            initializer=_end_with_parent,
            initargs=(os.getpid(),),
        )

    def submit(self, *call: Any) -> "Future[Attempt]":
        try:
            return self._pool.submit(*call)
        except BrokenProcessPool:
            self.close()
            self._open()
            return self._pool.submit(*call)

    def close(self) -> None:
        self._pool.shutdown(wait=True, kill_workers=True)


def _end_with_parent(parent: int) -> None:
    """In a new process: do not outlive the parent, however it ends."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_processes(
    function: Function,
    tasks: Mapping[str, Any],
    processes: Sequence[_Process],
    seconds: float | None,
) -> Outcomes:
    waiting, idle = deque(tasks), list(processes)
    running: dict[Future[Attempt], tuple[str, _Process]] = {}
    crashed: set[str] = set()
    while waiting or running:
        while waiting and idle:
            key, process = waiting.popleft(), idle.pop()
            running[process.submit(_attempt, function, tasks[key], seconds)] = key, process
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            key, process = running.pop(future)
            idle.append(process)
            error = future.exception()
            if error is None:
                yield Outcome(key, *future.result())
            elif _is_crash(error) and key not in crashed:
                crashed.add(key)
                waiting.append(key)  # once more, last: others may have used up the memory
            else:
                yield Outcome(key, None, _cause_of_death(error, seconds))


def _is_crash(error: BaseException) -> bool:
    # loky tells a process's end only in words; with one process per pool they are about ours.
    return isinstance(error, TerminatedWorkerError) and "SIGALRM" not in str(error)


def _cause_of_death(error: BaseException, seconds: float | None) -> str:
    if _is_crash(error):
        how = re.search(r"\{(.*)\}", str(error))
        return f"its process died (out of memory or a crash{f': {how[1]}' if how else ''})"
    if isinstance(error, TerminatedWorkerError) and seconds:
        return f"no answer within {seconds:g} s, killed"
    return _line(error)  # an argument or a value that cannot be pickled, most likely


# --- Dask ---


def _on_dask(
    function: Function, tasks: Mapping[str, Any], address: str, seconds: float | None
) -> Outcomes:
    from distributed import as_completed

    with _client(address) as (client, run_id):
        completed = as_completed(loop=client.loop)
        waiting = deque(tasks)
        running: dict[Any, str] = {}
        heard = time.monotonic()
        while waiting or running:
            while waiting and len(running) < DASK_IN_FLIGHT:
                key = waiting.popleft()
                call = (_attempt_on_dask, run_id, function, tasks[key], seconds)
                future = client.submit(*call, pure=False)
                running[future] = key
                completed.add(future)
            for future in completed.next_batch(block=False):
                heard = time.monotonic()
                try:
                    attempt = _fetch(future, address)
                except TimeoutError:  # its worker died with the value, and Dask runs it again
                    completed.add(future)
                else:
                    yield Outcome(running.pop(future), *attempt)
            if time.monotonic() - heard > DASK_PATIENCE:
                _check_dask_workers(client, address)
                heard = time.monotonic()
            time.sleep(0.02)


@contextlib.contextmanager
def _client(address: str) -> Iterator[tuple["Client", str]]:
    """A connection to a cluster, and a name for what we leave there; both gone at the end."""
    client = _connect(address)
    run_id = uuid.uuid4().hex
    try:
        yield client, run_id
    finally:
        if client.status == "running":
            with contextlib.suppress(OSError):  # lost just now: what matters has been told
                client.run(_close_on_dask, run_id, on_error="ignore")
        client.close(timeout=DASK_CONNECT)


def _connect(address: str) -> "Client":
    from distributed import Client

    # It logs tracebacks of what we tell in one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        with ThreadPoolExecutor(1) as thread:  # this one may have an event loop running
            thread.submit(asyncio.run, _listen_for_dask(address)).result()
        return Client(address, timeout=DASK_CONNECT, set_as_default=False)
    except Exception as failure:  # each protocol has its own
        why = "" if isinstance(failure, OSError) else f" ({_line(failure)})"
        raise InputError(
            f"no Dask scheduler answers at {address}{why}: start one with `dask scheduler` and "
            f"workers with `dask worker {address}`, or give a number of local processes instead"
        ) from failure


async def _listen_for_dask(address: str) -> None:
    """Dask's servers speak first. From others, a client would wait for a word forever."""
    from distributed import Security
    from distributed.comm import parse_address
    from distributed.comm.registry import get_backend

    protocol, place = parse_address(address)
    options = Security().get_connection_args("client")
    async with asyncio.timeout(DASK_CONNECT):
        line = await get_backend(protocol).get_connector().connect(place, **options)
        try:
            await line.read()
        finally:
            line.abort()


_dask_lock = threading.Lock()
_dask_processes: dict[tuple[str, int], _Process] = {}  # on a Dask worker, by run and thread
_dask_closed: set[str] = set()  # runs that have ended, of which a task may still come late


def _attempt_on_dask(
    run_id: str, function: Function, argument: Any, seconds: float | None
) -> Attempt:
    """In a thread of a Dask worker: have that thread's own process run the task."""
    # Dask marks its workers as daemons, which multiprocessing forbids to have children. Ours
    # watch their parent and so need no such protection.
    multiprocessing.current_process().daemon = False
    slot = (run_id, threading.get_ident())
    with _dask_lock:
        if run_id in _dask_closed:
            return None, "cancelled"
        if slot not in _dask_processes:
            _dask_processes[slot] = _Process(idle_seconds=DASK_IDLE)
        process = _dask_processes[slot]
    [outcome] = _in_processes(function, {"": argument}, [process], seconds)
    return outcome.value, outcome.error


def _close_on_dask(run_id: str) -> None:
    with _dask_lock:
        _dask_closed.add(run_id)
        for slot in [slot for slot in _dask_processes if slot[0] == run_id]:
            _dask_processes.pop(slot).close()


def _fetch(future: Any, address: str) -> Attempt:
    """What Dask says of a task; InputError where the cluster has failed, not the task.

    TimeoutError: Dask has lost the value again, and says nothing yet.
    """
    from distributed import CancelledError, KilledWorker

    try:
        return future.result(timeout=DASK_PATIENCE)
    except TimeoutError:
        raise
    except (CancelledError, OSError) as failure:
        raise InputError(
            f"the Dask scheduler at {address} was lost or restarted: start it again, then run the "
            "same command; tasks already done are not run again"
        ) from failure
    except (ImportError, RuntimeError) as failure:  # not the task's own: those are caught there
        raise InputError(
            f"the Dask cluster at {address} cannot run our code: install the same version on its "
            f"scheduler and workers ({_line(failure)})"
        ) from failure
    except KilledWorker as failure:
        return None, f"its Dask worker died {failure.allowed_failures + 1} times"


def _check_dask_workers(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except (OSError, TimeoutError) as failure:
        raise InputError(
            f"the Dask scheduler at {address} has no workers, or they died of our code: start some "
            f"with `dask worker {address}` where the same version is installed, then run again"
        ) from failure


# --- Progress ---


class _Tally:
    """Counts outcomes and shows them: a bar on a terminal, elsewhere a line now and then."""

    def __init__(self, title: str, total: int, done: int, console: Console, quiet: bool) -> None:
        self._title, self._total, self._done = title, total, done
        self._ran = self._failed = 0
        self._console = console
        self._in_lines = not quiet and not console.is_terminal
        self._started = self._last_line = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[pace]}"),
            console=console,
            disable=quiet or self._in_lines,
        )
        self._task = self._bar.add_task(title, total=total, completed=done, pace="")

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        with self._bar:
            try:
                yield
            finally:
                self._print_line()

    def add(self, outcome: Outcome) -> None:
        self._ran += 1
        self._failed += outcome.error is not None
        self._bar.update(self._task, advance=1, pace=self._pace())
        if time.monotonic() - self._last_line >= LINE_EVERY:
            self._print_line()

    def _print_line(self) -> None:
        if self._in_lines:
            self._last_line = time.monotonic()
            count = f"{self._title}: {self._done + self._ran}/{self._total}"
            elapsed = f"{_clock(self._last_line - self._started)} elapsed"
            line = ", ".join(filter(None, [count, elapsed, self._pace()]))
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _pace(self) -> str:
        """How fast, how long still, how many failed; of this run, not of what was done before."""
        if not self._ran:
            return ""
        each = (time.monotonic() - self._started) / self._ran
        rate = f"{1 / each:.1f} tasks/s" if each < 1 else f"{each:.1f} s/task"
        left = _clock(each * (self._total - self._done - self._ran))
        return f"{rate}, {left} left" + (f", {self._failed} failed" if self._failed else "")


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
