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
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from understudy.errors import InputError
from understudy.workers import shipping
from understudy.workers.attempt import DIED, Attempt, Function, Outcome, Outcomes, line_of
from understudy.workers.fingerprint import Fingerprint, difference, fingerprint
from understudy.workers.processes import Process, in_processes
from understudy.workers.shipping import Bundle, Put, Shipment

if TYPE_CHECKING:  # distributed takes a second to import, and few runs need it
    from distributed import Client

DASK_ADDRESS = re.compile(r"(tcp|tls|ucx|ucxx|ws|wss)://[^\s/]+:\d+/?")
DASK_CONNECT = 5.0  # seconds to wait for the scheduler
DASK_PATIENCE = 15.0  # seconds of silence before looking for workers, and then to wait for one
DASK_IDLE = 60.0  # seconds after which a process leaves that its run could not close
DASK_PARCELS = 200  # the same of tasks that take their files along
DASK_IN_FLIGHT = 2_000  # more than a cluster has threads, few enough for the scheduler's memory


def on_dask(
    function: Function,
    tasks: Mapping[str, Any],
    address: str,
    seconds: float | None,
    ship: Callable[[Any], Shipment] | None = None,
    put: Put | None = None,
) -> Outcomes:
    """Outcomes as they come from the cluster, whose files are put down here first."""
    from distributed import as_completed

    files = None if ship is None or put is None else _Files(tasks, ship, put, set())
    with _client(address) as (client, run_id):
        completed = as_completed(loop=client.loop)
        waiting = deque(tasks)
        running: dict[Any, str] = {}
        heard = time.monotonic()
        while waiting or running:
            while waiting and len(running) < (DASK_IN_FLIGHT if files is None else DASK_PARCELS):
                key = waiting.popleft()
                call = (
                    (function, tasks[key]) if files is None else files.sent(client, function, key)
                )
                told = (_attempt_on_dask, run_id, fingerprint(), *call, seconds)
                future = client.submit(*told, pure=False)
                running[future] = key
                completed.add(future)
            for future in completed.next_batch(block=False):
                heard = time.monotonic()
                try:
                    attempt = _fetch(future, address)
                except TimeoutError:  # its worker died with the value, and Dask runs it again
                    completed.add(future)
                else:
                    key = running.pop(future)
                    yield Outcome(key, *(attempt if files is None else files.back(key, attempt)))
            if time.monotonic() - heard > DASK_PATIENCE:
                _check_dask_workers(client, address)
                heard = time.monotonic()
            time.sleep(0.02)


class _Files(NamedTuple):
    """The files of tasks, on their way there and back."""

    tasks: Mapping[str, Any]
    ship: Callable[[Any], Shipment]
    put: Put
    told: set[str]
    """Digests of what every worker has."""

    def sent(self, client: "Client", function: Function, key: str) -> tuple[Function, Any]:
        """What to call there, and with what."""
        parcel, bundles = shipping.packed(self.tasks[key], self.ship(self.tasks[key]))
        for digest in bundles.keys() - self.told:
            _tell(client, digest, bundles[digest])
        self.told.update(bundles)
        return partial(shipping.call, function), parcel

    def back(self, key: str, attempt: Attempt) -> Attempt:
        """The value, when the files lie here."""
        value, error = attempt
        if error is not None:
            return attempt
        return shipping.unpacked(value, self.ship(self.tasks[key]), self.put), None


def _tell(client: "Client", digest: str, files: Bundle) -> None:
    """Have every worker keep these files, and every one that comes later."""
    from distributed import WorkerPlugin

    class Keeps(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            shipping.store(digest, files)

    client.register_plugin(Keeps(), name=f"understudy-{digest}")


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
        with warnings.catch_warnings(action="ignore"):  # of versions: told in one line below
            client = Client(address, timeout=DASK_CONNECT, set_as_default=False)
    except Exception as failure:  # each protocol has its own
        why = "" if isinstance(failure, OSError) else f" ({line_of(failure)})"
        raise InputError(
            f"no Dask scheduler answers at {address}{why}: start one with `dask scheduler` and "
            f"workers with `dask worker {address}`, or give a number of local processes instead"
        ) from failure

    try:
        _check_versions(client, address)
    except BaseException:
        client.close(timeout=DASK_CONNECT)
        raise
    return client


def _check_versions(client: "Client", address: str) -> None:
    """InputError unless all workers there are now would compute what we do."""
    ours = fingerprint()
    try:
        found = client.run(fingerprint, on_error="return")
    except Exception as failure:
        raise _cannot_run(address, failure) from failure
    for worker, theirs in sorted(found.items()):
        if isinstance(theirs, BaseException):
            raise _cannot_run(worker, theirs)
        if differs := difference(ours, theirs):
            raise InputError(_DIFFERS.format(worker, differs))


_DIFFERS = (
    "the Dask worker at {} would not compute what this machine does: {}. Install the same there, "
    "then run the same command again"
)
_OTHER_MAKE = "another make: "


def _cannot_run(address: str, failure: BaseException) -> InputError:
    return InputError(
        f"the Dask cluster at {address} cannot run our code: install the same version on its "
        f"scheduler and workers ({line_of(failure)})"
    )


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
    run_id: str, ours: Fingerprint, function: Function, argument: Any, seconds: float | None
) -> Attempt:
    """In a thread of a Dask worker: have that thread's own process run the task."""
    if differs := difference(ours, fingerprint()):  # it came after the first task
        return None, f"{_OTHER_MAKE}{differs}"
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
        attempt: Attempt = future.result(timeout=DASK_PATIENCE)
        if attempt[1] is not None and attempt[1].startswith(_OTHER_MAKE):
            raise InputError(_DIFFERS.format(address, attempt[1].removeprefix(_OTHER_MAKE)))
        return attempt
    except TimeoutError:
        raise
    except (CancelledError, OSError) as failure:
        raise InputError(
            f"the Dask scheduler at {address} was lost or restarted: start it again, then run the "
            "same command; tasks already done are not run again"
        ) from failure
    except (ImportError, RuntimeError) as failure:  # not the task's own: those are caught there
        raise _cannot_run(address, failure) from failure
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
