"""From recordings of SCML worlds to samples: see `samples.py` for what their columns mean."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Array, Bools, Ints
from understudy.data.samples import pack_legal
from understudy.data.schema import Table
from understudy.data.splits import splits_of
from understudy.games.scml.agent.l4_priorities import priorities, teacher_scores
from understudy.games.scml.domain import (
    ACCEPT,
    CALLS,
    DAYS,
    END,
    FIRST_PROPOSALS,
    NUM_GOALS,
    PROPOSE,
    REJECT,
    RESPONSES,
    SafetySettings,
)
from understudy.games.scml.learning.goal_labels import Days, GoalSettings
from understudy.games.scml.learning.rewards import contract_worth, day_gains, negotiation_gains
from understudy.games.scml.learning.samples import (
    DAY_START_SAMPLES,
    RISK_NOTE,
    ROUND_SAMPLES,
)
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.columns import Packed
from understudy.games.scml.view.from_recording import NONE, Calls, Recording, codes, offers_of
from understudy.games.scml.view.observe import Observed, observed
from understudy.games.scml.view.turns import Turns, all_turns

_PRICES_IN, _PRICES_OUT = [p.LOW_IN, p.HIGH_IN], [p.LOW_OUT, p.HIGH_OUT]
_SCALES = [p.LINES, p.PRICE_IN, p.PRICE_OUT, p.INITIAL]


def encode(
    recordings: Mapping[str, pa.Table],
    players: frozenset[str] | None,
    risk: float = 0.0,
) -> dict[str, pa.Table]:
    """Samples of these players' decisions (None: everybody's), as L1 with such a risk sees them.

    Where the recordings hold an expert's `advice` on a decision, that is the label.
    """
    recording, settings = Recording(recordings, players), SafetySettings(risk=risk)
    samples = {
        "rounds": _rounds(recording, recordings, settings),
        "mornings": _day_starts(recording, recordings, settings),
    }
    return {name: _noted(table, risk) for name, table in samples.items()} if risk else samples


def _noted(samples: pa.Table, risk: float) -> pa.Table:
    """With the risk written down, so that what learns from them says and takes it."""
    return samples.replace_schema_metadata({**samples.schema.metadata, RISK_NOTE: repr(risk)})


# --- rounds --------------------------------------------------------------------------------------


def _rounds(
    recording: Recording, tables: Mapping[str, pa.Table], settings: SafetySettings
) -> pa.Table:
    decisions, days, advice = tables["decisions"], tables["days"], tables.get("advice")
    calls = recording.calls()
    seen = observed(calls.states, settings)
    rows, facts, state = decisions.take(calls.row), calls.states.facts, calls.states.state_of
    day = facts[state, p.DAY].astype(np.int64)
    call = codes(rows["call"], CALLS)
    done = _Done(rows, call, day, calls, advice)
    ranked = priorities(teacher_scores(seen.thread), calls.states.first)
    turns = all_turns(calls.states, ranked.order, ranked.weight, done.binding, settings)
    checked = _Checked(done, turns)
    owner = calls.owner[state]
    columns = {
        **_keys(recording, owner, day, _numbers_within(owner)),
        "moment": rows["moment"],
        "call": call,
        "partner": rows["partner"],
        **_state(seen, facts, state),
        "situation": _lists(seen.situation[state]),
        "role": _lists(seen.role),
        "thread": _lists(seen.thread),
        "history": _lists(seen.history),
        "said": seen.length,
        "turn": _lists(turns.features),
        "goal_hat": _lists(np.zeros((len(day), NUM_GOALS), np.float32)),
        "money": turns.money.astype(np.float32),
        "left": _lists(turns.left.astype(np.int16)),
        "prices": _lists(_prices(facts[state], done.buys)),
        "baseline": _lists(turns.baseline),
        "response": done.response,
        "omitted": rows["omitted"],
        "quantity": done.offer[:, 0],
        "ahead": done.offer[:, 1],
        "price": done.offer[:, 2],
        "residual": _lists(checked.residual),
        "advised": done.advised,
        "legal": pack_legal(checked.legal),
        "forbidden": checked.forbidden.astype(np.int16),
        **_consequences(recording, days, owner, day),
        "talk_gain": _negotiation_gains(recording, calls, day, done.buys),
        "day_gain": day_gains(recording, days["profit"].to_numpy())[owner, day],
    }
    samples = _build(ROUND_SAMPLES, columns)
    return samples if done.answered.all() else samples.filter(pa.array(done.answered))


def _prices(facts: Array, buys: Bools) -> Array:
    low_high = np.where(buys[:, None], facts[:, _PRICES_IN], facts[:, _PRICES_OUT])
    return low_high.astype(np.int32)


def _negotiation_gains(recording: Recording, calls: Calls, day: Ints, buys: Bools) -> Array:
    """Of the contract that a negotiation of that day ended with, if it did."""
    factories, days = len(recording.names), recording.day_row.shape[1]
    owner = calls.owner[calls.states.state_of]
    negotiation = (owner * days + day) * factories + calls.partner
    made = recording.contract_owner * days + recording.contract_concluded
    made = made * factories + recording.contract_other
    found = pc.index_in(pa.array(negotiation), value_set=pa.array(made))
    has_one = found.is_valid().to_numpy(zero_copy_only=False)
    units, price = np.zeros(len(negotiation), np.int64), np.zeros(len(negotiation))
    row = found.drop_null().to_numpy()
    units[has_one] = recording.contract_quantity[row]
    price[has_one] = recording.contract_money[row] / np.maximum(recording.contract_quantity[row], 1)
    worth = contract_worth(calls.states.facts[calls.states.state_of], buys, units, price)
    return negotiation_gains(negotiation, worth)


class _Done:
    """What was done in each negotiation, or should have been where an expert's advice is known."""

    def __init__(
        self, rows: pa.Table, call: Ints, day: Ints, calls: Calls, advice: pa.Table | None
    ) -> None:
        answer, offered = codes(rows["answer"], RESPONSES), offers_of(rows, "offered")
        opening = (call == FIRST_PROPOSALS) | (call == PROPOSE)
        self.advised: Bools = np.zeros(len(day), bool)
        if advice is not None:
            row = _rows_of(advice, rows)
            self.advised = row != NONE
            advised = codes(advice["answer"], RESPONSES)[row], offers_of(advice, "offered")[row]
            answer = np.where(self.advised, advised[0], answer)
            offered = np.where(self.advised[:, None], advised[1], offered)
        self.answered: Bools = opening | (answer != NONE)
        """Else the answer was to wait, or was none."""
        self.has_offer: Bools = (offered[:, 0] != NONE) & (opening | (answer == REJECT))
        self.response = np.where(self.has_offer, REJECT, np.where(answer == ACCEPT, ACCEPT, END))
        self.offer = np.where(self.has_offer[:, None], offered - _at(day), 0)
        """[rows, 3]: units, days ahead, unit price; 0 without."""
        self.buys: Bools = calls.states.negotiations[:, p.BUYS] != 0
        heard = np.where(self.response[:, None] == ACCEPT, _heard(calls.states, day), 0)
        self.binding = np.where(self.has_offer[:, None], self.offer, heard)
        """[rows, 3]: what was promised by it, likewise."""


def _heard(states: Packed, day: Ints) -> Ints:
    """[negotiations, 3]: the offer that lies on the table; 0 units without one."""
    last = states.negotiations[:, p.START] + states.negotiations[:, p.LENGTH] - 1
    last = np.where(states.negotiations[:, p.LENGTH] > 0, last, 0)
    latest = states.offers[last] if len(states.offers) else np.zeros((len(last), 4), np.int64)
    is_heard = (states.negotiations[:, p.LENGTH] > 0) & (latest[:, p.MINE] == 0)
    return np.where(is_heard[:, None], latest[:, 1:] - _at(day), 0)


def _rows_of(advice: pa.Table, rows: pa.Table) -> Ints:
    """The row of advice on each decision; NONE where there is none."""
    keys = [_key(table) for table in (advice, rows)]
    indices = pc.index_in(keys[1], value_set=keys[0].combine_chunks())
    return pc.fill_null(indices, NONE).to_numpy().astype(np.int64)


def _key(table: pa.Table) -> Any:
    parts = (table[name].cast(pa.string()) for name in ("match", "moment", "partner"))
    return pc.binary_join_element_wise(*parts, " ")


class _Checked:
    """What L1 would have let do, when the turn came."""

    def __init__(self, done: _Done, turns: Turns) -> None:
        less = done.offer - turns.baseline
        self.residual = np.where(done.has_offer[:, None], less, 0).astype(np.float32)
        row = np.arange(len(less))
        ahead, price = np.clip(done.offer[:, 1], 0, DAYS - 1), np.maximum(done.offer[:, 2], 1)
        can_pay = np.where(done.buys, np.maximum(turns.money // price, 0), np.inf)
        safe_offer = done.offer[:, 0] <= np.minimum(turns.left[row, ahead], can_pay)
        self.forbidden: Bools = np.where(
            done.has_offer, ~safe_offer, (done.response == ACCEPT) & ~turns.safe
        )
        self.legal: Bools = np.ones((len(row), len(RESPONSES) + DAYS), bool)
        self.legal[:, ACCEPT] = turns.safe
        self.legal[:, REJECT] = turns.baseline[:, 0] > 0
        self.legal[:, len(RESPONSES) :] = turns.left > 0
        # What was done was possible, whatever L1 says of it.
        self.legal[row, done.response] = True
        offers = np.flatnonzero(done.has_offer)
        self.legal[offers, len(RESPONSES) + ahead[offers]] = True


def _at(day: Ints) -> Ints:
    """What to take from an offer to have its day counted from now."""
    nothing = np.zeros_like(day)
    return np.stack([nothing, day, nothing], axis=1)


def _numbers_within(owner: Ints) -> Ints:
    """0, 1, 2, ... within each run of equal numbers."""
    new = np.ones(len(owner), bool)
    new[1:] = np.diff(owner) != 0
    number = np.arange(len(owner))
    return number - np.maximum.accumulate(np.where(new, number, 0))


# --- day starts -----------------------------------------------------------------------------------


def _day_starts(
    recording: Recording, tables: Mapping[str, pa.Table], settings: SafetySettings
) -> pa.Table:
    decisions, days, day_starts = tables["decisions"], tables["days"], recording.day_starts()
    facts = day_starts.states.facts
    seen = observed(day_starts.states, settings)
    day, owner = facts[:, p.DAY].astype(np.int64), day_starts.owner
    done = Days(recording, day_starts, decisions, GoalSettings())
    possible = done.reachable[:, :, None] & done.can[:, None, :]
    return _build(
        DAY_START_SAMPLES,
        {
            **_keys(recording, owner, day, day),
            **_state(seen, facts, np.arange(len(day))),
            "role": _lists(seen.can),
            "goals": _lists(done.from_deeds().astype(np.float32)),
            "intent": _lists(done.from_intent().astype(np.float32)),
            "legal": pack_legal(_lists(possible)),
            **_consequences(recording, days, owner, day),
        },
    )


# --- shared --------------------------------------------------------------------------------------


def _keys(recording: Recording, owner: Ints, day: Ints, step: Ints) -> dict[str, Any]:
    world = recording.world[owner]
    splits = splits_of(str(seed) for seed in recording.seed.tolist())
    return {
        "match": recording.matches.combine_chunks().take(pa.array(world)),
        "step": step,
        "slot": owner - recording.first[world],
        "player": _words(recording.player.tolist(), owner),
        "split": _words(splits, owner),
        "day": day,
    }


def _words(words: Sequence[str], indices: Ints) -> pa.Array:
    return pa.array(words, pa.string()).take(pa.array(indices))


def _state(seen: Observed, facts: Array, state: Ints) -> dict[str, Any]:
    return {
        "static": _lists(seen.static[state]),
        "temporal": _lists(seen.temporal[state]),
        "days": seen.days.sum(axis=1)[state],
        "scales": _lists(facts[state][:, _SCALES].astype(np.float32)),
    }


def _consequences(recording: Recording, days: pa.Table, owner: Ints, day: Ints) -> dict[str, Any]:
    profit = days["profit"].to_numpy()[recording.day_row[owner, day]]
    initial = np.maximum(recording.profiles[owner, p.INITIAL], 1.0)
    return {"reward": (profit / initial).astype(np.float32), "outcome": recording.score[owner]}


def _lists(values: Array) -> Array:
    """A list per row."""
    return np.ascontiguousarray(values).reshape(len(values), int(np.prod(values.shape[1:])))


def _build(table: Table, columns: Mapping[str, Any]) -> pa.Table:
    kinds = {column.name: column.type for column in table.columns}
    return table.build({name: _column(value, kinds[name]) for name, value in columns.items()})


def _column(values: Any, kind: pa.DataType) -> Any:
    if pa.types.is_fixed_size_list(kind):
        flat = pa.array(values.reshape(-1), kind.value_type)
        return pa.FixedSizeListArray.from_arrays(flat, type=kind)
    if isinstance(values, np.ndarray):
        return pa.array(values).cast(kind)
    return values


# --- counts --------------------------------------------------------------------------------------


def summarise(
    recordings: Mapping[str, pa.Table], samples: Mapping[str, pa.Table]
) -> dict[str, float]:
    """Counts for the sanity summary; they add up over shards."""
    rounds, day_starts = samples["rounds"], samples["mornings"]
    counts: dict[str, float] = {
        "matches": len(recordings["worlds"]),
        "decisions": len(rounds),
        "mornings": len(day_starts),
    }
    for name in ("split", "player"):
        for row in pc.value_counts(rounds[name]).to_pylist():
            counts[f"{name}/{row['values']}"] = row["counts"]
    response = rounds["response"].to_numpy()
    for name, words in (("response", RESPONSES), ("call", CALLS)):
        found = np.bincount(rounds[name].to_numpy(), minlength=len(words))
        counts |= {f"{name}/{word}": int(found[k]) for k, word in enumerate(words)}
    counts["omitted"] = int(rounds["omitted"].to_numpy().sum())
    forbidden = rounds["forbidden"].to_numpy() > 0
    counts["violations"] = int(forbidden.sum())
    counts["unsafe/accept"] = int((forbidden & (response == ACCEPT)).sum())
    counts["unsafe/offer"] = int((forbidden & (response == REJECT)).sum())
    return counts
