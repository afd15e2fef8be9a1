"""What the commands share: options, consoles, and how a name on the command line is read."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from understudy.errors import InputError

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from understudy.data.runs import Run
    from understudy.games import Game
    from understudy.learn.recipe import Progress

GameArg = Annotated[str, typer.Argument(metavar="GAME", help="Which game: arena, dota or scml.")]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Where to write: the run's folder. [default: runs/GAME]"),
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same numbers.", min=0, max=10**9)]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        help="How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster that shares --out. "
        "[default: one per core]"
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume/--fresh", help="Go on with what the same command began, or delete it first."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
LimitOption = Annotated[
    float | None,
    typer.Option(help="Kill a task (a few matches) that takes longer, in seconds.", min=0.01),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the table as JSON.")]

out_console = Console()
err_console = Console(stderr=True)


class ByGame(TyperGroup):
    """A command with one version per game, because games have different options."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The version for the game that is named first."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise InputError(
                f"there is no game '{args[0]}' to {self.name}; there is {', '.join(self.commands)}"
            )
        return super().resolve_command(ctx, args)


def by_game(app: typer.Typer, name: str, about: str) -> typer.Typer:
    """A command with one version per game."""
    group = typer.Typer(cls=ByGame, help=about, rich_markup_mode=None, invoke_without_command=True)

    @group.callback()
    def _teach(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    app.add_typer(group, name=name, help=about)
    return group


def load_game(name: str) -> "Game":
    """A game by name."""
    from understudy import games

    return games.load(name)


def run_of(out: Path | None, game: str) -> "Run":
    """The run to work in."""
    from understudy.data.runs import Run

    return Run(out or Path("runs") / game)


def names(text: str | None) -> list[str] | None:
    """A list given by comma."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def go_to_background(log: Path) -> None:
    """Start this very command again on its own, writing to `log`."""
    arguments = [part for part in sys.argv[1:] if part != "--background"]
    log.parent.mkdir(parents=True, exist_ok=True)
    appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "understudy", *arguments],
        {**os.environ, "COLUMNS": "100"},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, appending, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,  # so that it outlives this terminal
    )
    print(f"process {process} is at work. Look on: tail -f {log}. Stop: kill {process}")


def complain(rejected: list[str]) -> None:
    """Say which lines were left out: all in the manifest, a few here."""
    for line in rejected[:5]:
        err_console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if len(rejected) > 5:
        err_console.print(
            f"... and {len(rejected) - 5:,} more, all in the manifest", style="yellow"
        )


@contextmanager
def training_progress(title: str, quiet: bool) -> Iterator["Progress | None"]:
    """A bar for training: steps, loss, rate, time left."""
    if quiet:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=err_console,
    )
    try:
        task = bar.add_task(title, total=None, note="")

        def tell(step: int, steps: int, metrics: Mapping[str, float]) -> None:
            note = ""
            if "val/loss" in metrics:
                rate = metrics.get("samples_per_second", 0.0)
                note = f"loss {metrics['val/loss']:.3f}, {rate / 1e3:.0f}k samples/s,"
            elif "agent_steps_per_second" in metrics:
                note = _how_it_fares(metrics)
            bar.start()  # only now: what fails before the first step leaves no bar behind
            bar.update(task, completed=step, total=steps, note=note)

        yield tell
    finally:
        if bar.live.is_started:  # otherwise it would still print an empty line
            bar.stop()


def _how_it_fares(metrics: Mapping[str, float]) -> str:
    """Points against each opponent, and the rate."""
    points = [
        f"{name.removeprefix('points/')} {share:.0%}"
        for name, share in metrics.items()
        if name.startswith("points/") and name != "points/self"
    ]
    rate = metrics["agent_steps_per_second"]
    return f"points: {', '.join(points)}; {rate / 1e3:.0f}k steps/s," if points else ""
