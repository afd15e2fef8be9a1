"""`record` and `compete` for games of two: the same for each, but for the game's name."""

import json as json_text
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.pipeline.game import load
from understudy.terminal.commands import Command, Commands
from understudy.terminal.console import complain, counted, next_step, out_console
from understudy.terminal.options import (
    AS_USUAL,
    JsonOption,
    MoreOption,
    OutOption,
    Working,
    names,
    run_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.data.runs import Run
    from understudy.pipeline.game import Schedule

PlayersOption = Annotated[
    str | None,
    typer.Option(
        help="Who is recorded to learn from, by comma. [default: the expert, or random where "
        "there is none]"
    ),
]
OpponentsOption = Annotated[
    str | None, typer.Option(help="Whom they meet, by comma. [default: everybody]")
]
LogsOption = Annotated[
    Path | None, typer.Option(help="Read logs of other origin in this folder instead.")
]
MatchesOption = Annotated[
    int, typer.Option(help="How many in all; more than before adds to what was recorded.")
]


def commands_of(name: str) -> Commands:
    """All that a game of two needs on the command line."""
    return Commands(
        verbs={"record": recording(name), "compete": competing(name)},
        plan=partial(plan, name),
        strength=strength,
    )


def plan(
    name: str, run: "Run", purpose: int, players: Sequence[str] | None, options: Mapping[str, Any]
) -> "Schedule":
    """Matches of a game of two; `options` are `matches`, `seed`, to record `opponents`, `more`."""
    from understudy.data.manifests import grown
    from understudy.data.runs import COMPETE
    from understudy.pipeline import pairings
    from understudy.pipeline.players import contender

    game = load(name)
    everybody = list(game.players)
    if purpose == COMPETE:
        refs = [contender(game, run, player) for player in players or everybody]
        return pairings.to_compete(game, refs, **{"matches": 400, **options})
    told = {"opponents": everybody, "matches": 2000, "more": None, **options}
    told["matches"], parts = grown(run.recordings, "matches", told["matches"], told.pop("more"))
    return pairings.to_record(game, players=players or everybody[:1], parts=parts, **told)


def strength(results: "pa.Table") -> list[dict[str, Any]]:
    """A row per ordered pair of players."""
    from understudy.data.results import win_rates

    return [rate.to_json() for rate in win_rates(results)]


def recording(name: str) -> Command:
    """The command `record` of a game of two."""

    def record(
        out: OutOption = None,
        players: PlayersOption = None,
        opponents: OpponentsOption = None,
        matches: MatchesOption = 2000,
        more: MoreOption = None,
        working: Working = AS_USUAL,
        logs: LogsOption = None,
    ) -> None:
        if logs is not None:
            read_logs(name, out, logs, working)
            return
        from understudy.data.manifests import grown
        from understudy.pipeline import pairings
        from understudy.pipeline import record as record_stage

        game, run = load(name), run_of(out, name)
        size = grown(run.recordings, "matches", matches, more, working.resume)
        schedule = pairings.to_record(
            game,
            players=names(players) or [next(iter(game.players))],
            opponents=names(opponents) or list(game.players),
            matches=size.total,
            seed=working.seed,
            parts=size.parts,
        )
        total = record_stage.record(game, run, schedule, **working.settings())
        print(f"{counted(total, 'match')} in {run.recordings}")
        next_step(run, name, f"encode {name}")

    record.__doc__ = f"""Play matches; write down what players saw and did.

    Example: understudy record {name} --matches 500
    """
    return record


def read_logs(name: str, out: Path | None, logs: Path, working: Working) -> None:
    """Recordings from logs of other origin, instead of matches."""
    from understudy.pipeline import import_matches

    run = run_of(out, name)
    found = import_matches.read_logs(load(name), run, logs, resume=working.resume)
    logs_read = counted(found.files, "log")
    print(f"{counted(found.matches, 'match')} from {logs_read} in {run.recordings}")
    complain(found.rejected)
    next_step(run, name, f"encode {name}", f"report {run.folder}")


def competing(name: str) -> Command:
    """The command `compete` of a game of two."""

    def compete(
        players: Annotated[
            list[str],
            typer.Argument(
                metavar="PLAYERS...",
                help="Scripted players, models of the run by recipe, leagues of it (LEAGUE, "
                "LEAGUE/NAME, LEAGUE/mixture), model folders, or your own as FILE.py:POLICY or "
                "package.module:POLICY.",
            ),
        ],
        out: OutOption = None,
        matches: Annotated[
            int, typer.Option(help="Per pair, half of them with sides swapped.")
        ] = 400,
        working: Working = AS_USUAL,
        json: JsonOption = False,
    ) -> None:
        from understudy.data.results import win_rates
        from understudy.pipeline import compete as compete_stage
        from understudy.pipeline import pairings
        from understudy.pipeline.players import contender
        from understudy.report.terminal import win_rate_table

        game, run = load(name), run_of(out, name)
        refs = [contender(game, run, player) for player in players]
        schedule = pairings.to_compete(game, refs, matches=matches, seed=working.seed)
        competition = compete_stage.compete(game, run, schedule, **working.settings())
        rates = win_rates(competition.results)
        if json:
            print(json_text.dumps([rate.to_json() for rate in rates], indent=2))
        else:
            out_console.print(win_rate_table(rates, [ref.name for ref in refs]))
            next_step(run, name, f"report {run.folder}")

    compete.__doc__ = f"""Let every pair of players meet; say who is stronger.

    A policy of your own is a function of observations and masks that returns options.

    Example: understudy compete {name} imitate expert --matches 1000
    """
    return compete
