"""SyncRandom (scml.std.agents.SyncRandomStdAgent): deals its needs out over its partners by chance.

Most partners are asked for a share of what it needs today; those that got none, for a share of what
one of the days to come will need.
"""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import shuffle, uniform
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.shares import concentrate, distribute
from understudy.games.scml.batch.state import ACCEPT, DAY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import DAYS

PRODUCTIVITY: Final = 0.3
"""Share of its lines that one in the middle expects to use."""
TODAY_SHARE: Final = 0.85
"""Of its partners."""
TODAY_CONCENTRATION, FUTURE_CONCENTRATION = 0.25, 0.75
FUTURE_MARGIN: Final = 0.25
"""Share of the price range that it does not give away for a day to come."""
EQUAL: Final = 0.5
SLACK: Final = 0.0001
TODAY_EXPONENT, FUTURE_EXPONENT = range(2)
"""What it keeps: how it gives way with time. Compiled in, a power of 2 would be a product."""
NO_NEED: Final = -1
"""No need is known of a day; of some, it is 0."""


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """How it gives way is always the same."""
    world.kept[me, TODAY_EXPONENT], world.kept[me, FUTURE_EXPONENT] = 2.0, 4.0


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """To everybody, at the best prices."""
    partners = world.list_c
    for index in range(world.num_met[me]):
        partners[index] = world.met[me, index]
    _offer(fixed, world, me, partners, world.num_met[me], True)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Accept what it seems to need at a good price, deal the needs out over the others."""
    supplies, sales, partners, count = world.list_a, world.list_b, world.list_c, 0
    _estimate_needs(fixed, world, me, supplies, sales)
    supplies[0] = speech.needed_supplies(fixed, world, me)
    sales[0] = speech.needed_sales(fixed, world, me)
    if _is_middle(fixed, me):
        expected = int(fixed.lines[me] * PRODUCTIVITY)
        supplies[0], sales[0] = max(supplies[0], expected), max(sales[0], expected)
    _accept(fixed, world, me, True, supplies)
    _accept(fixed, world, me, False, sales)
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if world.answer[me, place] != ACCEPT:
            partners[count] = place
            count += 1
    _offer(fixed, world, me, partners, count, False)
    for index in range(count):
        world.answer[me, partners[index]] = REJECT


@kernel
def _accept(fixed, world, me, buys, needs):  # type: ignore[no-untyped-def]
    low, high = _range(fixed, world, me, buys)
    if low > high:
        return
    left = max(fixed.days - world.day, 1)
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if speech.is_supplier(place) != buys:
            continue
        offer = world.table[world.talk[me, place]]
        ahead = offer[DAY] - world.day
        time = ahead / left if ahead > 0 else speech.time_of(world, me, place)
        is_good = _is_good(world, me, buys, offer[PRICE], time, low, high, ahead == 0)
        if is_good and offer[UNITS] < needs[ahead]:
            world.answer[me, place] = ACCEPT
            needs[ahead] -= offer[UNITS]


# --- what it offers ------------------------------------------------------------------------------


@kernel
def _offer(fixed, world, me, partners, count, is_first):  # type: ignore[no-untyped-def]
    """To each of these partners, for today, a day to come, or nothing."""
    units, left = world.list_d, 0
    _deal_out_today(fixed, world, me, partners, count, units)
    for index in range(count):
        place = partners[index]
        if units[index] > 0:
            price = _todays_price(fixed, world, me, place, is_first)
            speech.propose_at(world, me, place, units[index], world.day, price)
        else:
            speech.propose(world, me, place, 0, 0, 0)
    others = world.list_e
    for index in range(count):
        if units[index] <= 0:
            others[left] = partners[index]
            left += 1
    if left > 0:
        _offer_ahead(fixed, world, me, others, left)


@kernel
def _deal_out_today(fixed, world, me, partners, count, units):  # type: ignore[no-untyped-def]
    """Units for each partner. The partners are shuffled; the last get none."""
    shuffle(world, me, partners, count)
    for index in range(count):
        units[index] = 0
    asked = min(count, max(1, int(TODAY_SHARE * count)))
    for side in range(2):
        buys = side == 0
        if _is_middle(fixed, me):
            needs = fixed.lines[me]
        elif buys:
            needs = speech.needed_supplies(fixed, world, me)
        else:
            needs = speech.needed_sales(fixed, world, me)
        _deal_out_side(fixed, world, me, partners, asked, units, buys, needs)


@kernel
def _deal_out_side(fixed, world, me, partners, count, units, buys, needs):  # type: ignore[no-untyped-def]
    active, bins, found = world.list_e, world.list_f, 0
    for index in range(count):
        if speech.is_supplier(partners[index]) == buys:
            active[found] = index
            found += 1
    if found == 0 or needs < 1:
        return
    shuffle(world, me, active, found)
    _deal(fixed, world, me, needs, bins, found, TODAY_CONCENTRATION, True)
    for index in range(found):
        units[active[index]] = bins[index]


@kernel
def _offer_ahead(fixed, world, me, partners, count):  # type: ignore[no-untyped-def]
    """Of the days to come only the first drawn counts: after it, it takes all for served."""
    supplies, sales = world.list_a, world.list_b
    _estimate_needs(fixed, world, me, supplies, sales)
    supply_day = _draw_day(fixed, world, me, supplies)
    sale_day = _draw_day(fixed, world, me, sales)
    if supply_day != NO_NEED:
        _deal_out_day(fixed, world, me, partners, count, True, supply_day, supplies[supply_day])
    if sale_day != NO_NEED:
        _deal_out_day(fixed, world, me, partners, count, False, sale_day, sales[sale_day])


@kernel
def _draw_day(fixed, world, me, needs):  # type: ignore[no-untyped-def]
    """The first of the shuffled days that need something, as days ahead; or NO_NEED."""
    days, count = world.list_d, 0
    for ahead in range(1, DAYS):
        if needs[ahead] != NO_NEED:
            days[count] = ahead
            count += 1
    shuffle(world, me, days, count)
    return days[0] if count > 0 else NO_NEED


@kernel
def _deal_out_day(fixed, world, me, partners, count, buys, ahead, needs):  # type: ignore[no-untyped-def]
    active, bins, found = world.list_d, world.list_f, 0
    for index in range(count):
        if speech.is_supplier(partners[index]) == buys:
            active[found] = partners[index]
            found += 1
    low, high = _range(fixed, world, me, buys)
    if found == 0 or low > high:
        return
    _deal(fixed, world, me, needs, bins, found, FUTURE_CONCENTRATION, False)
    left = max(fixed.days - world.day, 1)
    time = 1 - max(0.0, min(1.0, ahead / left))
    price = _price(world, me, buys, time, float(low), float(high), False)
    for index in range(found):
        if bins[index] > 0:
            speech.propose_at(world, me, active[index], bins[index], world.day + ahead, price)


@kernel
def _deal(fixed, world, me, units, bins, count, concentration, may_leave_out):  # type: ignore[no-untyped-def]
    most = fixed.most_units
    units = min(units, most * count)
    is_concentrated = uniform(world, me) < concentration
    is_equal = uniform(world, me) > EQUAL
    if is_concentrated:
        concentrate(world, me, units, bins, count, most, 0 if may_leave_out else 1)
        return
    fewest = units // count if is_equal else 1
    distribute(world, me, units, bins, count, 0 if may_leave_out else fewest)


# --- what it needs and pays ----------------------------------------------------------------------


@kernel
def _is_middle(fixed, me):  # type: ignore[no-untyped-def]
    return 0 < fixed.level[me] < fixed.levels - 1


@kernel
def _estimate_needs(fixed, world, me, supplies, sales):  # type: ignore[no-untyped-def]
    """Units to buy until and to sell from each day to come, by days ahead."""
    level, today, last = fixed.level[me], world.day, world.last_day
    if level == 0:  # it reads the days from product 0's agenda, which is that of day 0
        last = min(fixed.horizon, fixed.days - 1)
    bought, sold, slot = world.bought[me], world.sold[me], today % DAYS
    secured, promised = world.stock[me] + bought[slot], -sold[slot]
    for ahead in range(DAYS):
        supplies[ahead], sales[ahead] = NO_NEED, NO_NEED
        promised += sold[ahead]
    for day in range(today + 1, last + 1):
        ahead, left = day - today, fixed.days - day
        slot = slot + 1 if slot + 1 < DAYS else 0
        secured += bought[slot]
        come = secured + (world.supply_units[me] * ahead if level == 0 else 0)
        gone = promised + (world.sale_units[me] * left if level == fixed.levels - 1 else 0)
        promised -= sold[slot]
        missing = max(PRODUCTIVITY * left, float(gone)) - max(PRODUCTIVITY * ahead, float(come))
        if missing > 0.0 and level > 0:
            supplies[ahead] = int(missing)
        elif missing < 0.0 and level < fixed.levels - 1:
            sales[ahead] = int(-missing)


@kernel
def _range(fixed, world, me, buys):  # type: ignore[no-untyped-def]
    """Prices without a loss; none if the lowest is above the highest."""
    level = fixed.level[me]
    if buys:
        return world.low[level], min(world.high[level], world.low[level + 1])
    return max(world.low[level + 1], world.high[level]), world.high[level + 1]


@kernel
def _todays_price(fixed, world, me, place, is_first):  # type: ignore[no-untyped-def]
    """The best at first; then as if it were for a day to come."""
    buys, level = speech.is_supplier(place), fixed.level[me]
    product = level if buys else level + 1
    low, high = float(world.low[product]), float(world.high[product])
    if is_first:
        return low if buys else high
    return _price(world, me, buys, speech.time_of(world, me, place), low, high, False)


@kernel
def _price(world, me, buys, time, low, high, today):  # type: ignore[no-untyped-def]
    """What it gives or takes. For sales ahead the lowest can be a fraction, and is refused."""
    given = time ** world.kept[me, TODAY_EXPONENT if today else FUTURE_EXPONENT]
    if buys:
        return max(low, min(high, float(int(low + (high - low) * given + 0.5))))
    if not today:
        low += FUTURE_MARGIN * (high - low)
    return max(low, min(high, float(int(0.5 + high - (high - low) * given))))


@kernel
def _is_good(world, me, buys, price, time, low, high, today):  # type: ignore[no-untyped-def]
    least, most = float(low), float(high)
    if not buys:
        return price + SLACK >= _price(world, me, False, time, least, most, today)
    if not today:
        most -= FUTURE_MARGIN * (most - least)
    return price - SLACK <= _price(world, me, True, time, least, most, today)
