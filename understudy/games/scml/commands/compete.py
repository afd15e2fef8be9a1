"""`compete scml`: tournaments are played for who is stronger."""

import json as json_text
from typing import TYPE_CHECKING, Annotated

import typer

from understudy.games.scml.commands.why import competitor, explain
from understudy.games.scml.commands.worlds import LIMIT, OF_THE_LEAGUE, Worlds
from understudy.pipeline.game import load
from understudy.terminal.console import next_step, out_console
from understudy.terminal.options import AS_USUAL, JsonOption, OutOption, Working, run_of

if TYPE_CHECKING:
    from understudy.games.scml.commands.why import Explained


def compete(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYERS...",
            help="Agents by name, 2024, 2025, 2026, built-ins or all; models of the run; your own "
            "as FILE.py:CLASS or package.module:CLASS.",
        ),
    ],
    out: OutOption = None,
    configs: Annotated[int, typer.Option(help="Configurations: the more, the surer.")] = 40,
    worlds: Worlds = OF_THE_LEAGUE,
    keep: Annotated[int, typer.Option(help="Worlds to record in full, for the explorer.")] = 3,
    why: Annotated[
        str | None,
        typer.Option(help="Say where this competitor lost most and why, with a page of the days."),
    ] = None,
    working: Working = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Rotate competitors through the same slots of the same worlds; say who is stronger.

    Scores are compared slot by slot. Intervals are drawn by configuration.

    Example: understudy compete scml Penguin AS0 built-ins --configs 100

    Example: understudy compete scml my_agent.py:MyAgent Penguin AS0 --why MyAgent
    """
    from understudy.data.integrity.json_files import write_json
    from understudy.data.runs import COMPETE, STRENGTH
    from understudy.games.scml.recording.failures import failure_lines
    from understudy.games.scml.report.terminal import strength_table
    from understudy.games.scml.strength.strength import assess
    from understudy.games.scml.tournament.schedule import schedule
    from understudy.pipeline import compete as compete_stage

    run = run_of(out, "scml")
    tournament = worlds.tournament(run, players, configs, working.seed)
    tournament.require_rivals()
    asked = None if why is None else competitor(why, tournament.competitors)
    planned = schedule(tournament, purpose=COMPETE, keep=keep, isolate=worlds.isolate)
    if tournament.simulator == "batch":
        from understudy.games.scml.tournament.batch_play import prepare

        prepare(tournament)
    competition = compete_stage.compete(load("scml"), run, planned, **working.settings(LIMIT))
    strength = assess(competition.results)
    text = json_text.dumps(strength.to_json(), indent=2)
    write_json(competition.folder / STRENGTH, strength.to_json())
    if json:
        print(text)
    else:
        out_console.print(strength_table(strength))
        for line in failure_lines(competition.folder):
            print(line)
        print(f"All of it: {competition.folder / STRENGTH}")
        next_step(run, "scml", f"report {run.folder}")
    if asked is not None:
        told = explain(asked, competition.folder, competition.results, planned, working)
        _say_why(asked, told, quiet=json)


def _say_why(player: str, told: "Explained", quiet: bool) -> None:
    from understudy.games.scml.report.why_page import why_tables

    if quiet:
        return
    if told is None:
        print(f"Nobody in the same slot did better than {player}: there is no loss to explain")
        return
    path, gaps = told
    for table in why_tables(player, gaps):
        out_console.print(table)
    print(f"Day by day: {path}")
