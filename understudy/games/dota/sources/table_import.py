"""Import of tables that have our columns already: one Parquet file per table, or several.

A folder holds `matches.parquet`, or `matches/*.parquet`, or `matches-*.parquet`, and so on for each
table; a run's folder will do, too. Columns are brought to our types; what a table has besides is
left behind, and what follows from the rest may be absent (`completing.py`).
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

from understudy.data.arrays import Bools
from understudy.data.runs import Run
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games.dota.sources.completing import CORE, FOLLOWS, HELPS, completed
from understudy.games.dota.sources.match_files import MATCHES_PER_BATCH
from understudy.games.dota.sources.soundness import faults, without
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS, in_order
from understudy.pipeline.game import Awaited, Imported

_OTHER_NAMES = {"players": "players_static"}


def read_tables(*folders: Path) -> Iterator[Awaited]:
    """The matches of folders of tables, in batches by number, also those that come again."""
    return _all(folders, [_sources(folder) for folder in folders])


def _sources(folder: Path) -> dict[str, ds.Dataset]:
    """Every table that is there."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}")
    recorded = Run(folder).recordings
    place = recorded if recorded.is_dir() else folder
    found = {table.name: _source(place, table) for table in RECORDINGS}
    for name in CORE:
        if found[name] is None:
            raise InputError(
                f"{place} holds no {name}.parquet. It takes {', '.join(CORE)} at least"
            )
    return {name: source for name, source in found.items() if source is not None}


def _all(folders: Sequence[Path], opened: Sequence[dict[str, ds.Dataset]]) -> Iterator[Awaited]:
    seen = np.zeros(0, np.int64)
    for folder, sources in zip(folders, opened, strict=True):
        column = sources[MATCHES.name].to_table(columns=["match_id"])["match_id"]
        numbers = np.unique(column.drop_null().to_numpy())
        yield from _batches(folder, sources, numbers, np.intersect1d(numbers, seen))
        seen = np.union1d(seen, numbers)


def _source(folder: Path, table: Table) -> ds.Dataset | None:
    for name in (table.name, _OTHER_NAMES.get(table.name, table.name)):
        whole, parts = folder / f"{name}.parquet", sorted(folder.glob(f"{name}-*.parquet"))
        parts = [whole] if whole.is_file() else parts or sorted(folder.glob(f"{name}/*.parquet"))
        if parts:
            return _opened(folder, parts, table)
    return None


def _opened(folder: Path, parts: list[Path], table: Table) -> ds.Dataset:
    try:
        source = ds.dataset(parts, format="parquet")
    except (pa.ArrowException, OSError) as failure:
        line = str(failure).split("\n", 1)[0]
        raise InputError(f"{folder}: {table.name} cannot be read ({line})") from failure
    for column in table.columns:
        needed = not column.optional and column.name not in FOLLOWS.get(table.name, ())
        if needed and column.name not in source.schema.names:
            raise InputError(
                f"{folder}: {table.name} has no column '{column.name}' ({column.meaning})"
            )
    return source


def _batches(
    folder: Path,
    sources: dict[str, ds.Dataset],
    numbers: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    seen: "np.ndarray[tuple[int], np.dtype[np.int64]]",
) -> Iterator[Awaited]:
    files = [Path(name) for source in sources.values() for name in source.files]
    # What a batch's stamp is made of: it changes with our tables' versions, with the files, and
    # with what folders before this one hold of it, which is left out of the recordings.
    known: list[Any] = [table.version for table in RECORDINGS]
    known += [seen.tolist()] if len(seen) else []
    known += [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    for start in range(0, len(numbers), MATCHES_PER_BATCH):
        some = numbers[start : start + MATCHES_PER_BATCH]
        within = (pc.field("match_id") >= int(some[0])) & (pc.field("match_id") <= int(some[-1]))
        chosen = within & pc.field("match_id").isin(some.tolist())
        stamp = blake2b(repr((known, some.tolist())).encode(), digest_size=16).hexdigest()
        yield Awaited(str(folder), stamp, partial(_read, folder, sources, chosen))


def _read(folder: Path, sources: dict[str, ds.Dataset], chosen: pc.Expression) -> Imported:
    raw = {table.name: _rows(table, sources[table.name], chosen)
           for table in RECORDINGS if table.name in sources}  # fmt: skip
    whole = completed(raw, str(folder))
    wrong: dict[int, str] = {}
    tables = {table.name: _typed(table, whole[table.name], folder, wrong) for table in RECORDINGS}
    tables = without(tables, wrong)
    wrong |= (found := faults(tables))
    words = [f"{folder}: match {number}: {fault}" for number, fault in sorted(wrong.items())]
    tables = without(tables, found)
    absent = [table.name for table in RECORDINGS if table.name not in sources]
    count = len(tables[MATCHES.name])
    return Imported(
        str(folder), tables, words, {f"matches without {name}": count for name in absent}
    )


def _rows(table: Table, source: ds.Dataset, chosen: pc.Expression) -> pa.Table:
    wanted = {*(column.name for column in table.columns), *HELPS.get(table.name, ())}
    names = [name for name in source.schema.names if name in wanted]
    return source.to_table(columns=names, filter=chosen)


def _typed(table: Table, rows: pa.Table, folder: Path, wrong: dict[int, str]) -> pa.Table:
    """The rows as our table has them; a value that does not fit is noted as its match's fault."""
    values = {}
    numbers = rows["match_id"].cast(pa.int64()).to_numpy()
    for column in table.columns:
        if column.name not in rows.column_names:
            values[column.name] = pa.nulls(len(rows), column.type)
            continue
        array = rows[column.name]
        if pa.types.is_dictionary(array.type):
            array = pc.cast(array, pa.string())
        place = f"{folder}: {table.name}"
        if array.null_count and not column.optional:
            lost = np.asarray(array.is_null().to_numpy())
            if lost.all():
                raise InputError(f"{place} lacks a '{column.name}' ({column.meaning})")
            wrong |= dict.fromkeys(numbers[lost].tolist(), f"{table.name}: no {column.name}")
        values[column.name], fits = _cast(array, column.type)
        if len(fits) and not fits.any():
            raise InputError(f"{place}.{column.name} is {array.type}, not {column.type}")
        word = f"{table.name}: {column.name} is no {column.type}"
        wrong |= dict.fromkeys(numbers[~fits].tolist(), word)
    return in_order(table, table.build(values))


def _cast(array: pa.ChunkedArray, kind: pa.DataType) -> tuple[pa.ChunkedArray, Bools]:
    """An array in our type, null where a value does not fit, and where all do."""
    try:
        return array.cast(kind), np.ones(len(array), bool)
    except pa.ArrowException:
        pass
    cast = [_cast_one(value, kind) for value in array.to_pylist()]
    fits = [a is not None or b is None for a, b in zip(cast, array.to_pylist(), strict=True)]
    return pa.chunked_array([pa.array(cast, kind)]), np.array(fits, bool)


def _cast_one(value: Any, kind: pa.DataType) -> Any:
    try:
        return pa.array([value]).cast(kind)[0].as_py()
    except pa.ArrowException:
        return None
