"""Greedy (scml.std.agents.GreedyStdAgent): asks for the best price and gives way with time.

It sets out to sell and buy three quarters of its lines each day, or what it needs at the first and
last level, and remembers the best prices it was offered.
"""

import math

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import between, shuffle, uniform
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import ACCEPT, CROWD, DAY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import ROUNDS

TARGET, AHEAD_SHARE = 0.75, 0.9
"""Share of the lines to be sold; share of the highest price below which it sells nothing ahead."""
STEP_SLACK, OPP_SLACK, OPP_ACC_SLACK, RANGE_SLACK, BEST_SELLING, BEST_BUYING, SHARES = range(7)
"""What it keeps: how it gives way, drawn when it is made; the best prices of the day; and from
SHARES on, the share of the best price that is good enough in each round."""
BEST_OPP, BEST_OPP_ACC = range(2)
"""Of each partner: the best price of the day, and ever agreed."""


@kernel
def make(fixed, world, me):  # type: ignore[no-untyped-def]
    """Draw how it gives way."""
    kept = world.kept[me]
    exponent = 0.2 + uniform(world, me) * 0.8
    for turn in range(ROUNDS):
        kept[SHARES + turn] = ((ROUNDS - turn - 1) / (ROUNDS - 1)) ** exponent
    kept[STEP_SLACK] = uniform(world, me) * 0.1 + 0.05
    kept[OPP_SLACK] = uniform(world, me) * 0.1 + 0.05
    kept[OPP_ACC_SLACK] = uniform(world, me) * 0.1 + 0.05
    kept[RANGE_SLACK] = uniform(world, me) * 0.2 + 0.05


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """No price has been agreed."""
    for place in range(world.notes.shape[1]):
        world.notes[me, place, BEST_OPP_ACC] = math.inf if place < CROWD else 0.0


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """No price has been offered today."""
    world.kept[me, BEST_SELLING], world.kept[me, BEST_BUYING] = 0.0, math.inf
    for place in range(world.notes.shape[1]):
        world.notes[me, place, BEST_OPP] = math.inf if place < CROWD else 0.0


@kernel
def hear_success(world, me, place):  # type: ignore[no-untyped-def]
    """Remember the price."""
    price, notes = float(world.table[world.talk[me, place]][PRICE]), world.notes[me, place]
    if speech.is_supplier(place):
        notes[BEST_OPP_ACC] = min(price, notes[BEST_OPP_ACC])
    else:
        notes[BEST_OPP_ACC] = max(price, notes[BEST_OPP_ACC])


@kernel
def propose(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """What it needs today, else something for a day to come."""
    units, day = _wanted(fixed, world, me, place)
    buys = speech.is_supplier(place)
    low, high = _price_range(world, me, place, day != world.day)
    share = world.kept[me, SHARES + speech.round_of(world, me, place)]
    price = int(high - share * (high - low)) if buys else int(low + share * (high - low))
    speech.propose(world, me, place, units, day, price)


@kernel
def respond(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Accept what it needs at a good price."""
    offer = world.table[world.talk[me, place]]
    units, day, price = offer[UNITS], offer[DAY], offer[PRICE]
    today, buys, kept = day == world.day, speech.is_supplier(place), world.kept[me]
    if today:
        is_needed = units <= _needed(fixed, world, me, buys)
    else:
        is_needed = units < _needed_on(fixed, world, me, buys, day) and day > world.day
    if not is_needed:
        return REJECT
    low, high = _price_range(world, me, place, not today)
    share = AHEAD_SHARE
    if today:
        share = kept[SHARES + speech.round_of(world, me, place)]
    is_good = (high - price if buys else price - low) >= share * (high - low)
    if today:
        if buys:
            kept[BEST_BUYING] = min(float(price), kept[BEST_BUYING])
            world.notes[me, place, BEST_OPP] = kept[BEST_BUYING]
        else:
            kept[BEST_SELLING] = max(float(price), kept[BEST_SELLING])
            world.notes[me, place, BEST_OPP] = kept[BEST_SELLING]
    return ACCEPT if is_good else REJECT


@kernel
def _wanted(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Units and delivery day of an offer."""
    buys, lines = speech.is_supplier(place), fixed.lines[me]
    needs = float(int(_needed(fixed, world, me, buys)))
    if needs <= 0.0:
        days, count = world.list_a, world.last_day - world.day + 1
        for index in range(count):
            days[index] = world.day + index
        shuffle(world, me, days, count)
        for index in range(count):
            needs = _needed_on(fixed, world, me, buys, days[index])
            most = max(min(needs, float(fixed.most_units)), 1.0)
            most = max(0.0, min(most, float(lines * (days[index] - world.day))))
            if needs > 0.0 and most >= 1.0:
                fewest = max(1, int(0.5 + most * world.day / fixed.days))
                if fewest < int(most):
                    fewest = between(world, me, fewest, int(most))
                return fewest, days[index]
    most = min(max(min(needs, float(fixed.most_units)), 1.0), float(lines))
    fewest = max(1, int(0.5 + most * world.day / fixed.days))
    return between(world, me, fewest, int(most)), world.day


@kernel
def _needed(fixed, world, me, buys):  # type: ignore[no-untyped-def]
    """Today."""
    if 0 < fixed.level[me] < fixed.levels - 1:
        return TARGET * fixed.lines[me]
    if buys:
        return float(speech.needed_supplies(fixed, world, me))
    return float(speech.needed_sales(fixed, world, me))


@kernel
def _needed_on(fixed, world, me, buys, day):  # type: ignore[no-untyped-def]
    """On a day to come; for today it counts nothing as agreed."""
    agreed = 0
    if day > world.day:
        agreed = speech.bought_for(world, me, day) if buys else speech.sold_for(world, me, day)
    return TARGET * (fixed.lines[me] - agreed)


@kernel
def _price_range(world, me, place, ahead):  # type: ignore[no-untyped-def]
    """Limited by the best prices so far."""
    product, kept, notes = (
        world.product[world.talk[me, place]],
        world.kept[me],
        world.notes[me, place],
    )
    low, high = float(world.low[product]), float(world.high[product])
    if ahead:
        low = float(int(high * AHEAD_SHARE))
    if speech.is_supplier(place):
        best = min(high, kept[BEST_BUYING] * (1 + kept[STEP_SLACK]))
        best = min(best, notes[BEST_OPP] * (1 + kept[OPP_SLACK]))
        best = min(best, notes[BEST_OPP_ACC] * (1 + kept[OPP_ACC_SLACK]))
        return int(low), int(max(low * (1 + kept[RANGE_SLACK]), best))
    best = max(low, kept[BEST_SELLING] * (1 - kept[STEP_SLACK]))
    best = max(best, notes[BEST_OPP] * (1 - kept[OPP_SLACK]))
    best = max(best, notes[BEST_OPP_ACC] * (1 - kept[OPP_ACC_SLACK]))
    return int(min(high * (1 - kept[RANGE_SLACK]), best)), int(high)
