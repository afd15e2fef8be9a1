"""Turns of many decisions side by side: what is left, what L3 draws of it, what L1 lets through.

Mirrors `HRLPolicy.choose`, `HRLAgent.guard` and `l3_offers.py`, compiled. Turn t of all decisions
is taken together; each has its own two books, as training sees it and with all that binds.
"""

import math
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Float32s, Floats, Ints
from understudy.games.scml.agent.l3_offers import HEADS, LEFT_MOST, TENTHS, UNITS
from understudy.games.scml.batch import state as w
from understudy.games.scml.batch.dice import uniform
from understudy.games.scml.batch.learnt.kernels import kernel
from understudy.games.scml.batch.observe import clip, commit_bound
from understudy.games.scml.domain import (
    ACCEPT,
    BUYING,
    DAYS,
    END,
    REJECT,
    RESPONSES,
    SELLING,
)
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.commitments import (
    CommitmentBook,
    commit,
    empty_book,
    open_book,
)
from understudy.games.scml.view.turns import set_turn

_ANSWER = len(RESPONSES)
_OFFER = _ANSWER + DAYS
"""Where the scores of days and what offers are made of begin."""
_UNITS = HEADS["residual"]["units"], HEADS["direct"]["units"]
"""How many options there are, by whether units are chosen as they are."""


DRAWN_RESPONSE, DRAWN_DAY, DRAWN_UNITS, DRAWN_PRICE, LEFT, BASE, NUM_DRAWN = range(7)
"""Options of the four heads, and what decides which units were open: those left, L1's baseline."""


class Books(NamedTuple):
    """L1's, by decision."""

    own: CommitmentBook
    """Without what binds elsewhere: as in training."""
    bound: CommitmentBook
    """With all that may become a contract."""
    served: Ints
    """[decisions, 2]: negotiations that had their turn, by side."""


class Turn(NamedTuple):
    """Those decisions that take a turn together, by row."""

    decision: Ints
    negotiation: Ints
    response: Ints
    """What L3 wants."""
    offer: Ints
    """[rows, 3]: units, days ahead, unit price."""
    offering: Ints
    """The rows that will offer come first."""
    drawn: Ints
    """[rows, NUM_DRAWN]: what L3 drew, before L1 guards it."""


class Drawing(NamedTuple):
    """How L3 draws."""

    response_temperature: float
    offer_temperature: float
    is_direct: bool
    on_day: Float32s
    """Weights of the day and of the units left on it."""
    on_day_bias: Float32s
    turn_mean: Float32s
    turn_inverse: Float32s
    """Of the features of a turn, as in training."""
    chances: Floats
    """Room for the chances of a head's options."""


def new_books(decisions: int) -> Books:
    """To be opened."""
    served = np.zeros((decisions, 2), np.int64)
    return Books(empty_book(decisions), empty_book(decisions), served)


def new_turn(decisions: int) -> Turn:
    """Space for a turn of so many decisions."""
    decision, negotiation, response, offering = np.empty((4, decisions), np.int64)
    offer = np.empty((decisions, 3), np.int64)
    drawn = np.zeros((decisions, NUM_DRAWN), np.int64)
    return Turn(decision, negotiation, response, offer, offering, drawn)


# --- compiled ------------------------------------------------------------------------------------


@kernel
def book_of(books, row):  # type: ignore[no-untyped-def]
    """One decision's."""
    return CommitmentBook(
        books.arriving[row],
        books.ordered[row],
        books.inputs[row],
        books.limits[row],
        books.committed[row],
        books.money[row],
    )


@kernel
def open_books(state, asked, columns, how, books):  # type: ignore[no-untyped-def]
    """Offers on the tables of partners not decided about bind capacity in the second book."""
    for row in range(len(asked)):
        world = state[asked[row]]
        facts, commitments = columns.facts[row], columns.commitments[row]
        open_book(facts, commitments, how, book_of(books.own, row))
        book = book_of(books.bound, row)
        open_book(facts, commitments, how, book)
        commit_bound(world, world.asked, book)


@kernel
def come(state, asked, number, ranked, books, how, seen, turn, out):  # type: ignore[no-untyped-def]
    """Turn `number` of all decisions that have so many: features as L3 reads them; how many.

    Where L1 leaves nothing but to end, nobody needs to be asked.
    """
    columns, places, turns = seen
    most, count = np.float32(10.0), 0
    for decision in range(len(asked)):
        at = columns.first[decision] + number
        if at >= columns.first[decision + 1]:
            continue
        negotiation, own = ranked.order[at], book_of(books.own, decision)
        weight, served = ranked.weight[negotiation], books.served[decision]
        set_turn(columns, decision, negotiation, weight, own, served, turns)
        buys = columns.negotiations[negotiation, p.BUYS] != 0
        served[BUYING if buys else SELLING] += 1
        if not turns.safe[negotiation] and turns.baseline[negotiation, p.OFFER_UNITS] <= 0:
            world = state[asked[decision]]
            _luck(world, how.response_temperature)
            _reply(world, places[negotiation], END, turn.offer[count])
            continue
        turn.decision[count], turn.negotiation[count] = decision, negotiation
        features = turns.features[negotiation]
        for k in range(len(features)):
            value = (features[k] - how.turn_mean[k]) * how.turn_inverse[k]
            out[count, k] = min(max(value, -most), most)
        count += 1
    return count


@kernel
def draw(scores, temperature, chances, luck):  # type: ignore[no-untyped-def]
    """The likeliest option, or the warmer the more at random; illegal ones score -inf."""
    best, highest = 0, -math.inf
    for k in range(len(scores)):
        if scores[k] > highest:
            best, highest = k, scores[k]
    if temperature <= 0.0:
        return best
    highest, total = highest / temperature, 0.0
    for k in range(len(scores)):
        chances[k] = math.exp(scores[k] / temperature - highest)
        total += chances[k]
    reached = 0.0
    for k in range(len(scores)):
        reached += chances[k] / total
        chances[k] = reached
    for k in range(len(scores)):
        if chances[k] > luck * reached:
            return k
    return len(scores) - 1


@kernel
def _luck(world, temperature):  # type: ignore[no-untyped-def]
    """The next number of who decides; none where nothing is left to it."""
    return uniform(world, world.asked) if temperature > 0.0 else 0.0


@kernel
def choose_days(state, asked, seen, how, turn, heads, on_day):  # type: ignore[no-untyped-def]
    """What to answer; of those that will offer the day, and what units and price are read from.

    Returns how many will offer.
    """
    columns, _, turns = seen
    count = 0
    for row in range(len(heads)):
        at, negotiation, scores = asked[turn.decision[row]], turn.negotiation[row], heads[row]
        if not turns.safe[negotiation]:
            scores[ACCEPT] = -math.inf
        if turns.baseline[negotiation, p.OFFER_UNITS] <= 0:
            scores[REJECT] = -math.inf
        luck = _luck(state[at], how.response_temperature)
        response = draw(scores[:_ANSWER], how.response_temperature, how.chances, luck)
        turn.response[row], turn.drawn[row, DRAWN_RESPONSE] = response, response
        if response == REJECT:
            days = scores[_ANSWER:_OFFER]
            for day in range(DAYS):
                if turns.left[negotiation, day] <= 0:
                    days[day] = -math.inf
            luck = _luck(state[at], how.offer_temperature)
            day = draw(days, how.offer_temperature, how.chances, luck)
            turn.offer[row, p.OFFER_AHEAD], turn.drawn[row, DRAWN_DAY] = day, day
            facts = columns.facts[turn.decision[row]]
            left, _ = _on(facts, columns, negotiation, turns, day)
            _read_day(how, day, left, scores[_OFFER:], on_day[count])
            turn.offering[count] = row
            count += 1
    return count


@kernel
def _read_day(how, day, left, parts, out):  # type: ignore[no-untyped-def]
    """What units and price are chosen from, given the day and what is left on it."""
    zero = np.float32(0.0)
    of_day, of_left = how.on_day[day], how.on_day[DAYS + min(max(left, 0), LEFT_MOST)]
    for k in range(len(out)):
        out[k] = max(parts[k] + (of_day[k] + of_left[k]) + how.on_day_bias[k], zero)


@kernel
def _on(facts, columns, negotiation, turns, day):  # type: ignore[no-untyped-def]
    """Units that L1 allows on a day, and how many its baseline has: `OfferLimits.on`."""
    left = min(turns.left[negotiation, day], p.most_units(facts))
    base = (left + 1) // 2
    if columns.negotiations[negotiation, p.BUYS] != 0:
        price = max(turns.baseline[negotiation, p.OFFER_PRICE], 1)
        base = min(base, rules.affordable(turns.money[negotiation], float(price)))
    return left, base


@kernel
def conclude(state, asked, seen, books, how, turn, count, heads):  # type: ignore[no-untyped-def]
    """Units and prices; L1 guards what is wished for; what gets through is the reply, and is taken
    from the books."""
    columns, places, turns = seen
    for index in range(len(heads)):
        row = turn.offering[index]
        decision, negotiation = turn.decision[row], turn.negotiation[row]
        which, facts = asked[decision], columns.facts[decision]
        rest = facts, columns, negotiation, turns
        _choose_offer(state[which], *rest, how, heads[index], turn.offer[row], turn.drawn[row])
        if turn.drawn[row, BASE] <= 0:
            turn.response[row] = END
    for row in range(count):
        decision, negotiation, offer = turn.decision[row], turn.negotiation[row], turn.offer[row]
        world, bound = state[asked[decision]], book_of(books.bound, decision)
        buys = columns.negotiations[negotiation, p.BUYS] != 0
        wish = turn.response[row]
        response = _guard(world, columns, decision, negotiation, bound, wish, offer)
        _reply(world, places[negotiation], response, offer)
        what = offer[p.OFFER_UNITS], offer[p.OFFER_AHEAD], offer[p.OFFER_PRICE]
        commit(book_of(books.own, decision), buys, *what)
        commit(bound, buys, *what)


@kernel
def _choose_offer(world, facts, columns, negotiation, turns, how, heads, offer, drawn):  # type: ignore[no-untyped-def]
    """Units and price for the day that was chosen."""
    options = _UNITS[1] if how.is_direct else _UNITS[0]
    left, base = _on(facts, columns, negotiation, turns, offer[p.OFFER_AHEAD])
    drawn[LEFT], drawn[BASE] = left, base
    shift = 1 if how.is_direct else base - UNITS
    units = heads[:options]
    for option in range(options):
        if not 1 <= option + shift <= max(left, 1):
            units[option] = -math.inf
    luck = _luck(world, how.offer_temperature)
    option = draw(units, how.offer_temperature, how.chances, luck)
    offer[p.OFFER_UNITS] = min(max(option + shift, 1), max(left, 1))
    drawn[DRAWN_UNITS] = option
    luck = _luck(world, how.offer_temperature)
    option = draw(heads[options:], how.offer_temperature, how.chances, luck)
    drawn[DRAWN_PRICE] = option
    low, high = p.price_range(facts, columns.negotiations[negotiation, p.BUYS] != 0)
    if how.is_direct:
        wish = low + np.rint(option * (high - low) / TENTHS)
    else:
        wish = turns.baseline[negotiation, p.OFFER_PRICE]
        wish += np.rint((option - TENTHS) * (high - low) / TENTHS)
    offer[p.OFFER_PRICE] = int(min(max(wish, low), high))


@kernel
def _guard(world, columns, decision, negotiation, bound, response, offer):  # type: ignore[no-untyped-def]
    """What may be answered, with what is promised by it in `offer`: 0 units, nothing."""
    if response == END:
        offer[p.OFFER_UNITS] = 0
        return END
    buys = columns.negotiations[negotiation, p.BUYS] != 0
    if response == ACCEPT:
        heard = p.heard_row(columns, negotiation)
        offer[p.OFFER_UNITS] = columns.offers[heard, p.QUANTITY]
        offer[p.OFFER_AHEAD] = columns.offers[heard, p.DELIVERY] - world.day
        offer[p.OFFER_PRICE] = columns.offers[heard, p.PRICE]
    # Too much to accept: offer back as much of it as is safe.
    if clip(columns.facts[decision], bound, buys, offer):
        response = REJECT
    return response if offer[p.OFFER_UNITS] > 0 else END


@kernel
def _reply(world, place, response, offer):  # type: ignore[no-untyped-def]
    said = world.reply_offer[place]
    said[w.UNITS] = offer[p.OFFER_UNITS] if response == REJECT else 0
    said[w.DAY], said[w.PRICE] = world.day + offer[p.OFFER_AHEAD], offer[p.OFFER_PRICE]
    world.reply[place] = w.END
    if response == ACCEPT:
        world.reply[place] = w.ACCEPT
    elif response == REJECT:
        world.reply[place] = w.REJECT


@kernel
def hand_in(state, asked):  # type: ignore[no-untyped-def]
    """All answers are there."""
    for row in range(len(asked)):
        state[asked[row]].answered = 1
