"""Rows of samples that are 0 wherever nothing is said of them."""

import numpy as np
import pyarrow as pa


def rows_of(table, count, **columns):
    """A table of so many rows; columns are given by row, or once for all."""
    made = {}
    for column in table.columns:
        given = columns.pop(column.name, None)
        made[column.name] = _column(column.type, count, given)
    assert not columns, f"{table.full_name} has no {', '.join(columns)}"
    return table.build(made)


def _column(kind, count, given):
    if pa.types.is_fixed_size_list(kind):
        values = np.zeros((count, kind.list_size)) if given is None else np.array(given, float)
        flat = np.broadcast_to(values, (count, kind.list_size)).reshape(-1)
        return pa.FixedSizeListArray.from_arrays(pa.array(flat).cast(kind.value_type), type=kind)
    if given is None:
        given = "" if pa.types.is_string(kind) else 0
        if pa.types.is_fixed_size_binary(kind):
            given = bytes([255]) * kind.byte_width
    given = [given] * count if isinstance(given, str | bytes | int | float) else given
    return pa.array([bool(one) for one in given] if pa.types.is_boolean(kind) else given, kind)
