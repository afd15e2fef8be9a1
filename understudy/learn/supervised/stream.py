"""Rows of shards as tensors, in an order that depends on the seed alone.

The rows of a split form an endless stream: epoch after epoch, each row once per epoch. An epoch
shuffles the shards, packs them into windows that fit in memory, and shuffles the rows of each
window. Batch number `step` is always the same part of that stream, so training can go on from
any step as if it had never stopped. When all rows fit in one window they are decoded once.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from torch import Tensor

WINDOW_ROWS = 1_000_000


@runtime_checkable
class Rows(Protocol):
    """Decoded rows: a named tuple of tensors with the rows along one axis, a stream's `axis`."""

    def __iter__(self) -> Iterator[Tensor]:
        """The tensors."""
        ...

    def take(self, rows: Tensor) -> Any:
        """Some of the rows."""
        ...


B = TypeVar("B", bound=Rows)
R = TypeVar("R", bound=Rows, covariant=True)


class Shard(NamedTuple):
    """A file, and how many of its rows are wanted."""

    path: Path
    rows: int


class Stream(Generic[R]):
    """The wanted rows of some shards, in batches."""

    axis: ClassVar[int] = 0
    """Of the rows in every tensor."""

    def __init__(
        self,
        shards: Sequence[Shard],
        decode: Callable[[Sequence[Path]], R],
        *,
        batch_size: int,
        seed: int = 0,
        window_rows: int = WINDOW_ROWS,
        device: torch.device | str = "cpu",
    ) -> None:
        """`window_rows` bounds memory: that many rows, or one shard if that is larger, are held."""
        if batch_size < 1 or window_rows < 1:
            raise ValueError(f"no batches of {batch_size} rows from windows of {window_rows}")
        self.batch_size, self.seed = batch_size, seed
        self.rows = sum(shard.rows for shard in shards)
        self.shards, self._decode = [shard for shard in shards if shard.rows], decode
        self.window_rows, self.device = window_rows, torch.device(device)
        self._held: tuple[tuple[int, ...], R] | None = None

    def from_step(self, step: int) -> Iterator[R]:
        """Shuffled batches of `batch_size` without end, beginning with number `step`."""
        pieces: list[R] = []
        missing = self.batch_size
        for shards, order in self._shuffled(step * self.batch_size):
            while len(order):
                taken, order = order[:missing], order[missing:]
                pieces.append(self._window(shards).take(taken))
                missing -= len(taken)
                if not missing:
                    yield joined(pieces, self.axis)
                    pieces, missing = [], self.batch_size

    def in_order(self, batch_size: int) -> Iterator[R]:
        """Every row once, as it lies on disk; the last batch of a window may be smaller."""
        for shards in self._packed(range(len(self.shards))):
            size = self._size(shards)
            for start in range(0, size, batch_size):
                rows = torch.arange(start, min(start + batch_size, size), device=self.device)
                yield self._window(shards).take(rows)

    def _shuffled(self, position: int) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """Windows and the order of their rows, from one position of the endless stream on."""
        epoch, skipped = divmod(position, self.rows)
        for epoch in itertools.count(epoch):  # noqa: B020 - it goes on from the first epoch
            shard_order = np.random.default_rng((self.seed, epoch)).permutation(len(self.shards))
            for number, shards in enumerate(self._packed(shard_order.tolist())):
                if (size := self._size(shards)) <= skipped:
                    skipped -= size
                    continue
                order = np.random.default_rng((self.seed, epoch, 1 + number)).permutation(size)
                yield shards, torch.from_numpy(order[skipped:]).to(self.device)
                skipped = 0

    def _packed(self, shard_order: Sequence[int]) -> list[tuple[int, ...]]:
        """Shards in the given order, in groups of at most `window_rows` rows where possible."""
        windows: list[list[int]] = []
        held = self.window_rows  # full, so the first shard opens a window
        for shard in shard_order:
            rows = self.shards[shard].rows
            if held + rows > self.window_rows:
                windows.append([])
                held = 0
            windows[-1].append(shard)
            held += rows
        return [tuple(sorted(window)) for window in windows]

    def _size(self, shards: tuple[int, ...]) -> int:
        return sum(self.shards[shard].rows for shard in shards)

    def _window(self, shards: tuple[int, ...]) -> R:
        """The decoded rows of some shards; the last ones asked for are kept."""
        if self._held is None or self._held[0] != shards:
            self._held = None  # let go of the old window before there is a new one
            decoded = self._decode([self.shards[shard].path for shard in shards])
            moved = type(decoded)(*(array.to(self.device) for array in decoded))
            self._held = shards, moved
        return self._held[1]


def joined(pieces: Sequence[B], axis: int = 0) -> B:
    """One after the other."""
    if len(pieces) == 1:
        return pieces[0]
    return type(pieces[0])(*(torch.cat(parts, axis) for parts in zip(*pieces, strict=True)))
