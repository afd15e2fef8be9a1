"""What a table must look like, declared once, and the check that a file does.

A game declares its tables; everything downstream trusts the declaration, because each file is
checked when it is opened. The declaration's name and version travel in the file's metadata.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import InputError
from understudy.names import fault_of_place, shown

NAMES = frozenset({"match", "player", "player_0", "player_1", "players", "opponent"})
"""Columns whose texts are names, in whatever table."""
TABLE_KEY, VERSION_KEY = b"understudy.table", b"understudy.version"


@dataclass(frozen=True)
class Column:
    """One column: what it is called, what it holds, what it means."""

    name: str
    type: pa.DataType
    meaning: str
    optional: bool = False
    """May hold nulls."""


@dataclass(frozen=True)
class Table:
    """A table that lies on disk as Parquet shards."""

    game: str
    name: str
    version: int
    """Raised whenever the meaning of a column changes; older files are then refused."""
    made_by: str
    """The command that makes it, for error messages."""
    columns: tuple[Column, ...]

    @property
    def full_name(self) -> str:
        """The name written into files."""
        return f"{self.game}.{self.name}"

    def arrow(self, metadata: Mapping[str, str] | None = None) -> pa.Schema:
        """The declaration as an Arrow schema, with its name and version inside."""
        stamp = {TABLE_KEY: self.full_name.encode(), VERSION_KEY: str(self.version).encode()}
        stamp |= {key.encode(): value.encode() for key, value in (metadata or {}).items()}
        fields = [pa.field(c.name, c.type, nullable=c.optional) for c in self.columns]
        return pa.schema(fields, metadata=stamp)

    def build(
        self,
        values: Mapping[str, "np.ndarray[Any, Any] | Sequence[Any] | pa.Array"],
        metadata: Mapping[str, str] | None = None,
    ) -> pa.Table:
        """A table of these columns; `values` must name exactly the declared ones."""
        schema = self.arrow(metadata)
        if set(values) != set(schema.names):
            raise ValueError(f"{self.full_name}: {set(values) ^ set(schema.names)} do not match")
        return pa.Table.from_arrays([_array(values[f.name], f.type) for f in schema], schema=schema)

    def check(self, schema: pa.Schema, source: str) -> None:
        """Raise InputError, naming the cure, unless `source` is a file of this table."""
        cure = f"Make it again: {self.made_by}"
        stamp = schema.metadata or {}
        name = stamp.get(TABLE_KEY, b"no table of ours").decode()
        if name != self.full_name:
            raise InputError(f"{source}: holds {name}, not {self.full_name}. {cure}")
        if (version := stamp.get(VERSION_KEY, b"0").decode()) != str(self.version):
            raise InputError(
                f"{source}: version {version} of {self.full_name}; this program reads "
                f"version {self.version}. {cure} --fresh"
            )
        for column in self.columns:
            if column.name not in schema.names:
                raise InputError(f"{source}: no column '{column.name}' ({column.meaning}). {cure}")
            if (found := schema.field(column.name).type) != column.type:
                raise InputError(
                    f"{source}: column '{column.name}' is {found}, not {column.type}. {cure}"
                )

    def check_names(self, rows: pa.Table, source: str) -> None:
        """Raise InputError for a match or player whose name is none: it may lead elsewhere."""
        for column in sorted(NAMES.intersection(rows.column_names)):
            found = rows[column]
            if pa.types.is_list(found.type):
                found = pc.list_flatten(found)
            if not pa.types.is_string(found.type):
                continue
            for name in pc.unique(found).to_pylist():
                if name is not None and (fault := fault_of_place(name)):
                    raise InputError(
                        f"{source}: {column} {shown(name)} {fault}, so it is no name. "
                        f"Make it again: {self.made_by}"
                    )


def _array(values: Any, kind: pa.DataType) -> "pa.Array | pa.ChunkedArray":
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(kind)
    return pa.array(values, type=kind)
