"""The talks of a decision one after the other: what is left when the turn of each comes.

L4 says in which order talks are served. Each may promise what L1 allows beside all that those
before it have promised in the same decision, so what L3 sees of a talk hangs on their answers. In
play these are its own; in training they are the expert's. Both call `_turn`.
"""

from typing import NamedTuple

import numpy as np

from understudy.games.scml.domain import DAYS, HORIZON, SafetySettings
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.columns import Floats, Ints, Packed
from understudy.games.scml.view.observe import (
    Array,
    Bools,
    Int32s,
    Observed,
    agreeable_days,
    baseline_of,
    cut,
    fill_books,
    heard_row,
    most_units,
    price_range,
)

_CROWD = 6.0
_HORIZON = float(HORIZON)
STOCK, DAYS_AHEAD, LINES, WANTED, GIVEN_BUYING, GIVEN_SELLING = range(6)
SERVED = 6
"""In `Books.counts`: talks that have had their turn, buying and selling."""


class Turns(NamedTuple):
    """By talk: what is left when its turn comes."""

    features: Array
    """[talks, TURN]."""
    left: Int32s
    """[talks, DAYS]: Q_safe on its side."""
    money: Floats
    """[talks]: B_free."""
    baseline: Int32s
    """[talks, 3]: L1's offer: units (0: it has none), days ahead, unit price."""
    safe: Bools
    """[talks]: L1 allows to accept what lies on the table."""


class Books(NamedTuple):
    """What is promised in one decision, on top of the state's promises."""

    arriving: Ints
    ordered: Ints
    inputs: Ints
    """[DAYS] each; the last is room to compute in."""
    counts: Ints
    """[8]: see the names above."""
    money: Floats
    """[1]: B_free."""


def no_turns(talks: int) -> Turns:
    """To be filled."""
    return Turns(
        np.zeros((talks, len(f.TURN)), np.float32),
        np.zeros((talks, DAYS), np.int32),
        np.zeros(talks),
        np.zeros((talks, 3), np.int32),
        np.zeros(talks, np.bool_),
    )


def all_turns(
    columns: Packed,
    seen: Observed,
    order: Ints,
    weight: Array,
    binding: Ints,
    settings: SafetySettings | None = None,
) -> Turns:
    """Of many decisions, whose talks come in `order` (places in the talks of all states).

    `binding` is [talks, 3]: units (0: nothing was promised), days ahead and unit price.
    """
    found = no_turns(len(columns.talks))
    conserves = settings.conserves if settings else False
    _all_turns(columns, seen.money, order, weight, binding, conserves, _empty_books(), found)
    return found


class LiveTurns:
    """Of one decision, as it is being made."""

    def __init__(
        self, columns: Packed, seen: Observed, weight: Array, settings: SafetySettings
    ) -> None:
        self.found = no_turns(len(columns.talks))
        self._columns, self._weight = columns, weight
        self._books, self._conserves = _empty_books(), settings.conserves
        _open(columns.facts[0], columns.promises[0], seen.money[0], self._books)

    def come(self, talk: int) -> None:
        """A talk's turn: what is left for it is in `found`."""
        _turn(self._columns, 0, talk, self._weight[talk], self._conserves, self._books, self.found)

    def take(self, buys: bool, quantity: int, ahead: int, price: int) -> None:
        """It has promised something; 0 units: nothing."""
        _take(self._columns.facts[0], buys, quantity, ahead, price, self._books)


def _empty_books() -> Books:
    arriving, ordered, inputs = np.zeros((3, DAYS), np.int64)
    return Books(arriving, ordered, inputs, np.zeros(8, np.int64), np.zeros(1))


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _open(facts, promises, money, books):  # type: ignore[no-untyped-def]
    days = agreeable_days(facts)
    fill_books(facts, promises, days, books.arriving, books.ordered)
    books.counts[:] = 0
    books.counts[STOCK], books.counts[DAYS_AHEAD] = int(facts[p.STOCK]), days
    books.counts[LINES] = int(facts[p.LINES])
    books.money[0] = money


@kernel
def _take(facts, buys, quantity, ahead, price, books):  # type: ignore[no-untyped-def]
    """`Room.take`."""
    side = 0 if buys else 1
    books.counts[SERVED + side] += 1
    if quantity <= 0:
        return
    books.counts[GIVEN_BUYING + side] += quantity
    if buys:
        books.counts[WANTED] += quantity
        books.money[0] -= quantity * price
    elif 0 <= ahead < books.counts[DAYS_AHEAD]:
        books.ordered[ahead] += quantity
        books.money[0] -= quantity * facts[p.COST]


@kernel
def _bounds(facts, buys, conserves, books, out):  # type: ignore[no-untyped-def]
    """Q_safe by day."""
    stock, days, lines = books.counts[STOCK], books.counts[DAYS_AHEAD], books.counts[LINES]
    keeps = facts[p.PERISHABLE] == 0.0
    falls = conserves or facts[p.STOCK_FALLS] != 0.0
    arriving, ordered, inputs = books.arriving, books.ordered, books.inputs
    wanted = books.counts[WANTED]
    rules.input_by_day(stock, arriving, ordered, days, lines, keeps, falls, inputs)
    for day in range(days):
        if buys:
            out[day] = rules.most_to_buy(
                stock, arriving, ordered, days, lines, keeps, falls, inputs, wanted, day
            )
        else:
            out[day] = rules.most_to_sell(
                stock, arriving, ordered, days, lines, keeps, falls, inputs, day
            )


@kernel
def _turn(columns, s, talk, weight, conserves, books, out):  # type: ignore[no-untyped-def]
    facts, features, left = columns.facts[s], out.features[talk], out.left[talk]
    buys, lines = columns.talks[talk, p.BUYS] != 0, facts[p.LINES]
    days, money, most_quantity = books.counts[DAYS_AHEAD], books.money[0], most_units(facts)
    _bounds(facts, buys, conserves, books, left)
    out.money[talk] = money
    baseline_of(facts, buys, left, days, money, most_quantity, out.baseline[talk])
    base = out.baseline[talk]
    for day in range(days):
        features[day] = cut(left[day] / lines)
    if buys:
        features[11] = cut(rules.affordable(money, float(base[2])) / lines)
    row = heard_row(columns, talk)
    if row >= 0:
        quantity, price = columns.said[row, p.QUANTITY], columns.said[row, p.PRICE]
        ahead = columns.said[row, p.DELIVERY] - int(facts[p.DAY])
        low, high = price_range(facts, buys)
        most = min(left[ahead] if 0 <= ahead < days else 0, most_quantity)
        if buys:
            most = min(most, rules.affordable(money, float(price)))
        out.safe[talk] = quantity <= most and low <= price <= high
        features[12] = out.safe[talk]
        features[13] = min(quantity, most) / max(quantity, 1)
    features[14] = 1.0 if base[0] > 0 else 0.0
    features[15] = cut(base[0] / lines)
    features[16] = base[1] / _HORIZON
    side, served = 0 if buys else 1, 0
    for other in range(columns.first[s], columns.first[s + 1]):
        served += (columns.talks[other, p.BUYS] != 0) == buys
    features[17] = cut(books.counts[SERVED + side] / _CROWD)
    features[18] = cut((served - 1 - books.counts[SERVED + side]) / _CROWD)
    features[19] = cut(books.counts[GIVEN_BUYING + side] / lines)
    features[20] = weight


@kernel
def _all_turns(columns, money, order, weight, binding, conserves, books, out):  # type: ignore[no-untyped-def]
    for s in range(len(columns.facts)):
        facts = columns.facts[s]
        _open(facts, columns.promises[s], money[s], books)
        for place in range(columns.first[s], columns.first[s + 1]):
            talk = order[place]
            _turn(columns, s, talk, weight[talk], conserves, books, out)
            buys = columns.talks[talk, p.BUYS] != 0
            _take(facts, buys, binding[talk, 0], binding[talk, 1], binding[talk, 2], books)
