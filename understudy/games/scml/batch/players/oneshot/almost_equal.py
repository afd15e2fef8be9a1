"""AlmostEqual (scml_agents, third in the OneShot track of 2025): takes the best bundle of offers.

A bundle's score is mostly how near it comes to the needs, and a little what it costs or earns. It
asks for a fifth more than it needs as a buyer; late, its most faithful partners get the larger
shares. Written for the two levels of the official worlds.
"""

import math
from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import between, shuffle, uniform
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.partners import (
    gather_heard,
    gather_side,
    previous_choice,
)
from understudy.games.scml.batch.players.shares import distribute
from understudy.games.scml.batch.state import ACCEPT, PRICE, UNITS

OVERBOUGHT: Final = 0.2
UNITS_WEIGHT: Final = 0.85
MONEY_WEIGHT: Final = 1 - UNITS_WEIGHT
MONEY_SCALE: Final = 1000
GOOD_SCORE: Final = 0.6
"""At first; half of it at last."""
MOST: Final = 3
"""Units asked of a partner."""
LATE_SELLER, LATE_BUYER = (50, 0.5), (100, 0.75)
"""After this day, and this share of all days."""
AGREED: Final = 0
"""Of each partner: units agreed so far."""


@kernel
def hear_success(world, me, place):  # type: ignore[no-untyped-def]
    """A faithful partner."""
    world.notes[me, place, AGREED] += world.table[world.talk[me, place], UNITS]


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """To everybody, at the best price."""
    level, places, bins = fixed.level[me], world.list_a, world.list_c
    price = world.high[1] if level == 0 else world.low[level]
    for side in range(2):
        buys = side == 0
        needs = speech.needed_today(fixed, world, me, buys)
        count = gather_side(world, me, buys, places)
        for index in range(count):
            bins[index] = 0
        if needs > 0 and _is_late(fixed, world, me):
            _deal_in_turn(_asked(needs, buys), bins, count)
        elif needs > 0:
            _deal_by_chance(world, me, _asked(needs, buys), bins, count)
        for index in range(count):
            speech.propose(world, me, places[index], bins[index], world.day, price)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Supplies, then sales."""
    time = speech.earliest_time(world, me)
    for side in range(2):
        _answer(fixed, world, me, side == 0, time)


@kernel
def _answer(fixed, world, me, buys, time):  # type: ignore[no-untyped-def]
    product, places = fixed.level[me] + (0 if buys else 1), world.list_a
    price = between(world, me, world.low[product], world.high[product])
    count = gather_heard(world, me, buys, True, places)
    shuffle(world, me, places, count)
    needs = speech.needed_today(fixed, world, me, buys)
    bits, above, score = _best_bundle(fixed, world, me, buys, places, count, needs)
    if score < GOOD_SCORE * (1 - 0.5 * time):
        _counter(fixed, world, me, places, count, _asked(needs, buys), price)
        return
    left = 0
    for index in range(count):
        if bits & (1 << index):
            world.answer[me, places[index]] = ACCEPT
        else:
            places[left] = places[index]
            left += 1
    if above < 0 and left > 0:
        _counter(fixed, world, me, places, left, -above, _any_price(fixed, world, me))


@kernel
def _any_price(fixed, world, me):  # type: ignore[no-untyped-def]
    product = max(1, fixed.level[me])
    return world.high[product] if uniform(world, me) < 0.5 else world.low[product]


@kernel
def _asked(needs, buys):  # type: ignore[no-untyped-def]
    return int(needs * (1 + OVERBOUGHT)) if buys else needs


# --- what it takes -------------------------------------------------------------------------------


@kernel
def _best_bundle(fixed, world, me, buys, places, count, needs):  # type: ignore[no-untyped-def]
    """The bits of the partners in it, its units above the needs, and its score.

    It goes through the bundles from the largest to none; of equals it prefers too little to sell,
    and the least too little to buy.
    """
    bits, above, best, chosen = 0, 0, -math.inf, world.list_c
    for size in range(count, -1, -1):
        for index in range(size):
            chosen[index] = index + count - size
        while True:
            units, money, these = 0, 0, 0
            for index in range(size):
                offer = world.table[world.talk[me, places[chosen[index]]]]
                units += offer[UNITS]
                money += offer[PRICE] * offer[UNITS]
                these |= 1 << chosen[index]
            score, over = _score(fixed, world, me, buys, units, money, needs), units - needs
            is_nearer = above < over <= 0 if buys else over < above
            if score > best or (score == best and is_nearer):
                bits, above, best = these, over, score
            if not previous_choice(chosen, size, count):
                break
    return bits, above, best


@kernel
def _score(fixed, world, me, buys, units, money, needs):  # type: ignore[no-untyped-def]
    short, disposal = fixed.penalty[me, world.day], fixed.disposal[me, world.day]
    penalty = 0.0
    if units > needs:
        penalty = (units - needs) * (disposal if buys else short)
    elif units < needs:
        penalty = (needs - units) * (short if buys else disposal)
    earned = -(money - penalty) if buys else money - penalty
    share = 0.5 + earned / MONEY_SCALE if earned > 0 else 0.5 - abs(earned) / MONEY_SCALE
    near = 1.0 - abs(units - needs) / needs if needs != 0 else 0.0
    return UNITS_WEIGHT * near + MONEY_WEIGHT * max(0.0, min(1.0, share))


# --- what it offers ------------------------------------------------------------------------------


@kernel
def _counter(fixed, world, me, places, count, units, price):  # type: ignore[no-untyped-def]
    """Units dealt out over these partners; who gets none is left."""
    bins = world.list_c
    if _is_late(fixed, world, me):
        _rank_faithful(world, me, places, count)
        _deal_in_turn(units, bins, count)
    else:
        _deal_by_chance(world, me, units, bins, count)
    for index in range(count):
        if bins[index] > 0:
            speech.counter(world, me, places[index], bins[index], world.day, price)


@kernel
def _is_late(fixed, world, me):  # type: ignore[no-untyped-def]
    day, share = LATE_SELLER if fixed.level[me] == 0 else LATE_BUYER
    return fixed.level[me] <= 1 and world.day > max(float(day), fixed.days * share)


@kernel
def _rank_faithful(world, me, places, count):  # type: ignore[no-untyped-def]
    """Who agreed to most first; equals stay as they are."""
    for index in range(1, count):
        place, spot = places[index], index
        agreed = world.notes[me, place, AGREED]
        while spot > 0 and world.notes[me, places[spot - 1], AGREED] < agreed:
            places[spot] = places[spot - 1]
            spot -= 1
        places[spot] = place


@kernel
def _deal_in_turn(units, bins, count):  # type: ignore[no-untyped-def]
    """One for each, even if there are fewer; then one more for each in turn."""
    units = min(units, MOST * count)
    for index in range(count):
        bins[index] = max(1, units // count + (1 if index < units % count else 0))


@kernel
def _deal_by_chance(world, me, units, bins, count):  # type: ignore[no-untyped-def]
    units = min(units, MOST * count)
    if count > 0:
        distribute(world, me, units, bins, count, units // count)
