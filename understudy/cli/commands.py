"""Commands that every game has. `**told` are the options that games add to them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from understudy import games
from understudy.pipeline.game import load
from understudy.terminal.commands import Options, added_options
from understudy.terminal.console import out_console
from understudy.terminal.options import (
    GameArg,
    MemoryOption,
    OutOption,
    PlansOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    WorkersOption,
    names,
    run_of,
)
from understudy.terminal.progress import training_progress


def encode(
    game: GameArg,
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Whose decisions, by comma. [default: those recorded to learn from]"),
    ] = None,
    goals: Annotated[
        Path | None,
        typer.Option(help="Fill in the goals of this trained model: scml's L2, for L3 and L4."),
    ] = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    **told: Any,
) -> None:
    """Turn recordings into samples, one row per decision.

    Ends with a summary to check that they make sense.
    """
    from understudy.pipeline import encode as encode_stage
    from understudy.report.terminal import counts_table

    run = run_of(out, game)
    counts = encode_stage.encode(
        load(game),
        run,
        players=names(players),
        goals=goals,
        options=_of_games("encode", game, told),
        worker=workers,
        resume=resume,
        quiet=quiet,
    )
    out_console.print(counts_table(f"samples in {run.samples}", counts))


def train(
    game: GameArg,
    recipe: Annotated[str, typer.Argument(help="How: a name from `understudy recipes GAME`.")],
    out: OutOption = None,
    init: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this model, not with new ones.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="The model to refine, of this run or a folder.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Of refinement.", min=1)] = None,
    rollouts: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    updates: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    pseudo_reward: Annotated[
        float | None, typer.Option(help="Of the game's own, beside the score, when refining.")
    ] = None,
    memory: MemoryOption = None,
    plans: PlansOption = None,
    seed: SeedOption = 0,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    **told: Any,
) -> None:
    """Train a model on the run's samples, or go on training it.

    A recipe that refines plays instead: understudy train arena refine-ppo --from imitate-small
    """
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import train as train_stage

    run = run_of(out, game)
    with training_progress(f"training {recipe}", quiet) as progress:
        evaluation = train_stage.train(
            load(game),
            run,
            recipe,
            options=TrainOptions(
                init=init,
                start=start,
                iterations=iterations,
                rollouts=rollouts,
                updates=updates,
                pseudo_reward=pseudo_reward,
                memory=memory,
                plans=plans,
                own=_of_games("train", game, told),
            ),
            seed=seed,
            device=device,
            worker=workers,
            resume=resume,
            progress=progress,
        )
    (games.commands(game).print_evaluation or _print_evaluation)(evaluation)
    print(f"{run.model(recipe)}: {evaluation['steps']:,} steps in {evaluation['seconds']:.0f} s")


def _print_evaluation(evaluation: Mapping[str, Any]) -> None:
    from understudy.report.terminal import evaluation_tables

    for table in evaluation_tables(evaluation):
        out_console.print(table)


def options_of_games(command: str) -> list[Options]:
    """The functions by which games add options to a command."""
    brought = [games.commands(name) for name in games.names()]
    return [one.options[command] for one in brought if command in one.options]


def _of_games(command: str, game: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """What the stage is told of the options that games add to a command."""
    found = dict[str, Any]()
    for options in options_of_games(command):
        mine = {option.name for option in added_options(options)} & set(told)
        found |= options(game, **{name: told[name] for name in mine})
    return found


def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write. [default: RUN/report.html]")
    ] = None,
) -> None:
    """Write one page that shows a whole run.

    Strength, training, samples, replays; one file that works offline.
    """
    from understudy.data.runs import Run
    from understudy.pipeline import report as report_stage

    print(report_stage.report(Run.existing(run), out))


def replay(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="RUN/NAME, or NAME of a match in runs/arena.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("replay.html"),
) -> None:
    """Write a page that plays one recorded match.

    Example: understudy replay runs/arena/expert-rusher-17 -o replay.html
    """
    from understudy.data.runs import Run
    from understudy.pipeline import report as report_stage

    path = Path(match)
    folder = path.parent if len(path.parts) > 1 else Run.of("arena").folder
    print(report_stage.replay(Run.existing(folder), path.name, out))


def recipes(game: GameArg) -> None:
    """List the ways to train, and the scripted players."""
    from rich.table import Table

    chosen = load(game)
    for title, rows in (
        ("recipes", {name: recipe.description for name, recipe in chosen.recipes().items()}),
        ("scripted players", chosen.players),
    ):
        table = Table(title=title, title_justify="left", show_header=False)
        for name, about in rows.items():
            table.add_row(name, about)
        if rows:
            out_console.print(table)
