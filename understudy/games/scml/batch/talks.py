"""Today's talks: who meets whom, rounds of offers, and how joint deciders are asked.

Mirrors `engine/negotiation.py`, `engine/hosting/negotiators.py` and the pairings of
`engine/world.py`. Whatever asks a learner can return PENDING; done again when the answer is there,
it goes on where it stopped.
"""

from typing import Final

from understudy.games.scml.batch.decisions import NOTHING, note_joint, note_one
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.market import sign
from understudy.games.scml.batch.players import ask
from understudy.games.scml.batch.speech import clear_proposals, place_of, propose
from understudy.games.scml.batch.state import (
    ACCEPT,
    DAY,
    END,
    NOBODY,
    OMITTED,
    PRICE,
    REJECT,
    UNITS,
    WAIT,
)
from understudy.games.scml.domain import COUNTER_ALL, FIRST_PROPOSALS, PROPOSE, RESPOND, ROUNDS

PENDING: Final = -1
"""A learner must be asked first."""
GOES_ON, AGREED, OVER = range(3)
"""A talk: still running, ended with a contract, without."""
NEW, FIRST, SECOND, BOTH, BOTH_TURNED = range(5)
"""Who still has to act in a round: a new one begins, side 0, side 1, 0 then 1, 1 then 0."""


# --- who meets whom ------------------------------------------------------------------------------


@kernel
def call_talks(fixed, world):  # type: ignore[no-untyped-def]
    """Every second level opens, with its suppliers first."""
    world.talks = 0
    for me in range(fixed.factories):
        world.num_met[me] = 0
        for place in range(world.talk.shape[1]):
            world.talk[me, place], world.open[me, place] = NOBODY, 0
    for level in range(fixed.levels - 1, -1, -2):
        for opener in range(fixed.first_of[level], fixed.first_of[level + 1]):
            if not world.bankrupt[opener]:
                _call_level(fixed, world, opener, level - 1, level)
                _call_level(fixed, world, opener, level + 1, level + 1)
    for talk in range(world.talks):
        world.running[talk] = talk
    world.num_running, world.cursor, world.num_kept = world.talks, 0, 0
    for me in range(fixed.factories):
        _open_day(world, me)


@kernel
def _call_level(fixed, world, opener, level, product):  # type: ignore[no-untyped-def]
    if not 0 <= level < fixed.levels:
        return
    for other in range(fixed.first_of[level], fixed.first_of[level + 1]):
        if not world.bankrupt[other]:
            talk = world.talks
            world.talks += 1
            world.side[talk, 0], world.side[talk, 1] = opener, other
            world.product[talk] = product
            world.round[talk], world.acted_last[talk], world.order[talk] = 0, 1, NEW
            world.waited[talk], world.offers[talk], world.round_start[talk] = 0, 0, 0
            world.table[talk, UNITS] = 0
            _meet(world, opener, place_of(fixed, opener, other), talk)
            _meet(world, other, place_of(fixed, other, opener), talk)


@kernel
def _meet(world, me, place, talk):  # type: ignore[no-untyped-def]
    world.talk[me, place], world.open[me, place] = talk, 1
    world.met[me, world.num_met[me]] = place
    world.num_met[me] += 1


@kernel
def _open_day(world, me):  # type: ignore[no-untyped-def]
    """Nothing is left of yesterday's decisions."""
    world.num_open[me], world.num_heard[me], world.has_opened[me] = world.num_met[me], 0, 0
    clear_proposals(world, me)
    for place in range(world.talk.shape[1]):
        world.answer[me, place], world.waits[me, place] = WAIT, 0


# --- rounds --------------------------------------------------------------------------------------


@kernel
def move_on(fixed, world, talk, noted):  # type: ignore[no-untyped-def]
    """One round of a talk, or until somebody waits: GOES_ON, AGREED, OVER or PENDING."""
    if world.round[talk] >= ROUNDS:
        return OVER
    if world.order[talk] == NEW:
        world.round_start[talk] = world.offers[talk]
        world.order[talk] = BOTH_TURNED if world.acted_last[talk] == 0 else BOTH
    while True:
        how = _act(fixed, world, talk, world.order[talk], noted)
        if how != GOES_ON or world.waited[talk] > 0:
            return how
        if world.order[talk] == NEW:
            world.round[talk] += 1
            return GOES_ON


@kernel
def _act(fixed, world, talk, order, noted):  # type: ignore[no-untyped-def]
    """Let the next side of an order act."""
    side = 0 if order in (FIRST, BOTH) else 1
    answer = _asked(fixed, world, talk, side, noted)
    if answer == PENDING:
        return PENDING
    if answer == WAIT:
        return _wait(fixed, world, talk, side)
    world.acted_last[talk], world.waited[talk] = side, 0
    world.order[talk] = _left_of(order)
    if answer == ACCEPT:
        return AGREED if world.table[talk, UNITS] > 0 else OVER
    if answer == END or not _put_on_table(fixed, world, talk, side):
        return OVER
    return GOES_ON


@kernel
def _left_of(order):  # type: ignore[no-untyped-def]
    """Who still has to act in a round once the first of them has."""
    if order == BOTH:
        return SECOND
    return FIRST if order == BOTH_TURNED else NEW


@kernel
def _wait(fixed, world, talk, side):  # type: ignore[no-untyped-def]
    """The round stops here and goes on with the same side."""
    other = 1 - side
    world.acted_last[talk] = other
    has_offered = False
    for said in range(world.round_start[talk], world.offers[talk]):
        has_offered = has_offered or world.said_by[talk, said] == other
    world.waited[talk] += 1
    # Two sides that wait for each other would never end: negmas times them out.
    if world.waited[talk] > fixed.factories:
        return OVER
    if side == 0:
        world.order[talk] = FIRST if has_offered else BOTH
    else:
        world.order[talk] = SECOND if has_offered else BOTH_TURNED
    return GOES_ON


@kernel
def _put_on_table(fixed, world, talk, side):  # type: ignore[no-untyped-def]
    """Whether what a side proposes is allowed; then it lies on the table."""
    me = world.side[talk, side]
    offer = world.proposal[me, place_of(fixed, me, world.side[talk, 1 - side])]
    product = world.product[talk]
    units, day, price = offer[UNITS], offer[DAY], offer[PRICE]
    if not (1 <= units <= fixed.most_units and world.day <= day <= world.last_day):
        return False
    if not world.low[product] <= price <= world.high[product]:
        return False
    said = world.offers[talk]
    world.offers[talk] += 1
    world.said_by[talk, said] = side
    for part in range(3):
        world.table[talk, part] = offer[part]
        world.said[talk, said, part] = offer[part]
    return True


@kernel
def _asked(fixed, world, talk, side, noted):  # type: ignore[no-untyped-def]
    """What a side answers; its offer, if it rejects, is in `proposal`."""
    me = world.side[talk, side]
    place = place_of(fixed, me, world.side[talk, 1 - side])
    if not ask.decides_jointly(fixed, me):
        if world.table[talk, UNITS] > 0:
            answer = ask.respond(fixed, world, me, place)
            if answer != REJECT:
                note_one(fixed, world, me, place, RESPOND, answer, noted)
                return answer
            ask.propose(fixed, world, me, place)
            note_one(fixed, world, me, place, RESPOND, REJECT, noted)
            return REJECT
        ask.propose(fixed, world, me, place)
        note_one(fixed, world, me, place, PROPOSE, NOTHING, noted)
        return REJECT
    if world.table[talk, UNITS] > 0:
        answer = _joint_answer(fixed, world, me, place, noted)
        if answer != REJECT:
            return answer
    return _joint_proposal(fixed, world, me, place, noted)


# --- joint decisions -----------------------------------------------------------------------------


@kernel
def _opened(fixed, world, me, noted):  # type: ignore[no-untyped-def]
    """Ask for first proposals; whether they are there."""
    clear_proposals(world, me)
    if not ask.first_proposals(fixed, world, me):
        return False
    note_joint(fixed, world, me, FIRST_PROPOSALS, noted)
    if world.num_proposals[me] == 0:
        for index in range(world.num_met[me]):
            propose(world, me, world.met[me, index], 0, 0, 0)
    world.has_opened[me] = 1
    return True


@kernel
def _joint_proposal(fixed, world, me, place, noted):  # type: ignore[no-untyped-def]
    """REJECT, with the offer that was decided on in `proposal`; or PENDING."""
    if world.num_proposals[me] == 0 and not _opened(fixed, world, me, noted):
        return PENDING
    # Left out of the first answer: negmas asks once more, for all partners.
    if world.has_proposal[me, place] == 0 and not _opened(fixed, world, me, noted):
        return PENDING
    if world.has_proposal[me, place] == 0:
        world.proposal[me, place, UNITS] = 0
    else:
        world.has_proposal[me, place] = 0
        world.num_proposals[me] -= 1
    world.waits[me, place], world.answer[me, place] = 0, WAIT
    unhear(world, me, place)
    return REJECT


@kernel
def unhear(world, me, place):  # type: ignore[no-untyped-def]
    """A partner's offer no longer waits for an answer."""
    kept = 0
    for index in range(world.num_heard[me]):
        if world.heard[me, index] != place:
            world.heard[me, kept] = world.heard[me, index]
            kept += 1
    world.num_heard[me] = kept


@kernel
def _joint_answer(fixed, world, me, place, noted):  # type: ignore[no-untyped-def]
    answer = world.answer[me, place]
    if answer != WAIT:
        world.answer[me, place], world.waits[me, place] = WAIT, 0
        return answer
    is_new = True
    for index in range(world.num_heard[me]):
        is_new = is_new and world.heard[me, index] != place
    if is_new:
        world.heard[me, world.num_heard[me]] = place
        world.num_heard[me] += 1
    # Ask when all open talks were heard, or this partner has waited long enough.
    if world.num_heard[me] < world.num_open[me] and world.waits[me, place] < world.num_open[me]:
        world.waits[me, place] += 1
        return WAIT
    if not world.has_opened[me] and not _opened(fixed, world, me, noted):
        return PENDING
    if not _decided(fixed, world, me, noted):
        return PENDING
    answer = world.answer[me, place]
    world.answer[me, place] = WAIT
    return answer


@kernel
def _decided(fixed, world, me, noted):  # type: ignore[no-untyped-def]
    """Ask for answers to all that was heard; whether they are there."""
    if not ask.is_ready(fixed, world, me):
        return False
    for index in range(world.num_met[me]):  # left out: that talk is over
        place = world.met[me, index]
        propose(world, me, place, 0, 0, 0)
        world.answer[me, place], world.waits[me, place] = OMITTED, 0
    ask.counter_all(fixed, world, me)
    note_joint(fixed, world, me, COUNTER_ALL, noted)
    for index in range(world.num_met[me]):
        if world.answer[me, world.met[me, index]] == OMITTED:
            world.answer[me, world.met[me, index]] = END
    world.num_heard[me] = 0
    return True


# --- how a talk ends -----------------------------------------------------------------------------


@kernel
def end_talk(fixed, world, talk, agreed, log):  # type: ignore[no-untyped-def]
    """Both sides close it, then hear how it ended."""
    opener, other = world.side[talk, 0], world.side[talk, 1]
    here, there = place_of(fixed, opener, other), place_of(fixed, other, opener)
    _close(world, opener, here)
    _close(world, other, there)
    if not agreed:
        ask.hear_failure(fixed, world, opener, here)
        ask.hear_failure(fixed, world, other, there)
        return
    units, day, price = world.table[talk, UNITS], world.table[talk, DAY], world.table[talk, PRICE]
    opener_buys = world.product[talk] == fixed.level[opener]
    seller, buyer = (other, opener) if opener_buys else (opener, other)
    if world.signed < len(log):
        row = log[world.signed]
        row[0], row[1], row[2], row[3] = seller, buyer, world.product[talk], units
        row[4], row[5], row[6], row[7] = day, price, world.day, 0
    sign(world, seller, buyer, units, day, price)
    ask.hear_success(fixed, world, opener, here)
    ask.hear_success(fixed, world, other, there)


@kernel
def _close(world, me, place):  # type: ignore[no-untyped-def]
    world.open[me, place] = 0
    world.num_open[me] -= 1
    unhear(world, me, place)
    if world.has_proposal[me, place]:
        world.has_proposal[me, place] = 0
        world.num_proposals[me] -= 1
