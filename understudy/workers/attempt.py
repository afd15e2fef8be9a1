"""One task, wherever it runs: called, timed, and turned into a value or one line of error."""

import contextlib
import signal
import sys
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

    The default action at the limit is the kernel's: to end this process.
    """
    try:
        with _alarm(seconds, at_limit) if seconds else contextlib.nullcontext():
            return function(argument), None
    except (Exception, SystemExit, OverLimit) as error:
        return None, line_of(error)


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


class OverLimit(BaseException):
    """A task has used up its time. Not an Exception: what runs in a task may catch those."""


def interrupt(*_: object) -> None:
    """What to do at the limit in a process that must live on."""
    raise OverLimit(OVER)


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
