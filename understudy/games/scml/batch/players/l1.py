"""L1 (`agent/hrl.py` without weights): its baseline in the order of L4's teacher.

Accept what is safe, else offer half of what is left; each negotiation with what those before it
have left. Two books are kept of a decision: what is wished for comes from the first, which knows
this decision only; what gets through must fit the second, which also has what binds elsewhere. It
is told one number: the risk it takes.
"""

import numpy as np

from understudy.games.scml.agent.l4_priorities import CLOSE, FIT, GAIN, LATE, SOON
from understudy.games.scml.batch import observe, speech
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.players.learner import opens
from understudy.games.scml.batch.state import ACCEPT, DAY, END, PRICE, REJECT, UNITS
from understudy.games.scml.domain import (
    BUYING,
    COUNTER_ALL,
    FIRST_PROPOSALS,
    ROUNDS,
    SELLING,
    SafetySettings,
)
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.commitments import (
    CAPACITY,
    FREE,
    IN_STOCK,
    CommitmentBook,
    allowed_units,
    commit,
    open_book,
    remaining_by_day,
    set_baseline,
)
from understudy.games.scml.view.scales import AHEAD, position_in

RESERVE, CONSERVES = SafetySettings().reserve, SafetySettings().conserves
OWN, BOUND = range(2)


@kernel
def first_proposals(fixed, world, me):  # type: ignore[no-untyped-def]
    """A first offer to everybody, if its level opens."""
    if opens(fixed, me):
        _decide(fixed, world, me, FIRST_PROPOSALS)


@kernel
def counter_all(fixed, world, me):  # type: ignore[no-untyped-def]
    """An answer to everybody who made an offer."""
    _decide(fixed, world, me, COUNTER_ALL)


@kernel
def _book(world, which):  # type: ignore[no-untyped-def]
    days = world.book_days[which]
    return CommitmentBook(
        days[0],
        days[1],
        days[2],
        world.book_limits[which],
        world.book_committed[which],
        world.book_money[which],
    )


@kernel
def _decide(fixed, world, me, call):  # type: ignore[no-untyped-def]
    """In order of priority."""
    world.call = call
    observe.set_facts(fixed, world, me, world.facts)
    observe.set_commitments(fixed, world, me, world.promised)
    own, bound = _book(world, OWN), _book(world, BOUND)
    how = RESERVE, CONSERVES, fixed.numbers[me, 0]
    # Order is by features, which show what is known; what may be promised is by the risk.
    open_book(world.facts, world.promised, (RESERVE, CONSERVES, 0.0), own)
    turns = _rank(world, me, own)
    open_book(world.facts, world.promised, how, own)
    open_book(world.facts, world.promised, how, bound)
    observe.commit_bound(world, me, bound)
    for turn in range(turns):
        _serve(world, me, world.list_a[turn], own, bound)


@kernel
def _rank(world, me, book):  # type: ignore[no-untyped-def]
    """Places by the teacher's falling score, into `list_a`; how many. Equals stay by name."""
    remaining_by_day(book, True, world.left[BUYING])
    remaining_by_day(book, False, world.left[SELLING])
    order, count = world.list_a, 0
    for place in range(world.scores.shape[0]):
        if observe.is_decided_about(world, me, place):
            world.scores[place] = _score(world, me, place, book.money[FREE])
            index = count
            while index > 0 and world.scores[order[index - 1]] < world.scores[place] - CLOSE:
                order[index] = order[index - 1]
                index -= 1
            order[index] = place
            count += 1
    return count


@kernel
def _score(world, me, place, money):  # type: ignore[no-untyped-def]
    """L4's teacher: soon, at a good price, of a useful size, near the end."""
    late = np.float32(LATE) * np.float32(speech.round_of(world, me, place) / ROUNDS)
    offer, facts = world.table[world.talk[me, place]], world.facts
    if world.call == FIRST_PROPOSALS:
        return late
    buys, ahead = speech.is_supplier(place), offer[DAY] - world.day
    low, high = p.price_range(facts, buys)
    left = world.left[BUYING if buys else SELLING]
    most = allowed_units(facts, buys, left, money, ahead, offer[PRICE])
    at = position_in(offer[PRICE], low, high)
    soon = np.float32(1.0) - np.float32(ahead / AHEAD)
    good = np.float32(1.0 - at if buys else at)
    fits = np.float32(min(offer[UNITS], most) / max(offer[UNITS], 1))
    return np.float32(SOON) * soon + np.float32(GAIN) * good + np.float32(FIT) * fits + late


@kernel
def _serve(world, me, place, own, bound):  # type: ignore[no-untyped-def]
    """One negotiation: the wish, what L1 makes of it, and what that takes from both books."""
    buys, offer, facts = speech.is_supplier(place), world.list_b, world.facts
    left, answers = world.left[BUYING if buys else SELLING], world.call == COUNTER_ALL
    remaining_by_day(own, buys, left)
    table, most = world.table[world.talk[me, place]], _of_use(facts, buys, bound)
    is_safe = answers and _is_safe(world, buys, left, own.money[FREE], table)
    if is_safe and table[UNITS] <= most:
        response = ACCEPT
        offer[p.OFFER_UNITS], offer[p.OFFER_PRICE] = table[UNITS], table[PRICE]
        offer[p.OFFER_AHEAD] = table[DAY] - world.day
    else:
        response = REJECT
        offer[p.OFFER_UNITS], offer[p.OFFER_AHEAD] = 0, 0
        set_baseline(facts, buys, left, own.money[FREE], offer)
        offer[p.OFFER_UNITS] = min(offer[p.OFFER_UNITS], most)
    if offer[p.OFFER_UNITS] > 0 and observe.clip(facts, bound, buys, offer):
        response = REJECT
    units, ahead, price = offer[p.OFFER_UNITS], offer[p.OFFER_AHEAD], offer[p.OFFER_PRICE]
    commit(own, buys, units, ahead, price)
    commit(bound, buys, units, ahead, price)
    _say(world, me, place, response if units > 0 else END, units, world.day + ahead, price)


@kernel
def _of_use(facts, buys, book):  # type: ignore[no-untyped-def]
    """The most units that serve a purpose: `Safety.of_use`."""
    can_sell = facts[p.LEVEL] < facts[p.LEVELS] - 1
    if not buys or facts[p.PERISHABLE] == 0.0 or can_sell:
        return p.most_units(facts)
    have = book.limits[IN_STOCK] + book.arriving[0] + book.committed[BUYING]
    return min(book.ordered[0], book.limits[CAPACITY]) - have


@kernel
def _is_safe(world, buys, left, money, offer):  # type: ignore[no-untyped-def]
    """Whether an offer can be accepted as it is."""
    low, high = p.price_range(world.facts, buys)
    most = allowed_units(world.facts, buys, left, money, offer[DAY] - world.day, offer[PRICE])
    return offer[UNITS] <= most and low <= offer[PRICE] <= high


@kernel
def _say(world, me, place, response, units, day, price):  # type: ignore[no-untyped-def]
    bound = world.bound[me, place]
    bound[UNITS], bound[DAY], bound[PRICE] = max(units, 0), day, price
    if response == REJECT:
        speech.counter(world, me, place, units, day, price)
    elif world.call == COUNTER_ALL:
        world.answer[me, place] = response
    else:
        speech.propose(world, me, place, 0, 0, 0)
