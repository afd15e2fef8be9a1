"""`record` and `compete` for games of two: the same for each, but for the game's name."""

import json as json_text
from collections.abc import Callable
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
    load_game,
    names,
    out_console,
    run_of,
)

PlayersOption = Annotated[
    str | None,
    typer.Option(help="Who is recorded to learn from, by comma. [default: the expert]"),
]
OpponentsOption = Annotated[
    str | None, typer.Option(help="Whom they meet, by comma. [default: everybody]")
]
MatchesOption = Annotated[int, typer.Option(help="How many in all.")]


def recording(name: str) -> Callable[..., None]:
    """The command `record` of a game of two."""

    def record(
        out: OutOption = None,
        players: PlayersOption = None,
        opponents: OpponentsOption = None,
        matches: MatchesOption = 2000,
        seed: SeedOption = 0,
        workers: WorkersOption = None,
        task_seconds: LimitOption = None,
        resume: ResumeOption = True,
        quiet: QuietOption = False,
    ) -> None:
        """Play matches; write down what players saw and did."""
        from understudy.games import pairs
        from understudy.pipeline import record as record_stage

        game, run = load_game(name), run_of(out, name)
        schedule = pairs.to_record(
            game,
            players=names(players) or [next(iter(game.players))],
            opponents=names(opponents) or list(game.players),
            matches=matches,
            seed=seed,
        )
        total = record_stage.record(
            game,
            run,
            schedule,
            worker=workers,
            resume=resume,
            seconds_per_task=task_seconds,
            quiet=quiet,
        )
        print(f"{total:,} matches in {run.recordings}")

    return record


def competing(name: str) -> Callable[..., None]:
    """The command `compete` of a game of two."""

    def compete(
        players: Annotated[
            list[str],
            typer.Argument(
                metavar="PLAYERS...",
                help="Scripted players, models of the run by recipe, or model folders.",
            ),
        ],
        out: OutOption = None,
        matches: Annotated[
            int, typer.Option(help="Per pair, half of them with sides swapped.")
        ] = 400,
        seed: SeedOption = 0,
        workers: WorkersOption = None,
        task_seconds: LimitOption = None,
        resume: ResumeOption = True,
        quiet: QuietOption = False,
        json: JsonOption = False,
    ) -> None:
        from understudy.data.results import win_rates
        from understudy.games import pairs
        from understudy.games.players import resolve
        from understudy.pipeline import compete as compete_stage
        from understudy.report.terminal import win_rate_table

        game, run = load_game(name), run_of(out, name)
        refs = [resolve(game, run, player) for player in players]
        competition = compete_stage.compete(
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
            print(json_text.dumps([rate.to_json() for rate in rates], indent=2))
        else:
            out_console.print(win_rate_table(rates, [ref.name for ref in refs]))

    compete.__doc__ = f"""Let every pair of players meet; say who is stronger.

    Example: understudy compete {name} imitate expert --matches 1000
    """
    return compete
