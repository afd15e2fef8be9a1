"""The book of what a factory has committed itself to, and so of what it can still promise (L1).

By the simulator's true rules: production is to order and takes a day's input the same day; a
factory makes at most its lines; stock only gains (where it is conserved, production takes from it).
A sale is safe if, with it and all that lies on the table, every day to come can still be met from
the stock, what was bought and the lines. A factory that is supplied from outside may take a risk
(`SafetySettings`): it then counts on supplies of the days to come, by those of the days so far.

Live play (`l1_safety.py`), the features (`observe.py`), the turns of a decision (`turns.py`) and
the safety audit of recordings (`safety_audit.py`) all keep this one book. Days are counted from
today.
"""

from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.scml.domain import BUY_SHARE, BUYING, DAYS, LINES, SELL_SHARE, SELLING
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import safety_rules as rules

IN_STOCK, DAYS_OPEN, CAPACITY, KEEPS, CONSERVES = range(5)
NUM_LIMITS: Final = 5
FREE, UNIT_COST = range(2)
NO_DAY: Final = -1
"""Nothing is sold on top."""


class CommitmentBook(NamedTuple):
    """One factory's book, in arrays that compiled code fills."""

    arriving: Ints
    """[days]: units of input that are sure to come, or counted on."""
    ordered: Ints
    """[days]: units to be made and delivered."""
    inputs: Ints
    """[days]: units of input known to be there, as `find_inputs` left them."""
    limits: Ints
    """[NUM_LIMITS]: stock at the start of the day, days for which a delivery can be agreed, lines,
    whether input keeps and whether stock is conserved."""
    committed: Ints
    """[2]: units promised since the book was opened, buying and selling. Those bought may still not
    come: they are no input, but need not be bought again."""
    money: Floats
    """[2]: B_free, what may be spent on input; and what making one unit costs."""


def empty_book(*factories: int, days: int = DAYS) -> CommitmentBook:
    """A book to be opened, with space for so many days; with `factories`, a row for each."""
    arriving, ordered, inputs = np.zeros((3, *factories, days), np.int64)
    limits = np.zeros((*factories, NUM_LIMITS), np.int64)
    committed, money = np.zeros((*factories, 2), np.int64), np.zeros((*factories, 2))
    return CommitmentBook(arriving, ordered, inputs, limits, committed, money)


# --- compiled ------------------------------------------------------------------------------------


@kernel
def count_supply(supplied, units):  # type: ignore[no-untyped-def]
    """Add a day's exogenous supply to the counts that a `DayStart` has."""
    for k in range(min(units, LINES)):
        supplied[k] += 1


@kernel
def counted_on(facts, risk):  # type: ignore[no-untyped-def]
    """Units of exogenous supply that are counted on for each day to come.

    The most that came on at least a share 1 - `risk` of the days so far and one more, on which
    nothing came. With that day the chance that a day brings less is at most the risk, if days are
    alike (it is the conformal bound of one side); so on few days no small risk can be taken.
    """
    if facts[p.LEVEL] > 0.0:
        return 0
    days, found = facts[p.DAY] + 2.0, 0
    for units in range(1, LINES + 1):
        came = facts[p.SUPPLIED + units - 1]
        # A share that is reached exactly counts, whatever its last bit.
        if came > 0.0 and days - came <= risk * days + 1e-9:
            found = units
    return found


@kernel
def open_book(facts, commitments, how, book):  # type: ignore[no-untyped-def]
    """As things stand in a state, with today's exogenous contracts.

    `how` are the numbers of `SafetySettings`.
    """
    reserve, conserves, risk = how
    days, supply = p.agreeable_days(facts), counted_on(facts, risk)
    for day in range(days):
        book.arriving[day] = commitments[p.BOUGHT, day] + (supply if day > 0 else 0)
        book.ordered[day] = commitments[p.SOLD, day]
    book.arriving[0] += int(facts[p.SUPPLY_QUANTITY])
    book.ordered[0] += int(facts[p.SALE_QUANTITY])
    book.limits[IN_STOCK], book.limits[DAYS_OPEN] = int(facts[p.STOCK]), days
    book.limits[CAPACITY] = int(facts[p.LINES])
    book.limits[KEEPS] = facts[p.PERISHABLE] == 0.0
    book.limits[CONSERVES] = conserves or facts[p.STOCK_FALLS] != 0.0
    # Counts promises of this decision only; those of contracts are in the lists by day.
    book.committed[BUYING], book.committed[SELLING] = 0, 0
    owed, orders = 0, 0
    for day in range(DAYS):
        owed += commitments[p.BOUGHT_MONEY, day]
    for day in range(days):
        orders += book.ordered[day]
    kept = reserve * facts[p.INITIAL]
    book.money[UNIT_COST] = facts[p.COST]
    book.money[FREE] = (
        facts[p.BALANCE] - kept - owed - facts[p.SUPPLY_PRICE] - facts[p.COST] * orders
    )


@kernel
def commit(book, buys, quantity, ahead, price):  # type: ignore[no-untyped-def]
    """Keep capacity for an offer that was made or accepted; 0 units: nothing was promised."""
    if quantity <= 0:
        return
    book.committed[BUYING if buys else SELLING] += quantity
    # An offered purchase may not come: it binds money but is no input to sell from.
    if buys:
        book.money[FREE] -= quantity * price
    elif 0 <= ahead < book.limits[DAYS_OPEN]:
        book.ordered[ahead] += quantity
        book.money[FREE] -= quantity * book.money[UNIT_COST]


@kernel
def find_inputs(book, days):  # type: ignore[no-untyped-def]
    """Units of input known to be there on each of the first days, into `book.inputs`.

    Returns the stock that is there after them.
    """
    stock, lines = book.limits[IN_STOCK], book.limits[CAPACITY]
    keeps, conserves = book.limits[KEEPS] != 0, book.limits[CONSERVES] != 0
    for day in range(days):
        there = stock + book.arriving[day]
        book.inputs[day] = there
        made = rules.made_of(there, book.ordered[day], lines)
        stock = rules.stock_after(stock, book.arriving[day], made, keeps, conserves)
    return stock


@kernel
def makeable(book, ahead):  # type: ignore[no-untyped-def]
    """Units that can surely be made on a day, whatever is ordered for it; needs `find_inputs`."""
    return min(book.limits[CAPACITY], book.inputs[ahead])


@kernel
def shortfall(book, ahead, extra):  # type: ignore[no-untyped-def]
    """Units that could not be made over all days, with `extra` more sold for one of them."""
    short, stock, lines = 0, book.limits[IN_STOCK], book.limits[CAPACITY]
    keeps, conserves = book.limits[KEEPS] != 0, book.limits[CONSERVES] != 0
    for day in range(book.limits[DAYS_OPEN]):
        there = stock + book.arriving[day]
        promised = book.ordered[day] + (extra if day == ahead else 0)
        short += max(0, promised - min(lines, there))
        made = rules.made_of(there, promised, lines)
        stock = rules.stock_after(stock, book.arriving[day], made, keeps, conserves)
    return short


@kernel
def _left_to_sell(book, ahead, before):  # type: ignore[no-untyped-def]
    """The most units that can be promised for a day such that no more is short than `before`."""
    most = makeable(book, ahead) - book.ordered[ahead]
    if most <= 0:
        return 0
    # From the top: more sold on one day can leave less stock for the days after it.
    for quantity in range(most, 0, -1):
        if shortfall(book, ahead, quantity) <= before:
            return quantity
    return 0


@kernel
def _left_to_buy(book, ahead, stock):  # type: ignore[no-untyped-def]
    """The most units that could ever be worked on, beside those bought in this decision.

    Where stock lasts, what arrives goes into that day's orders first and only the rest fills the
    stock: to close a gap in it takes the orders' units on top. `stock`: after the last day.
    """
    lines, bought = book.limits[CAPACITY], book.committed[BUYING]
    if book.limits[CONSERVES] != 0 or book.limits[KEEPS] == 0:
        return max(0, lines - book.inputs[ahead] - bought)
    gap = lines - stock
    if gap <= 0:
        return 0
    return max(0, gap + max(0, min(lines, book.ordered[ahead]) - book.arriving[ahead]) - bought)


@kernel
def remaining_on(book, buys, ahead):  # type: ignore[no-untyped-def]
    """Q_safe: the most units that can still be promised for a day; 0 where none can be agreed."""
    days = book.limits[DAYS_OPEN]
    if not 0 <= ahead < days:
        return 0
    stock = find_inputs(book, days)
    if buys:
        return _left_to_buy(book, ahead, stock)
    return _left_to_sell(book, ahead, shortfall(book, NO_DAY, 0))


@kernel
def remaining_by_day(book, buys, out):  # type: ignore[no-untyped-def]
    """Q_safe of every day for which a delivery can be agreed, into `out`."""
    days = book.limits[DAYS_OPEN]
    stock = find_inputs(book, days)
    before = 0 if buys else shortfall(book, NO_DAY, 0)
    for day in range(days):
        out[day] = _left_to_buy(book, day, stock) if buys else _left_to_sell(book, day, before)


@kernel
def allowed_units(facts, buys, remaining, money, ahead, price):  # type: ignore[no-untyped-def]
    """The largest safe quantity for a day and price, of what `remaining` has by day."""
    if not 0 <= ahead < p.agreeable_days(facts):
        return 0
    most = min(remaining[ahead], p.most_units(facts))
    return min(most, rules.affordable(money, float(price))) if buys else most


@kernel
def set_baseline(facts, buys, remaining, money, out):  # type: ignore[no-untyped-def]
    """L1's own offer: half of what is safe on the first day with anything, at a fair price.

    `out` is units (left alone where L1 has no offer), days ahead and unit price.
    """
    low, high = p.price_range(facts, buys)
    wish = facts[p.PRICE_IN] * BUY_SHARE if buys else facts[p.PRICE_OUT] * SELL_SHARE
    price = min(max(np.rint(wish), low), high)
    out[p.OFFER_PRICE] = int(price)
    for ahead in range(p.agreeable_days(facts)):
        if remaining[ahead] > 0:
            quantity = min((remaining[ahead] + 1) // 2, p.most_units(facts))
            if buys:
                quantity = min(quantity, rules.affordable(money, price))
            if quantity > 0:
                out[p.OFFER_UNITS], out[p.OFFER_AHEAD] = quantity, ahead
            break
