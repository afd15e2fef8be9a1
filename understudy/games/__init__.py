"""The games, one folder each, or one file. Its name is the game's name on the command line.

Installed packages bring further ones, by the entry point group `understudy.games`.
What a game must offer is `pipeline.game.Game`; `docs/adding.md` says how to write one.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from understudy.data.players import PlayerRef as PlayerRef
from understudy.pipeline.game import families as families
from understudy.pipeline.game import load as load
from understudy.pipeline.game import modules

if TYPE_CHECKING:
    from understudy.terminal.commands import Commands


def names() -> tuple[str, ...]:
    """All games, by name."""
    return tuple(modules())


def commands(name: str) -> "Commands":
    """What a game brings to the command line: its commands.py, or what every game of two has."""
    family, colon, _ = name.partition(":")
    known = modules() | families() if colon else families() | modules()
    package, _, last = known[family].rpartition(".")
    if last == "family" and _is_there(f"{package}.commands"):
        made: Commands = import_module(f"{package}.commands").commands_of(name)
        return made
    if last == "game" and _is_there(f"{package}.commands"):
        found: Commands = import_module(f"{package}.commands").COMMANDS
        return found
    from understudy.games.two_player.commands import commands_of

    return commands_of(name)


def _is_there(module: str) -> bool:
    """Whether there is such a module; a broken package of somebody else's must not stop us here.

    `load` tells what is wrong with it, once it is asked for.
    """
    try:
        return find_spec(module) is not None
    except Exception:
        if module.startswith(f"{__name__}."):
            raise
        return False
