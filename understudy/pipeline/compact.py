"""Many small shards of a recording as few large ones, in a run of their own.

Nothing is changed where it was recorded. Rows keep their order, and a shard is made of whole ones:
whoever reads recordings reads these the same way. A shard that is there, and whose sources are as
they were, is not made again, so what was interrupted goes on and what has grown is added.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from understudy import workers
from understudy.data import shards
from understudy.data.files import digest
from understudy.data.runs import Run, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.pipeline.game import Game, load
from understudy.pipeline.tasks import Task, Workers, work

STAGE = "compact"
SIZE = 8 << 20
"""Bytes of sources in one shard of all tables together. Whoever encodes one holds about ten to
twenty times as much in memory."""
_NOTE = "input"


def compact(
    run: Run,
    target: Run,
    *,
    size: int = SIZE,
    worker: Workers = None,
    resume: bool = True,
    quiet: bool = False,
) -> tuple[int, int]:
    """Merge the recordings of a run into another.

    Returns how many shards each table had, and has now.
    """
    manifest = read_manifest(run.recordings)
    if manifest is None or manifest["finished"] is None:
        raise InputError(
            f"{run.recordings} holds no finished recording. Finish it first: the same command goes "
            "on"
        )
    if target.folder.resolve() == run.folder.resolve():
        raise InputError(f"--out {target.folder} is the run itself; choose another")
    workers.parse(worker)
    game = load(str(manifest["settings"]["game"]))
    tables = _tables(game, run.recordings)
    groups = _groups(run.recordings, tables, size)
    known = {name: manifest["settings"].get(name) for name in ("game", "players")}
    settings = {**known, "from": run.title, "size": size}
    begin(target.recordings, STAGE, settings, resume=resume)
    for path in target.recordings.glob("*.parquet"):
        if shards.shard_key(path) not in groups:
            path.unlink()  # its sources are in another group now
    source, folder = run.recordings.resolve(), target.recordings.resolve()
    names = tuple(table.name for table in tables)
    tasks = {
        key: Task(game.name, key, source, folder, keys, options={"tables": names})
        for key, keys in groups.items()
    }

    def is_done(key: str) -> bool:
        paths = (shards.shard_path(folder, table, key) for table in tables)
        notes = {shards.shard_note(path, _NOTE) for path in paths}
        return None not in notes and notes == {_stamp(source, tables, groups[key])}

    def ship(task: Task) -> workers.Shipment:
        return workers.Shipment(folder, source, tuple(_sources(source, tables, task.fixture)))

    work(_merge, tasks, tables, worker, None, quiet, "compacting", is_done, ship=ship)
    finish(target.recordings, **{**manifest.get("facts", {}), "tables": names})
    return sum(map(len, groups.values())), len(groups)


def _tables(game: Game, folder: Path) -> tuple[Table, ...]:
    """The tables of a recording; what was imported or gathered has no results."""
    has_results = any(folder.glob(f"{game.results.name}-*.parquet"))
    return (*game.recordings, game.results) if has_results else game.recordings


def _groups(folder: Path, tables: Sequence[Table], size: int) -> dict[str, tuple[str, ...]]:
    """The keys that become one shard, by the first of them; neighbours stay neighbours."""
    groups: dict[str, tuple[str, ...]] = {}
    first, held = "", size
    for path in shards.shard_paths(folder, tables[0]):
        key = shards.shard_key(path)
        if held >= size:
            first, held = key, 0
        groups[first] = (*groups.get(first, ()), key)
        held += sum(one.stat().st_size for one in _sources(folder, tables, [key]))
    return groups


def _sources(folder: Path, tables: Sequence[Table], keys: Sequence[str]) -> list[Path]:
    paths = [shards.shard_path(folder, table, key) for table in tables for key in keys]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path} is missing. Record again: only what is missing is made")
    return paths


def _stamp(folder: Path, tables: Sequence[Table], keys: Sequence[str]) -> str:
    """Stands for the content of the sources of one shard."""
    told = "+".join(digest(path) for path in _sources(folder, tables, keys))
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _merge(task: Task) -> None:
    """Write one shard of each table, the first table's last: readers begin there."""
    game = load(task.game)
    every = (*game.recordings, game.results)
    tables = [table for table in every if table.name in task.options["tables"]]
    note = {_NOTE: _stamp(task.source, tables, task.fixture)}
    for table in reversed(tables):
        paths = [shards.shard_path(task.source, table, key) for key in task.fixture]
        rows = pa.concat_tables(shards.read_shard(path, table) for path in paths)
        rows = rows.replace_schema_metadata(table.arrow(note).metadata)
        shards.write_shard(shards.shard_path(task.target, table, task.key), rows)
