"""`record` and `compete` for games of two: the same for each, but for the game's name."""

import json as json_text
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.pipeline.game import load
from understudy.terminal.commands import Command, Commands
from understudy.terminal.console import out_console
from understudy.terminal.options import AS_USUAL, JsonOption, OutOption, Working, names, run_of

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.data.runs import Run
    from understudy.pipeline.game import Schedule

PlayersOption = Annotated[
    str | None,
    typer.Option(help="Who is recorded to learn from, by comma. [default: the expert]"),
]
OpponentsOption = Annotated[
    str | None, typer.Option(help="Whom they meet, by comma. [default: everybody]")
]
MatchesOption = Annotated[int, typer.Option(help="How many in all.")]


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
    """Matches of a game of two; `options` are `matches`, `seed` and, to record, `opponents`."""
    from understudy.data.runs import COMPETE
    from understudy.pipeline import pairings
    from understudy.pipeline.players import resolve

    game = load(name)
    everybody = list(game.players)
    if purpose == COMPETE:
        refs = [resolve(game, run, player) for player in players or everybody]
        return pairings.to_compete(game, refs, **{"matches": 400, **options})
    defaults = {"opponents": everybody, "matches": 2000}
    return pairings.to_record(game, players=players or everybody[:1], **{**defaults, **options})


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
        working: Working = AS_USUAL,
    ) -> None:
        """Play matches; write down what players saw and did."""
        from understudy.pipeline import pairings
        from understudy.pipeline import record as record_stage

        game, run = load(name), run_of(out, name)
        schedule = pairings.to_record(
            game,
            players=names(players) or [next(iter(game.players))],
            opponents=names(opponents) or list(game.players),
            matches=matches,
            seed=working.seed,
        )
        total = record_stage.record(game, run, schedule, **working.settings())
        print(f"{total:,} matches in {run.recordings}")

    return record


def competing(name: str) -> Command:
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
        working: Working = AS_USUAL,
        json: JsonOption = False,
    ) -> None:
        from understudy.data.results import win_rates
        from understudy.pipeline import compete as compete_stage
        from understudy.pipeline import pairings
        from understudy.pipeline.players import resolve
        from understudy.report.terminal import win_rate_table

        game, run = load(name), run_of(out, name)
        refs = [resolve(game, run, player) for player in players]
        schedule = pairings.to_compete(game, refs, matches=matches, seed=working.seed)
        competition = compete_stage.compete(game, run, schedule, **working.settings())
        rates = win_rates(competition.results)
        if json:
            print(json_text.dumps([rate.to_json() for rate in rates], indent=2))
        else:
            out_console.print(win_rate_table(rates, [ref.name for ref in refs]))

    compete.__doc__ = f"""Let every pair of players meet; say who is stronger.

    Example: understudy compete {name} imitate expert --matches 1000
    """
    return compete
