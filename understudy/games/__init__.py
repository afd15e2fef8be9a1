"""The games, one folder each, or one file. Its name is the game's name on the command line.

What a game must offer is `pipeline.game.Game`; `docs/adding.md` says how to write one.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from understudy.data.players import PlayerRef as PlayerRef
from understudy.pipeline.game import load as load
from understudy.pipeline.game import modules

if TYPE_CHECKING:
    from understudy.terminal.commands import Commands


def names() -> tuple[str, ...]:
    """All games, by name."""
    return tuple(modules())


def commands(name: str) -> "Commands":
    """What a game brings to the command line: its commands.py, or what every game of two has."""
    package, _, last = modules()[name].rpartition(".")
    if last == "game" and find_spec(f"{package}.commands"):
        found: Commands = import_module(f"{package}.commands").COMMANDS
        return found
    from understudy.games.two_player.commands import commands_of

    return commands_of(name)
