"""The game of `examples/nim`, as if its package were installed."""

import contextlib
import functools
import tempfile
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples" / "nim"
NAME = "nim"


@functools.cache
def module():
    """Its one file, imported."""
    with installed() as found:
        return found


@contextlib.contextmanager
def installed():
    """As pip leaves it, the installing spared: its entry points lie beside it on the path."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
        put_entry_points(Path(folder), project["name"], project["entry-points"])
        patch.syspath_prepend(FOLDER)
        patch.syspath_prepend(folder)
        yield import_module(project["entry-points"]["understudy.games"][NAME])


def put_entry_points(folder, package, groups):
    """What an installed package leaves in a folder of the path, that others find it by."""
    place = folder / f"{package.replace('-', '_')}-0.1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (place / "entry_points.txt").write_text("\n".join(lines) + "\n")
