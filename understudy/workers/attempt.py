"""One task, wherever it runs: called, timed, and turned into a value or one line of error."""

import contextlib
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy.errors import InputError

Function = Callable[[Any], Any]  # at the top of a module, so that workers can import it
Attempt = tuple[Any, str | None]  # value and error of an outcome


DIED = "its process died"
LATE = "no answer within"
SPOILT = "its process was spoilt"
OVER = "over its time limit"
"""How errors begin that tell of a process, not of what was computed in it."""


_OF_PROCESSES = (DIED, LATE, SPOILT, OVER)


@dataclass(frozen=True)
class Outcome:
    """What came of one task."""

    key: str
    value: Any
    error: str | None
    """None if all went well, else one line a person can read; `value` is None then."""

    @property
    def hurt_its_process(self) -> bool:
        """Whether the task ended, held up or spoilt the process it ran in."""
        return self.error is not None and any(word in self.error for word in _OF_PROCESSES)


Outcomes = Generator[Outcome, None, None]


def attempt(
    function: Function, argument: Any, seconds: float | None, at_limit: Any = signal.SIG_DFL
) -> Attempt:
    """The value, or the error in one line. `sys.exit` in a task ends that task only.

    The default action at the limit is to end this process, whatever it is doing.
    """
    try:
        with limited(seconds, at_limit) if seconds else contextlib.nullcontext():
            return function(argument), None
    except (Exception, SystemExit, OverLimit) as error:
        return None, line_of(error)


def limited(seconds: float, action: Any) -> contextlib.AbstractContextManager[None]:
    """The action after so many seconds in the block: by the kernel, or on Windows by a thread."""
    by_kernel = hasattr(signal, "setitimer")
    return _by_signal(seconds, action) if by_kernel else _by_thread(seconds, action)


@contextlib.contextmanager
def _by_signal(seconds: float, action: Any) -> Iterator[None]:
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


@contextlib.contextmanager
def _by_thread(seconds: float, action: Any) -> Iterator[None]:
    here = threading.get_ident()
    if action is signal.SIG_DFL:  # a thread of C, that no Python code holds up: it ends the process
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
            try:
                yield
            finally:
                faulthandler.cancel_dump_traceback_later()
        return
    timer = threading.Timer(seconds, raise_in, (here, OverLimit))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        raise_in(here, None)  # where it came too late


def raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Have a thread raise this as soon as it runs Python code; None takes it back."""
    error = ctypes.py_object(kind) if kind else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


class OverLimit(BaseException):
    """A task has used up its time. Not an Exception: what runs in a task may catch those."""

    def __init__(self) -> None:
        super().__init__(OVER)


def interrupt(*_: object) -> None:
    """What to do at the limit in a process that must live on."""
    raise OverLimit


def line_of(error: BaseException) -> str:
    """Type, message and place, in one line: ZeroDivisionError: division by zero (play.py:12).

    What a user is meant to read comes alone and whole: it ends with the cure.
    """
    if isinstance(error, InputError):
        return str(error)
    message = " ".join(str(error).split())[:300]
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and "/lib/python" not in frame.filename
        if not frame.filename.startswith("<")  # the importing machinery
    ]  # the innermost line of our own code says more than one inside a library
    return f"{text} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text


@contextlib.contextmanager
def one_torch_thread() -> Iterator[None]:
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
