"""Progress of what takes long, with a rate and a time left."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from understudy.terminal.console import err_console

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from rich.progress import Progress as Bar

    from understudy.league.state import State
    from understudy.learn.recipe import Progress
    from understudy.pipeline.game import Awaited, Imported
    from understudy.pipeline.league import Told


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


@contextmanager
def league_progress(quiet: bool) -> Iterator["Told"]:
    """A line for every round, and below them a bar with rate and time left."""
    if quiet:
        yield lambda state, rounds: None
        return
    bar = _rounds_bar()
    task, began = bar.add_task("", total=None, note=""), dict[str, float]()

    def tell(state: "State", rounds: int) -> None:
        if state.history and began:
            bar.console.print(_round_line(state), highlight=False, soft_wrap=True)
        spent = time.monotonic() - began.setdefault("at", time.monotonic())
        gone = state.agent_steps - began.setdefault("agent_steps", state.agent_steps)
        note = f"{gone / spent / 1e3:.0f}k agent-steps/s," if gone else ""
        ended = state.round == rounds
        bar.start()
        bar.update(
            task,
            description="approximate best responses" if ended else "rounds",
            total=None if ended else rounds,
            completed=state.round,
            note="" if ended else note,
        )

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def _rounds_bar() -> "Bar":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=err_console,
        transient=True,
    )


def _round_line(state: "State") -> str:
    entry = state.history[-1]
    worst = next(iter(entry["worst"].values()))
    kept = ", ".join(player["name"] for player in entry["kept"]) or "nobody"
    return (
        f"round {state.round}: {state.agent_steps:,} agent-steps, least win rate "
        f"{worst['mean']:.0%} (against {worst['opponent']}), kept {kept}"
    )


@contextmanager
def reading_progress(
    imports: "Iterable[Imported | Awaited]", quiet: bool
) -> "Iterator[Iterable[Imported | Awaited]]":
    """The same parts; how many have been read is shown. How many will come is not known before."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = TextColumn("reading matches: part {task.completed:.0f}, {task.fields[source]}")
    bar = Progress(
        SpinnerColumn(), columns, TimeElapsedColumn(), console=err_console, transient=True
    )
    task = bar.add_task("", total=None, source="")

    def watched() -> "Iterator[Imported | Awaited]":
        for part in imports:
            if not quiet:
                bar.start()
            bar.update(task, advance=1, source=part.source)
            yield part

    try:
        yield watched()
    finally:
        if bar.live.is_started:
            bar.stop()
