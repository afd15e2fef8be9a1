"""The players of the compiled world by number, and every question that one of them is asked."""

from typing import Final

from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players import (
    greedy,
    l1,
    learner,
    randomly,
    steward,
    sync_random,
)
from understudy.games.scml.batch.players.champions import as0, penguin
from understudy.games.scml.batch.players.oneshot import ask as oneshot
from understudy.games.scml.batch.state import END
from understudy.games.scml.domain import Track

LEARNER, DO_NOTHING, RANDOM, GREEDY, STEWARD, SYNC_RANDOM, PENGUIN, AS0, L1 = range(9)
NATIVE: Final[dict[Track, dict[str, int]]] = {
    "std": {
        "DoNothing": DO_NOTHING,
        "Random": RANDOM,
        "SyncRandom": SYNC_RANDOM,
        "Greedy": GREEDY,
        "Steward": STEWARD,
        "TunedSteward": STEWARD,
        "Penguin": PENGUIN,
        "AS0": AS0,
        "L1": L1,
        "L1Risk": L1,
    },
    "oneshot": {
        "DoNothing": DO_NOTHING,
        "Random": oneshot.RANDOM,
        "SyncRandom": oneshot.RAND_DIST,
        "RandDist": oneshot.RAND_DIST,
        "EqualDist": oneshot.EQUAL_DIST,
        "Greedy": oneshot.GREEDY,
        "AlmostEqual": oneshot.ALMOST_EQUAL,
        "L1": L1,
    },
}
"""By track and the names of the catalogue."""


@kernel
def decides_jointly(fixed, me):  # type: ignore[no-untyped-def]
    """Whether it answers all its partners at once; else one after the other."""
    player = fixed.player[me]
    if player >= oneshot.FIRST:
        return oneshot.decides_jointly(player)
    return player != DO_NOTHING and player != RANDOM and player != GREEDY


@kernel
def leaves_out(fixed, me):  # type: ignore[no-untyped-def]
    """Whether it ends talks by saying nothing of them; the others end what they hear."""
    return fixed.player[me] == PENGUIN or fixed.player[me] == AS0


@kernel
def make(fixed, world, me):  # type: ignore[no-untyped-def]
    """The player is made, before it sees its world."""
    if fixed.player[me] == GREEDY:
        greedy.make(fixed, world, me)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.make(fixed, world, me)


@kernel
def join(fixed, world, me):  # type: ignore[no-untyped-def]
    """It sees its world."""
    if fixed.player[me] == GREEDY:
        greedy.join(fixed, world, me)
    elif fixed.player[me] == STEWARD:
        steward.join(fixed, world, me)
    elif fixed.player[me] == SYNC_RANDOM:
        sync_random.join(fixed, world, me)
    elif fixed.player[me] == PENGUIN:
        penguin.join(fixed, world, me)
    elif fixed.player[me] == AS0:
        as0.join(fixed, world, me)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.join(fixed, world, me)


@kernel
def morning(fixed, world, me):  # type: ignore[no-untyped-def]
    """A new day."""
    if fixed.player[me] == GREEDY:
        greedy.morning(fixed, world, me)
    elif fixed.player[me] == STEWARD:
        steward.morning(fixed, world, me)
    elif fixed.player[me] == LEARNER or fixed.player[me] == L1:
        learner.morning(world, me)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.morning(fixed, world, me)


@kernel
def evening(fixed, world, me):  # type: ignore[no-untyped-def]
    """All talks of the day are over."""
    if fixed.player[me] == STEWARD:
        steward.evening(fixed, world, me)
    elif fixed.player[me] == PENGUIN:
        penguin.evening(fixed, world, me)
    elif fixed.player[me] == AS0:
        as0.evening(fixed, world, me)


@kernel
def is_ready(fixed, world, me):  # type: ignore[no-untyped-def]
    """Whether its joint answer can be had now."""
    return fixed.player[me] != LEARNER or learner.is_ready(world, me)


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its first offer to everybody, into `proposal`; False: it must be asked first."""
    if fixed.player[me] == LEARNER:
        return learner.first_proposals(fixed, world, me)
    if fixed.player[me] == STEWARD:
        steward.first_proposals(fixed, world, me)
    elif fixed.player[me] == SYNC_RANDOM:
        sync_random.first_proposals(fixed, world, me)
    elif fixed.player[me] == PENGUIN:
        penguin.first_proposals(fixed, world, me)
    elif fixed.player[me] == AS0:
        as0.first_proposals(fixed, world, me)
    elif fixed.player[me] == L1:
        l1.first_proposals(fixed, world, me)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.first_proposals(fixed, world, me)
    return True


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """Its answers to all that was heard, into `answer` and `proposal`."""
    if fixed.player[me] == LEARNER:
        learner.counter_all(world, me)
    elif fixed.player[me] == STEWARD:
        steward.counter_all(fixed, world, me)
    elif fixed.player[me] == SYNC_RANDOM:
        sync_random.counter_all(fixed, world, me)
    elif fixed.player[me] == PENGUIN:
        penguin.counter_all(fixed, world, me)
    elif fixed.player[me] == AS0:
        as0.counter_all(fixed, world, me)
    elif fixed.player[me] == L1:
        l1.counter_all(fixed, world, me)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.counter_all(fixed, world, me)


@kernel
def propose(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """An offer to one partner, into `proposal`."""
    if fixed.player[me] == GREEDY:
        greedy.propose(fixed, world, me, place)
    elif fixed.player[me] == RANDOM:
        randomly.propose(fixed, world, me, place)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.propose(fixed, world, me, place)
    else:
        world.proposal[me, place, 0] = 0


@kernel
def respond(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """An answer to one partner's offer."""
    if fixed.player[me] == GREEDY:
        return greedy.respond(fixed, world, me, place)
    if fixed.player[me] == RANDOM:
        return randomly.respond(fixed, world, me, place)
    if fixed.player[me] >= oneshot.FIRST:
        return oneshot.respond(fixed, world, me, place)
    return END


@kernel
def hear_success(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """A talk of its has ended with a contract; its offer lies on the table."""
    if fixed.player[me] == LEARNER:
        learner.hear_end(world, me, place, True)
    elif fixed.player[me] == GREEDY:
        greedy.hear_success(world, me, place)
    elif fixed.player[me] >= oneshot.FIRST:
        oneshot.hear_success(fixed, world, me, place)


@kernel
def hear_failure(fixed, world, me, place):  # type: ignore[no-untyped-def]
    """A talk of its has ended without."""
    if fixed.player[me] == LEARNER:
        learner.hear_end(world, me, place, False)
