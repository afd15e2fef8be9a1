"""A day without its talks: trades with the outside, deliveries, production, money, prices.

Mirrors `engine/economy.py`, `factory.py`, `prices.py` and `contracts.py` operation by operation: a
last bit of a trading price can move the range of prices that may be offered.
"""

import math

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import NOBODY, OPEN
from understudy.games.scml.domain import DAYS
from understudy.games.scml.engine.prices import CATALOG_WEIGHT, DISCOUNT


@kernel
def found_market(fixed, world):  # type: ignore[no-untyped-def]
    """Before the first day."""
    world.day = 0
    for product in range(fixed.levels + 1):
        world.price[product], world.weight[product] = fixed.catalog[product], CATALOG_WEIGHT
        world.traded[product], world.average[product] = 0, 0.0
        set_range(fixed, world, product)
    for me in range(fixed.factories):
        world.stock[me], world.bankrupt[me], world.stock_falls[me] = 0, 0, 0
        world.balance[me], world.earned[me] = fixed.initial[me], 0.0
    for day in range(DAYS):
        world.due_first[day], world.due_last[day] = NOBODY, NOBODY
    for contract in range(OPEN):
        world.next[contract] = contract + 1
    world.next[OPEN - 1] = NOBODY
    world.spare, world.signed = 0, 0
    world.bought[:] = 0
    world.sold[:] = 0
    world.sure[:] = 0


@kernel
def set_range(fixed, world, product):  # type: ignore[no-untyped-def]
    """The lowest and highest unit price that may be offered today."""
    price = world.price[product]
    if fixed.price_share < 0.0:
        up = math.ceil(price)
        world.low[product], world.high[product] = max(1, up - 1), max(1, up)
        return
    low, high = (
        max(1, int(price * (1.0 - fixed.price_share))),
        int((1.0 + fixed.price_share) * price),
    )
    world.low[product], world.high[product] = min(low, high), max(low, high)


@kernel
def open_market(fixed, world):  # type: ignore[no-untyped-def]
    """Reveal today's trades with the outside world; forget what was due yesterday."""
    past = (world.day + DAYS - 1) % DAYS
    for me in range(fixed.factories):
        world.supply_units[me], world.supply_money[me] = 0, 0
        world.sale_units[me], world.sale_money[me] = 0, 0
        world.bought[me, past], world.sold[me, past] = 0, 0
        for kind in range(4):
            world.sure[me, kind, past] = 0
    for trade in range(fixed.trades_until[world.day], fixed.trades_until[world.day + 1]):
        me, units = fixed.trade_factory[trade], fixed.trade_units[trade]
        money = units * fixed.trade_price[trade]
        if fixed.trade_product[trade] == 0:
            world.supply_units[me] += units
            world.supply_money[me] += money
        else:
            world.sale_units[me] += units
            world.sale_money[me] += money
    world.last_day = min(world.day + fixed.horizon, fixed.days - 1)
    # Product 0 is never negotiated, and scml never renews its agenda.
    for product in range(1, fixed.levels + 1):
        set_range(fixed, world, product)


@kernel
def sign(world, seller, buyer, units, day, price):  # type: ignore[no-untyped-def]
    """A contract, binding at once; its number is returned."""
    contract, due = world.spare, day % DAYS
    world.spare = world.next[contract]
    world.next[contract] = NOBODY
    if world.due_first[due] == NOBODY:
        world.due_first[due] = contract
    else:
        world.next[world.due_last[due]] = contract
    world.due_last[due] = contract
    world.seller[contract], world.buyer[contract] = seller, buyer
    world.units[contract], world.unit_price[contract] = units, price
    world.void[contract], world.number[contract] = 0, world.signed
    world.bought[buyer, due] += units
    world.sold[seller, due] += units
    _count_on(world, contract, due, 1)
    world.signed += 1
    return contract


@kernel
def _count_on(world, contract, due, sign_):  # type: ignore[no-untyped-def]
    """Both sides can count on a contract (1) or no longer can (-1)."""
    seller, buyer = world.seller[contract], world.buyer[contract]
    units = sign_ * world.units[contract]
    money = units * world.unit_price[contract]
    world.sure[buyer, 0, due] += units
    world.sure[buyer, 1, due] += money
    world.sure[seller, 2, due] += units
    world.sure[seller, 3, due] += money


@kernel
def close_market(fixed, world, log):  # type: ignore[no-untyped-def]
    """Deliver, produce, pay, move prices. `log` has a row for each contract, or none at all."""
    due = world.day % DAYS
    contract = world.due_first[due]
    while contract != NOBODY:
        if world.void[contract] == 0:
            product = fixed.level[world.buyer[contract]]
            _count_sale(world, product, world.units[contract], world.unit_price[contract])
            if world.number[contract] < len(log):
                log[world.number[contract], 7] = 1
        contract = world.next[contract]
    for trade in range(fixed.trades_until[world.day], fixed.trades_until[world.day + 1]):
        _count_sale(
            world, fixed.trade_product[trade], fixed.trade_units[trade], fixed.trade_price[trade]
        )
    for me in range(fixed.factories):
        _produce(fixed, world, me, due)
        if world.bankrupt[me]:
            _void(world, me, due)
    _forget(world, due)
    _move_prices(fixed, world)
    world.day += 1


@kernel
def _count_sale(world, product, units, price):  # type: ignore[no-untyped-def]
    sold = world.traded[product]
    before = world.average[product] * sold
    world.traded[product] = sold + units
    world.average[product] = (before + units * price) / (sold + units)


@kernel
def _move_prices(fixed, world):  # type: ignore[no-untyped-def]
    for product in range(fixed.levels + 1):
        sold = world.traded[product]
        if sold > 0:
            weight = world.weight[product]
            value = world.price[product] * weight * DISCOUNT + world.average[product] * sold
            world.weight[product] = weight * DISCOUNT + sold
            world.price[product] = value / world.weight[product]
        world.traded[product], world.average[product] = 0, 0.0


@kernel
def _forget(world, due):  # type: ignore[no-untyped-def]
    """Contracts of today make room for others."""
    if world.due_first[due] != NOBODY:
        world.next[world.due_last[due]] = world.spare
        world.spare = world.due_first[due]
        world.due_first[due], world.due_last[due] = NOBODY, NOBODY


@kernel
def _void(world, me, due):  # type: ignore[no-untyped-def]
    """Nothing open of a bankrupt factory will be delivered."""
    for day in range(DAYS):
        contract = world.due_first[day] if day != due else NOBODY
        while contract != NOBODY:
            ours = world.seller[contract] == me or world.buyer[contract] == me
            if ours and world.void[contract] == 0:
                world.void[contract] = 1
                _count_on(world, contract, day, -1)
            contract = world.next[contract]


@kernel
def _gather(world, me, due, selling):  # type: ignore[no-untyped-def]
    """Today's deals of one side, the cheapest supplies or the dearest sales first; how many."""
    count, contract = 0, world.due_first[due]
    while contract != NOBODY:
        owner = world.seller[contract] if selling else world.buyer[contract]
        if owner == me and world.void[contract] == 0:
            price = float(world.unit_price[contract])
            count = _insert(world, count, selling, world.units[contract], price)
        contract = world.next[contract]
    return count


@kernel
def _insert(world, count, selling, units, price):  # type: ignore[no-untyped-def]
    """A deal in its place; equals stay in the order they came. How many there are then."""
    place = count
    while place > 0:
        before = world.deal_price[place - 1]
        if (before >= price) if selling else (before <= price):
            break
        world.deal_price[place] = before
        world.deal_units[place] = world.deal_units[place - 1]
        place -= 1
    world.deal_units[place], world.deal_price[place] = units, price
    return count + 1


@kernel
def _produce(fixed, world, me, due):  # type: ignore[no-untyped-def]
    """What a day of production does to goods and money."""
    day, cost, stock = world.day, fixed.cost[me], world.stock[me]
    # Stock counts as exogenous supply that was paid for before: it lowers its unit price.
    supplied = world.supply_units[me] + stock
    count = _gather(world, me, due, False)
    price = world.supply_money[me] / supplied if supplied != 0 else 0.0
    count = _insert(world, count, False, supplied, price)
    units_in, paid, usable, broke = 0, 0.0, 0, world.balance[me] < 0.0
    for deal in range(count):
        units, price = world.deal_units[deal], world.deal_price[deal]
        total = price * units
        if not broke and paid + total + units * cost > world.balance[me]:
            usable = units_in + int((world.balance[me] - paid) // (price + cost))
            broke = True
        paid += total
        units_in += units
    capacity = min(usable if broke else units_in, fixed.lines[me])

    ordered = world.sale_units[me]
    count = _gather(world, me, due, True)
    price = world.sale_money[me] / ordered if ordered != 0 else 0.0
    count = _insert(world, count, True, ordered, price)
    units_out, revenue = 0, 0.0
    for deal in range(count):
        units = world.deal_units[deal]
        if units_out < capacity:
            revenue += min(units, capacity - units_out) * world.deal_price[deal]
        units_out += units

    produced = min(units_in, capacity, units_out)
    stored, short = max(0, units_in - produced), max(0, units_out - produced)
    level = fixed.level[me]
    price_in, price_out = world.price[level], world.price[level + 1]
    profit = (
        revenue
        - paid
        - cost * produced
        - price_in * (fixed.disposal[me, day] * stored)
        - price_in * (fixed.storage[me, day] * stored)
        - price_out * (fixed.penalty[me, day] * short)
    )
    if not fixed.perishable:
        left = units_in - stock - produced
        world.stock[me] += left if fixed.conserves else max(0, left)
        if world.stock[me] < stock:
            world.stock_falls[me] = 1
    world.profit[me], world.produced[me], world.short[me] = profit, produced, short
    world.delivered[me] = units_out - ordered
    world.earned[me] += profit
    world.balance[me] = world.earned[me] + fixed.initial[me]
    if world.balance[me] < 0.0:
        world.bankrupt[me] = 1
