"""The command `league`: many players improve against each other, for one that nobody exploits."""

import json as json_text
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from understudy.data.runs import Run
from understudy.pipeline.game import Game, families, load, with_leagues
from understudy.terminal.console import counted, err_console, next_step, out_console
from understudy.terminal.options import (
    JsonOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    SettingsOption,
    WorkersOption,
    names,
    run_of,
)
from understudy.terminal.progress import league_progress

WITH_LEAGUES = ", ".join([*with_leagues(), *(f"{family}:NAME" for family in families())])


def league(
    game: Annotated[str, typer.Argument(metavar="GAME", help=f"Which game: {WITH_LEAGUES}.")],
    recipe: Annotated[
        str,
        typer.Option(
            help="How: quick, full, auto (sized by what one learner needs), or such as quick-psro."
        ),
    ] = "quick",
    out: OutOption = None,
    start: Annotated[
        str | None,
        typer.Option("--from", help="The model all begin with. [default: the game's imitation]"),
    ] = None,
    opponents: Annotated[
        str | None,
        typer.Option(help="Whom all meet as well, by comma: players, models, FILE.py:POLICY."),
    ] = None,
    settings: SettingsOption = None,
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
    end it says how strong everybody is, and how well an approximate best response does.

    Example: understudy league arena --recipe quick --from imitate-small
    """
    from understudy.pipeline import league as league_stage

    chosen, run = load(game), run_of(out, game)
    start = start or _start(chosen, run, run.league(name or recipe), resume, quiet)
    with league_progress(quiet) as told:
        summary = league_stage.league(
            chosen,
            run,
            recipe,
            settings=settings or (),
            start=start,
            opponents=names(opponents) or (),
            name=name,
            seed=seed,
            worker=workers,
            resume=resume,
            told=told,
        )
    if json:
        print(json_text.dumps(summary, indent=2))
        return
    _show(summary, run.league(name or recipe))
    print(f"{run.league(name or recipe)}: {counted(summary['rounds'], 'round')}")
    other = start or next(iter(chosen.players))
    made = _made(name or recipe, summary)
    next_step(run, game, f"compete {game} {made} {other}", f"report {run.folder}")


def _made(name: str, summary: Mapping[str, Any]) -> str:
    """What a league is for: its main agent, or where all answer a mixture, that mixture."""
    from understudy.pipeline.players import MIXTURE

    return f"{name}/{MIXTURE}" if summary["way"] == "NashResponse" else name


def _start(game: Game, run: Run, league: Path, resume: bool, quiet: bool) -> str | None:
    """Whom all begin with; told where it is not the one the game names. None: no such thing."""
    from understudy.pipeline.players import default_start

    game.require()
    if game.league is None or (usual := game.league().start) is None:
        return None
    start = default_start(game, run, league, resume=resume)
    if start != usual and not quiet:
        err_console.print(f"All begin with {start}: {run.folder} had no {usual}")
    return start


def _show(summary: Mapping[str, Any], folder: Path) -> None:
    """The table, and the sentence on what came of it."""
    from understudy.report.league.worth import worth
    from understudy.report.terminal import league_table

    out_console.print(league_table(summary))
    print(f"{summary['verdict']} {worth(folder, summary)}".strip())
