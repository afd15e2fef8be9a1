"""What a factory has booked: its money at the end if nothing more were ever agreed.

As a potential it brings a contract's gain forward to the moment it is signed. Rewards are its
changes, over the initial balance, so their sum over a world is the score whatever was booked on
the way: what is best does not change (Ng, Harada and Russell 1999, with a discount of 1).
"""

from understudy.games.scml.domain import DAYS
from understudy.games.scml.learning.online.kernels import kernel


@kernel
def booked(fixed, world, me):  # type: ignore[no-untyped-def]
    """The score that today's contracts, stock and trading prices would lead to."""
    level, lines, cost = fixed.level[me], fixed.lines[me], fixed.cost[me]
    price_in, price_out = world.price[level], world.price[level + 1]
    money, stock, day = world.balance[me], world.stock[me], world.day
    last = min(day + fixed.horizon, fixed.days - 1)
    while day <= last:
        due, ahead = day % DAYS, day - world.day
        units_in, paid = world.sure[me, 0, due], float(world.sure[me, 1, due])
        units_out, revenue = world.sure[me, 2, due], float(world.sure[me, 3, due])
        if ahead == 0:
            units_in, paid = units_in + world.supply_units[me], paid + world.supply_money[me]
            units_out = units_out + world.sale_units[me]
            revenue += world.sale_money[me]
        if ahead > 0 and units_out > units_in + stock:
            units_in += _lacking(fixed, me, day, min(units_out, lines) - units_in - stock)
        usable = units_in + stock
        made = min(min(usable, lines), units_out)
        if units_out > 0:
            revenue *= made / units_out
        stored, short = usable - made, units_out - made
        waste = fixed.storage[me, day] + fixed.disposal[me, day]
        money += revenue - paid - cost * made
        money -= price_in * waste * stored + price_out * fixed.penalty[me, day] * short
        stock = _carried(fixed, stock, units_in, made)
        day += 1
    # What nobody has ordered lies there, and is paid for, until the end.
    while day < fixed.days and stock > 0:
        money -= price_in * (fixed.storage[me, day] + fixed.disposal[me, day]) * stock
        day += 1
    return money / fixed.initial[me]


@kernel
def _lacking(fixed, me, day, most):  # type: ignore[no-untyped-def]
    """What orders lack and the outside world will bring, whatever is decided.

    Nobody who plays knows it. But who has promised by a risk would look short until it comes.
    """
    coming = 0
    for trade in range(fixed.trades_until[day], fixed.trades_until[day + 1]):
        if fixed.trade_factory[trade] == me and fixed.trade_product[trade] == 0:
            coming += fixed.trade_units[trade]
    return min(max(most, 0), coming)


@kernel
def _carried(fixed, stock, arrived, made):  # type: ignore[no-untyped-def]
    """Stock of the next morning: scml only ever adds to it, unless stock is conserved."""
    if fixed.perishable:
        return 0
    if fixed.conserves:
        return stock + arrived - made
    return stock + max(0, arrived - made)
