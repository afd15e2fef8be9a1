"""Folders of tracker files, streamed: the files of a world together, some worlds at a time."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b, sha1
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.games.scml.engine.world import collecting_rarely
from understudy.games.scml.recording.tables import RECORDINGS
from understudy.games.scml.recording.tracker.factory import Tracked, read_factory
from understudy.games.scml.recording.tracker.world import Logged, tables_of
from understudy.pipeline.game import Awaited, Imported

WORLDS_PER_PART = 16
"""Files are megabytes each; a part is read whole before it is written."""
_NAME = re.compile(r"agent_.*_world_.*_([0-9a-f]{12})\.json")
_WORLD = re.compile(rb'"world_id":\s*"((?:[^"\\]|\\.)*)"')
_HEAD = 4096  # bytes in which a file names its world, before its entries do
_IGNORED = "tracker_summary.json"


def read_logs(folder: Path) -> Iterator[Awaited]:
    """Tracker files below a folder, world by world; copies of a file are read once."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    paths = sorted(path for path in folder.rglob("*.json") if path.name != _IGNORED)
    if not paths:
        raise InputError(f"{folder} holds no tracker logs: no agent_*.json is in it or below it")
    return _parts(folder, _by_world(paths))


def _by_world(paths: Iterable[Path]) -> list[list[Path]]:
    """The files of each world, in the order worlds come; one of equal names is enough."""
    found = dict[str, dict[str, Path]]()
    for path in paths:
        found.setdefault(_world_of(path), {}).setdefault(path.name, path)
    return [list(files.values()) for files in found.values()]


def _world_of(path: Path) -> str:
    """What tells its world from others: in the file's name, or else at its beginning."""
    if named := _NAME.fullmatch(path.name):
        return named[1]
    with path.open("rb") as file:
        told = _WORLD.search(file.read(_HEAD))
    return sha1(told[1]).hexdigest()[:12] if told else str(path)


def _parts(folder: Path, worlds: Sequence[Sequence[Path]]) -> Iterator[Awaited]:
    versions = [table.version for table in RECORDINGS]
    for start in range(0, len(worlds), WORLDS_PER_PART):
        some = worlds[start : start + WORLDS_PER_PART]
        files = [path for world in some for path in world]
        known = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        stamp = blake2b(repr((versions, known)).encode(), digest_size=16).hexdigest()
        yield Awaited(str(files[0].relative_to(folder)), stamp, _Part(folder, some).load)


class _Part:
    """Some worlds, to be read."""

    def __init__(self, folder: Path, worlds: Sequence[Sequence[Path]]) -> None:
        self.folder, self.worlds = folder, worlds
        self.rejected = list[str]()

    def load(self) -> Imported:
        """Their recordings, what was left out, and counts of what the files do not say."""
        found, missing = list[Logged](), Counter[str]()
        with collecting_rarely():  # millions of small values, none of which is garbage
            for files in self.worlds:
                world = self._world(files, missing)
                if world is not None:
                    found.append(world)
                    missing += world.missing()
            tables = tables_of(found)
        source = str(self.worlds[0][0].relative_to(self.folder))
        return Imported(source, tables, self.rejected, dict(missing))

    def _world(self, files: Sequence[Path], missing: Counter[str]) -> Logged | None:
        name, factories = "", dict[int, Tracked]()
        for path in files:
            try:
                log = parsed(path.read_bytes())
                if not isinstance(log, dict):
                    raise ValueError("it holds no object, as a tracker file does")
                one = read_factory(log)
                world = str(log["world_id"])
            except (ValueError, KeyError, TypeError, IndexError, AttributeError) as problem:
                told = f"no {problem}" if isinstance(problem, KeyError) else str(problem)
                self.rejected.append(f"{path.relative_to(self.folder)}: {told.splitlines()[0]}")
                continue
            name = name or world
            if world != name or one.place.number in factories:
                missing["files that say what another says"] += 1
                continue
            factories[one.place.number] = one
        return Logged(name, list(factories.values())) if factories else None


def _parser() -> Any:
    """orjson where it is installed: it is several times as fast."""
    if find_spec("orjson") is None:
        return json.loads
    from importlib import import_module

    return import_module("orjson").loads


parsed = _parser()
"""JSON as Python values; ValueError for what is none."""
