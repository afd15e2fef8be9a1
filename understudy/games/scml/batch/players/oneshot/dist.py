"""RandDist, EqualDist and SyncRandom (scml.oneshot.agents): what is needed, dealt out to everybody.

They take the offers that together come nearest to what they need, as soon as that is near enough.
Where that is not so on one side, the offers they then make replace what was decided for the other.
"""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import between, shuffle
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.partners import gather_heard, gather_side, next_choice
from understudy.games.scml.batch.players.shares import distribute
from understudy.games.scml.batch.state import ACCEPT, UNITS

OVERORDERED: Final = 0.2
"""Share of the needs that is asked for besides, at first."""
MISMATCH_SHARE: Final = 0.3
"""Of its lines, that may be missing or too many, at last."""
OVERORDERING_EXPONENT, MISMATCH_EXPONENT, MISMATCH = range(3)
"""What they keep: how they give way with time."""


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """How they give way is always the same."""
    kept = world.kept[me]
    kept[OVERORDERING_EXPONENT], kept[MISMATCH_EXPONENT] = 0.4, 4.0
    kept[MISMATCH] = MISMATCH_SHARE * fixed.lines[me]


@kernel
def first_proposals(fixed, world, me, is_equal):  # type: ignore[no-untyped-def]
    """To everybody, at the best price; in the middle, that of supplies, for sales too."""
    units_of, level = world.list_f, fixed.level[me]
    _deal_out(fixed, world, me, 0.0, is_equal, units_of)
    price = world.high[1] if level == 0 else world.low[level]
    for index in range(world.num_met[me]):
        place = world.met[me, index]
        speech.propose(world, me, place, units_of[place], world.day, price)


@kernel
def counter_all(fixed, world, me, is_equal):  # type: ignore[no-untyped-def]
    """Supplies, then sales."""
    time = speech.earliest_time(world, me)
    for side in range(2):
        _answer(fixed, world, me, side == 0, time, is_equal)


@kernel
def _answer(fixed, world, me, buys, time, is_equal):  # type: ignore[no-untyped-def]
    product, kept, places = fixed.level[me] + (0 if buys else 1), world.kept[me], world.list_a
    price = between(world, me, world.low[product], world.high[product])
    count = gather_heard(world, me, buys, True, places)
    shuffle(world, me, places, count)
    needs = speech.needed_today(fixed, world, me, buys)
    bits, away = _nearest(world, me, places, count, needs)
    if away <= kept[MISMATCH] * time ** kept[MISMATCH_EXPONENT]:
        for index in range(count):
            if bits & (1 << index):
                world.answer[me, places[index]] = ACCEPT
            else:
                speech.end(world, me, places[index])
        return
    units_of = world.list_f
    _deal_out(fixed, world, me, time, is_equal, units_of)
    for index in range(world.num_met[me]):
        place = world.met[me, index]
        if units_of[place] > 0:
            speech.counter(world, me, place, units_of[place], world.day, price)
        else:
            speech.end(world, me, place)


@kernel
def _nearest(world, me, places, count, needs):  # type: ignore[no-untyped-def]
    """The bits of the partners whose offers come nearest to the needs, and how far away that is.

    Of equals the last: the agent goes through them from the back.
    """
    bits, least, chosen = 0, abs(needs), world.list_c
    for size in range(1, count + 1):
        for index in range(size):
            chosen[index] = index
        while True:
            offered, these = 0, 0
            for index in range(size):
                offered += world.table[world.talk[me, places[chosen[index]]], UNITS]
                these |= 1 << chosen[index]
            if abs(offered - needs) <= least:
                bits, least = these, abs(offered - needs)
            if not next_choice(chosen, size, count):
                break
    return bits, least


@kernel
def _deal_out(fixed, world, me, time, is_equal, units_of):  # type: ignore[no-untyped-def]
    """Units for each partner, of both sides."""
    places, bins = world.list_a, world.list_c
    more = 1 + (OVERORDERED - OVERORDERED * time ** world.kept[me, OVERORDERING_EXPONENT])
    for side in range(2):
        needs = speech.needed_today(fixed, world, me, side == 0)
        count = gather_side(world, me, side == 0, places)
        for index in range(count):
            bins[index] = 0
        if needs > 0 and count > 0:
            units = int(needs * more)
            distribute(world, me, units, bins, count, units // count if is_equal else 1)
        for index in range(count):
            units_of[places[index]] = bins[index]
