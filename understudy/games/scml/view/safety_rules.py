"""The arithmetic of L1, compiled: `l1_safety.py` asks it live, `observe.py` for many states.

Arrays are by days from now. `keeps`: what is left of a day's input is there the next day.
`conserves`: production takes from stock.
"""

from understudy.games.scml.kernels import kernel

NOBODY = -1
"""No day: nothing is sold on top."""


@kernel
def made_of(there, ordered, lines):  # type: ignore[no-untyped-def]
    """Units made in a day: to order, of the input that is there."""
    return min(there, lines, ordered)


@kernel
def stock_after(stock, arriving, made, keeps, conserves):  # type: ignore[no-untyped-def]
    """Input in hand the next morning; in scml it only ever grows."""
    if not keeps:
        return 0
    left = arriving - made
    return stock + left if conserves else stock + max(0, left)


@kernel
def input_by_day(stock, arriving, ordered, days, lines, keeps, conserves, out):  # type: ignore[no-untyped-def]
    """Units of input known to be there on each day, into `out`."""
    for day in range(days):
        there = stock + arriving[day]
        out[day] = there
        made = made_of(there, ordered[day], lines)
        stock = stock_after(stock, arriving[day], made, keeps, conserves)


@kernel
def shortfall(stock, arriving, ordered, days, lines, keeps, conserves, ahead, extra):  # type: ignore[no-untyped-def]
    """Units that could not be made over all days, with `extra` more sold for one of them."""
    short = 0
    for day in range(days):
        there = stock + arriving[day]
        promised = ordered[day] + (extra if day == ahead else 0)
        short += max(0, promised - min(lines, there))
        made = made_of(there, promised, lines)
        stock = stock_after(stock, arriving[day], made, keeps, conserves)
    return short


@kernel
def most_to_sell(stock, arriving, ordered, days, lines, keeps, conserves, inputs, ahead):  # type: ignore[no-untyped-def]
    """The most units that can be promised for a day such that no more is short than before."""
    most = min(lines, inputs[ahead]) - ordered[ahead]
    if most <= 0:
        return 0
    before = shortfall(stock, arriving, ordered, days, lines, keeps, conserves, NOBODY, 0)
    for quantity in range(most, 0, -1):
        after = shortfall(stock, arriving, ordered, days, lines, keeps, conserves, ahead, quantity)
        if after <= before:
            return quantity
    return 0


@kernel
def most_to_buy(stock, arriving, ordered, days, lines, keeps, conserves, inputs, wanted, ahead):  # type: ignore[no-untyped-def]
    """The most units that could ever be worked on, beside those `wanted` already.

    Where stock lasts, what arrives goes into that day's orders first and only the rest fills the
    stock: to close a gap in it takes the orders' units on top.
    """
    if conserves or not keeps:
        return max(0, lines - inputs[ahead] - wanted)
    for day in range(days):
        made = made_of(stock + arriving[day], ordered[day], lines)
        stock = stock_after(stock, arriving[day], made, keeps, conserves)
    gap = lines - stock
    if gap <= 0:
        return 0
    return max(0, gap + max(0, min(lines, ordered[ahead]) - arriving[ahead]) - wanted)


@kernel
def affordable(money, price):  # type: ignore[no-untyped-def]
    """Units that money pays for."""
    if price <= 0:
        return 0
    return max(0, int(money // price))


@kernel
def baseline_quantity(buys, bound, can_pay, most_quantity):  # type: ignore[no-untyped-def]
    """Half of what is safe, rounded up."""
    half = min((bound + 1) // 2, most_quantity)
    return min(half, can_pay) if buys else half
