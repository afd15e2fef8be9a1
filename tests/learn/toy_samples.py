"""Toy samples: what to do depends on the features in a way a small network can learn."""

import numpy as np

from understudy.data.samples import decisions, pack_legal
from understudy.data.shards import shard_path, write_shard

FEATURES = {"left": "how good left is", "right": "how good right is", "ammo": "shots left"}
TOY = decisions("arena", "moves", 3, FEATURES, {"move": 3, "fire": 2})


def toy_columns(rows: int, first: int = 0, seed: int = 0) -> dict:
    """`reward` is the number of the row. Matches of five rows; every ninth is val, tenth test."""
    rng = np.random.default_rng((seed, first))
    left, right = rng.random((2, rows), dtype=np.float32)
    ammo = rng.integers(0, 2, rows).astype(np.float32)
    legal = np.ones((rows, 5), bool)
    legal[:, 4] = ammo > 0
    match = (first + np.arange(rows)) // 5
    return {
        "match": [f"m{number}" for number in match],
        "step": np.arange(rows) % 5,
        "slot": np.zeros(rows, np.int8),
        "player": np.where(match % 2, "camper", "hunter"),
        "split": np.where(match % 10 == 9, "test", np.where(match % 10 == 8, "val", "train")),
        "left": left,
        "right": right,
        "ammo": ammo,
        "move": np.where(abs(left - right) < 0.1, 0, np.where(left > right, 1, 2)),
        "fire": ammo.astype(np.int16),
        "legal": pack_legal(legal),
        "forbidden": (np.arange(rows) % 7 == 0).astype(np.int16),
        "reward": (first + np.arange(rows)).astype(np.float32),
        "outcome": np.sign(left - right),
        "extras": [None] * rows,
    }


def write_toy(folder, sizes, **changes) -> None:
    """Shards of the given sizes; `changes` replaces columns."""
    first = 0
    for number, rows in enumerate(sizes):
        columns = toy_columns(rows, first) | changes
        write_shard(shard_path(folder, TOY.table, f"{number:03d}"), TOY.table.build(columns))
        first += rows


LENGTHS = ((1, 4, 9, 3), (7, 8), (12, 2, 5))
"""Of the matches of each shard, in steps; both players decide in each."""


def write_matches(folder):
    """Two rows a step, the players' in turn, steps of a match backwards; `reward` numbers rows."""
    first, match = 0, 0
    for shard, lengths in enumerate(LENGTHS):
        keys = []
        for length in lengths:
            split = "val" if match == 2 else "test" if match == 5 else "train"
            steps = range(length - 1, -1, -1)
            keys += [(f"m{match}", 10 + 2 * t, slot, split) for t in steps for slot in (0, 1)]
            match += 1
        names, step, slot, split = zip(*keys, strict=True)
        own = {"match": names, "step": step, "slot": slot, "split": split}
        own["player"] = np.where(np.array(slot), "camper", "hunter")
        columns = toy_columns(len(keys), first) | own
        write_shard(shard_path(folder, TOY.table, f"{shard:03d}"), TOY.table.build(columns))
        first += len(keys)
    return folder
