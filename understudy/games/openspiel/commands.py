"""OpenSpiel's games on the command line: as any game of two, and how exploitable players are."""

import json as json_text
from dataclasses import replace
from typing import Annotated

import typer

from understudy.games.two_player import commands as of_two
from understudy.pipeline.game import load
from understudy.terminal.commands import Command, Commands
from understudy.terminal.console import out_console
from understudy.terminal.options import JsonOption, OutOption, run_of

ABOUT = "Compute exactly how much the best answer wins against a player of an OpenSpiel game."


def commands_of(name: str) -> Commands:
    """All that one of OpenSpiel's games has."""
    found = of_two.commands_of(name)
    return replace(
        found,
        verbs={**found.verbs, "exploitability": _exploitability(name)},
        about={"exploitability": ABOUT},
    )


def _exploitability(name: str) -> Command:
    def exploitability(
        players: Annotated[
            list[str],
            typer.Argument(
                metavar="PLAYERS...",
                help="Models of the run by recipe, leagues of it (LEAGUE, LEAGUE/NAME, "
                "LEAGUE/mixture), model folders, or random.",
            ),
        ],
        out: OutOption = None,
        json: JsonOption = False,
    ) -> None:
        """Compute exactly how much the best answer wins against a player.

        Example: understudy exploitability openspiel:leduc_poker imitate refine
        """
        from rich.table import Table

        from understudy.games.openspiel.exploitability import exploited
        from understudy.games.openspiel.family import OpenSpiel
        from understudy.pipeline.players import contender

        game, run = load(name), run_of(out, name)
        host = OpenSpiel(name.partition(":")[2])
        refs = [contender(game, run, player) for player in players]
        found = {ref.name: exploited(host, ref) for ref in refs}
        if json:
            print(json_text.dumps({one: told._asdict() for one, told in found.items()}, indent=2))
            return
        table = Table("player", "exploitability", "NashConv", title=name, title_justify="left")
        for one, told in found.items():
            table.add_row(one, f"{told.exploitability:.4f}", f"{told.nash_conv:.4f}")
        out_console.print(table)

    return exploitability
