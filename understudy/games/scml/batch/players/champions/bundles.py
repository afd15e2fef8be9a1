"""What Penguin does and AS0 took over: today's offers taken as a bundle, the next days in thirds.

Partners are ranked by what a player notes of them in RANK; one that treats all alike notes 1.
"""

import math
from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.partners import gather_heard, next_choice
from understudy.games.scml.batch.players.shares import distribute
from understudy.games.scml.batch.state import ACCEPT, DAY, REJECT, UNITS
from understudy.games.scml.domain import DAYS

PRODUCTIVITY: Final = 0.7
"""Share of its lines that it wants to use each day."""
TODAY_SHARE: Final = 0.7
"""Of its partners, asked for today."""
THRESHOLD_SHARE: Final = 0.1
"""Of its lines, that a bundle can be above its needs."""
FIRST_SHARE, SECOND_SHARE = 0.5, 0.8
"""Of the partners it asks ahead, those asked for tomorrow, and for the day after, too."""
SALE_SHARE, SUPPLY_SHARE = 0.7, 1.2
"""Of its best price, offered in an answer."""
RANK: Final = 0


@kernel
def rank(world, me, places, count):  # type: ignore[no-untyped-def]
    """The best first; equals stay as they are."""
    for index in range(1, count):
        place, spot = places[index], index
        while spot > 0 and world.notes[me, places[spot - 1], RANK] < world.notes[me, place, RANK]:
            places[spot] = places[spot - 1]
            spot -= 1
        places[spot] = place


# --- what it takes -------------------------------------------------------------------------------


@kernel
def _missing(fixed, world, me, buys, day):  # type: ignore[no-untyped-def]
    production, stock = fixed.lines[me] * PRODUCTIVITY, world.stock[me]
    if buys:
        return production - stock - speech.bought_for(world, me, day)
    able = min(float(fixed.lines[me]), production + stock)
    return max(0.0, able - speech.sold_for(world, me, day))


@kernel
def needed(fixed, world, me, buys, day):  # type: ignore[no-untyped-def]
    """Units to buy or sell for a day; below 0 if there are too many."""
    return int(_missing(fixed, world, me, buys, day))


@kernel
def accept_ahead(fixed, world, me, buys):  # type: ignore[no-untyped-def]
    """Every offer for a day to come that fits."""
    places, taken = world.list_a, world.list_e
    for ahead in range(DAYS):
        taken[ahead] = 0
    for index in range(gather_heard(world, me, buys, False, places)):
        place = places[index]
        offer = world.table[world.talk[me, place]]
        units, day = offer[UNITS], offer[DAY]
        if units + taken[day - world.day] <= needed(fixed, world, me, buys, day):
            world.answer[me, place] = ACCEPT
            taken[day - world.day] += units


@kernel
def best_bundle(world, me, places, count, needs, threshold):  # type: ignore[no-untyped-def]
    """The bits of the partners that together offer what is needed, about; 0 if nobody does.

    Where every bundle is above the threshold and none below the needs, it is everybody.
    """
    over, under, least_over, least_under = 0, (1 << count) - 1, math.inf, math.inf
    chosen = world.list_c
    for size in range(1, count + 1):
        for index in range(size):
            chosen[index] = index
        while True:
            offered, ranks, bits = 0, 0.0, 0
            for index in range(size):
                place = places[chosen[index]]
                offered += world.table[world.talk[me, place], UNITS]
                ranks += world.notes[me, place, RANK]
                bits |= 1 << chosen[index]
            away = abs(offered - needs) * (2.0 - ranks / size)
            if offered >= needs and away < least_over:
                over, least_over = bits, away
            elif offered < needs and away < least_under:
                under, least_under = bits, away
            if not next_choice(chosen, size, count):
                break
    return over if least_over <= threshold else under


@kernel
def accept_bundle(world, me, places, count, bits):  # type: ignore[no-untyped-def]
    """Accept from these partners; how many others there are, who are left in `places`."""
    left = 0
    for index in range(count):
        if bits & (1 << index):
            world.answer[me, places[index]] = ACCEPT
        else:
            places[left] = places[index]
            left += 1
    return left


# --- what it offers ------------------------------------------------------------------------------


@kernel
def deal_out(fixed, world, me, units, places, count, units_of):  # type: ignore[no-untyped-def]
    """Units over the first `count` partners, at least one for each if there are enough."""
    bins = world.list_c
    distribute(world, me, units, bins, count, 1)
    for index in range(count):
        units_of[places[index]] = bins[index]


@kernel
def offer_today(  # type: ignore[no-untyped-def]
    fixed, world, me, buys, places, count, units_of, is_first, bonus, urgency
):
    """To those dealt something; how many others there are, who are left in `places`."""
    product, left = fixed.level[me] if buys else fixed.level[me] + 1, 0
    low, high = float(world.low[product]), float(world.high[product])
    for index in range(count):
        place = places[index]
        if units_of[place] <= 0:
            places[left] = place
            left += 1
            continue
        given = world.notes[me, place, RANK] * bonus
        if buys:
            price = low if is_first else min(low * (SUPPLY_SHARE + given + urgency), high)
        else:
            price = high if is_first else max(high * (SALE_SHARE - given - urgency), low)
        speech.propose_at(world, me, place, units_of[place], world.day, price)
    return left


@kernel
def offer_ahead(fixed, world, me, buys, places, count, looks_back):  # type: ignore[no-untyped-def]
    """A third of what is missing on each of the next three days, at the best price.

    One that `looks_back` offers no sale for the third day while the second has too many.
    """
    rank(world, me, places, count)
    product = fixed.level[me] if buys else fixed.level[me] + 1
    price = world.low[product] if buys else world.high[product]
    bins, start = world.list_c, 0
    for ahead in range(1, 4):
        day, end = world.day + ahead, count
        if ahead < 3:
            end = int(count * (FIRST_SHARE if ahead == 1 else SECOND_SHARE))
        units = int(_missing(fixed, world, me, buys, day) / 3)
        if ahead == 3 and looks_back and not buys:
            units *= speech.sold_for(world, me, day - 1) <= fixed.lines[me]
        if day < fixed.days and units > 0 and end > start:
            distribute(world, me, units, bins, end - start, 1)
            for index in range(end - start):
                if bins[index] > 0:
                    speech.propose(world, me, places[start + index], bins[index], day, price)
        start = end


@kernel
def reject_with_offers(world, me):  # type: ignore[no-untyped-def]
    """Whoever is offered something; the talks of the others end."""
    for index in range(world.num_met[me]):
        place = world.met[me, index]
        if world.answer[me, place] != ACCEPT and world.proposal[me, place, UNITS] > 0:
            world.answer[me, place] = REJECT
