"""Samples of SCML: a row per negotiation of every decision, and a row per factory and day start."""

from typing import Final

import pyarrow as pa

from understudy.data.schema import Column, Table
from understudy.games.scml.domain import BUCKETS, DAYS, GOALS, NUM_GOALS, RESPONSES
from understudy.games.scml.view import features as f

_MADE_BY = "understudy encode scml"
RISK_NOTE: Final = "risk"
"""In the metadata of samples: the risk that L1 was given; without it none."""
ROUND_OPTIONS: Final = len(RESPONSES) + DAYS
DAY_START_OPTIONS: Final = 2 * len(BUCKETS)


def _of(kind: pa.DataType, width: int) -> pa.DataType:
    """A list of fixed length; without nulls it is read twice as fast."""
    return pa.list_(pa.field("element", kind, nullable=False), width)


def _floats(width: int) -> pa.DataType:
    return _of(pa.float32(), width)


_KEYS = (
    Column("match", pa.string(), "which world"),
    Column("step", pa.int32(), "when in this factory's world: a number of its own for each row"),
    Column("slot", pa.int8(), "which factory decided"),
    Column("player", pa.string(), "who played it"),
    Column("split", pa.string(), "train, val or test; the same for all worlds of a configuration"),
    Column("day", pa.int16(), "when"),
)
_STATE = (
    Column("static", _floats(len(f.STATIC)), f"the day: {', '.join(f.STATIC)}"),
    Column(
        "temporal",
        _floats(DAYS * len(f.TEMPORAL)),
        f"the days ahead, one after the other: {', '.join(f.TEMPORAL)}",
    ),
    Column("days", pa.int8(), "on how many of these a delivery can be agreed; the rest is 0"),
    Column("scales", _floats(4), "lines, trading prices in and out, initial balance: raw units"),
)
_CONSEQUENCES = (
    Column("reward", pa.float32(), "the day's profit over the initial balance; a target only"),
    Column("outcome", pa.float64(), "the factory's final score; a target only"),
)
ROUND_SAMPLES: Final = Table(
    "scml",
    "rounds",
    3,
    _MADE_BY,
    (
        *_KEYS,
        Column("moment", pa.int32(), "the decision; a joint one has a row per negotiation"),
        Column("call", pa.int8(), "0 first_proposals, 1 counter_all, 2 propose, 3 respond"),
        Column("partner", pa.int8(), "which factory the negotiation is with; no feature"),
        *_STATE,
        Column(
            "situation", _floats(len(f.SITUATION)), f"all negotiations: {', '.join(f.SITUATION)}"
        ),
        Column("role", _floats(2), "buying, selling"),
        Column("thread", _floats(len(f.THREAD)), f"this negotiation: {', '.join(f.THREAD)}"),
        Column(
            "history",
            _floats(f.HISTORY * len(f.PAST_OFFER)),
            f"offers, oldest first, then 0: {', '.join(f.PAST_OFFER)}",
        ),
        Column("said", pa.int8(), "how many offers the history has"),
        Column("turn", _floats(len(f.TURN)), f"when its turn comes: {', '.join(f.TURN)}"),
        Column("goal_hat", _floats(NUM_GOALS), "L2's goals for the day, raw; 0 until filled in"),
        Column("money", pa.float32(), "L1's B_free when its turn comes, raw"),
        Column("left", _of(pa.int16(), DAYS), "likewise L1's Q_safe by day on this side"),
        Column("prices", _of(pa.int32(), 2), "the lowest and highest unit price"),
        Column("baseline", _of(pa.int32(), 3), "L1's offer: units (0: none), days ahead, price"),
        Column("response", pa.int8(), f"what was done: {', '.join(RESPONSES)}"),
        Column("omitted", pa.bool_(), "ended by saying nothing of this partner"),
        Column("quantity", pa.int16(), "units of the offer made; 0: none, it was no rejection"),
        Column("ahead", pa.int8(), "its delivery day from now"),
        Column("price", pa.int32(), "its unit price"),
        Column("residual", _floats(3), "the offer less the baseline, raw; 0 without an offer"),
        Column("advised", pa.bool_(), "the label is an expert's advice, not what was done"),
        Column(
            "legal",
            pa.binary(-(-ROUND_OPTIONS // 8)),
            "one bit per response and per day ahead: allowed by L1, or done",
        ),
        Column(
            "forbidden",
            pa.int16(),
            "1: L1 would not have allowed it, beside what came before it in the decision",
        ),
        *_CONSEQUENCES,
        Column(
            "talk_gain", pa.float32(), "what came of the negotiation: see rewards.py; a target only"
        ),
        Column("day_gain", pa.float32(), "likewise of the day"),
    ),
)
"""The decisions of L3. What is no rejection with an offer, nor an acceptance, ends a negotiation
and is called so. The first proposals of a factory that does not open its negotiations go nowhere
and are left out. Negotiations come in the order of L4's teacher; capacity is taken by what is
answered in those before."""
DAY_START_SAMPLES: Final = Table(
    "scml",
    "mornings",
    2,
    _MADE_BY,
    (
        *_KEYS,
        *_STATE,
        Column("role", _floats(2), "whether the factory buys from others, sells to others"),
        Column("goals", _floats(NUM_GOALS), f"by bucket {', '.join(GOALS)}: what came of the day"),
        Column("intent", _floats(NUM_GOALS), "the same, from the first offer in each negotiation"),
        Column(
            "legal",
            pa.binary(-(-DAY_START_OPTIONS // 8)),
            "one bit per bucket, buying and selling: a goal is possible",
        ),
        *_CONSEQUENCES,
    ),
)
"""The decisions of L2. Prices count where quantities do; elsewhere they are the baseline's."""
SAMPLES: Final = (ROUND_SAMPLES, DAY_START_SAMPLES)
