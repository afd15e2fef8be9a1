"""What Steward has to sell and needs to buy, and its prices, by numbers that can be told."""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import DAY, UNITS
from understudy.games.scml.domain import DAYS

(
    FILLING_DAYS,
    TRIAL_DAYS,
    LARGEST_DEAL,
    FIRM,
    GREEDY_DISCOUNT,
    CHOOSY,
    LAST_ROUND,
    BIDS_RISE,
    ASK_FOLD,
    EXTRA_UNITS,
    ORDER_MARGIN,
    EXPECTED_USE,
    FRACTION,
    SUPPLY_SHARE,
    SMALL_FROM,
    SMALL_UNITS,
    SOONEST,
    TARGET,
    SPENDABLE,
    FLOOR,
    UNKNOWN_ASK,
    CHEAP_FROM,
) = range(22)
"""Its numbers, in the order in which `players/steward.py` explains them: first as they are among
thrifty buyers, then, from WAYS on, among eager ones, then what tells these apart."""
WAYS: Final = 22
LARGE, EAGER_SHARE, WATCH_DAYS, FIRST_WAY = range(44, 48)
UNKNOWN, USED_UP, LASTS = range(3)
STOCK_LASTS, STOCK_SEEN, LARGEST_ORDER, STOCK_WAS_NEEDED, NEED, WAY, SUPPLIED = range(7)
"""What it keeps; WAY: where the numbers begin that it plays by today."""
STANDING, ASKED = 0, 3
"""Of each partner: the offer it may still accept (three numbers), the most it ever asked for."""


@kernel
def number(fixed, world, me, name):  # type: ignore[no-untyped-def]
    """One of its numbers, as it plays today."""
    return fixed.numbers[me, int(world.kept[me, WAY]) + name]


# --- what it has and needs -----------------------------------------------------------------------


@kernel
def sell(world, me, free, ahead, units):  # type: ignore[no-untyped-def]
    """Set units aside: on that day, or on all where stock may not last."""
    if world.kept[me, STOCK_LASTS] == LASTS:
        free[ahead] -= units
    else:
        for other in range(DAYS):
            free[other] -= units


@kernel
def total(world, me, free):  # type: ignore[no-untyped-def]
    """All that is left to sell."""
    most, total = 0, 0
    for ahead in range(DAYS):
        if free[ahead] > 0:
            most = max(most, free[ahead])
            total += free[ahead]
    return total if world.kept[me, STOCK_LASTS] == LASTS else most


@kernel
def find_capacity(fixed, world, me, free):  # type: ignore[no-untyped-def]
    """What can be agreed to now, less what partners not heard from may still accept."""
    _find_free(fixed, world, me, free)
    world.kept[me, NEED] = _need(fixed, world, me)
    for place in range(world.notes.shape[1]):
        units = int(world.notes[me, place, STANDING + UNITS])
        if units > 0 and speech.is_supplier(place):
            world.kept[me, NEED] -= units
        elif units > 0:
            sell(world, me, free, int(world.notes[me, place, STANDING + DAY]) - world.day, units)


@kernel
def _find_free(fixed, world, me, free):  # type: ignore[no-untyped-def]
    """Units that can be sold by days ahead; none, not 0, would be a day that cannot be agreed."""
    for ahead in range(DAYS):
        free[ahead] = 0
    if fixed.level[me] == fixed.levels - 1:  # its sales are exogenous
        return
    days, lines = world.last_day - world.day + 1, fixed.lines[me]
    lasts, stock = world.kept[me, STOCK_LASTS], world.stock[me]
    missing = lines - stock
    arriving = world.bought[me, world.day % DAYS] + world.supply_units[me]
    if missing > 0 and world.day < number(fixed, world, me, FILLING_DAYS) and days > fixed.horizon:
        sold = world.sold[me, world.day % DAYS]
        free[0] = max(0, min(arriving - missing, lines) - sold)
        return
    _find_unsold(fixed, world, me, free, days)
    _count_on_supplies(fixed, world, me, free, days)
    trial = min(days, int(number(fixed, world, me, TRIAL_DAYS))) if lasts == UNKNOWN else days
    for ahead in range(days):
        sold = world.sold[me, (world.day + ahead) % DAYS]
        free[ahead] = max(0, min(lines - sold, free[ahead])) if ahead < trial else 0


@kernel
def _find_unsold(fixed, world, me, free, days):  # type: ignore[no-untyped-def]
    """By day: input sure to be there and not promised, to that day or a later one."""
    lasts, have = world.kept[me, STOCK_LASTS] == LASTS, world.stock[me]
    for ahead in range(days):
        slot = (world.day + ahead) % DAYS
        come = world.bought[me, slot] - world.sold[me, slot]
        come += world.supply_units[me] if ahead == 0 else 0
        if lasts:  # every day has all of the day-start stock, whatever happens before
            free[ahead] = have + come
        else:
            have += come
            free[ahead] = have
    if not lasts:
        for ahead in range(days - 2, -1, -1):
            free[ahead] = min(free[ahead], free[ahead + 1])


@kernel
def _count_on_supplies(fixed, world, me, free, days):  # type: ignore[no-untyped-def]
    """At the first level: a share of the mean supply so far, for each day to come."""
    share = number(fixed, world, me, SUPPLY_SHARE)
    if fixed.level[me] > 0 or share == 0.0 or world.kept[me, STOCK_LASTS] == USED_UP:
        return
    more = int(share * world.kept[me, SUPPLIED] / (world.day + 1))
    for ahead in range(1, days):
        sold = world.sold[me, (world.day + ahead) % DAYS]
        free[ahead] = max(free[ahead], world.stock[me] + more - sold)


@kernel
def _need(fixed, world, me):  # type: ignore[no-untyped-def]
    """Units to buy for today."""
    level, kept = fixed.level[me], world.kept[me]
    if level == 0:  # its supplies are exogenous
        return 0.0
    left, lines, stock = fixed.days - world.day - 1, fixed.lines[me], world.stock[me]
    highest = world.high[level]
    bought, sold, later = 0, 0, 0
    for slot in range(DAYS):
        bought += world.bought[me, slot]
        sold += world.sold[me, slot]
    today = world.day % DAYS
    later = bought - world.bought[me, today]
    target, orders = int(number(fixed, world, me, TARGET)), world.sale_units[me]
    if level == fixed.levels - 1:
        target = min(target, int(kept[LARGEST_ORDER] + number(fixed, world, me, ORDER_MARGIN)))
    if kept[STOCK_LASTS] == USED_UP:
        # Towards the end less can still be sold.
        need = min(target, 3 * left) - (stock + bought - orders - sold)
    else:
        gap = max(0, target - stock - later)
        orders = min(lines, orders + world.sold[me, today])
        margin = world.low[level + 1] - fixed.cost[me]
        worth = left * margin * number(fixed, world, me, EXPECTED_USE) / highest
        # What arrives goes into today's orders first, and only the rest into stock.
        pays = gap * worth > gap + min(orders, stock)
        need = orders + gap if pays else max(0, orders - stock)
        need -= world.bought[me, today]
    # Money before stock: half of what is there stays.
    return float(
        max(0, min(need, int(world.balance[me] * number(fixed, world, me, SPENDABLE) / highest)))
    )


@kernel
def ask(fixed, world, me, turn, ahead):  # type: ignore[no-untyped-def]
    """The price for a sale: a day ahead can be sold tomorrow, today's lines only now."""
    product = fixed.level[me] + 1
    low, high = world.low[product], world.high[product]
    if ahead:
        if turn < number(fixed, world, me, FIRM):
            return high
        if turn >= number(fixed, world, me, CHEAP_FROM):
            return low
        return max(low, int(high * number(fixed, world, me, GREEDY_DISCOUNT)))
    choosy, last = number(fixed, world, me, CHOOSY), number(fixed, world, me, LAST_ROUND)
    late = max(0.0, (turn - choosy) / (last - choosy))
    late = min(late, number(fixed, world, me, FLOOR))
    return max(low, round(high - late * (high - low)))


@kernel
def bid(fixed, world, me, turn):  # type: ignore[no-untyped-def]
    """The price for a supply."""
    level = fixed.level[me]
    low, high = world.low[level], world.high[level]
    return min(high, round(low + (high - low) * turn / number(fixed, world, me, BIDS_RISE)))
