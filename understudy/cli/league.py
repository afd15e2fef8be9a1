"""The command `league`: many players improve against each other, for one that nobody exploits."""

import json as json_text
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.cli.options import (
    GameArg,
    JsonOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    WorkersOption,
    err_console,
    load_game,
    out_console,
    run_of,
)

if TYPE_CHECKING:
    from rich.progress import Progress

    from understudy.league.state import State
    from understudy.pipeline.league import Told


def league(
    game: GameArg,
    recipe: Annotated[
        str, typer.Option(help="How: quick, full, or a baseline such as quick-self-play.")
    ] = "quick",
    out: OutOption = None,
    start: Annotated[
        str | None,
        typer.Option("--from", help="The model all begin with. [default: the game's imitation]"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What to call it in the run. [default: the recipe's name]")
    ] = None,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Let players improve against each other in a league.

    Main agents learn to beat everybody who ever was; exploiters look for their weaknesses. In the
    end it says how strong everybody is, and how well a fresh exploiter does.

    Example: understudy league arena --recipe quick --from imitate-small
    """
    from understudy.pipeline import league as league_stage
    from understudy.report.terminal import league_table

    chosen, run = load_game(game), run_of(out, game)
    with _shown(quiet) as told:
        summary = league_stage.league(
            chosen,
            run,
            recipe,
            start=start,
            name=name,
            seed=seed,
            worker=workers,
            resume=resume,
            told=told,
        )
    if json:
        print(json_text.dumps(summary, indent=2))
        return
    out_console.print(league_table(summary))
    print(f"{run.leagues / (name or recipe)}: look at it with: understudy report {run.folder}")


@contextmanager
def _shown(quiet: bool) -> Iterator["Told"]:
    """A line for every round, and below them a bar with rate and time left."""
    if quiet:
        yield lambda state, rounds: None
        return
    bar = _bar()
    task, began = bar.add_task("", total=None, note=""), dict[str, float]()

    def tell(state: "State", rounds: int) -> None:
        if state.history and began:
            bar.console.print(_line(state), highlight=False, soft_wrap=True)
        spent = time.monotonic() - began.setdefault("at", time.monotonic())
        gone = state.agent_steps - began.setdefault("agent_steps", state.agent_steps)
        note = f"{gone / spent / 1e3:.0f}k agent-steps/s," if gone else ""
        ended = state.round == rounds
        bar.start()
        bar.update(
            task,
            description="fresh exploiters" if ended else "rounds",
            total=None if ended else rounds,
            completed=state.round,
            note="" if ended else note,
        )

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def _bar() -> "Progress":
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


def _line(state: "State") -> str:
    entry = state.history[-1]
    worst = next(iter(entry["worst"].values()))
    kept = ", ".join(player["name"] for player in entry["kept"]) or "nobody"
    return (
        f"round {state.round}: {state.agent_steps:,} agent-steps, least win rate "
        f"{worst['mean']:.0%} (against {worst['opponent']}), kept {kept}"
    )
