"""A world's course: days of talks and production, until a learner must be asked or it is over."""

from typing import Final

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
STOCK, BANKRUPT, SUPPLY, SALE, SOLD, PRODUCED, SHORT = range(7)
"""Columns of a factory's day: at its start, and what came of it."""
NUM_NOTED: Final = 7


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
def advance(fixed, world, log, days, profits, noted, last_day):  # type: ignore[no-untyped-def]
    """Play until a learner must be asked (True) or `last_day` has begun or the world is over."""
    while world.phase != FINISHED and world.day < last_day:
        if world.phase == MORNING:
            open_market(fixed, world)
            call_talks(fixed, world)
            for me in range(fixed.factories):
                ask.morning(fixed, world, me)
            world.phase = TALKING
            _note_morning(fixed, world, days)
        if not _talk(fixed, world, log, noted):
            return True
        for me in range(fixed.factories):
            ask.evening(fixed, world, me)
        close_market(fixed, world, log)
        _note_evening(fixed, world, days, profits)
        world.phase = MORNING if world.day < fixed.days else FINISHED
    return False


@kernel
def _note_morning(fixed, world, days):  # type: ignore[no-untyped-def]
    if world.day < len(days):
        for me in range(fixed.factories):
            note = days[world.day, me]
            note[STOCK], note[BANKRUPT] = world.stock[me], world.bankrupt[me]
            note[SUPPLY], note[SALE] = world.supply_units[me], world.sale_units[me]


@kernel
def _note_evening(fixed, world, days, profits):  # type: ignore[no-untyped-def]
    if world.day <= len(days):
        for me in range(fixed.factories):
            note = days[world.day - 1, me]
            note[SOLD], note[PRODUCED] = world.delivered[me], world.produced[me]
            note[SHORT] = world.short[me]
            profits[world.day - 1, me] = world.profit[me]


@kernel
def _talk(fixed, world, log, noted):  # type: ignore[no-untyped-def]
    """Move all talks on in turn until the last has ended; False: a learner must be asked."""
    while world.num_running > 0:
        while world.cursor < world.num_running:
            talk = world.running[world.cursor]
            how = move_on(fixed, world, talk, noted)
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
