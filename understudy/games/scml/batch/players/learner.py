"""A factory whose answers come from outside: the world stops until they are there."""

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.speech import propose
from understudy.games.scml.batch.state import DAY, NOBODY, PRICE, REJECT, UNITS
from understudy.games.scml.domain import COUNTER_ALL, FIRST_PROPOSALS


@kernel
def is_ready(world, me):  # type: ignore[no-untyped-def]
    """Whether the answer is there; else it is asked for."""
    if world.answered:
        return True
    world.asked, world.call = me, COUNTER_ALL
    return False


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its offers, if its level opens; False: they are asked for."""
    if (fixed.levels - fixed.level[me]) % 2 == 0:
        return True
    if not world.answered:
        world.asked, world.call = me, FIRST_PROPOSALS
        return False
    for index in range(world.num_met[me]):
        _offer(world, me, world.met[me, index])
    world.answered, world.asked = 0, NOBODY
    return True


@kernel
def counter_all(world, me):  # type: ignore[no-untyped-def]
    """Its answers, which are there."""
    for index in range(world.num_heard[me]):
        place = world.heard[me, index]
        world.answer[me, place] = world.reply[place]
        if world.reply[place] == REJECT:
            _offer(world, me, place)
    world.answered, world.asked = 0, NOBODY


@kernel
def _offer(world, me, place):  # type: ignore[no-untyped-def]
    offer = world.reply_offer[place]
    propose(world, me, place, offer[UNITS], offer[DAY], offer[PRICE])
