"""Samples in memory: one matrix of features, and what to slice and score by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data import shards
from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.encode import GROUPS, LABELS, VALUE, names_of

Matrix = np.ndarray[Any, np.dtype[np.float32]]
ALL_NAMES = tuple(name for group in GROUPS for name in names_of(group))


@dataclass(frozen=True)
class Samples:
    """R rows."""

    features: Matrix
    """[R, F], in the order of `ALL_NAMES`."""
    match_id: Ints
    patch: Ints
    start_time: Ints
    labels: Mapping[str, Floats]
    """y_win, y_dgold_adv, y_dxp_adv; nothing where they are not known."""

    def __len__(self) -> int:
        return len(self.match_id)

    def column(self, name: str) -> Floats:
        """One feature, [R]."""
        return self.features[:, _INDEX[name]].astype(np.float64)

    def columns(self, names: Sequence[str]) -> Matrix:
        """Some features, [R, len(names)]."""
        return self.features[:, [_INDEX[name] for name in names]]

    def where(self, rows: Bools | Ints) -> "Samples":
        """Some rows."""
        return Samples(
            self.features[rows],
            self.match_id[rows],
            self.patch[rows],
            self.start_time[rows],
            {name: values[rows] for name, values in self.labels.items()},
        )

    def of(self, matches: Ints) -> "Samples":
        """All rows of some matches."""
        return self.where(np.isin(self.match_id, matches))

    def altered(self, changes: Sequence[Mapping[str, float]]) -> "Samples":
        """A single row once for each of `changes`, with those features changed by so much."""
        assert len(self) == 1, f"one row is altered at a time, not {len(self)}"
        copies = self.where(np.zeros(len(changes), np.int64))
        for row, change in enumerate(changes):
            for name, amount in change.items():
                copies.features[row, _INDEX[name]] += amount
        return copies

    def begun(self) -> "Samples":
        """Rows after the horn; at t = 0 nothing has happened yet."""
        return self.where(self.column("t") > 0)

    def weights(self) -> Floats:
        """Such that every match weighs 1."""
        _, match, count = np.unique(self.match_id, return_inverse=True, return_counts=True)
        return 1.0 / count[match]

    def outline(self) -> "Outline":
        """A row per match, in the order they began."""
        numbers, first = np.unique(self.match_id, return_index=True)
        order = np.lexsort((numbers, self.start_time[first]))  # by time, then by number
        return Outline(numbers[order], self.patch[first][order], self.start_time[first][order])


@dataclass(frozen=True)
class Outline:
    """Matches in the order they began."""

    match_id: Ints
    patch: Ints
    start_time: Ints


_INDEX = {name: number for number, name in enumerate(ALL_NAMES)}
_TRADED = {
    name: _INDEX[other + name.removeprefix(side)]
    for side, other in (("rad_", "dire_"), ("dire_", "rad_"))
    for name in ALL_NAMES
    if name.startswith(side)
}


def swapped(samples: Samples) -> Samples:
    """The same minutes with Radiant and Dire changing sides."""
    order = [_TRADED.get(name, own) for name, own in _INDEX.items()]
    stays = np.array([name in observe.EVEN or name in _TRADED for name in ALL_NAMES])
    sign = np.where(stays, 1, -1).astype(np.float32)
    # A chance turns to its opposite, 1 - y; a change of a lead to its negative.
    turned = {"y_win": lambda y: 1.0 - y}
    labels = {name: turned.get(name, np.negative)(y) for name, y in samples.labels.items()}
    features = samples.features[:, order] * sign
    return Samples(features, samples.match_id, samples.patch, samples.start_time, labels)


def read_samples(folder: Path) -> Samples:
    """All samples of a run, in order of shards."""
    parts = [
        samples_of({name: rows[name].to_numpy() for name in rows.column_names})
        for rows in (shards.read_shard(path, VALUE) for path in shards.shard_paths(folder, VALUE))
    ]
    return Samples(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.match_id for part in parts]),
        np.concatenate([part.patch for part in parts]),
        np.concatenate([part.start_time for part in parts]),
        {name: np.concatenate([part.labels[name] for part in parts]) for name in LABELS},
    )


def samples_of(columns: Mapping[str, Any]) -> Samples:
    """From columns by name; labels may be missing."""
    features = np.empty((len(columns["match_id"]), len(ALL_NAMES)), np.float32)
    for number, name in enumerate(ALL_NAMES):
        features[:, number] = columns[name]
    labels = {name: columns[name].astype(np.float64) for name in LABELS if name in columns}
    return Samples(features, columns["match_id"], columns["patch"], columns["start_time"], labels)
