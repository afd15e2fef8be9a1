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
from understudy.games.scml.batch.kernels import kernel
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
from understudy.games.scml.view.turns import Turns, no_turns, set_turn

_ANSWER = len(RESPONSES)
_OFFER = _ANSWER + DAYS
"""Where the scores of days and what offers are made of begin."""
_UNITS = HEADS["residual"]["units"], HEADS["direct"]["units"]
"""How many options there are, by whether units are chosen as they are."""


class Books(NamedTuple):
    """By decision."""

    own: CommitmentBook
    """Without what binds elsewhere: as in training."""
    bound: CommitmentBook
    """With all that may become a contract."""
    served: Ints
    """[decisions, 2]: negotiations that had their turn, by side."""


class Wishes(NamedTuple):
    """By row of a turn: what L3 wants."""

    response: Ints
    offer: Ints
    """[rows, 3]: units, days ahead, unit price."""


class Drawing(NamedTuple):
    """How L3 draws."""

    response_temperature: float
    offer_temperature: float
    is_direct: bool
    on_day: Float32s
    """Weights of the day and of the units left on it."""
    on_day_bias: Float32s
    chances: Floats
    """Room for the chances of a head's options."""


def new_books(decisions: int) -> Books:
    """To be opened."""
    served = np.zeros((decisions, 2), np.int64)
    return Books(empty_book(decisions), empty_book(decisions), served)


def new_turns(negotiations: int) -> Turns:
    """To be filled, turn by turn."""
    return no_turns(negotiations)


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
def open_books(state, asked, columns, reserve, conserves, books):  # type: ignore[no-untyped-def]
    """Offers on the tables of partners not decided about bind capacity in the second book."""
    for row in range(len(asked)):
        world = state[asked[row]]
        facts, commitments = columns.facts[row], columns.commitments[row]
        open_book(facts, commitments, reserve, conserves, book_of(books.own, row))
        book = book_of(books.bound, row)
        open_book(facts, commitments, reserve, conserves, book)
        commit_bound(world, world.asked, book)


@kernel
def come(columns, turn, rows, order, weight, books, mean, inverse, turns, whose, out):  # type: ignore[no-untyped-def]
    """Turn number `turn` of decisions `rows`: whose it is, and its features as L3 reads them."""
    most = np.float32(10.0)
    for index in range(len(rows)):
        row = rows[index]
        negotiation = order[columns.first[row] + turn]
        whose[index] = negotiation
        own = book_of(books.own, row)
        set_turn(columns, row, negotiation, weight[negotiation], own, books.served[row], turns)
        features = turns.features[negotiation]
        for k in range(len(features)):
            out[index, k] = min(max((features[k] - mean[k]) * inverse[k], -most), most)


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
def _luck(fixed, world, temperature):  # type: ignore[no-untyped-def]
    """The next number of who decides; none where nothing is left to it."""
    return uniform(fixed, world, world.asked) if temperature > 0.0 else 0.0


@kernel
def choose_days(fixed, state, asked, rows, whose, heads, turns, how, wishes, offering):  # type: ignore[no-untyped-def]
    """What to answer; of those that will offer the day, and what units and price are read from.

    Returns how many will offer: which ones is in `offering`.
    """
    count = 0
    for index in range(len(rows)):
        at, negotiation, scores = asked[rows[index]], whose[index], heads[index]
        if not turns.safe[negotiation]:
            scores[ACCEPT] = -math.inf
        if turns.baseline[negotiation, p.OFFER_UNITS] <= 0:
            scores[REJECT] = -math.inf
        heat, left = how.response_temperature, turns.left[negotiation]
        luck = _luck(fixed[at], state[at], heat)
        wishes.response[index] = draw(scores[:_ANSWER], heat, how.chances, luck)
        if wishes.response[index] != REJECT:
            continue
        days, heat = scores[_ANSWER:_OFFER], how.offer_temperature
        for day in range(DAYS):
            if left[day] <= 0:
                days[day] = -math.inf
        day = draw(days, heat, how.chances, _luck(fixed[at], state[at], heat))
        wishes.offer[index, p.OFFER_AHEAD] = day
        offering[count] = index
        count += 1
    return count


@kernel
def read_days(columns, rows, whose, heads, turns, how, wishes, offering, on_day):  # type: ignore[no-untyped-def]
    """What units and price are chosen from, given the day and what is left on it."""
    zero = np.float32(0.0)
    for index in range(len(offering)):
        at = offering[index]
        day = wishes.offer[at, p.OFFER_AHEAD]
        left, _ = _on(columns.facts[rows[at]], columns, whose[at], turns, day)
        of_day, of_left = how.on_day[day], how.on_day[DAYS + min(max(left, 0), LEFT_MOST)]
        parts, out = heads[at, _OFFER:], on_day[index]
        for k in range(len(out)):
            value = parts[k] + (of_day[k] + of_left[k]) + how.on_day_bias[k]
            out[k] = max(value, zero)


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
def choose_offers(fixed, state, asked, columns, rows, whose, heads, turns, how, offering, wishes):  # type: ignore[no-untyped-def]
    """Units and price of those that will offer."""
    units_there = _UNITS[1] if how.is_direct else _UNITS[0]
    for index in range(len(offering)):
        at, heat = offering[index], how.offer_temperature
        row, negotiation = rows[at], whose[at]
        which, facts, offer = asked[row], columns.facts[row], wishes.offer[at]
        left, base = _on(facts, columns, negotiation, turns, offer[p.OFFER_AHEAD])
        shift = 1 if how.is_direct else base - UNITS
        units, prices = heads[index, :units_there], heads[index, units_there:]
        for option in range(units_there):
            if not 1 <= option + shift <= max(left, 1):
                units[option] = -math.inf
        luck = _luck(fixed[which], state[which], heat)
        option = draw(units, heat, how.chances, luck)
        offer[p.OFFER_UNITS] = min(max(option + shift, 1), max(left, 1))
        option = draw(prices, heat, how.chances, _luck(fixed[which], state[which], heat))
        low, high = p.price_range(facts, columns.negotiations[negotiation, p.BUYS] != 0)
        if how.is_direct:
            wish = low + np.rint(option * (high - low) / TENTHS)
        else:
            wish = turns.baseline[negotiation, p.OFFER_PRICE]
            wish += np.rint((option - TENTHS) * (high - low) / TENTHS)
        offer[p.OFFER_PRICE] = int(min(max(wish, low), high))
        if base <= 0:
            wishes.response[at] = END


@kernel
def conclude(state, asked, columns, places, rows, whose, books, wishes):  # type: ignore[no-untyped-def]
    """L1 guards what is wished for; what gets through is the reply, and is taken from the books."""
    for index in range(len(rows)):
        row, negotiation = rows[index], whose[index]
        world, facts, bound = state[asked[row]], columns.facts[row], book_of(books.bound, row)
        buys, place = columns.negotiations[negotiation, p.BUYS] != 0, places[negotiation]
        offer, heard = wishes.offer[index], p.heard_row(columns, negotiation)
        response = wishes.response[index]
        if response == ACCEPT:
            # Too much to accept: offer back as much of it as is safe.
            offer[p.OFFER_UNITS] = columns.offers[heard, p.QUANTITY]
            offer[p.OFFER_AHEAD] = columns.offers[heard, p.DELIVERY] - world.day
            offer[p.OFFER_PRICE] = columns.offers[heard, p.PRICE]
        if response == END:
            offer[p.OFFER_UNITS] = 0
        elif clip(facts, bound, buys, offer) and response == ACCEPT:
            response = REJECT
        if offer[p.OFFER_UNITS] <= 0:
            response = END
        _reply(world, place, response, offer)
        books.served[row, BUYING if buys else SELLING] += 1
        what = offer[p.OFFER_UNITS], offer[p.OFFER_AHEAD], offer[p.OFFER_PRICE]
        commit(book_of(books.own, row), buys, *what)
        commit(bound, buys, *what)


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
