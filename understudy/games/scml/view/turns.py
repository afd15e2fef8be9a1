"""The negotiations of a decision one after the other: what is left when the turn of each comes.

L4 says in which order negotiations are served. Each may promise what L1 allows beside all that
those before it have promised in the same decision, so what L3 sees of a negotiation depends on
their answers. In play these are its own; in training they are the expert's. Both call `set_turn`.
"""

from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Bools, Float32s, Floats, Int32s, Ints
from understudy.games.scml.domain import BUYING, DAYS, SELLING, SafetySettings
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.columns import Packed
from understudy.games.scml.view.commitments import (
    FREE,
    allowed_units,
    commit,
    empty_book,
    open_book,
    remaining_by_day,
    set_baseline,
)
from understudy.games.scml.view.scales import AHEAD, CROWD, cut


class Turns(NamedTuple):
    """By negotiation: what is left when its turn comes."""

    features: Float32s
    """[negotiations, TURN]."""
    left: Int32s
    """[negotiations, DAYS]: Q_safe on its side."""
    money: Floats
    """[negotiations]: B_free."""
    baseline: Int32s
    """[negotiations, 3]: L1's offer: units (0: it has none), days ahead, unit price."""
    safe: Bools
    """[negotiations]: L1 allows to accept what lies on the table."""


def no_turns(negotiations: int) -> Turns:
    """To be filled."""
    return Turns(
        np.zeros((negotiations, len(f.TURN)), np.float32),
        np.zeros((negotiations, DAYS), np.int32),
        np.zeros(negotiations),
        np.zeros((negotiations, 3), np.int32),
        np.zeros(negotiations, np.bool_),
    )


def all_turns(
    columns: Packed,
    order: Ints,
    weight: Float32s,
    binding: Ints,
    settings: SafetySettings | None = None,
) -> Turns:
    """Of many decisions, whose negotiations come in `order` (indices into all of them).

    `binding` is [negotiations, 3]: units (0: nothing was promised), days ahead and unit price.
    """
    settings = settings or SafetySettings()
    turns, book, served = (
        no_turns(len(columns.negotiations)),
        empty_book(),
        np.zeros(2, np.int64),
    )
    _all_turns(columns, order, weight, binding, settings.numbers, book, served, turns)
    return turns


class LiveTurns:
    """Of one decision, as it is being made."""

    def __init__(self, columns: Packed, weight: Float32s, settings: SafetySettings) -> None:
        self.values = no_turns(len(columns.negotiations))
        self._columns, self._weight = columns, weight
        self._book, self._served = empty_book(), np.zeros(2, np.int64)
        open_book(columns.facts[0], columns.commitments[0], settings.numbers, self._book)

    def come(self, negotiation: int) -> None:
        """A negotiation's turn: what is left for it is in `values`."""
        books = self._book, self._served
        set_turn(self._columns, 0, negotiation, self._weight[negotiation], *books, self.values)

    def take(self, buys: bool, quantity: int, ahead: int, price: int) -> None:
        """It has promised something; 0 units: nothing."""
        self._served[BUYING if buys else SELLING] += 1
        commit(self._book, buys, quantity, ahead, price)


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _all_turns(columns, order, weight, binding, how, book, served, out):  # type: ignore[no-untyped-def]
    for s in range(len(columns.facts)):
        open_book(columns.facts[s], columns.commitments[s], how, book)
        served[BUYING], served[SELLING] = 0, 0
        # In order of L4's weights: a negotiation sees what those served before it have left.
        for turn in range(columns.first[s], columns.first[s + 1]):
            negotiation = order[turn]
            set_turn(columns, s, negotiation, weight[negotiation], book, served, out)
            buys, promised = columns.negotiations[negotiation, p.BUYS] != 0, binding[negotiation]
            served[BUYING if buys else SELLING] += 1
            quantity, ahead = promised[p.OFFER_UNITS], promised[p.OFFER_AHEAD]
            commit(book, buys, quantity, ahead, promised[p.OFFER_PRICE])


@kernel
def set_turn(columns, s, negotiation, weight, book, served, out):  # type: ignore[no-untyped-def]
    """What is left for a negotiation; `served` counts those before it by side."""
    at, facts, features = f.TURN_AT, columns.facts[s], out.features[negotiation]
    buys, lines, left = (
        columns.negotiations[negotiation, p.BUYS] != 0,
        facts[p.LINES],
        out.left[negotiation],
    )
    side, money, base = BUYING if buys else SELLING, book.money[FREE], out.baseline[negotiation]
    remaining_by_day(book, buys, left)
    out.money[negotiation] = money
    # L1's own offer from what is left now, not from what was left when the decision began.
    set_baseline(facts, buys, left, money, base)
    for day in range(p.agreeable_days(facts)):
        features[at.left_0 + day] = cut(left[day] / lines)
    can_pay = rules.affordable(money, float(base[p.OFFER_PRICE])) if buys else 0
    features[at.left_payable] = cut(can_pay / lines)
    row = p.heard_row(columns, negotiation)
    if row >= 0:
        quantity, price = columns.offers[row, p.QUANTITY], columns.offers[row, p.PRICE]
        ahead = columns.offers[row, p.DELIVERY] - int(facts[p.DAY])
        low, high = p.price_range(facts, buys)
        most = allowed_units(facts, buys, left, money, ahead, price)
        # To accept is safe if the offer fits as it is: nothing can be cut off an acceptance.
        out.safe[negotiation] = quantity <= most and low <= price <= high
        features[at.still_safe] = out.safe[negotiation]
        features[at.still_share] = min(quantity, most) / max(quantity, 1)
    features[at.has_base] = 1.0 if base[p.OFFER_UNITS] > 0 else 0.0
    features[at.base_quantity] = cut(base[p.OFFER_UNITS] / lines)
    features[at.base_ahead] = base[p.OFFER_AHEAD] / AHEAD
    others = -1  # beside itself
    for other in range(columns.first[s], columns.first[s + 1]):
        others += (columns.negotiations[other, p.BUYS] != 0) == buys
    features[at.served] = cut(served[side] / CROWD)
    features[at.waiting] = cut((others - served[side]) / CROWD)
    features[at.given] = cut(book.committed[side] / lines)
    features[at.weight] = weight
