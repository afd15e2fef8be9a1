"""The command `league`: many players improve against each other, for one that nobody exploits."""

import json as json_text
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
    from understudy.league.state import State


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

    Example: understudy league arena --recipe quick --from imitate
    """
    from understudy import stages_league
    from understudy.report.terminal import league_table

    chosen, run = load_game(game), run_of(out, game)
    summary = stages_league.league(
        chosen,
        run,
        recipe,
        start=start,
        name=name,
        seed=seed,
        worker=workers,
        resume=resume,
        told=(lambda state: None) if quiet else _tell,
    )
    if json:
        print(json_text.dumps(summary, indent=2))
        return
    out_console.print(league_table(summary))
    print(f"{run.leagues / (name or recipe)}: look at it with: understudy report {run.folder}")


def _tell(state: "State") -> None:
    """A line for every round."""
    entry = state.history[-1]
    worst = next(iter(entry["worst"].values()))
    kept = ", ".join(player["name"] for player in entry["kept"]) or "nobody"
    err_console.print(
        f"round {state.round}: {state.agent_steps:,} agent-steps, least win rate "
        f"{worst['mean']:.0%} (against {worst['opponent']}), kept {kept}",
        highlight=False,
        soft_wrap=True,
    )
