"""The arena on the command line: as any game of two, and it reads logs."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from understudy.games.two_player import commands as of_two
from understudy.games.two_player.commands import (
    MatchesOption,
    OpponentsOption,
    PlayersOption,
    competing,
    plan,
    recording,
    strength,
)
from understudy.pipeline.game import load
from understudy.terminal.commands import Commands
from understudy.terminal.console import complain
from understudy.terminal.options import AS_USUAL, MoreOption, OutOption, Working, run_of

compete = competing("arena")


def record(
    out: OutOption = None,
    players: PlayersOption = None,
    opponents: OpponentsOption = None,
    matches: MatchesOption = 2000,
    more: MoreOption = None,
    logs: Annotated[
        Path | None, typer.Option(help="Read logs of other origin in this folder instead.")
    ] = None,
    working: Working = AS_USUAL,
) -> None:
    """Play matches; write down what players saw and did.

    Example: understudy record arena --players expert --opponents expert,rusher --matches 500
    """
    if logs is None:
        recording("arena")(out, players, opponents, matches, more, working)
        return
    from understudy.pipeline import import_matches as import_matches_stage

    run = run_of(out, "arena")
    found = import_matches_stage.read_logs(load("arena"), run, logs, resume=working.resume)
    print(f"{found.matches:,} matches from {found.files} logs in {run.recordings}")
    complain(found.rejected)


COMMANDS = Commands(
    verbs={"record": record, "compete": compete}, plan=partial(plan, "arena"), strength=strength
)


def commands_of(name: str) -> Commands:
    """All that a variant has on the command line: what every game of two has."""
    return of_two.commands_of(name)
