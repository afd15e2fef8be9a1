"""When a hosted agent fails: an exception, or a call that does not come back.

Where scml lets an exception end the whole world, and abandons a negotiation whose agent does not
answer in time, a world of ours writes the fault down and goes on: an agent that fails in a
negotiation leaves that negotiation, one that cannot even be made is replaced by one that does
nothing, and one that fails elsewhere is as if it had done nothing. With `strict` the exception is
raised, as scml does.
"""

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from understudy.workers.attempt import raise_in

TICK = 0.5  # seconds between two looks at whether the same call is still running
SIGNAL = getattr(signal, "SIGVTALRM", None)  # SIGALRM belongs to the time limit of the task


@dataclass(frozen=True)
class Fault:
    """One call of one agent that failed."""

    factory: str
    day: int
    error: str


class CallTimeout(BaseException):
    """Raised inside an agent's call that takes too long. Not an Exception: agents catch those."""


FAILURES = (Exception, SystemExit, CallTimeout)
"""What an agent can do wrong. The rest is not its own: Ctrl-C, or a test that ran out of time."""
Failure = Exception | SystemExit | CallTimeout


def described(error: BaseException) -> str:
    """Its kind and what it says, if it can say anything."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # an agent's own exception may fail in turn
        return type(error).__name__


@dataclass
class Watchdog:
    """Interrupts a call of an agent that takes too long, of the processor's time or of anybody's.

    Calls are only counted, which costs next to nothing; a thread looks at the count now and then.
    A late call is reported at once and interrupted at every look from then on, so that an agent
    that catches the interruption by mistake does not get its time again. One that catches it
    forever, or is stuck in C code, is left to the time limit of the task (`workers`). So is one
    asleep where the world is not played in the main thread, or on Windows: no signal reaches it.
    """

    cpu_seconds: float
    wall_seconds: float
    report: Callable[[str, CallTimeout], None]
    """Told who is late, once per call."""
    calls: int = 0
    inside: str | None = None
    """Whose code is running, if any agent's."""
    _reported: int = field(default=-1, init=False)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch this thread while the block runs."""
        _compiling.notice()
        watched, stop = threading.get_ident(), threading.Event()
        in_main = threading.current_thread() is threading.main_thread()
        reached = SIGNAL if in_main else None
        looks = threading.Thread(target=self._watch, args=(watched, reached, stop), daemon=True)
        before = signal.signal(reached, self._interrupt) if reached else None
        looks.start()
        try:
            yield
        finally:
            stop.set()
            looks.join()  # before the handler goes: without one, the signal ends the process
            if reached:
                signal.signal(reached, before)
            else:
                raise_in(watched, None)

    def _watch(self, watched: int, reached: int | None, stop: threading.Event) -> None:
        seen, cpu, wall = -1, 0.0, 0.0
        while not stop.wait(min(TICK, self.cpu_seconds / 4, self.wall_seconds / 4)):
            who = self.inside  # before the count: then it is who made the call that is counted
            if who is None or self.calls != seen or _compiling.now:
                seen, cpu, wall = self.calls, time.process_time(), time.monotonic()
                continue
            late = self._late(time.process_time() - cpu, time.monotonic() - wall)
            if late is None:
                continue
            if self._reported != seen:
                self._reported = seen
                self.report(who, late)
            if reached:
                signal.pthread_kill(watched, reached)
            else:
                raise_in(watched, CallTimeout)

    def _late(self, cpu: float, wall: float) -> CallTimeout | None:
        if cpu >= self.cpu_seconds:
            return CallTimeout(f"no answer after {self.cpu_seconds:g} s of CPU time")
        if wall >= self.wall_seconds:
            return CallTimeout(f"no answer after {self.wall_seconds:g} s")
        return None

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self.inside is not None and self.calls == self._reported:  # still the same call
            raise CallTimeout


class _Compiling:
    """Whether numba is compiling a kernel: that takes long once, and is nobody's fault."""

    now = 0
    noticed = False

    def notice(self) -> None:
        """Have numba tell from now on, if it is there."""
        if self.noticed or "numba" not in sys.modules:
            return
        from numba.core import event

        counts = self

        class Counter(event.Listener):
            def on_start(self, event: Any) -> None:
                counts.now += 1

            def on_end(self, event: Any) -> None:
                counts.now -= 1

        event.register("numba:compile", Counter())
        self.noticed = True


_compiling = _Compiling()


@contextlib.contextmanager
def nobody_is_late() -> Iterator[None]:
    """Time is not counted while the block runs: an agent waits for a person."""
    _compiling.now += 1
    try:
        yield
    finally:
        _compiling.now -= 1


# --- Whose code is running, told beyond the process ----------------------------------------------

_tell: Callable[[int | None], None] | None = None


def tell_of_calls(tell: Callable[[int | None], None]) -> None:
    """Have every world of this process tell whose code is about to run, by factory; None: ours."""
    global _tell
    _tell = tell


class _TellingWatchdog(Watchdog):
    """Says whose code is running as soon as that changes."""

    names: Sequence[str] = ()

    @property
    def inside(self) -> str | None:
        """Whose code is running, if any agent's."""
        return self.__dict__.get("_inside")

    @inside.setter
    def inside(self, name: str | None) -> None:
        self.__dict__["_inside"] = name
        if _tell is not None:
            _tell(self.names.index(name) if name in self.names else None)


def watchdog_of(
    names: Sequence[str], cpu: float, wall: float, report: Callable[[str, CallTimeout], None]
) -> Watchdog:
    """A watchdog for a world with these factories."""
    if _tell is None:
        return Watchdog(cpu, wall, report)
    found = _TellingWatchdog(cpu, wall, report)
    found.names = names
    return found
