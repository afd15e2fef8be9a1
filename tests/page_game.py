"""The game that `docs/adding.md` shows, as if it lay in `games/`."""

import contextlib
import functools
import re
import sys
import types
from pathlib import Path

import pytest

from understudy import cli, games
from understudy.cli import pairs

PAGE = Path(__file__).parents[1] / "docs" / "adding.md"
NAME = "nim"


@functools.cache
def code():
    """What the page says to put into a file."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (found,) = [block for block in blocks if "GAME = " in block]
    return found


@functools.cache
def module():
    """That file, imported."""
    made = types.ModuleType(f"understudy.games.{NAME}")
    exec(compile(code(), str(PAGE), "exec"), made.__dict__)
    return made


@contextlib.contextmanager
def installed():
    """As the page says: a file, a name, two commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "NAMES", (*games.NAMES, NAME))
        patch.setitem(sys.modules, f"understudy.games.{NAME}", module())
        for group, command in ((cli.record, pairs.recording), (cli.compete, pairs.competing)):
            patch.setattr(group, "registered_commands", [*group.registered_commands])
            group.command(NAME)(command(NAME))
        yield module()
