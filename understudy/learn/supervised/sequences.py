"""Decisions in the order they were made: sequences of one player in one match, for networks that
remember.

Axes: T steps of B sequences side by side, F features, H heads, O options of all heads. A player's
decisions in a match are cut into pieces of `steps`, the last one shorter; each piece is a sequence.
One that begins in the middle of a match may be led up to by the decisions before it (`burn_in`),
which bring a memory to where it was but do not count. So every row of a split counts once per
epoch, in the order of the seed alone, and no sequence holds two matches. A match lies in one shard.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from understudy.learn.supervised.dataset import KEYS, Batches
from understudy.learn.supervised.stream import Shard, Stream, joined

_STEPS = 65_536  # of whole matches at a time


class Sequences(NamedTuple):
    """B sequences of T steps. A shorter one repeats its last step, which then does not count."""

    observation: Float[Tensor, "T B F"]
    action: Int[Tensor, "T B H"]
    legal: Bool[Tensor, "T B O"]
    outcome: Float[Tensor, "T B"]
    reward: Float[Tensor, "T B"]
    first: Bool[Tensor, "T B"]
    """The player's first decision in the match: before it there is nothing to remember."""
    counts: Bool[Tensor, "T B"]
    """False for what only leads up to a sequence, and after its end."""

    def take(self, rows: Int[Tensor, " N"]) -> "Sequences":
        """Some of the sequences."""
        some = Sequences._make(x.index_select(1, rows) for x in self)
        return some._replace(action=some.action.long())


class SequenceBatches(Stream[Sequences]):
    """The rows of one split as sequences, in batches; its `rows` are sequences."""

    axis = 1

    def __init__(self, of: Batches, *, steps: int, batch_size: int, burn_in: int = 0) -> None:
        """Of the same rows, by the same seed, and holding about as many steps in memory."""
        if steps < 1 or burn_in < 0:
            raise ValueError(f"no sequences of {steps} steps after {burn_in}")
        self._of, self._steps, self._burn_in = of, steps, burn_in
        super().__init__(
            [Shard(shard.path, self._layout(shard.path).rows.shape[1]) for shard in of.shards],
            self._decode,
            batch_size=batch_size,
            seed=of.seed,
            window_rows=max(1, of.window_rows // (steps + burn_in)),
            device=of.device,
        )

    def _layout(self, path: Path) -> "Layout":
        return layout(self._of.read(path, KEYS), self._steps, self._burn_in)

    def _decode(self, paths: Sequence[Path]) -> Sequences:
        """Every sequence of some shards, side by side."""
        return joined([self._decode_shard(path) for path in paths], self.axis)

    def _decode_shard(self, path: Path) -> Sequences:
        found = self._layout(path)
        which, first, counts = (torch.from_numpy(part) for part in found)
        return Sequences._make((*(x[which] for x in self._of.decode(path)), first, counts))


def whole_matches(of: Batches) -> SequenceBatches:
    """The same rows, all that a player did in a match in one sequence, as many as fit at a time."""
    found = (by_player(of.read(shard.path, KEYS)) for shard in of.shards)
    steps = max(int(np.diff([*begins, len(order)]).max()) for order, begins in found)
    return SequenceBatches(of, steps=steps, batch_size=max(1, _STEPS // steps))


class Layout(NamedTuple):
    """Which rows make up S sequences of T steps."""

    rows: Int[np.ndarray, "T S"]
    first: Bool[np.ndarray, "T S"]
    counts: Bool[np.ndarray, "T S"]


def layout(rows: pa.Table, steps: int, burn_in: int = 0) -> Layout:
    """Cut what each player did in each match into sequences; `rows` may lie in any order."""
    order, begins = by_player(rows)
    lengths = np.diff([*begins, len(order)])
    pieces = -(-lengths // steps)
    number = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begins, lengths = np.repeat(begins, pieces), np.repeat(lengths, pieces)
    start = number * steps
    place = np.maximum(start - burn_in, 0) + np.arange(steps + burn_in)[:, None]
    end = np.minimum(start + steps, lengths)
    counts = (place >= start) & (place < end)
    return Layout(order[begins + np.minimum(place, end - 1)], place == 0, counts)


class ByPlayer(NamedTuple):
    """What each player decided in each match: M parts of N rows."""

    order: Int[np.ndarray, " N"]
    """The rows, player by player, step after step."""
    begins: Int[np.ndarray, " M"]
    """Where in that order another match or player begins."""


def by_player(rows: pa.Table) -> ByPlayer:
    """Take apart what players did in matches; `rows` may lie in any order."""
    match = rows["match"].combine_chunks().dictionary_encode().indices.to_numpy()
    slot, step = (rows[name].to_numpy() for name in ("slot", "step"))
    order = np.lexsort((step, slot, match))
    same = (np.diff(match[order]) == 0) & (np.diff(slot[order]) == 0)
    return ByPlayer(order, np.flatnonzero(np.concatenate([[True], ~same])))
