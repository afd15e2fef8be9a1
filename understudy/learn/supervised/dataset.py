"""Decisions of several heads as tensors: the rows of `data/samples.py`, by split, in batches."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from understudy.data.extras import extras_of, split, told_or_usual
from understudy.data.samples import Decisions, unpack_legal
from understudy.data.schema import Table
from understudy.data.shards import read_shard, shard_paths
from understudy.errors import InputError
from understudy.learn.supervised.stream import WINDOW_ROWS, Shard, Stream, joined

KEYS = ("match", "slot", "step")
"""Whose row it is, and when."""


class Batch(NamedTuple):
    """B decisions: F features, H heads, O options of all heads together."""

    observation: Float[Tensor, "B F"]
    """Beside the features also the plan of the match, where there are plans."""
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


class Batches(Stream[Batch]):
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
        beside: "Beside | None" = None,
        usual: Shaped[np.ndarray, " K"] | None = None,
    ) -> None:
        """Find the rows of `split` in a folder of shards, only those of `players` if given.

        `beside` tells what is observed in each row beside its features; features that ride in the
        extras are as `usual` where nothing is told.
        """
        whose = None if players is None else tuple(players)
        source = _Source(decisions, split, whose, beside, usual)
        found = [_survey(path, source) for path in shard_paths(folder, decisions.table)]
        if not any(shard.rows for shard in found):
            raise InputError(nothing_found(folder, decisions.table, split, source.players))
        super().__init__(
            [Shard(shard.path, shard.rows) for shard in found],
            lambda paths: _decode(paths, source),
            batch_size=batch_size,
            seed=seed,
            window_rows=window_rows,
            device=device,
        )
        self.counts: Int[np.ndarray, " O"] = np.sum([s.counts for s in found], axis=0)
        """How often each option was chosen."""
        self.forbidden = sum(shard.forbidden for shard in found)
        """How many recorded choices the rules forbid; their rows allow them all the same."""
        self._folder, self._table, self._source = folder, decisions.table, source
        self._outcomes = {end for shard in found for end in shard.outcomes}

    def require_outcomes(self) -> None:
        """InputError where all matches ended alike, so that none was better than another."""
        if len(self._outcomes) <= 1:
            game = self._table.game
            all_alike = ", ".join(f"outcome {end:g}" for end in self._outcomes)
            raise InputError(
                f"{self._folder}: every decision to learn from has "
                f"{all_alike or 'an unknown outcome'}, so none turned out better than another. "
                f"Record matches that some win and some lose: understudy record {game}, "
                f"then {self._table.made_by}; or clone them: understudy train {game} imitate"
            )

    def read(self, path: Path, columns: Sequence[str]) -> pa.Table:
        """Some columns of the wanted rows of a shard, in the order of `decode`."""
        return _read(path, self._source, columns)

    def decode(self, path: Path) -> Batch:
        """The wanted rows of a shard, actions still as small as on disk."""
        return _decode_shard(path, self._source)

    def moments(self) -> tuple[Float[Tensor, " F"], Float[Tensor, " F"]]:
        """Mean and spread of each feature."""
        total, square = torch.zeros(2, 1, dtype=torch.float64, device=self.device)
        for batch in self.in_order(65_536):
            observation = batch.observation.double()
            total = total + observation.sum(0)
            square = square + observation.square().sum(0)
        mean = total / self.rows
        return mean.float(), (square / self.rows - mean.square()).clamp(min=0).sqrt().float()


Beside = Callable[[pa.Table, Batch], Tensor]
"""From the KEYS and the decisions of a shard to further numbers for each row, [B, L]."""


class _Source(NamedTuple):
    """Which rows of which table."""

    decisions: Decisions
    split: str
    players: tuple[str, ...] | None
    beside: Beside | None
    usual: Shaped[np.ndarray, " K"] | None

    @property
    def cure(self) -> str:
        """How to get better samples."""
        return cure(self.decisions.table)


class _Survey(NamedTuple):
    """What a first look at a shard tells about its wanted rows."""

    path: Path
    rows: int
    counts: Int[np.ndarray, " O"]
    forbidden: int
    outcomes: tuple[float, ...]
    """The lowest and the highest; none where all are unknown."""


def _read(path: Path, source: _Source, columns: Sequence[str]) -> pa.Table:
    """The wanted rows of a shard, without holes."""
    return wanted_rows(path, source.decisions.table, source.split, source.players, columns)


def _survey(path: Path, source: _Source) -> _Survey:
    """Count the wanted rows of a shard, and their choices."""
    heads, options = source.decisions.heads, source.decisions.options
    rows = _read(path, source, [*heads, "legal", "forbidden", "outcome"])
    if not len(rows):
        return _Survey(path, 0, np.zeros(options, np.int64), 0, ())
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
    outcomes = rows["outcome"].filter(pc.is_finite(rows["outcome"]))
    ends = tuple(pc.min_max(outcomes).as_py().values()) if len(outcomes) else ()
    return _Survey(path, len(rows), counts, pc.sum(rows["forbidden"]).as_py(), ends)


def _decode(paths: Sequence[Path], source: _Source) -> Batch:
    """The wanted rows of some shards, actions still as small as on disk."""
    return joined([_decode_shard(path, source) for path in paths])


def _decode_shard(path: Path, source: _Source) -> Batch:
    (features, extras), heads = split(source.decisions.features), source.decisions.heads
    riding = ["extras"] if extras else []
    rows = _read(path, source, [*KEYS, *features, *heads, "legal", "outcome", "reward", *riding])
    if pc.any(pc.is_inf(rows["outcome"])).as_py():  # not a number: unknown
        raise InputError(f"{path}: column 'outcome' is infinite somewhere. {source.cure}")
    for name in (*features, "reward"):
        if not pc.all(pc.is_finite(rows[name])).as_py():
            raise InputError(f"{path}: column '{name}' is not finite everywhere. {source.cure}")
    observation = np.empty((len(rows), len(features)), np.float32)
    action = np.empty((len(rows), len(heads)), np.int16)
    _fill(observation, rows, features)
    _fill(action, rows, heads)
    if extras and source.usual is not None:
        told = extras_of(rows["extras"].to_pylist(), extras)
        observation = np.concatenate([observation, told_or_usual(told, source.usual)], 1)
    batch = Batch(
        torch.from_numpy(observation),
        torch.from_numpy(action),
        torch.from_numpy(unpack_legal(rows["legal"], source.decisions.options)),
        _floats(rows["outcome"]),
        _floats(rows["reward"]),
    )
    if source.beside is None:
        return batch
    inputs = torch.cat([batch.observation, source.beside(rows, batch)], 1)
    return batch._replace(observation=inputs)


def _floats(column: pa.ChunkedArray) -> Float[Tensor, " B"]:
    return torch.from_numpy(column.to_numpy().astype(np.float32))


def _fill(into: Shaped[np.ndarray, "B K"], rows: pa.Table, names: Iterable[str]) -> None:
    for number, name in enumerate(names):
        into[:, number] = rows[name].to_numpy()


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
