"""Shards of several runs in one folder, as links: nothing is copied where that can be helped.

A shard keeps its content and so its split, which depends on the match alone: a match that two runs
share is on the same side in both.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.data.files import digest, writing
from understudy.data.runs import MANIFEST, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.data.shards import shard_key, shard_path, shard_paths
from understudy.errors import InputError

GATHER = "gather"


def gather(
    folder: Path,
    sources: Mapping[str, Path],
    tables: Sequence[Table],
    game: str,
    *,
    resume: bool = True,
) -> None:
    """Fill a folder with the shards of others; `sources` are these by the name of their run.

    What has come to a source since is added, what is gone there goes here, too.
    """
    found = {
        f"{label}-{shard_key(path)}": (source, shard_key(path))
        for label, source in labelled(sources).items()
        for path in shard_paths(source, tables[0])
    }
    settings = {"game": game, "from": sorted(sources), "players": _players(sources.values())}
    begin(folder, GATHER, settings, resume=resume)
    wanted = {
        shard_path(folder, table, key): shard_path(source, table, old)
        for key, (source, old) in found.items()
        for table in tables
    } | {folder / name: path for name, path in _beside(list(sources.values())).items()}
    for path in folder.iterdir():
        if path not in wanted and path.name != MANIFEST:
            path.unlink()
    for target, path in wanted.items():
        if not path.is_file():
            raise InputError(f"{path} is missing, and with it a part of its recording")
        link(path, target)
    finish(folder, shards=len(found))


def labelled(sources: Mapping[str, Path]) -> dict[str, Path]:
    """The same by short names that can stand in a file's; equal ones are numbered."""
    found = dict[str, Path]()
    for name, folder in sources.items():
        plain = re.sub(r"[^\w.]+", "_", Path(name).resolve().name) or "run"
        label, count = plain, 1
        while label in found:
            count += 1
            label = f"{plain}.{count}"
        found[label] = folder
    return found


def _players(sources: Any) -> list[str] | None:
    """Those recorded to learn from; None where a source does not say."""
    found = set[str]()
    for folder in sources:
        manifest = read_manifest(folder)
        players = None if manifest is None else manifest["settings"].get("players")
        if players is None:
            return None
        found |= set(players)
    return sorted(found)


def _beside(sources: Sequence[Path]) -> dict[str, Path]:
    """Files that lie beside shards and hold for all of them, which must be alike everywhere."""
    found = [
        {path.name: path for path in folder.iterdir() if path.suffix == ".safetensors"}
        for folder in sources
    ]
    for name in {name for files in found for name in files}:
        if len({digest(files[name]) if name in files else "" for files in found}) > 1:
            raise InputError(
                f"{name} is not the same in {', '.join(map(str, sources))}: their samples were "
                "filled in by different models. Encode their recordings together instead: "
                "understudy encode GAME --from RUN,RUN"
            )
    return found[0] if found else {}


def link(path: Path, target: Path) -> None:
    """The same file under another name; a copy where that cannot be."""
    if target.exists():
        if target.samefile(path) or digest(target) == digest(path):
            return
        target.unlink()
    try:
        os.link(path, target)
    except OSError:
        with writing(target) as aside:
            shutil.copyfile(path, aside)
