"""When a hosted agent fails: an exception, or a call that does not come back.

Where scml lets an exception end the whole world, and abandons a talk whose agent does not answer
in time, a world of ours writes the fault down and goes on: an agent that fails in a talk leaves
that talk, one that fails elsewhere is as if it had done nothing. With `strict` the exception is
raised, as scml does.
"""

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

TICK = 0.5  # CPU seconds between two looks at whether the same call is still running


@dataclass(frozen=True)
class Fault:
    """One call of one agent that failed."""

    factory: str
    day: int
    error: str


class CallTimeout(BaseException):
    """Raised inside an agent's call that takes too long. Not an Exception: agents catch those."""


@dataclass
class Watchdog:
    """Interrupts a call of an agent that has used up its CPU time.

    Calls are only counted, which costs next to nothing; a timer looks at the count now and then.
    It needs the main thread, and an agent stuck in C code or asleep escapes it: the time limit of
    the task (`workers`) remains for those.
    """

    seconds: float
    calls: int = 0
    inside: bool = False
    _seen: int = field(default=-1, init=False)
    _ticks: int = field(default=0, init=False)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGVTALRM, self._look)
        timer = signal.setitimer(signal.ITIMER_VIRTUAL, TICK, TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, *timer)
            signal.signal(signal.SIGVTALRM, before)

    def _look(self, _signal: int, _frame: FrameType | None) -> None:
        if not self.inside or self.calls != self._seen:
            self._seen, self._ticks = self.calls, 0
            return
        self._ticks += 1
        if self._ticks * TICK >= self.seconds:
            self._ticks = 0
            raise CallTimeout(f"no answer after {self.seconds:g} s of CPU time")
