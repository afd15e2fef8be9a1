"""How far the tasks are: a bar on a terminal, elsewhere a line now and then."""

import contextlib
import time
from collections.abc import Iterator
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from understudy.workers.attempt import Outcome

LINE_EVERY = 10.0  # seconds between progress lines where there is no terminal


class Tally:
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
        """Show it while the block runs."""
        with self._bar:
            try:
                yield
            finally:
                self._print_line()

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
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
