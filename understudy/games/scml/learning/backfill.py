"""Fill L2's goals into the samples that L3 and L4 learn from."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Array
from understudy.data.files import digest, writing
from understudy.data.runs import WEIGHTS
from understudy.data.shards import (
    read_shard,
    shard_key,
    shard_note,
    shard_path,
    shard_paths,
    write_shard,
)
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.numpy_networks import Goals
from understudy.games.scml.domain import NUM_GOALS
from understudy.games.scml.learning.dataset import lists
from understudy.games.scml.learning.layer_recipe import GOALS_FILE
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_SAMPLES
from understudy.games.scml.view import inputs

_NOTE = "goals"


def fill_in(samples: Path, checkpoint: Path) -> None:
    """Fill the goals of an L2 into the samples of a folder."""
    fill_goals(samples, samples, checkpoint)


def fill_goals(
    source: Path, target: Path, checkpoint: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """Rounds of `source` with the goals of an L2 into `target`, which may be the same folder."""
    file = checkpoint / WEIGHTS if checkpoint.is_dir() else checkpoint
    network = Goals(read_checkpoint(file).needs("l2").layers["l2"])
    stamp = digest(file)
    target.mkdir(parents=True, exist_ok=True)
    paths = shard_paths(source, ROUND_SAMPLES)
    for number, path in enumerate(paths, start=1):
        out = target / path.name
        if shard_note(out, _NOTE) != stamp:
            day_starts = read_shard(
                shard_path(source, DAY_START_SAMPLES, shard_key(path)), DAY_START_SAMPLES
            )
            write_shard(out, _filled(read_shard(path, ROUND_SAMPLES), day_starts, network, stamp))
        if progress is not None:
            progress(number, len(paths))
    with writing(target / GOALS_FILE) as aside:
        aside.write_bytes(file.read_bytes())


def _filled(rounds: pa.Table, day_starts: pa.Table, network: Goals, stamp: str) -> pa.Table:
    goals = goals_of(day_starts, network)
    index = pc.index_in(_key(rounds), value_set=_key(day_starts).combine_chunks())
    if index.null_count:
        raise InputError(
            "some decisions are of a day without its start. Encode again: understudy encode scml "
            "--fresh"
        )
    by_round = goals[index.to_numpy()]
    column = ROUND_SAMPLES.arrow().get_field_index("goal_hat")
    flat = pa.array(np.ascontiguousarray(by_round).reshape(-1), pa.float32())
    values = pa.FixedSizeListArray.from_arrays(flat, type=rounds.schema.field("goal_hat").type)
    metadata = {**(rounds.schema.metadata or {}), _NOTE.encode(): stamp.encode()}
    filled = rounds.set_column(column, rounds.schema.field("goal_hat"), values)
    return filled.replace_schema_metadata(metadata)


def goals_of(day_starts: pa.Table, network: Goals) -> Array:
    """What L2 says of each day start, raw, [rows, NUM_GOALS]."""
    if not len(day_starts):
        return np.zeros((0, NUM_GOALS), np.float32)
    x = inputs.day_start_input(
        lists(day_starts, "static"), lists(day_starts, "temporal"), lists(day_starts, "role")
    )
    return network(x, lists(day_starts, "scales"))


def _key(table: pa.Table) -> pa.ChunkedArray:
    parts = (table[name].cast(pa.string()) for name in ("match", "slot", "day"))
    return pc.binary_join_element_wise(*parts, " ")
