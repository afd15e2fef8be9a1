"""Tasks on a Dask cluster: each thread of a Dask worker keeps one of our own processes.

Killing a Dask worker for one task would hurt its neighbours, be tried again four times, and lose
values already computed; a process of our own beside it can be killed alone.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import re
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from understudy.errors import InputError
from understudy.workers.attempt import DIED, Attempt, Function, Outcome, Outcomes, line_of
from understudy.workers.processes import Process, in_processes

if TYPE_CHECKING:  # distributed takes a second to import, and few runs need it
    from distributed import Client

DASK_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss)://[^\s/]+:\d+/?")
DASK_CONNECT = 5.0  # seconds to wait for the scheduler
DASK_PATIENCE = 15.0  # seconds of silence before looking for workers, and then to wait for one
DASK_IDLE = 60.0  # seconds after which a process leaves that its run could not close
DASK_IN_FLIGHT = 2_000  # more than a cluster has threads, few enough for the scheduler's memory


def on_dask(
    function: Function, tasks: Mapping[str, Any], address: str, seconds: float | None
) -> Outcomes:
    """Outcomes as they come from the cluster."""
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
    client = connect(address)
    run_id = uuid.uuid4().hex
    try:
        yield client, run_id
    finally:
        if client.status == "running":
            with contextlib.suppress(OSError):  # lost just now: what matters has been told
                client.run(_close_on_dask, run_id, on_error="ignore")
        client.close(timeout=DASK_CONNECT)


def connect(address: str) -> "Client":
    """A connection to a Dask scheduler; InputError where none answers."""
    from distributed import Client

    # It logs tracebacks of what we tell in one line.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        with ThreadPoolExecutor(1) as thread:  # this one may have an event loop running
            thread.submit(asyncio.run, _listen_for_dask(address)).result()
        return Client(address, timeout=DASK_CONNECT, set_as_default=False)
    except Exception as failure:  # each protocol has its own
        why = "" if isinstance(failure, OSError) else f" ({line_of(failure)})"
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
_dask_processes: dict[tuple[str, int], Process] = {}  # on a Dask worker, by run and thread
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
            _dask_processes[slot] = Process(idle_seconds=DASK_IDLE)
        process = _dask_processes[slot]
    [outcome] = in_processes(function, {"": argument}, [process], seconds)
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
            f"scheduler and workers ({line_of(failure)})"
        ) from failure
    except KilledWorker as failure:
        return None, f"{DIED} (a Dask worker, {failure.allowed_failures + 1} times)"


def _check_dask_workers(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except (OSError, TimeoutError) as failure:
        raise InputError(
            f"the Dask scheduler at {address} has no workers, or they died of our code: start some "
            f"with `dask worker {address}` where the same version is installed, then run again"
        ) from failure
