"""Steward (`players/steward.py`), whose numbers can be told: what `tune scml steward` searches."""

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import steward_capacity as has
from understudy.games.scml.batch.state import ACCEPT, CROWD, DAY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import DAYS


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """Nothing is known yet."""
    world.kept[me, has.STOCK_LASTS] = has.UNKNOWN


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """See what yesterday's production did to the stock."""
    kept, stock = world.kept[me], float(world.stock[me])
    if stock < kept[has.STOCK_SEEN]:
        kept[has.STOCK_LASTS] = has.USED_UP
    elif kept[has.STOCK_WAS_NEEDED] != 0.0 and kept[has.STOCK_LASTS] == has.UNKNOWN:
        kept[has.STOCK_LASTS] = has.LASTS
    kept[has.STOCK_SEEN] = stock
    kept[has.LARGEST_ORDER] = max(kept[has.LARGEST_ORDER], float(world.sale_units[me]))
    kept[has.SUPPLIED] += world.supply_units[me]
    kept[has.WAY] = _way(fixed, world, me)
    _forget_standing(world, me)


@kernel
def _way(fixed, world, me):  # type: ignore[no-untyped-def]
    """By which numbers it plays: has.WAYS, if enough of its buyers have ever asked for much."""
    numbers, level = fixed.numbers[me], fixed.level[me]
    if world.day < numbers[has.WATCH_DAYS] or level == fixed.levels - 1:
        return numbers[has.FIRST_WAY] * has.WAYS
    buyers = fixed.first_of[level + 2] - fixed.first_of[level + 1]
    eager = 0
    for place in range(CROWD, CROWD + buyers):
        eager += world.notes[me, place, has.ASKED] >= numbers[has.LARGE]
    return float(has.WAYS) if eager >= numbers[has.EAGER_SHARE] * buyers else 0.0


@kernel
def evening(fixed, world, me):  # type: ignore[no-untyped-def]
    """Note whether today's orders take more than what arrives today."""
    today = world.day % DAYS
    arrived = world.bought[me, today] + world.supply_units[me]
    ordered = world.sold[me, today] + world.sale_units[me]
    able = min(ordered, fixed.lines[me], arrived + world.stock[me])
    world.kept[me, has.STOCK_WAS_NEEDED] = 1.0 if able > arrived else 0.0


@kernel
def _forget_standing(world, me):  # type: ignore[no-untyped-def]
    for place in range(world.notes.shape[1]):
        world.notes[me, place, has.STANDING + UNITS] = 0.0


# --- talks ---------------------------------------------------------------------------------------


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Open every talk for which there is something to offer."""
    free, partners = world.list_a, world.list_b
    # What still stands is part of what is free now; then it is replaced.
    has.find_capacity(fixed, world, me, free)
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
            world.notes[me, place, has.STANDING + UNITS] = 0.0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        world.notes[me, place, has.STANDING + UNITS] = 0.0
        turn = max(turn, speech.round_of(world, me, place))
    has.find_capacity(fixed, world, me, free)
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
        world.notes[me, place, has.ASKED] = max(world.notes[me, place, has.ASKED], asked)


@kernel
def _take_sales(fixed, world, me, free, turn):  # type: ignore[no-untyped-def]
    """Soonest and best price first: every sale that fits."""
    choosy = turn < has.number(fixed, world, me, has.CHOOSY)
    largest = has.number(fixed, world, me, has.LARGEST_DEAL)
    fraction = has.number(fixed, world, me, has.FRACTION)
    count = _best_first(world, me, False, world.list_c)
    for index in range(count):
        place = world.list_c[index]
        offer = world.table[world.talk[me, place]]
        units, ahead = offer[UNITS], offer[DAY] - world.day
        if units > free[ahead]:
            continue
        if choosy and units < fraction * _usual_ask(fixed, world, me, place):
            share = min(largest, has.total(world, me, free) / max(1, count))
            if units < min(float(free[ahead]), share):
                continue
        world.answer[me, place] = ACCEPT
        has.sell(world, me, free, ahead, units)


@kernel
def _best_first(world, me, buys, order):  # type: ignore[no-untyped-def]
    """Who was heard on a side, the best offer first, into `order`; how many."""
    count = 0
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        if speech.is_supplier(place) == buys:
            spot = count
            while spot > 0 and _is_before(world, me, buys, place, order[spot - 1]):
                order[spot] = order[spot - 1]
                spot -= 1
            order[spot] = place
            count += 1
    return count


@kernel
def _is_before(world, me, buys, place, other):  # type: ignore[no-untyped-def]
    """Whether a partner's offer comes before another's: day, price, of sales units, name."""
    mine, its = world.table[world.talk[me, place]], world.table[world.talk[me, other]]
    if mine[DAY] != its[DAY]:
        return mine[DAY] < its[DAY]
    if mine[PRICE] != its[PRICE]:
        return (mine[PRICE] < its[PRICE]) == buys
    if mine[UNITS] != its[UNITS] and not buys:
        return mine[UNITS] > its[UNITS]
    return place < other


@kernel
def _usual_ask(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """The most units that a buyer ever asked for."""
    asked = world.notes[me, place, has.ASKED]
    return asked if asked > 0.0 else has.number(fixed, world, me, has.UNKNOWN_ASK)


@kernel
def _take_supplies(fixed, world, me, turn):  # type: ignore[no-untyped-def]
    """Soonest and cheapest first: every supply that is needed."""
    kept, order = world.kept[me], world.list_c
    for index in range(_best_first(world, me, True, order)):
        place = order[index]
        offer = world.table[world.talk[me, place]]
        fits = kept[has.NEED] > 0.0 and offer[UNITS] <= kept[has.NEED] + has.number(
            fixed, world, me, has.EXTRA_UNITS
        )
        if fits and offer[PRICE] <= has.bid(fixed, world, me, turn):
            world.answer[me, place] = ACCEPT
            kept[has.NEED] -= offer[UNITS]


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
    need = world.kept[me, has.NEED]
    if num_suppliers > 0 and need > 0.0:
        fold = need * has.number(fixed, world, me, has.ASK_FOLD)
        share = min(need, -(-fold // num_suppliers))
        price = has.bid(fixed, world, me, turn)
        for index in range(count):
            if speech.is_supplier(partners[index]):
                _make(world, me, partners[index], int(share), world.day, price)


@kernel
def _offer_sales(fixed, world, me, free, buyers, count, turn):  # type: ignore[no-untyped-def]
    # Who is served first changes, for there may not be enough for all.
    first, most = (turn + world.day) % count, fixed.lines[me]
    small = turn >= has.number(fixed, world, me, has.SMALL_FROM)
    if small:
        most = int(has.number(fixed, world, me, has.SMALL_UNITS))
    elif turn >= has.number(fixed, world, me, has.FIRM):
        most = int(has.number(fixed, world, me, has.LARGEST_DEAL))
    soonest = small or has.number(fixed, world, me, has.SOONEST) > 0.0
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
        units = max(1, min(free[day], most, has.total(world, me, free) - others))
        has.sell(world, me, free, day, units)
        place = buyers[(first + index) % count]
        _make(world, me, place, units, world.day + day, has.ask(fixed, world, me, turn, day > 0))


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
    notes[has.STANDING + UNITS], notes[has.STANDING + DAY], notes[has.STANDING + PRICE] = (
        units,
        day,
        price,
    )
