"""Samples as tensors, in an order that hangs on the seed alone.

The rows of a split form an endless stream: epoch after epoch, each row once per epoch. An epoch
shuffles the shards, packs them into windows that fit in memory, and shuffles the rows of each
window. Batch number `step` is always the same part of that stream, so training can go on from
any step as if it had never stopped. When all rows fit in one window they are decoded once.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from understudy.data.samples import Decisions, unpack_legal
from understudy.data.shards import read_shard, shard_paths
from understudy.errors import InputError

WINDOW_ROWS = 1_000_000  # 4 bytes per feature and 1 per option each: about 220 MB for 40 and 43


class Batch(NamedTuple):
    """B decisions: F features, H heads, O options of all heads together."""

    observation: Float[Tensor, "B F"]
    action: Int[Tensor, "B H"]
    """The option chosen in each head."""
    legal: Bool[Tensor, "B O"]
    outcome: Float[Tensor, " B"]
    """Final score of the match for the player who decided."""
    reward: Float[Tensor, " B"]
    """Gain of this step."""

    def take(self, rows: Int[Tensor, " N"]) -> "Batch":
        """Some of the rows."""
        observation, action, legal, outcome, reward = (x.index_select(0, rows) for x in self)
        return Batch(observation, action.long(), legal, outcome, reward)


class Batches:
    """The rows of one split, in batches."""

    def __init__(
        self,
        folder: Path,
        decisions: Decisions,
        split: str,
        *,
        batch_size: int,
        seed: int = 0,
        players: Sequence[str] | None = None,
        window_rows: int = WINDOW_ROWS,
        device: torch.device | str = "cpu",
    ) -> None:
        """Find the rows of `split` in a folder of shards, only those of `players` if given.

        `window_rows` bounds memory: that many rows, or one shard if that is larger, are held.
        """
        if batch_size < 1 or window_rows < 1:
            raise ValueError(f"no batches of {batch_size} rows from windows of {window_rows}")
        self.batch_size, self.seed = batch_size, seed
        self._source = _Source(decisions, split, None if players is None else tuple(players))
        self._window_rows, self._device = window_rows, torch.device(device)
        found = [_survey(path, self._source) for path in shard_paths(folder, decisions.table)]
        self._shards = [shard for shard in found if shard.rows]
        if not self._shards:
            raise InputError(_nothing_found(folder, self._source))
        self.rows = sum(shard.rows for shard in self._shards)
        self.counts: Int[np.ndarray, " O"] = np.sum([s.counts for s in self._shards], axis=0)
        """How often each option was chosen."""
        self.forbidden = sum(shard.forbidden for shard in self._shards)
        """How many recorded choices the rules forbid; their rows allow them all the same."""
        self._held: tuple[tuple[int, ...], Batch] | None = None

    def from_step(self, step: int) -> Iterator[Batch]:
        """Shuffled batches of `batch_size` without end, beginning with number `step`."""
        pieces: list[Batch] = []
        missing = self.batch_size
        for shards, order in self._shuffled(step * self.batch_size):
            while len(order):
                taken, order = order[:missing], order[missing:]
                pieces.append(self._window(shards).take(taken))
                missing -= len(taken)
                if not missing:
                    yield _joined(pieces)
                    pieces, missing = [], self.batch_size

    def in_order(self, batch_size: int) -> Iterator[Batch]:
        """Every row once, as it lies on disk; the last batch of a window may be smaller."""
        for shards in self._packed(range(len(self._shards))):
            size = self._size(shards)
            for start in range(0, size, batch_size):
                rows = torch.arange(start, min(start + batch_size, size), device=self._device)
                yield self._window(shards).take(rows)

    def moments(self) -> tuple[Float[Tensor, " F"], Float[Tensor, " F"]]:
        """Mean and spread of each feature."""
        total, square = torch.zeros(2, 1, dtype=torch.float64, device=self._device)
        for batch in self.in_order(65_536):
            observation = batch.observation.double()
            total = total + observation.sum(0)
            square = square + observation.square().sum(0)
        mean = total / self.rows
        return mean.float(), (square / self.rows - mean.square()).clamp(min=0).sqrt().float()

    def _shuffled(self, position: int) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """Windows and the order of their rows, from one position of the endless stream on."""
        epoch, skipped = divmod(position, self.rows)
        for epoch in itertools.count(epoch):  # noqa: B020 - it goes on from the first epoch
            shard_order = np.random.default_rng((self.seed, epoch)).permutation(len(self._shards))
            for number, shards in enumerate(self._packed(shard_order.tolist())):
                if (size := self._size(shards)) <= skipped:
                    skipped -= size
                    continue
                order = np.random.default_rng((self.seed, epoch, 1 + number)).permutation(size)
                yield shards, torch.from_numpy(order[skipped:]).to(self._device)
                skipped = 0

    def _packed(self, shard_order: Sequence[int]) -> list[tuple[int, ...]]:
        """Shards in the given order, in groups of at most `window_rows` rows where possible."""
        windows: list[list[int]] = []
        held = self._window_rows  # full, so the first shard opens a window
        for shard in shard_order:
            rows = self._shards[shard].rows
            if held + rows > self._window_rows:
                windows.append([])
                held = 0
            windows[-1].append(shard)
            held += rows
        return [tuple(sorted(window)) for window in windows]

    def _size(self, shards: tuple[int, ...]) -> int:
        return sum(self._shards[shard].rows for shard in shards)

    def _window(self, shards: tuple[int, ...]) -> Batch:
        """The decoded rows of some shards; the last ones asked for are kept."""
        if self._held is None or self._held[0] != shards:
            self._held = None  # let go of the old window before there is a new one
            decoded = _decode([self._shards[shard] for shard in shards], self._source)
            self._held = shards, Batch(*(array.to(self._device) for array in decoded))
        return self._held[1]


class _Source(NamedTuple):
    """Which rows of which table."""

    decisions: Decisions
    split: str
    players: tuple[str, ...] | None

    @property
    def cure(self) -> str:
        """How to get better samples."""
        return f"Make it again: {self.decisions.table.made_by} --fresh"


class _Shard(NamedTuple):
    """What a first look at a shard tells about its wanted rows."""

    path: Path
    rows: int
    counts: Int[np.ndarray, " O"]
    forbidden: int


def _read(path: Path, source: _Source, columns: Sequence[str]) -> pa.Table:
    """The wanted rows of a shard, without holes."""
    by_player = [] if source.players is None else ["player"]
    rows = read_shard(path, source.decisions.table, ["split", *by_player, *columns])
    for name in rows.column_names:
        if rows[name].null_count:
            raise InputError(f"{path}: column '{name}' has empty entries. {source.cure}")
    keep = pc.equal(rows["split"], source.split)
    if source.players is not None:
        keep = pc.and_(keep, pc.is_in(rows["player"], value_set=pa.array(source.players)))
    return rows.filter(keep)


def _survey(path: Path, source: _Source) -> _Shard:
    """Count the wanted rows of a shard, and their choices."""
    heads, options = source.decisions.heads, source.decisions.options
    rows = _read(path, source, [*heads, "legal", "forbidden"])
    if not len(rows):
        return _Shard(path, 0, np.zeros(options, np.int64), 0)
    for name, size in heads.items():
        span = pc.min_max(rows[name]).as_py()
        if span["min"] < 0 or span["max"] >= size:
            wrong = span["min"] if span["min"] < 0 else span["max"]
            raise InputError(
                f"{path}: column '{name}' holds option {wrong}, but its options are "
                f"0 to {size - 1}. {source.cure}"
            )
    chosen = np.empty((len(rows), len(heads)), np.int64)
    _fill(chosen, rows, heads)
    chosen += np.cumsum([0, *heads.values()])[:-1]  # counted through all heads
    allowed = np.take_along_axis(unpack_legal(rows["legal"], options), chosen, 1).all(0)
    if not allowed.all():
        head = list(heads)[int(allowed.argmin())]
        raise InputError(f"{path}: 'legal' forbids an option chosen in '{head}'. {source.cure}")
    counts = np.bincount(chosen.ravel(), minlength=options)
    return _Shard(path, len(rows), counts, pc.sum(rows["forbidden"]).as_py())


def _decode(shards: Sequence[_Shard], source: _Source) -> Batch:
    """The wanted rows of some shards, actions still as small as on disk."""
    decisions, rows = source.decisions, sum(shard.rows for shard in shards)
    window = Batch(
        torch.empty(rows, len(decisions.features)),
        torch.empty(rows, len(decisions.heads), dtype=torch.int16),
        torch.empty(rows, decisions.options, dtype=torch.bool),
        torch.empty(rows),
        torch.empty(rows),
    )
    start = 0
    for shard in shards:
        stop = start + shard.rows
        _decode_shard(shard.path, source, Batch(*(whole[start:stop] for whole in window)))
        start = stop
    return window


def _decode_shard(path: Path, source: _Source, into: Batch) -> None:
    features, heads = source.decisions.features, source.decisions.heads
    rows = _read(path, source, [*features, *heads, "legal", "outcome", "reward"])
    for name in (*features, "outcome", "reward"):
        if not pc.all(pc.is_finite(rows[name])).as_py():
            raise InputError(f"{path}: column '{name}' is not finite everywhere. {source.cure}")
    observation, action, legal, outcome, reward = (tensor.numpy() for tensor in into)
    _fill(observation, rows, features)
    _fill(action, rows, heads)
    outcome[:], reward[:] = rows["outcome"].to_numpy(), rows["reward"].to_numpy()
    legal[:] = unpack_legal(rows["legal"], source.decisions.options)


def _fill(into: Shaped[np.ndarray, "B K"], rows: pa.Table, names: Iterable[str]) -> None:
    for number, name in enumerate(names):
        into[:, number] = rows[name].to_numpy()


def _joined(pieces: Sequence[Batch]) -> Batch:
    if len(pieces) == 1:
        return pieces[0]
    return Batch(*(torch.cat(parts) for parts in zip(*pieces, strict=True)))


def _nothing_found(folder: Path, source: _Source) -> str:
    """Why a split is empty, and what to do."""
    table = source.decisions.table
    there = set()
    for path in shard_paths(folder, table):
        rows = read_shard(path, table, ["split", "player"])
        there |= set(rows.filter(pc.equal(rows["split"], source.split))["player"].to_pylist())
    if source.players is None or not there:
        return (
            f"{folder}: no decision of {table.full_name} is in split '{source.split}'. "
            f"Record more matches (understudy record {table.game}), then {table.made_by}"
        )
    return (
        f"{folder}: split '{source.split}' of {table.full_name} has nothing by "
        f"{', '.join(source.players)}; it has {', '.join(sorted(there))}. "
        "Name one of those in the recipe, or record the missing ones"
    )
