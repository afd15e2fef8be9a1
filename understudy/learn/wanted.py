"""The rows of a split in a folder of samples, and what to say when there are none."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.schema import Table
from understudy.data.shards import read_shard, shard_paths
from understudy.errors import InputError


def wanted_rows(
    path: Path, table: Table, split: str, players: Sequence[str] | None, columns: Sequence[str]
) -> pa.Table:
    """Some columns of a shard's rows of a split, only of `players` if given, without holes."""
    by_player = [] if players is None else ["player"]
    rows = read_shard(path, table, [*dict.fromkeys(["split", *by_player, *columns])])
    for name in rows.column_names:
        if rows[name].null_count:
            raise InputError(f"{path}: column '{name}' has empty entries. {cure(table)}")
    keep = pc.equal(rows["split"], split)
    if players is not None:
        keep = pc.and_(keep, pc.is_in(rows["player"], value_set=pa.array(players)))
    return rows.filter(keep)


def cure(table: Table) -> str:
    """How to get better samples."""
    return f"Make it again: {table.made_by} --fresh"


def nothing_found(folder: Path, table: Table, split: str, players: Sequence[str] | None) -> str:
    """Why a split is empty, and what to do."""
    there = set()
    for path in shard_paths(folder, table):
        rows = read_shard(path, table, ["split", "player"])
        there |= set(rows.filter(pc.equal(rows["split"], split))["player"].to_pylist())
    if players is None or not there:
        return (
            f"{folder}: no decision of {table.full_name} is in split '{split}'. "
            f"Record more matches (understudy record {table.game}), then {table.made_by}"
        )
    return (
        f"{folder}: split '{split}' of {table.full_name} has nothing by "
        f"{', '.join(players)}; it has {', '.join(sorted(there))}. "
        "Name one of those in the recipe, or record the missing ones"
    )
