"""A factory whose answers come from outside: the world stops until they are there."""

from typing import Final

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.observe import copy_offers
from understudy.games.scml.batch.speech import is_supplier, propose
from understudy.games.scml.batch.state import ACCEPT, DAY, NOBODY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import COUNTER_ALL, FIRST_PROPOSALS, LINES
from understudy.games.scml.view.columns import MINE, NUM_SUMS
from understudy.games.scml.view.commitments import count_supply
from understudy.games.scml.view.memory import remember

ASKED_ABOUT: Final = NUM_SUMS
"""In a learner's notes on a partner, after what it remembers: how many offers of today's talk had
been made when it was last asked."""
BY_THRIFTY: Final = LINES
"""In what a learner keeps, after the supplies it counted: 1 while it plays by the weights for
thrifty buyers."""


@kernel
def morning(world, me):  # type: ignore[no-untyped-def]
    """Nothing binds, there are no goals yet, and today's supply is counted."""
    world.has_goals[me] = 0
    count_supply(world.kept[me], world.supply_units[me])
    for place in range(world.bound.shape[1]):
        world.bound[me, place, UNITS] = 0
        world.notes[me, place, ASKED_ABOUT] = 0.0


@kernel
def is_ready(world, me):  # type: ignore[no-untyped-def]
    """Whether the answer is there; else it is asked for."""
    if world.answered:
        return True
    world.asked, world.call = me, COUNTER_ALL
    return False


@kernel
def opens(fixed, me):  # type: ignore[no-untyped-def]
    """Whether this factory makes the first offers: every second level does."""
    return (fixed.levels - fixed.level[me]) % 2 == 1


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its offers, if its level opens; False: they are asked for."""
    if not opens(fixed, me):
        return True
    if not world.answered:
        world.asked, world.call = me, FIRST_PROPOSALS
        return False
    for index in range(world.num_met[me]):
        place = world.met[me, index]
        if world.open[me, place]:
            _offer(world, me, place)
    world.answered, world.asked = 0, NOBODY
    return True


@kernel
def counter_all(world, me):  # type: ignore[no-untyped-def]
    """Its answers, which are there."""
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        answer = world.reply[place]
        world.answer[me, place] = answer
        world.bound[me, place, UNITS] = 0
        world.notes[me, place, ASKED_ABOUT] = world.offers[world.talk[me, place]]
        if answer == REJECT:
            _offer(world, me, place)
        elif answer == ACCEPT:
            bind(world, me, place, world.table[world.talk[me, place]])
    world.answered, world.asked = 0, NOBODY


@kernel
def _offer(world, me, place):  # type: ignore[no-untyped-def]
    offer = world.reply_offer[place]
    propose(world, me, place, offer[UNITS], offer[DAY], offer[PRICE])
    bind(world, me, place, offer)


@kernel
def bind(world, me, place, offer):  # type: ignore[no-untyped-def]
    """The partner may turn this into a contract without our being asked again."""
    for part in range(3):
        world.bound[me, place, part] = offer[part]


@kernel
def hear_end(world, me, place, agreed):  # type: ignore[no-untyped-def]
    """A talk is over: what it was like is remembered."""
    talk, notes = world.talk[me, place], world.notes[me, place]
    stop = copy_offers(world, me, talk, 0, world.lived)
    # It never hears of an offer that came too late for an answer.
    if stop > notes[ASKED_ABOUT] and world.lived[stop - 1, MINE] == 0:
        stop -= 1
    product = world.product[talk]
    low, high = float(world.low[product]), float(world.high[product])
    remember(notes, world.lived, 0, stop, agreed, world.day, is_supplier(place), low, high)
