"""Random (scml.std.agents.RandomStdAgent): any offer, any answer."""

from understudy.games.scml.batch import speech
from understudy.games.scml.batch.dice import between, uniform
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.state import ACCEPT, END, REJECT

ACCEPTS, ENDS = 0.1, 0.005


@kernel
def propose(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Any that is allowed."""
    product = world.product[world.talk[me, place]]
    units = between(world, me, 1, fixed.most_units)
    day = between(world, me, world.day, world.last_day)
    price = between(world, me, world.low[product], world.high[product])
    speech.propose(world, me, place, units, day, price)


@kernel
def respond(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """Mostly a rejection."""
    if uniform(world, me) < ENDS:
        return END
    return ACCEPT if uniform(world, me) < ACCEPTS else REJECT
