"""One writer per folder: a lock beside it says who writes there, on which machine, since when.

The kernel holds the lock for as long as the process lives, so one whose process has died, however
it died, is free; the file's text is for people. Whoever holds a folder may claim it again.
"""

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from understudy.data.files import cannot_write, require_file
from understudy.data.integrity.flock import lock
from understudy.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
LOCK = ".{}.lock"
"""What the lock of a folder is called, which lies beside it."""
_PAUSE = 0.2  # seconds between looks while waiting
_held: dict[Path, tuple[int, int]] = {}
"""By lock file: the process that holds it (a fork is another), and its descriptor."""
_waits = False
_TO_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)  # a pipe is not waited for


def wait_for_others(wait: bool) -> None:
    """Whether a folder in use is waited for from now on, or refused."""
    global _waits
    _waits = wait


def hold(folder: Path) -> None:
    """Be the one who writes to a folder until `release`; InputError where another process is."""
    path = _lock_of(folder)
    if path in _held and _held[path][0] == os.getpid():
        return
    told = False
    while (descriptor := _take(path, folder)) is None:
        if not _waits:
            raise InputError(
                f"{folder} is being written by {_owner(path)}. Wait for it (--wait), or stop it: "
                "what it has done is kept, and the same command goes on"
            )
        if not told:
            print(f"understudy: waiting for {_owner(path)} in {folder}", file=sys.stderr)
            told = True
        time.sleep(_PAUSE)
    _held[path] = os.getpid(), descriptor


@contextlib.contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """`hold` while the block runs and after it; where the block fails, nothing of it is left."""
    was_there = folder.parent.is_dir()
    hold(folder)
    try:
        yield
    except BaseException:
        release(folder)
        if not was_there:
            with contextlib.suppress(OSError):
                folder.parent.rmdir()  # where it is empty
        raise


def release(folder: Path) -> None:
    """Let others write to a folder; nothing happens where it is not held."""
    _release(_lock_of(folder))


def release_all() -> None:
    """The same for all folders that this process holds: its work has ended, well or not."""
    for path in list(_held):
        _release(path)


def released(command: Callable[P, R]) -> Callable[P, R]:
    """A function after which no folder is held, however it ended."""

    @wraps(command)
    def call(*told: P.args, **named: P.kwargs) -> R:
        try:
            return command(*told, **named)
        finally:
            release_all()

    return call


class Writer(NamedTuple):
    """Who has claimed a folder and not released it."""

    pid: int
    host: str
    since: str
    alive: bool
    """Of a process on another machine this cannot be known; it is believed to be."""


def writer_of(folder: Path) -> Writer | None:
    """Who writes to a folder, or died while it did; None where nobody does. Holds nothing up."""
    path = _lock_of(folder)
    try:
        require_file(path)  # a pipe would hold up whoever looks
        about = json.loads(path.read_bytes())
        pid, host, since = int(about["pid"]), str(about["host"]), str(about["since"])
    except (OSError, ValueError, LookupError, TypeError, InputError):
        return None
    return Writer(pid, host, since, host != socket.gethostname() or is_alive(pid))


def is_alive(pid: int) -> bool:
    """Whether there is such a process; one that has ended and waits for its parent is none."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return True
    return not state or state[0] != "Z"


def _lock_of(folder: Path) -> Path:
    place = folder.resolve()
    return place.with_name(LOCK.format(place.name))


def _release(path: Path) -> None:
    owner, descriptor = _held.pop(path, (None, -1))
    if owner != os.getpid():
        return
    with contextlib.suppress(OSError):
        path.unlink()  # while it is held: who opened it before sees that it is gone
    os.close(descriptor)


def _take(path: Path, folder: Path) -> int | None:
    try:
        return _taken(path)
    except OSError as failure:
        raise cannot_write(folder, failure) from failure


def _taken(path: Path) -> int | None:
    """A descriptor that holds the lock; None where somebody else does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, _TO_LOCK, 0o644)
        try:
            lock(descriptor, wait=False)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            pass  # a file system without locks: then nobody is kept out
        try:
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                break
        except FileNotFoundError:
            pass
        os.close(descriptor)  # released and removed by another in between
    since = datetime.now(UTC).isoformat(timespec="seconds")
    about = {"host": socket.gethostname(), "pid": os.getpid(), "since": since}
    os.ftruncate(descriptor, 0)
    os.write(descriptor, json.dumps(about).encode())
    return descriptor


def _owner(path: Path) -> str:
    """Who holds a lock, in words."""
    try:
        about = json.loads(path.read_bytes())
        return f"process {int(about['pid'])} on {about['host']} since {about['since']}"
    except (OSError, ValueError, LookupError, TypeError):
        return "another process"
