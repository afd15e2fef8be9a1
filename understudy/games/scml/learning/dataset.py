"""Samples of SCML as tensors: the rows that L2 and L3 learn from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from understudy.data.arrays import Array
from understudy.data.samples import unpack_legal
from understudy.data.schema import Table
from understudy.data.shards import shard_note, shard_paths
from understudy.data.splits import SPLITS
from understudy.errors import InputError
from understudy.games.scml.agent.l3_offers import (
    OfferLimits,
    Scheme,
    price_option,
    units_mask,
    units_option,
)
from understudy.games.scml.domain import HORIZON, REJECT, RULES
from understudy.games.scml.learning.samples import (
    DAY_START_OPTIONS,
    DAY_START_SAMPLES,
    RISK_NOTE,
    ROUND_OPTIONS,
    ROUND_SAMPLES,
)
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs
from understudy.learn.supervised.dataset import nothing_found, wanted_rows
from understudy.learn.supervised.stream import Rows, Shard, Stream, joined
from understudy.learn.supervised.task import OptimizerSettings

B = TypeVar("B", bound=Rows)
_WIDE = RULES["std"].quantity_factor


class RoundRows(NamedTuple):
    """Decisions of one negotiation each, with what an expert did as options of L3's heads."""

    x: Float[Tensor, "B F"]
    history: Float[Tensor, "B T 4"]
    length: Int[Tensor, " B"]
    response: Int[Tensor, " B"]
    day: Int[Tensor, " B"]
    units: Int[Tensor, " B"]
    price: Int[Tensor, " B"]
    offers: Bool[Tensor, " B"]
    """An offer was made for a day that L1 allows: the last three count."""
    legal: Bool[Tensor, "B O"]
    """Responses, then days."""
    allowed: Bool[Tensor, "B U"]
    """Options of `units`, on that day."""
    left: Int[Tensor, "B D"]
    limits: Float[Tensor, "B 6"]
    """Buys, money, lowest, highest and baseline's price, most units: see `offer_limits`."""
    done: Int[Tensor, "B 3"]
    """The offer in raw units: units, days ahead, price."""
    last: Int[Tensor, "B 3"]
    """The own offer before, likewise; 0 units: there was none."""
    gains: Float[Tensor, "B 2"]
    """What came of the negotiation, and of the day: see `rewards.py`."""

    def take(self, rows: Int[Tensor, " N"]) -> "RoundRows":
        """Some of the rows."""
        return RoundRows(*(x.index_select(0, rows) for x in self))


class DayStartRows(NamedTuple):
    """DayStarts, with what the day's goals were."""

    x: Float[Tensor, "B F"]
    goals: Float[Tensor, "B G"]
    """Raw: by bucket units and price, buying and selling."""
    before: Float[Tensor, "B G"]
    """Yesterday's; 0 on the first day."""
    possible: Bool[Tensor, "B P"]
    """By bucket: buying, selling."""
    scales: Float[Tensor, "B 4"]

    def take(self, rows: Int[Tensor, " N"]) -> "DayStartRows":
        """Some of the rows."""
        return DayStartRows(*(x.index_select(0, rows) for x in self))


@dataclass(frozen=True)
class Reader(Generic[B]):
    """How the rows of a table become tensors."""

    table: Table
    columns: tuple[str, ...]
    decode: Callable[[pa.Table], B]
    keys: tuple[str, ...] = ("split",)
    count: Callable[[pa.Table], int] = len
    """How many tensor rows there will be, counted from the columns `keys`."""


def round_reader(scheme: Scheme) -> Reader[RoundRows]:
    """For L3."""
    columns = "static temporal situation goal_hat scales thread turn history said left prices"
    labels = "baseline money role response quantity ahead price legal talk_gain day_gain"
    return Reader(
        ROUND_SAMPLES, (*columns.split(), *labels.split()), lambda rows: _rounds(rows, scheme)
    )


def day_start_reader(goals: str) -> Reader[DayStartRows]:
    """For L2; `goals` names the telling of goals to learn from."""
    columns = ("match", "slot", "day", "static", "temporal", "role", goals, "legal", "scales")
    return Reader(DAY_START_SAMPLES, columns, lambda rows: _day_starts(rows, goals))


def streams(
    reader: Reader[B], samples: Path, settings: OptimizerSettings, seed: int, device: torch.device
) -> dict[str, Stream[B]]:
    """The rows of each split."""
    return {split: _stream(reader, samples, settings, split, seed, device) for split in SPLITS}


def _stream(
    reader: Reader[B],
    samples: Path,
    settings: OptimizerSettings,
    split: str,
    seed: int,
    device: torch.device,
) -> Stream[B]:
    table, players = reader.table, settings.players

    def wanted(path: Path, columns: Sequence[str]) -> pa.Table:
        return wanted_rows(path, table, split, players, columns)

    paths = shard_paths(samples, table)
    shards = [Shard(path, reader.count(wanted(path, reader.keys))) for path in paths]
    if not any(shard.rows for shard in shards):
        raise InputError(nothing_found(samples, table, split, players))

    def decode(chosen: Sequence[Path]) -> B:
        return joined([reader.decode(wanted(path, reader.columns)) for path in chosen])

    return Stream(
        shards,
        decode,
        batch_size=settings.batch_size,
        seed=seed,
        window_rows=settings.window_rows,
        device=device,
    )


def horizons(table: Table, samples: Path, settings: OptimizerSettings) -> tuple[int, ...]:
    """Those of the worlds that the training split comes from, in days ahead."""
    found = set[int]()
    for path in shard_paths(samples, table):
        rows = wanted_rows(path, table, "train", settings.players, ("static",))
        share = np.unique(lists(rows, "static")[:, f.STATIC_AT.horizon])
        found.update(np.rint(share * HORIZON).astype(int).tolist())
    return tuple(sorted(found))


def risk_of(samples: Path, table: Table = ROUND_SAMPLES) -> float:
    """The risk that L1 was given when they were encoded; InputError where they differ in it."""
    paths = shard_paths(samples, table)
    found = {float(shard_note(path, RISK_NOTE) or 0.0) for path in paths}
    if len(found) > 1:
        told = " and ".join(f"{risk:g}" for risk in sorted(found))
        raise InputError(
            f"{samples} holds samples of different risks, {told}. Encode all with one: understudy "
            "encode scml --risk RISK --fresh"
        )
    return found.pop() if found else 0.0


def moments(
    stream: Stream[B], of: Callable[[B], Tensor], most: int = 400_000
) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of each input, over the first rows."""
    rows, total, square = 0, torch.zeros(1).double(), torch.zeros(1).double()
    for batch in stream.in_order(65_536):
        x = of(batch).double().cpu()
        rows, total, square = rows + len(x), total + x.sum(0), square + x.square().sum(0)
        if rows >= most:
            break
    mean = total / rows
    return mean.float(), (square / rows - mean.square()).clamp(min=0).sqrt().float()


# --- decoding ------------------------------------------------------------------------------------


def lists(rows: pa.Table, name: str) -> Array:
    """A column of lists as [rows, width]."""
    values = rows[name].combine_chunks()
    flat = values.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat.reshape(len(rows), rows.schema.field(name).type.list_size))


def round_input(rows: pa.Table) -> Array:
    """What L3 reads of each row."""
    goals = inputs.goal_input(lists(rows, "goal_hat"), lists(rows, "scales"))
    state = inputs.state_input(
        lists(rows, "static"), lists(rows, "temporal"), lists(rows, "situation"), goals
    )
    return np.concatenate(
        [state, inputs.negotiation_input(lists(rows, "thread"), lists(rows, "turn"))], axis=1
    )


def offer_limits(limits: Array, left: Array) -> OfferLimits:
    """The columns of `RoundRows` as `l3_offers.py` needs them."""
    buys, money, low, high, price, most = limits.T
    whole = (part.astype(np.int64) for part in (low, high, price, most))
    low, high, price, most = whole
    return OfferLimits(
        buys > 0, left.astype(np.int64), money.astype(np.float64), low, high, price, most
    )


def _rounds(rows: pa.Table, scheme: Scheme) -> RoundRows:
    prices, left, baseline = (lists(rows, name) for name in ("prices", "left", "baseline"))
    buys, lines = lists(rows, "role")[:, 0], lists(rows, "scales")[:, 0]
    thread = lists(rows, "thread")
    most = np.where(lists(rows, "static")[:, f.STATIC_AT.horizon] > 0, _WIDE * lines, lines)
    columns = (buys, rows["money"].to_numpy(), prices[:, 0], prices[:, 1], baseline[:, 2], most)
    limit_columns = np.stack(columns, axis=1).astype(np.float32)
    limits = offer_limits(limit_columns, left)
    done = np.stack([rows[name].to_numpy() for name in ("quantity", "ahead", "price")], axis=1)
    response, day = rows["response"].to_numpy(), np.clip(done[:, 1], 0, left.shape[1] - 1)
    there, base = limits.on(day)
    legal = unpack_legal(rows["legal"], ROUND_OPTIONS)
    units = units_option(scheme, done[:, 0], there, base)
    allowed = units_mask(scheme, there, base)
    allowed[np.arange(len(units)), units] = True
    history = lists(rows, "history").reshape(len(rows), f.HISTORY, len(f.PAST_OFFER))
    return _tensors(
        RoundRows,
        {
            "x": round_input(rows),
            "history": history,
            "length": rows["said"].to_numpy().astype(np.int64),
            "response": response.astype(np.int64),
            "day": day.astype(np.int64),
            "units": units.astype(np.int64),
            "price": price_option(scheme, done[:, 2], limits.low, limits.high, limits.base_price),
            "offers": (response == REJECT) & (there > 0),
            "legal": legal,
            "allowed": allowed,
            "left": left.astype(np.int64),
            "limits": limit_columns,
            "done": done.astype(np.int64),
            "last": _last(thread, limits, lines),
            "gains": np.stack([rows[n].to_numpy() for n in ("talk_gain", "day_gain")], axis=1),
        },
    )


def _last(thread: Array, limits: OfferLimits, lines: Array) -> Array:
    at = f.THREAD_AT
    quantity, ahead = thread[:, at.own_quantity] * lines, thread[:, at.own_ahead] * HORIZON
    price = limits.low + thread[:, at.own_price] * (limits.high - limits.low)
    parts = quantity, ahead, price
    return np.rint(np.stack(parts, axis=1)).astype(np.int64)


def _day_starts(rows: pa.Table, goals: str) -> DayStartRows:
    wanted = lists(rows, goals)
    slot, day = rows["slot"].to_numpy(), rows["day"].to_numpy()
    match = rows["match"].combine_chunks().dictionary_encode().indices.to_numpy()
    before = np.zeros_like(wanted)
    follows = (slot[1:] == slot[:-1]) & (match[1:] == match[:-1]) & (day[1:] == day[:-1] + 1)
    before[1:][follows] = wanted[:-1][follows]
    x = inputs.day_start_input(lists(rows, "static"), lists(rows, "temporal"), lists(rows, "role"))
    possible = unpack_legal(rows["legal"], DAY_START_OPTIONS)
    values = {"x": x, "goals": wanted, "before": before, "possible": possible}
    return _tensors(DayStartRows, {**values, "scales": lists(rows, "scales")})


def _tensors(kind: type[B], columns: Mapping[str, Array]) -> B:
    return kind(**{name: torch.from_numpy(_own(values)) for name, values in columns.items()})


def _own(values: Array) -> Array:
    """Arrow's memory cannot be written to, which torch does not like."""
    return np.require(values, requirements=["C", "W", "O"])
