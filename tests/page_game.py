"""The game that `docs/adding.md` shows, as if it lay in `games/`."""

import contextlib
import functools
import re
import sys
import tempfile
import types
from pathlib import Path

import pytest

from understudy import games

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
    """As the page says: a file, and nothing else."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        (Path(folder) / f"{NAME}.py").write_text(code())
        patch.setattr(games, "__path__", [*games.__path__, folder])
        patch.setitem(sys.modules, f"understudy.games.{NAME}", module())
        yield module()
