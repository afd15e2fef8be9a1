"""The arena's versions of `record` and `compete`."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli.options import (
    JsonOption,
    LimitOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    WorkersOption,
    complain,
    load_game,
    names,
    out_console,
    run_of,
)


def record(
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Who is recorded to learn from, by comma. [default: the expert]"),
    ] = None,
    opponents: Annotated[
        str | None, typer.Option(help="Whom they meet, by comma. [default: everybody]")
    ] = None,
    matches: Annotated[int, typer.Option(help="How many in all.")] = 2000,
    logs: Annotated[
        Path | None, typer.Option(help="Read logs of other origin in this folder instead.")
    ] = None,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    task_seconds: LimitOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Play matches; write down what players saw and did.

    Example: understudy record arena --players expert --opponents expert,rusher --matches 500
    """
    from understudy import stages
    from understudy.games import pairs

    game, run = load_game("arena"), run_of(out, "arena")
    if logs is not None:
        found = stages.read_logs(game, run, logs, resume=resume)
        print(f"{found.matches:,} matches from {found.files} logs in {run.recordings}")
        complain(found.rejected)
        return
    schedule = pairs.to_record(
        game,
        players=names(players) or [next(iter(game.players))],
        opponents=names(opponents) or list(game.players),
        matches=matches,
        seed=seed,
    )
    total = stages.record(
        game,
        run,
        schedule,
        worker=workers,
        resume=resume,
        seconds_per_task=task_seconds,
        quiet=quiet,
    )
    print(f"{total:,} matches in {run.recordings}")


def compete(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYERS...",
            help="Scripted players, models of the run by recipe, or model folders.",
        ),
    ],
    out: OutOption = None,
    matches: Annotated[int, typer.Option(help="Per pair, half of them with sides swapped.")] = 400,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    task_seconds: LimitOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Let every pair of players meet; say who is stronger.

    Example: understudy compete arena imitate expert rusher --matches 1000
    """
    from understudy import stages
    from understudy.data.results import win_rates
    from understudy.games import pairs
    from understudy.games.players import resolve
    from understudy.report.terminal import win_rate_table

    game, run = load_game("arena"), run_of(out, "arena")
    refs = [resolve(game, run, name) for name in players]
    competition = stages.compete(
        game,
        run,
        pairs.to_compete(game, refs, matches=matches, seed=seed),
        worker=workers,
        resume=resume,
        seconds_per_task=task_seconds,
        quiet=quiet,
    )
    rates = win_rates(competition.results)
    if json:
        print(json_text.dumps([vars(rate) for rate in rates], indent=2))
    else:
        out_console.print(win_rate_table(rates, [ref.name for ref in refs]))
