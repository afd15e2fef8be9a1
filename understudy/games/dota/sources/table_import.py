"""Import of tables that have our columns already: one Parquet file per table, or several.

A folder holds `matches.parquet`, or `matches/*.parquet`, or `matches-*.parquet`, and so on for each
table. Columns are brought to our types; what a table has besides is left behind.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games.dota.sources.match_files import MATCHES_PER_BATCH
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS, in_order
from understudy.pipeline.game import Awaited, Imported

_OTHER_NAMES = {"players": "players_static"}


def read_tables(*folders: Path) -> Iterator[Awaited]:
    """The matches of folders of tables, in batches by number; one read before is left out."""
    opened = [{table.name: _source(folder, table) for table in RECORDINGS} for folder in folders]
    return _all(folders, opened)


def _all(folders: Sequence[Path], opened: Sequence[dict[str, ds.Dataset]]) -> Iterator[Awaited]:
    seen = np.zeros(0, np.int64)
    for folder, sources in zip(folders, opened, strict=True):
        column = sources[MATCHES.name].to_table(columns=["match_id"])["match_id"]
        numbers = np.setdiff1d(column.to_numpy(), seen)
        yield from _batches(folder, sources, numbers)
        seen = np.union1d(seen, numbers)


def _source(folder: Path, table: Table) -> ds.Dataset:
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    for name in (table.name, _OTHER_NAMES.get(table.name, table.name)):
        whole, parts = folder / f"{name}.parquet", sorted(folder.glob(f"{name}-*.parquet"))
        parts = [whole] if whole.is_file() else parts or sorted(folder.glob(f"{name}/*.parquet"))
        if parts:
            return _opened(folder, parts, table)
    raise InputError(f"{folder} holds no {table.name}.parquet. Give a folder with every table")


def _opened(folder: Path, parts: list[Path], table: Table) -> ds.Dataset:
    try:
        source = ds.dataset(parts, format="parquet")
    except (pa.ArrowException, OSError) as failure:
        line = str(failure).split("\n", 1)[0]
        raise InputError(f"{folder}: {table.name} cannot be read ({line})") from failure
    for column in table.columns:
        if column.name not in source.schema.names:
            raise InputError(
                f"{folder}: {table.name} has no column '{column.name}' ({column.meaning})"
            )
    return source


def _batches(
    folder: Path,
    sources: dict[str, ds.Dataset],
    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]",
) -> Iterator[Awaited]:
    files = [Path(name) for source in sources.values() for name in source.files]
    # What a batch's stamp is made of: it changes with our tables' versions and with the files.
    known: list[Any] = [table.version for table in RECORDINGS]
    known += [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    for start in range(0, len(numbers), MATCHES_PER_BATCH):
        some = numbers[start : start + MATCHES_PER_BATCH]
        within = (pc.field("match_id") >= int(some[0])) & (pc.field("match_id") <= int(some[-1]))
        chosen = within & pc.field("match_id").isin(some.tolist())
        stamp = blake2b(repr((known, some.tolist())).encode(), digest_size=16).hexdigest()
        yield Awaited(str(folder), stamp, partial(_read, folder, sources, chosen))


def _read(folder: Path, sources: dict[str, ds.Dataset], chosen: pc.Expression) -> Imported:
    tables = {
        table.name: _typed(table, sources[table.name], chosen, folder) for table in RECORDINGS
    }
    return Imported(str(folder), tables, [])


def _typed(table: Table, source: ds.Dataset, chosen: pc.Expression, folder: Path) -> pa.Table:
    names = [column.name for column in table.columns]
    rows = source.to_table(columns=names, filter=chosen)
    values = {}
    for column in table.columns:
        array = rows[column.name]
        if pa.types.is_dictionary(array.type):
            array = pc.cast(array, pa.string())
        if array.null_count and not column.optional:
            raise InputError(f"{folder}: {table.name} lacks a '{column.name}' ({column.meaning})")
        try:
            values[column.name] = array.cast(column.type)
        except pa.ArrowException as failure:
            raise InputError(
                f"{folder}: {table.name}.{column.name} is {array.type}, not {column.type}"
            ) from failure
    return in_order(table, table.build(values))
