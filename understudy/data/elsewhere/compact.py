"""Many small shards of a recording as few large ones, in a run of their own.

Nothing is changed where it was recorded. Rows keep their order, and a shard is made of whole ones:
whoever reads recordings reads these the same way. A shard that is there, and whose sources are as
they were, is not made again, so what was interrupted goes on and what has grown is added.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from understudy.data import shards
from understudy.data.files import digest
from understudy.data.manifests import begin, finish
from understudy.data.schema import Table
from understudy.errors import InputError

STAGE = "compact"
SIZE = 8 << 20
"""Bytes of sources, of all tables together, in one shard. Reading takes ten times as much memory
and more."""
_NOTE = "sources"


class Compacted(NamedTuple):
    """How many shards of each table there were, and are."""

    before: int
    after: int


def compact(
    source: Path,
    target: Path,
    tables: Sequence[Table],
    manifest: Mapping[str, Any],
    *,
    resume: bool = True,
) -> Compacted:
    """Merge the shards of one folder into another; the first of `tables` has them all."""
    groups = _groups(source, tables)
    known = {name: manifest["settings"].get(name) for name in ("game", "players")}
    place = source.resolve().parent
    settings = {**known, "from": f"{place.parent.name}/{place.name}", "size": SIZE}
    begin(target, STAGE, settings, resume=resume)
    wanted = {shards.shard_path(target, table, key) for table in tables for key in groups}
    for path in target.glob("*.parquet"):
        if path not in wanted:
            path.unlink()  # its sources are in another group now
    for key, keys in groups.items():
        stamp = _stamp(_sources(source, tables, keys))
        for table in reversed(tables):  # the first one last: readers begin there
            path = shards.shard_path(target, table, key)
            if shards.shard_note(path, _NOTE) != stamp:
                _merge(path, table, _sources(source, [table], keys), stamp)
    names = [table.name for table in tables]
    finish(target, **{**manifest.get("facts", {}), "tables": names})
    return Compacted(sum(map(len, groups.values())), len(groups))


def _groups(folder: Path, tables: Sequence[Table]) -> dict[str, list[str]]:
    """The keys that become one shard, by the first of them; neighbours stay neighbours."""
    groups: dict[str, list[str]] = {}
    first, held = "", SIZE
    for path in shards.shard_paths(folder, tables[0]):
        key = shards.shard_key(path)
        if held >= SIZE:
            first, held = key, 0
        groups.setdefault(first, []).append(key)
        held += sum(one.stat().st_size for one in _sources(folder, tables, [key]))
    return groups


def _sources(folder: Path, tables: Sequence[Table], keys: Sequence[str]) -> list[Path]:
    paths = [shards.shard_path(folder, table, key) for table in tables for key in keys]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path} is missing. Record again: only what is missing is made")
    return paths


def _stamp(paths: Sequence[Path]) -> str:
    """Stands for the content of the sources of one shard."""
    told = "+".join(map(digest, paths))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _merge(path: Path, table: Table, sources: Sequence[Path], stamp: str) -> None:
    rows = pa.concat_tables(shards.read_shard(one, table) for one in sources)
    note = table.arrow({_NOTE: stamp}).metadata
    shards.write_shard(path, rows.replace_schema_metadata(note))
