"""Greedy of the OneShot track (scml.oneshot.agents.GreedyOneShotAgent).

It wants its share of what the outside supplies or buys, whichever is less, in every talk anew: what
it has agreed to, it forgets.
"""

from typing import Final

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import between
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import greedy
from understudy.games.scml.batch.state import ACCEPT, END, PRICE, REJECT, UNITS
from understudy.games.scml.domain import ROUNDS

DEMAND: Final = greedy.SHARES + ROUNDS
"""What it keeps besides."""


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """Today's share of the trades with the outside."""
    greedy.morning(fixed, world, me)
    supplied, ordered = 0, 0
    for trade in range(fixed.trades_until[world.day], fixed.trades_until[world.day + 1]):
        if fixed.trade_product[trade] == 0:
            supplied += fixed.trade_units[trade]
        else:
            ordered += fixed.trade_units[trade]
    level = fixed.level[me]
    competitors = fixed.first_of[level + 1] - fixed.first_of[level]
    world.kept[me, DEMAND] = min(supplied, ordered) / competitors


@kernel
def propose(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Part of its share."""
    most = min(int(world.kept[me, DEMAND]), fixed.most_units)
    if most <= 0:
        speech.propose(world, me, place, 0, 0, 0)
        return
    units = between(world, me, max(1, int(0.5 + most * world.day / fixed.days)), most)
    price = greedy.good_price(world, me, place, False)
    speech.propose(world, me, place, units, world.day, price)


@kernel
def respond(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Accept up to its share at a good price."""
    offer, needs = world.table[world.talk[me, place]], world.kept[me, DEMAND]
    if needs <= 0.0:
        return END
    if offer[UNITS] > needs:
        return REJECT
    is_good = greedy.is_good_price(world, me, place, offer[PRICE], False)
    greedy.note_price(world, me, place, float(offer[PRICE]))
    return ACCEPT if is_good else REJECT
