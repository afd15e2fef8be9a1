"""The OneShot track's players by number, and every question that one of them is asked."""

from typing import Final

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import greedy as standard_greedy
from understudy.games.scml.batch.players import randomly
from understudy.games.scml.batch.players.oneshot import almost_equal, dist, greedy

FIRST: Final = 100
"""Numbers below are players of the Standard track, or of both."""
RANDOM, GREEDY, RAND_DIST, EQUAL_DIST, ALMOST_EQUAL = range(FIRST, FIRST + 5)


@kernel
def decides_jointly(player):  # type: ignore[no-untyped-def]
    """Whether it answers all its partners at once."""
    return player != RANDOM and player != GREEDY


@kernel
def make(fixed, world, me):  # type: ignore[no-untyped-def]
    """The player is made, before it sees its world."""
    if fixed.player[me] == GREEDY:
        standard_greedy.make(fixed, world, me)


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """It sees its world."""
    if fixed.player[me] == GREEDY:
        standard_greedy.join(fixed, world, me)
    elif fixed.player[me] == RAND_DIST or fixed.player[me] == EQUAL_DIST:
        dist.join(fixed, world, me)


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """A new day."""
    if fixed.player[me] == GREEDY:
        greedy.morning(fixed, world, me)


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its first offer to everybody, into `proposal`."""
    if fixed.player[me] == ALMOST_EQUAL:
        almost_equal.first_proposals(fixed, world, me)
    else:
        dist.first_proposals(fixed, world, me, fixed.player[me] == EQUAL_DIST)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its answers to all that was heard, into `answer` and `proposal`."""
    if fixed.player[me] == ALMOST_EQUAL:
        almost_equal.counter_all(fixed, world, me)
    else:
        dist.counter_all(fixed, world, me, fixed.player[me] == EQUAL_DIST)


@kernel
def propose(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """An offer to one partner, into `proposal`."""
    if fixed.player[me] == GREEDY:
        greedy.propose(fixed, world, me, place)
    else:
        randomly.propose(fixed, world, me, place)


@kernel
def respond(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """An answer to one partner's offer."""
    if fixed.player[me] == GREEDY:
        return greedy.respond(fixed, world, me, place)
    return randomly.respond_at_once(world, me)


@kernel
def hear_success(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """A talk of its has ended with a contract; its offer lies on the table."""
    if fixed.player[me] == GREEDY:
        standard_greedy.hear_success(world, me, place)
    elif fixed.player[me] == ALMOST_EQUAL:
        almost_equal.hear_success(world, me, place)
