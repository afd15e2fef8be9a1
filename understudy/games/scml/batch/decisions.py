"""What is decided in the compiled world, written down as `recording/recorder.py` does it live.

A row for each negotiation of each decision, of everybody. Row 0 says how many there are and how
many decisions; there is room for a day or so, and who wants more takes them away in between.
"""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array, Ints
from understudy.games.scml import domain
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.ask import leaves_out
from understudy.games.scml.batch.speech import needed_sales, needed_supplies, partner_at
from understudy.games.scml.batch.state import ACCEPT, END, OMITTED, PRICE, REJECT, UNITS
from understudy.games.scml.domain import CALLS, COUNTER_ALL, RESPONSES
from understudy.games.scml.recording.tables import DECISIONS

if TYPE_CHECKING:  # these import scml, which takes seconds
    from understudy.games.scml.engine.config import WorldConfig
    from understudy.games.scml.engine.economy import Ranges

NOTED, DECIDED = 0, 1
"""Of row 0."""
MOMENT, DAY, FACTORY, CALL, PARTNER, ROUND, ANSWER, SUPPLIES, SALES, SIGNED = range(10)
HEARD, OFFERED, NUM_COLUMNS = 10, 13, 16
"""Units, day and price of each; 0 units: there is no offer."""
NOTHING: Final = -1
"""Where no answer was asked for."""
_SAID: Final = np.full(OMITTED + 2, len(RESPONSES))
"""Of RESPONSES, by what was answered; NOTHING and WAIT are none."""
_SAID[[ACCEPT, REJECT, END, OMITTED]] = domain.ACCEPT, domain.REJECT, domain.END, domain.END


def room_for(worlds: int, rows: int) -> Array:
    """Space for so many rows of each world."""
    return np.zeros((worlds, rows + 1 if rows else 0, NUM_COLUMNS), np.int32)


def take_away(noted: Array) -> Array:
    """The rows of a world, whose place is free again; no fewer than were written."""
    count = int(noted[0, NOTED])
    if count >= len(noted):
        raise RuntimeError(f"{count} decisions at once, there is room for {len(noted) - 1}")
    noted[0, NOTED] = 0
    return noted[1 : count + 1].copy()


def decisions_of(
    match: str,
    config: "WorldConfig",
    ranges: "Sequence[Sequence[Ranges]]",
    noted: Array,
    contracts: Array,
    watched: Collection[int] | None,
) -> pa.Table:
    """The rows of watched factories (None: of all) as DECISIONS; `contracts` are sellers and buyers
    in the order of signing."""
    from understudy.games.scml.recording.recorder import allowed_offers, words_of

    if watched is not None:
        noted = noted[np.isin(noted[:, FACTORY], list(watched))]
    # As live: factory by factory, and only what is watched counts as a moment.
    moment = np.unique(noted[:, MOMENT], return_inverse=True)[1].reshape(-1)
    order = np.argsort(noted[:, FACTORY], kind="stable")
    noted, moment = noted[order].astype(np.int64), moment[order]
    day, factory, partner = (noted[:, column] for column in (DAY, FACTORY, PARTNER))
    allowed = allowed_offers(config, ranges, day, factory, partner)
    return DECISIONS.build(
        {
            "match": pa.repeat(match, len(noted)),
            "moment": moment,
            "day": day,
            "factory": factory,
            "call": words_of(noted[:, CALL], CALLS),
            "partner": partner,
            "round": noted[:, ROUND],
            **_offers("heard", noted[:, HEARD : HEARD + 3], allowed),
            "answer": words_of(_SAID[noted[:, ANSWER]], RESPONSES),
            "omitted": noted[:, ANSWER] == OMITTED,
            **_offers("offered", noted[:, OFFERED : OFFERED + 3], allowed),
            "needed_supplies": noted[:, SUPPLIES],
            "needed_sales": noted[:, SALES],
            "contracts": _signed_by(factory, noted[:, SIGNED], contracts, len(config.factories)),
        }
    )


def _offers(prefix: str, offers: Ints, allowed: Array) -> dict[str, pa.Array]:
    """Three columns. An offer that the simulator would not let pass is as none."""
    passes = (allowed[:, :, 0] <= offers) & (offers <= allowed[:, :, 1])
    missing = ~passes.all(axis=1)
    parts = f"{prefix}_quantity", f"{prefix}_day", f"{prefix}_price"
    return {name: pa.array(offers[:, k], mask=missing) for k, name in enumerate(parts)}


def _signed_by(factory: Ints, signed: Ints, contracts: Array, factories: int) -> Ints:
    """How many of the first `signed` contracts each factory is a side of."""
    sides = np.zeros((len(contracts) + 1, factories), np.int64)
    for side in (0, 1):
        sides[np.arange(len(contracts)) + 1, contracts[:, side]] += 1
    return np.asarray(sides.cumsum(axis=0)[signed, factory])


# --- compiled ------------------------------------------------------------------------------------


@kernel
def note_joint(fixed, world, me, call, noted):  # type: ignore[no-untyped-def]
    """A joint decision that was just made, about all whose talks are open."""
    if len(noted) == 0:
        return
    noted[0, DECIDED] += 1
    for index in range(world.num_met[me]):
        place = world.met[me, index]
        if world.open[me, place]:
            row = noted[_begin(fixed, world, me, place, call, noted)]
            if call == COUNTER_ALL:
                _put_answer(fixed, world, me, place, row)
            else:
                row[ANSWER] = NOTHING
                if world.has_proposal[me, place]:
                    _put(world.proposal[me, place], row, OFFERED)


@kernel
def _put_answer(fixed, world, me, place, row):  # type: ignore[no-untyped-def]
    row[ANSWER], offer = world.answer[me, place], world.proposal[me, place]
    if row[ANSWER] == REJECT:
        _put(offer, row, OFFERED)
    elif row[ANSWER] == OMITTED and offer[PRICE] != 0:  # an offer that is none, which ends the talk
        row[ANSWER] = REJECT
    for index in range(world.num_heard[me]):
        if world.heard[me, index] == place:
            _put(world.table[world.talk[me, place]], row, HEARD)
            if row[ANSWER] == OMITTED and not leaves_out(fixed, me):
                row[ANSWER] = END


@kernel
def note_one(fixed, world, me, place, call, answer, noted):  # type: ignore[no-untyped-def]
    """What was decided about one negotiation alone; with its offer, if there is one by now."""
    if len(noted) == 0:
        return
    noted[0, DECIDED] += 1
    row = noted[_begin(fixed, world, me, place, call, noted)]
    row[ANSWER] = answer
    _put(world.table[world.talk[me, place]], row, HEARD)
    if answer in (REJECT, NOTHING):
        _put(world.proposal[me, place], row, OFFERED)


@kernel
def _begin(fixed, world, me, place, call, noted):  # type: ignore[no-untyped-def]
    """What holds of any decision, in the next row (without room: the last); which row that is."""
    noted[0, NOTED] += 1
    at = min(noted[0, NOTED], len(noted) - 1)
    row = noted[at]
    for column in range(NUM_COLUMNS):
        row[column] = 0
    row[MOMENT], row[DAY], row[FACTORY] = noted[0, DECIDED], world.day, me
    row[CALL], row[PARTNER] = call, partner_at(fixed, me, place)
    row[ROUND] = world.round[world.talk[me, place]]
    row[SUPPLIES] = needed_supplies(fixed, world, me)
    row[SALES] = needed_sales(fixed, world, me)
    row[SIGNED] = world.signed
    return at


@kernel
def _put(offer, row, at):  # type: ignore[no-untyped-def]
    if offer[UNITS] > 0:
        for part in range(3):
            row[at + part] = offer[part]
