"""Steward (`players/steward.py`), whose numbers can be told: what `tune scml steward` searches."""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import ACCEPT, CROWD, DAY, PRICE, REJECT, UNITS
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
STOCK_LASTS, STOCK, LARGEST_ORDER, STOCK_WAS_NEEDED, NEED, WAY, SUPPLIED = range(7)
"""What it keeps; WAY: where the numbers begin that it plays by today."""
STANDING, ASKED = 0, 3
"""Of each partner: the offer it may still accept (three numbers), the most it ever asked for."""


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """Nothing is known yet."""
    world.kept[me, STOCK_LASTS] = UNKNOWN


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """See what yesterday's production did to the stock."""
    kept, stock = world.kept[me], float(world.stock[me])
    if stock < kept[STOCK]:
        kept[STOCK_LASTS] = USED_UP
    elif kept[STOCK_WAS_NEEDED] != 0.0 and kept[STOCK_LASTS] == UNKNOWN:
        kept[STOCK_LASTS] = LASTS
    kept[STOCK] = stock
    kept[LARGEST_ORDER] = max(kept[LARGEST_ORDER], float(world.sale_units[me]))
    kept[SUPPLIED] += world.supply_units[me]
    kept[WAY] = _way(fixed, world, me)
    _forget_standing(world, me)


@kernel
def _way(fixed, world, me):  # type: ignore[no-untyped-def]
    """By which numbers it plays: WAYS, if enough of its buyers have ever asked for much."""
    numbers, level = fixed.numbers[me], fixed.level[me]
    if world.day < numbers[WATCH_DAYS] or level == fixed.levels - 1:
        return numbers[FIRST_WAY] * WAYS
    buyers = fixed.first_of[level + 2] - fixed.first_of[level + 1]
    eager = 0
    for place in range(CROWD, CROWD + buyers):
        eager += world.notes[me, place, ASKED] >= numbers[LARGE]
    return float(WAYS) if eager >= numbers[EAGER_SHARE] * buyers else 0.0


@kernel
def _number(fixed, world, me, name):  # type: ignore[no-untyped-def]
    """One of its numbers, as it plays today."""
    return fixed.numbers[me, int(world.kept[me, WAY]) + name]


@kernel
def evening(fixed, world, me):  # type: ignore[no-untyped-def]
    """Note whether today's orders take more than what arrives today."""
    today = world.day % DAYS
    arrived = world.bought[me, today] + world.supply_units[me]
    ordered = world.sold[me, today] + world.sale_units[me]
    able = min(ordered, fixed.lines[me], arrived + world.stock[me])
    world.kept[me, STOCK_WAS_NEEDED] = 1.0 if able > arrived else 0.0


@kernel
def _forget_standing(world, me):  # type: ignore[no-untyped-def]
    for place in range(world.notes.shape[1]):
        world.notes[me, place, STANDING + UNITS] = 0.0


# --- talks ---------------------------------------------------------------------------------------


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Open every talk for which there is something to offer."""
    free, partners = world.list_a, world.list_b
    # What still stands is part of what is free now; then it is replaced.
    _find_capacity(fixed, world, me, free)
    _forget_standing(world, me)
    for index in range(world.num_met[me]):
        partners[index] = world.met[me, index]
        speech.propose(world, me, world.met[me, index], 0, 0, 0)
    _offer(fixed, world, me, free, partners, world.num_met[me], 0)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Take what fits, make an offer to the others, end what can come to nothing."""
    free, partners, turn = world.list_a, world.list_b, 0
    for place in range(world.notes.shape[1]):
        if not speech.speaks_to(world, me, place):
            world.notes[me, place, STANDING + UNITS] = 0.0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        world.notes[me, place, STANDING + UNITS] = 0.0
        turn = max(turn, speech.round_of(world, me, place))
    _find_capacity(fixed, world, me, free)
    _take_sales(fixed, world, me, free, turn)
    _take_supplies(fixed, world, me, turn)
    count = 0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if world.answer[me, place] != ACCEPT:
            partners[count] = place
            count += 1
    _offer(fixed, world, me, free, partners, count, turn)
    for index in range(count):
        if world.proposal[me, partners[index], UNITS] > 0:
            world.answer[me, partners[index]] = REJECT
    _note_asks(world, me)


@kernel
def _note_asks(world, me):  # type: ignore[no-untyped-def]
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        asked = float(world.table[world.talk[me, place], UNITS])
        world.notes[me, place, ASKED] = max(world.notes[me, place, ASKED], asked)


@kernel
def _take_sales(fixed, world, me, free, turn):  # type: ignore[no-untyped-def]
    """Soonest and best price first: every sale that fits."""
    order, count, choosy = world.list_c, 0, turn < _number(fixed, world, me, CHOOSY)
    largest = _number(fixed, world, me, LARGEST_DEAL)
    fraction = _number(fixed, world, me, FRACTION)
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if not speech.is_supplier(place):
            spot = count
            while spot > 0 and _sale_before(world, me, place, order[spot - 1]):
                order[spot] = order[spot - 1]
                spot -= 1
            order[spot] = place
            count += 1
    for index in range(count):
        place = order[index]
        offer = world.table[world.talk[me, place]]
        units, ahead = offer[UNITS], offer[DAY] - world.day
        if units > free[ahead]:
            continue
        if choosy and units < fraction * _usual_ask(fixed, world, me, place):
            share = min(largest, _total(world, me, free) / max(1, count))
            if units < min(float(free[ahead]), share):
                continue
        world.answer[me, place] = ACCEPT
        _sell(world, me, free, ahead, units)


@kernel
def _usual_ask(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """The most units that a buyer ever asked for."""
    asked = world.notes[me, place, ASKED]
    return asked if asked > 0.0 else _number(fixed, world, me, UNKNOWN_ASK)


@kernel
def _sale_before(world, me, place, other):  # type: ignore[no-untyped-def]
    """Whether the offer of one partner comes before another's: day, price, units, name."""
    mine, its = world.table[world.talk[me, place]], world.table[world.talk[me, other]]
    if mine[DAY] != its[DAY]:
        return mine[DAY] < its[DAY]
    if mine[PRICE] != its[PRICE]:
        return mine[PRICE] > its[PRICE]
    if mine[UNITS] != its[UNITS]:
        return mine[UNITS] > its[UNITS]
    return place < other


@kernel
def _take_supplies(fixed, world, me, turn):  # type: ignore[no-untyped-def]
    """Soonest and cheapest first: every supply that is needed."""
    kept, order, count = world.kept[me], world.list_c, 0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if speech.is_supplier(place):
            spot = count
            while spot > 0 and _supply_before(world, me, place, order[spot - 1]):
                order[spot] = order[spot - 1]
                spot -= 1
            order[spot] = place
            count += 1
    for index in range(count):
        place = order[index]
        offer = world.table[world.talk[me, place]]
        fits = kept[NEED] > 0.0 and offer[UNITS] <= kept[NEED] + _number(
            fixed, world, me, EXTRA_UNITS
        )
        if fits and offer[PRICE] <= _bid(fixed, world, me, turn):
            world.answer[me, place] = ACCEPT
            kept[NEED] -= offer[UNITS]


@kernel
def _supply_before(world, me, place, other):  # type: ignore[no-untyped-def]
    mine, its = world.table[world.talk[me, place]], world.table[world.talk[me, other]]
    if mine[DAY] != its[DAY]:
        return mine[DAY] < its[DAY]
    if mine[PRICE] != its[PRICE]:
        return mine[PRICE] < its[PRICE]
    return place < other


@kernel
def _offer(fixed, world, me, free, partners, count, turn):  # type: ignore[no-untyped-def]
    """An offer to each of these partners, such that all sales could be accepted at once."""
    buyers, num_buyers, num_suppliers = world.list_c, 0, 0
    for index in range(count):
        if speech.is_supplier(partners[index]):
            num_suppliers += 1
        else:
            buyers[num_buyers] = partners[index]
            num_buyers += 1
    if num_buyers > 0:
        _offer_sales(fixed, world, me, free, buyers, num_buyers, turn)
    need = world.kept[me, NEED]
    if num_suppliers > 0 and need > 0.0:
        fold = need * _number(fixed, world, me, ASK_FOLD)
        share = min(need, -(-fold // num_suppliers))
        price = _bid(fixed, world, me, turn)
        for index in range(count):
            if speech.is_supplier(partners[index]):
                _make(world, me, partners[index], int(share), world.day, price)


@kernel
def _offer_sales(fixed, world, me, free, buyers, count, turn):  # type: ignore[no-untyped-def]
    # Who is served first changes, for there may not be enough for all.
    first, most = (turn + world.day) % count, fixed.lines[me]
    small = turn >= _number(fixed, world, me, SMALL_FROM)
    if small:
        most = int(_number(fixed, world, me, SMALL_UNITS))
    elif turn >= _number(fixed, world, me, FIRM):
        most = int(_number(fixed, world, me, LARGEST_DEAL))
    soonest = small or _number(fixed, world, me, SOONEST) > 0.0
    for index in range(count):
        num_open = 0
        for ahead in range(DAYS):
            num_open += free[ahead] > 0
        if num_open == 0:
            return
        # In turn: a day of their own for each buyer, and one day after the other for all.
        chosen = 0 if soonest else (index if turn % 2 else turn // 2) % num_open
        day = _open_day(free, chosen)
        others = count - index - 1  # a unit each, or their talks would end
        units = max(1, min(free[day], most, _total(world, me, free) - others))
        _sell(world, me, free, day, units)
        place = buyers[(first + index) % count]
        _make(world, me, place, units, world.day + day, _ask(fixed, world, me, turn, day > 0))


@kernel
def _open_day(free, chosen):  # type: ignore[no-untyped-def]
    """The day, of those with something left to sell, that is number `chosen`; the soonest is 0."""
    for ahead in range(DAYS):
        if free[ahead] > 0:
            if chosen == 0:
                return ahead
            chosen -= 1
    return 0


@kernel
def _make(world, me, place, units, day, price):  # type: ignore[no-untyped-def]
    speech.propose(world, me, place, units, day, price)
    notes = world.notes[me, place]
    notes[STANDING + UNITS], notes[STANDING + DAY], notes[STANDING + PRICE] = units, day, price


# --- what it has and needs -----------------------------------------------------------------------


@kernel
def _sell(world, me, free, ahead, units):  # type: ignore[no-untyped-def]
    """Set units aside: on that day, or on all where stock may not last."""
    if world.kept[me, STOCK_LASTS] == LASTS:
        free[ahead] -= units
    else:
        for other in range(DAYS):
            free[other] -= units


@kernel
def _total(world, me, free):  # type: ignore[no-untyped-def]
    """All that is left to sell."""
    most, total = 0, 0
    for ahead in range(DAYS):
        if free[ahead] > 0:
            most = max(most, free[ahead])
            total += free[ahead]
    return total if world.kept[me, STOCK_LASTS] == LASTS else most


@kernel
def _find_capacity(fixed, world, me, free):  # type: ignore[no-untyped-def]
    """What can be agreed to now, less what partners not heard from may still accept."""
    _find_free(fixed, world, me, free)
    world.kept[me, NEED] = _need(fixed, world, me)
    for place in range(world.notes.shape[1]):
        units = int(world.notes[me, place, STANDING + UNITS])
        if units > 0 and speech.is_supplier(place):
            world.kept[me, NEED] -= units
        elif units > 0:
            _sell(world, me, free, int(world.notes[me, place, STANDING + DAY]) - world.day, units)


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
    if missing > 0 and world.day < _number(fixed, world, me, FILLING_DAYS) and days > fixed.horizon:
        sold = world.sold[me, world.day % DAYS]
        free[0] = max(0, min(arriving - missing, lines) - sold)
        return
    _find_unsold(fixed, world, me, free, days)
    _count_on_supplies(fixed, world, me, free, days)
    trial = min(days, int(_number(fixed, world, me, TRIAL_DAYS))) if lasts == UNKNOWN else days
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
    share = _number(fixed, world, me, SUPPLY_SHARE)
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
    target, orders = int(_number(fixed, world, me, TARGET)), world.sale_units[me]
    if level == fixed.levels - 1:
        target = min(target, int(kept[LARGEST_ORDER] + _number(fixed, world, me, ORDER_MARGIN)))
    if kept[STOCK_LASTS] == USED_UP:
        # Towards the end less can still be sold.
        need = min(target, 3 * left) - (stock + bought - orders - sold)
    else:
        gap = max(0, target - stock - later)
        orders = min(lines, orders + world.sold[me, today])
        margin = world.low[level + 1] - fixed.cost[me]
        worth = left * margin * _number(fixed, world, me, EXPECTED_USE) / highest
        # What arrives goes into today's orders first, and only the rest into stock.
        pays = gap * worth > gap + min(orders, stock)
        need = orders + gap if pays else max(0, orders - stock)
        need -= world.bought[me, today]
    # Money before stock: half of what is there stays.
    return float(
        max(0, min(need, int(world.balance[me] * _number(fixed, world, me, SPENDABLE) / highest)))
    )


@kernel
def _ask(fixed, world, me, turn, ahead):  # type: ignore[no-untyped-def]
    """The price for a sale: a day ahead can be sold tomorrow, today's lines only now."""
    product = fixed.level[me] + 1
    low, high = world.low[product], world.high[product]
    if ahead:
        if turn < _number(fixed, world, me, FIRM):
            return high
        if turn >= _number(fixed, world, me, CHEAP_FROM):
            return low
        return max(low, int(high * _number(fixed, world, me, GREEDY_DISCOUNT)))
    choosy, last = _number(fixed, world, me, CHOOSY), _number(fixed, world, me, LAST_ROUND)
    late = max(0.0, (turn - choosy) / (last - choosy))
    late = min(late, _number(fixed, world, me, FLOOR))
    return max(low, round(high - late * (high - low)))


@kernel
def _bid(fixed, world, me, turn):  # type: ignore[no-untyped-def]
    """The price for a supply."""
    level = fixed.level[me]
    low, high = world.low[level], world.high[level]
    return min(high, round(low + (high - low) * turn / _number(fixed, world, me, BIDS_RISE)))
