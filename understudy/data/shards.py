"""Tables on disk: numbered Parquet files in a folder, each written whole and checked when read.

A table larger than memory is many shards; whoever reads it goes through them one by one, or a
window of them at a time (`learn/supervised/stream.py`).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from understudy.data.files import require_file, writing
from understudy.data.integrity.seals import BLANK, KEY, is_broken_file, is_unmarked, seal_file
from understudy.data.schema import Table
from understudy.errors import InputError


def shard_path(folder: Path, table: Table, key: str) -> Path:
    """Where the shard `key` of a table lies."""
    return folder / f"{table.name}-{key}.parquet"


def shard_paths(folder: Path, table: Table) -> list[Path]:
    """All shards of a table by key; where there are none, an error that says how to get some."""
    if paths := sorted(folder.glob(f"{table.name}-*.parquet")):
        return paths
    raise InputError(f"{folder} holds no {table.full_name}. Make some: {table.made_by}")


def whole_shards(folder: Path, tables: Iterable[Table]) -> list[Path]:
    """All shards of some tables, each opened once to see that it can be read."""
    found = [(path, table) for table in tables for path in shard_paths(folder, table)]
    for path, table in found:
        open_shard(path, table).close()
    return [path for path, _ in found]


def shard_key(path: Path) -> str:
    """The part of a shard's name that tells it from its siblings."""
    return path.stem.split("-", 1)[1]


def write_shard(path: Path, rows: pa.Table) -> None:
    """Write one shard whole."""
    # Features hardly repeat: without a dictionary, lists of them are written four times as fast.
    is_list = [pa.types.is_fixed_size_list(field.type) for field in rows.schema]
    plain = [name for name, no in zip(rows.column_names, is_list, strict=True) if not no]
    noted = rows.replace_schema_metadata({**(rows.schema.metadata or {}), KEY: BLANK})
    with writing(path) as aside:
        pq.write_table(
            noted,
            aside,
            compression="zstd",
            use_dictionary=plain if any(is_list) else True,
            write_page_checksum=True,  # other programs may check these; we check the seal
        )
        seal_file(aside)


def open_shard(path: Path, table: Table) -> pq.ParquetFile:
    """Open a shard after checking that it is one of `table`."""
    require_whole(path, table)
    try:
        file = pq.ParquetFile(path, page_checksum_verification=True)
    except (pa.ArrowInvalid, pa.ArrowException, OSError) as failure:
        raise InputError(
            f"{path}: not a whole Parquet file ({_first_line(failure)}). {_cure(table)}"
        ) from failure
    table.check(file.schema_arrow, str(path))
    if is_unmarked((file.metadata.metadata or {}).get(KEY.encode())):
        raise InputError(f"{path}: damaged (its seal is none). {_cure(table)}")
    return file


def require_whole(path: Path, table: Table) -> None:
    """InputError where a shard is no file, or is not as it was written."""
    if not require_file(path):
        raise InputError(f"{path} is missing. Run {table.made_by} again: what is missing is made")
    if is_broken_file(path):
        raise InputError(f"{path}: damaged (it does not match its seal). {_cure(table)}")


def _cure(table: Table) -> str:
    return f"Delete it and run {table.made_by} again: only what is missing is made"


def read_shard(path: Path, table: Table, columns: Sequence[str] | None = None) -> pa.Table:
    """One shard as a table."""
    with open_shard(path, table) as file:
        try:
            rows = file.read(columns=list(columns) if columns else None)
        except (pa.ArrowException, OSError) as failure:
            raise InputError(
                f"{path}: damaged ({_first_line(failure)}). Delete it and run {table.made_by} again"
            ) from failure
    table.check_names(rows, str(path))
    notes = {key: note for key, note in (rows.schema.metadata or {}).items() if key != KEY.encode()}
    return rows.replace_schema_metadata(notes)  # as it was before it was sealed


def shard_rows(path: Path, table: Table) -> int:
    """How many rows a shard has, without reading them."""
    with open_shard(path, table) as file:
        return int(file.metadata.num_rows)


def shard_note(path: Path, key: str) -> str | None:
    """A note written into a shard's metadata; None where there is no such file or note."""
    try:
        if not require_file(path) or is_broken_file(path):
            return None
        metadata = pq.read_schema(path).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    value = metadata.get(key.encode())
    return value.decode() if value is not None else None


def _first_line(failure: Exception) -> str:
    return str(failure).split("\n", 1)[0].rstrip(".")
