"""A call in a process of its own that may die: forked, limited, and watched from outside.

What it returns comes back pickled. However it ends (a crash, `os._exit`, too much memory or time,
being stuck in C code) is told in words, and what it started dies with it. It may write down at any
moment what it is about to do: that is known even if it dies of it.
"""

import contextlib
import ctypes
import faulthandler
import mmap
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from understudy.errors import InputError
from understudy.workers.attempt import OverLimit, interrupt, limited, line_of
from understudy.workers.forking import fork
from understudy.workers.waiting import ended_within

_PDEATHSIG = 1  # of prctl: the signal to get when the parent dies
_NOBODY = 0xFFFF
_OUT_OF_MEMORY = "MemoryError"
_NO_ANSWER = "no answer within"


@dataclass(frozen=True)
class Limits:
    """What one call may use."""

    seconds: float = 900.0
    """By the clock. Of the processor's time as much again as this."""
    memory: int = 4 * 2**30
    """Bytes beyond what the process had when it was forked."""


CHECKING = Limits(seconds=300.0)
"""For a look at code that somebody brings: imports may compile."""


class Ended(NamedTuple):
    """How it ended."""

    value: Any = None
    death: str | None = None
    """What it died of, in words; None: it returned."""
    mark: int | None = None
    """What it had written down last."""
    late: bool = False
    """Whether it died of taking too long."""


class Mark:
    """A number that outlives the process that wrote it."""

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, 2)
        self.set(None)

    def set(self, number: int | None) -> None:
        """Write it down."""
        self._shared[:2] = (_NOBODY if number is None else number).to_bytes(2, "little")

    def get(self) -> int | None:
        """What was written last."""
        number = int.from_bytes(self._shared[:2], "little")
        return None if number == _NOBODY else number


def alone(call: Callable[[Mark], Any], limits: Limits) -> Ended:
    """Call it in a forked process; an InputError there is raised here, as is a mistake of ours."""
    mark = Mark()
    if not hasattr(os, "fork"):
        return _here(call, mark, limits)
    with tempfile.TemporaryFile() as answer:
        child = fork()
        if child == 0:
            _be_the_child(call, mark, limits, answer.fileno())
        late = not _ended(child, limits.seconds)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(OSError):
            os.killpg(child, signal.SIGKILL)  # whatever it started
        answer.seek(0)
        content = answer.read()
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and content:
        kind, value = pickle.loads(content)
        if kind == "value":
            return Ended(value)
        if kind == "input":
            raise InputError(value)
        if not value.startswith(_OUT_OF_MEMORY):
            raise RuntimeError(value)
        return Ended(None, f"used more than {limits.memory / 2**30:g} GiB of memory", mark.get())
    late = late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU)
    return Ended(None, _death(status, late, limits), mark.get(), late)


def _here(call: Callable[[Mark], Any], mark: Mark, limits: Limits) -> Ended:
    """The same on Windows, which cannot fork: only its time is limited, and only in Python code."""
    try:
        with limited(limits.seconds, interrupt):
            return Ended(call(mark))
    except OverLimit:
        return Ended(None, f"{_NO_ANSWER} {limits.seconds:g} s", mark.get(), late=True)


def _be_the_child(call: Callable[[Mark], Any], mark: Mark, limits: Limits, answer: int) -> None:
    """Never returns: neither cleans up nor flushes what belongs to the parent."""
    code = 1
    try:
        faulthandler.disable()  # what happened is told in one line
        os.setsid()
        with contextlib.suppress(AttributeError):  # Linux alone has it
            ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGKILL)
        _limit(limits)
        try:
            told = ("value", call(mark))
        except InputError as mistake:
            told = ("input", str(mistake))
        except BaseException as failure:
            told = ("error", line_of(failure))
        content = pickle.dumps(told)
        with os.fdopen(answer, "wb", closefd=False) as file:
            file.write(content)
        code = 0
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)


def _limit(limits: Limits) -> None:
    import resource  # POSIX only

    # Asleep or waiting costs no time of the processor, so both limits are needed.
    seconds = int(limits.seconds) + 1
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + 5))
    with contextlib.suppress(OSError, ValueError):  # macOS has no such limit
        _cap_memory(limits.memory)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _cap_memory(more: int) -> tuple[int, int]:
    """Let this process grow by so many bytes only; what was allowed before."""
    import resource  # POSIX only

    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:  # noqa: PTH123
        size = int(file.read().split()[0]) * resource.getpagesize()
    hard = before[1]
    wanted = size + more if hard == resource.RLIM_INFINITY else min(size + more, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    return before


@contextlib.contextmanager
def little_memory(more: int) -> Iterator[None]:
    """While the block runs, whoever asks for more gets a MemoryError; the machine stays alive."""
    try:
        before = _cap_memory(more)
    except (ImportError, OSError, ValueError):  # no /proc here, or no such limits
        yield
        return
    import resource

    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _ended(child: int, seconds: float) -> bool:
    """Wait for its end, and end it at the limit; whether it ended by itself."""
    if ended_within(child, seconds):
        return True
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return False


def _death(status: int, late: bool, limits: Limits) -> str:
    if late:
        return f"{_NO_ANSWER} {limits.seconds:g} s"
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return f"killed its process ({name})"
    return f"ended its process (exit code {os.WEXITSTATUS(status)})"


def check_alone(check: Callable[[], None], title: str, limits: Limits = CHECKING) -> None:
    """Run a check of somebody's code where it can end nothing but itself; InputError if it does."""
    ended = alone(lambda mark: check(), limits)
    if ended.death is not None:
        raise InputError(f"{title} cannot be used: when it was imported and made, it {ended.death}")
