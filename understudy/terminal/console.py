"""Where commands print, and how one goes on without a terminal."""

import os
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rich.console import Console

from understudy.data.runs import Run

out_console = Console()
err_console = Console(stderr=True)


def counted(number: int, noun: str) -> str:
    """`1 world`, `2 worlds`, `1,000 matches`."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def complain(rejected: list[str]) -> None:
    """Say which lines were left out: all in the manifest, a few here."""
    for line in rejected[:5]:
        err_console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if len(rejected) > 5:
        err_console.print(
            f"... and {len(rejected) - 5:,} more, all in the manifest", style="yellow"
        )


def go_to_background(log: Path) -> None:
    """Start this very command again on its own, writing to `log`."""
    arguments = [part for part in sys.argv[1:] if part != "--background"]
    log.parent.mkdir(parents=True, exist_ok=True)
    process = _spawned([sys.executable, "-m", "understudy", *arguments], log)
    print(f"process {process} is at work. Look on: tail -f {log}. Stop: kill {process}")


def _spawned(command: list[str], log: Path) -> int:
    """The number of a process that outlives this terminal."""
    environment = {**os.environ, "COLUMNS": "100"}
    if not hasattr(os, "posix_spawn"):  # Windows
        detached = getattr(subprocess, "DETACHED_PROCESS", 0)
        with log.open("ab") as file:
            told: Any = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file}
            begun = subprocess.Popen(command, env=environment, creationflags=detached, **told)
        return begun.pid
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        command[0],
        command,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, appending, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


_TELLS = ContextVar("tells which commands may follow", default=True)


@contextmanager
def no_next_steps() -> Iterator[None]:
    """While this lasts they are not told, because they do follow."""
    before = _TELLS.set(False)
    try:
        yield
    finally:
        _TELLS.reset(before)


def next_step(run: Run, game: str, *commands: str) -> None:
    """Say which commands may follow, for this run."""
    if not _TELLS.get():
        return
    elsewhere = "" if run == Run.of(game) else f" --out {run.folder}"
    for command in commands:
        place = "" if command.startswith(("report ", "evaluate ")) else elsewhere
        out_console.print(
            f"Next: understudy {command}{place}", highlight=False, markup=False, soft_wrap=True
        )


def show(page: Path, asked: bool) -> None:
    """Say where a page lies, and show it in the browser if that was asked for."""
    print(page)
    if asked:
        webbrowser.open(page.resolve().as_uri())
