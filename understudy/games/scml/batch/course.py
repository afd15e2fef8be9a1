"""A world's course: days of talks and production, until a learner must be asked or it is over."""

from understudy.games.scml.batch.dice import pick_up
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.market import close_market, found_market, open_market
from understudy.games.scml.batch.players import ask
from understudy.games.scml.batch.state import NOBODY
from understudy.games.scml.batch.talks import (
    AGREED,
    GOES_ON,
    PENDING,
    call_talks,
    end_talk,
    move_on,
)

MORNING, TALKING, FINISHED = range(3)


@kernel
def found(fixed, world):  # type: ignore[no-untyped-def]
    """A world before its first day."""
    found_market(fixed, world)
    world.phase, world.asked, world.answered, world.faults = MORNING, NOBODY, 0, 0
    world.kept[:] = 0.0
    world.notes[:] = 0.0
    for me in range(fixed.factories):
        pick_up(fixed, world, me)
    open_market(fixed, world)
    for me in range(fixed.factories):
        ask.make(fixed, world, me)
    for me in range(fixed.factories):
        ask.join(fixed, world, me)


@kernel
def advance(fixed, world, log, profits, last_day):  # type: ignore[no-untyped-def]
    """Play until a learner must be asked (True) or `last_day` has begun or the world is over."""
    while world.phase != FINISHED and world.day < last_day:
        if world.phase == MORNING:
            open_market(fixed, world)
            call_talks(fixed, world)
            for me in range(fixed.factories):
                ask.morning(fixed, world, me)
            world.phase = TALKING
        if not _talk(fixed, world, log):
            return True
        for me in range(fixed.factories):
            ask.evening(fixed, world, me)
        close_market(fixed, world, log)
        if world.day <= len(profits):
            for me in range(fixed.factories):
                profits[world.day - 1, me] = world.profit[me]
        world.phase = MORNING if world.day < fixed.days else FINISHED
    return False


@kernel
def _talk(fixed, world, log):  # type: ignore[no-untyped-def]
    """Move all talks on in turn until the last has ended; False: a learner must be asked."""
    while world.num_running > 0:
        while world.cursor < world.num_running:
            talk = world.running[world.cursor]
            how = move_on(fixed, world, talk)
            if how == PENDING:
                return False
            world.cursor += 1
            if how == GOES_ON:
                world.running[world.num_kept] = talk
                world.num_kept += 1
            else:
                end_talk(fixed, world, talk, how == AGREED, log)
        world.num_running, world.cursor, world.num_kept = world.num_kept, 0, 0
    return True
