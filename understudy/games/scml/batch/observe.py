"""What waiting learners know: their decisions in the columns that features are computed from.

One row for each world that waits, in which one factory decides about some of its negotiations. The
columns are those of `view/columns.py`, bit for bit as the same agent would pack them live, so that
`view.observe.observed` and all after it are used as they are.
"""

from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Array, Ints
from understudy.games.scml.batch.kernels import kernel
from understudy.games.scml.batch.speech import is_supplier, speaks_to
from understudy.games.scml.batch.state import DAY, PARTNERS, PRICE, UNITS
from understudy.games.scml.domain import DAYS, FIRST_PROPOSALS, LINES
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.columns import Packed
from understudy.games.scml.view.commitments import FREE, commit, remaining_on


class Questions(NamedTuple):
    """Decisions that learners are asked for, at most one in a world."""

    world: Ints
    """[decisions]: by index among the worlds."""
    factory: Ints
    """[decisions]: who decides."""
    place: Ints
    """[negotiations]: where the partner lies among those of the factory."""
    columns: Packed


def questions_of(fixed: Array, state: Array, waiting: Ints) -> Questions:
    """What the learners of the worlds that wait are asked, and all they know."""
    first = np.zeros(len(waiting) + 1, np.int64)
    offers = count_asked(state, waiting, first)
    negotiations = int(first[-1])
    columns = Packed(
        facts=np.empty((len(waiting), p.NUM_FACTS)),
        commitments=np.empty((len(waiting), 4, DAYS), np.int64),
        first=first,
        negotiations=np.empty((negotiations, 4), np.int64),
        offers=np.empty((offers, 4), np.int64),
        memory=np.empty((negotiations, p.NUM_SUMS)),
    )
    place, factory = np.empty(negotiations, np.int64), state["asked"][waiting]
    fill_asked(fixed, state, waiting, place, columns)
    return Questions(waiting, factory, place, columns)


def without_negotiations(columns: Packed, rows: Ints) -> Packed:
    """Some of the states as they are at the start of a day: what L2 reads."""
    return Packed(
        columns.facts[rows],
        columns.commitments[rows],
        np.zeros(len(rows) + 1, np.int64),
        columns.negotiations[:0],
        columns.offers[:0],
        columns.memory[:0],
    )


# --- compiled ------------------------------------------------------------------------------------


@kernel
def is_decided_about(world, me, place):  # type: ignore[no-untyped-def]
    """Whether the decision that is asked for is about the partner in this place."""
    if world.call == FIRST_PROPOSALS:
        return speaks_to(world, me, place)
    is_heard = False
    for index in range(world.num_heard[me]):
        is_heard = is_heard or world.heard[me, index] == place
    return is_heard


@kernel
def count_asked(state, waiting, first):  # type: ignore[no-untyped-def]
    """How many negotiations each decision is about, added up in `first`; offers in all."""
    offers = 0
    for row in range(len(waiting)):
        world = state[waiting[row]]
        first[row + 1] = first[row]
        for place in range(PARTNERS):
            if is_decided_about(world, world.asked, place):
                first[row + 1] += 1
                offers += world.offers[world.talk[world.asked, place]]
    return offers


@kernel
def fill_asked(fixed, state, waiting, places, columns):  # type: ignore[no-untyped-def]
    """The columns of all decisions."""
    negotiation, start = 0, 0
    for row in range(len(waiting)):
        rules, world = fixed[waiting[row]], state[waiting[row]]
        me = world.asked
        set_facts(rules, world, me, columns.facts[row])
        set_commitments(rules, world, me, columns.commitments[row])
        for place in range(PARTNERS):  # in the order of partners' names
            if is_decided_about(world, me, place):
                places[negotiation] = place
                entry, talk = columns.negotiations[negotiation], world.talk[me, place]
                entry[p.BUYS], entry[p.ROUND] = is_supplier(place), world.round[talk]
                entry[p.START], entry[p.LENGTH] = start, world.offers[talk]
                start = copy_offers(world, me, talk, start, columns.offers)
                for k in range(p.NUM_SUMS):
                    columns.memory[negotiation, k] = world.notes[me, place, k]
                negotiation += 1


@kernel
def copy_offers(world, me, talk, start, offers):  # type: ignore[no-untyped-def]
    """All that was offered in a talk; where the next talk's offers begin."""
    side = 0 if world.side[talk, 0] == me else 1
    for said in range(world.offers[talk]):
        offer, row = world.said[talk, said], offers[start + said]
        row[p.MINE] = world.said_by[talk, said] == side
        row[p.QUANTITY], row[p.DELIVERY], row[p.PRICE] = offer[UNITS], offer[DAY], offer[PRICE]
    return start + world.offers[talk]


@kernel
def set_facts(fixed, world, me, facts):  # type: ignore[no-untyped-def]
    """What holds for the day, as `columns.py` has it."""
    level, day = fixed.level[me], world.day
    facts[p.STEPS], facts[p.LEVELS], facts[p.LEVEL] = fixed.days, fixed.levels, level
    facts[p.LINES], facts[p.COST] = fixed.lines[me], fixed.cost[me]
    facts[p.WORLD_HORIZON], facts[p.PERISHABLE] = fixed.horizon, fixed.perishable
    facts[p.INITIAL] = fixed.initial[me]
    facts[p.CATALOG_IN] = int(fixed.catalog[level])
    facts[p.CATALOG_OUT] = int(fixed.catalog[level + 1])
    facts[p.SUPPLIERS], facts[p.CONSUMERS] = _crowd(fixed, level - 1), _crowd(fixed, level + 1)
    facts[p.DAY], facts[p.STOCK], facts[p.BALANCE] = day, world.stock[me], world.balance[me]
    facts[p.SUPPLY_QUANTITY], facts[p.SUPPLY_PRICE] = world.supply_units[me], world.supply_money[me]
    facts[p.SALE_QUANTITY], facts[p.SALE_PRICE] = world.sale_units[me], world.sale_money[me]
    facts[p.PRICE_IN], facts[p.PRICE_OUT] = world.price[level], world.price[level + 1]
    facts[p.LOW_IN], facts[p.HIGH_IN] = world.low[level], world.high[level]
    facts[p.LOW_OUT], facts[p.HIGH_OUT] = world.low[level + 1], world.high[level + 1]
    facts[p.STORAGE], facts[p.DISPOSAL] = fixed.storage[me, day], fixed.disposal[me, day]
    facts[p.SHORTFALL], facts[p.STOCK_FALLS] = fixed.penalty[me, day], world.stock_falls[me]
    for k in range(LINES):  # all that a learner keeps
        facts[p.SUPPLIED + k] = world.kept[me, k]


@kernel
def _crowd(fixed, level):  # type: ignore[no-untyped-def]
    """How many factories a level has; outside there are none."""
    if not 0 <= level < fixed.levels:
        return 0
    return fixed.first_of[level + 1] - fixed.first_of[level]


@kernel
def set_commitments(fixed, world, me, out):  # type: ignore[no-untyped-def]
    """What is agreed with solvent partners, by days from now, up to the horizon."""
    for ahead in range(DAYS):
        due = (world.day + ahead) % DAYS
        for kind in range(4):
            out[kind, ahead] = world.sure[me, kind, due] if ahead <= fixed.horizon else 0


# --- L1 at work ----------------------------------------------------------------------------------


@kernel
def commit_bound(world, me, book):  # type: ignore[no-untyped-def]
    """Keep capacity for what partners that are not decided about may still take up."""
    for place in range(world.bound.shape[1]):
        offer = world.bound[me, place]
        is_standing = offer[UNITS] > 0 and speaks_to(world, me, place)
        if is_standing and not is_decided_about(world, me, place):
            ahead = offer[DAY] - world.day
            commit(book, is_supplier(place), offer[UNITS], ahead, offer[PRICE])


@kernel
def clip(facts, book, buys, offer):  # type: ignore[no-untyped-def]
    """Make an offer the nearest one for that day that is safe; whether that changed it."""
    low, high = p.price_range(facts, buys)
    units, price = offer[p.OFFER_UNITS], offer[p.OFFER_PRICE]
    offer[p.OFFER_PRICE] = int(min(max(price, low), high))
    most = min(remaining_on(book, buys, offer[p.OFFER_AHEAD]), p.most_units(facts))
    if buys:
        most = min(most, rules.affordable(book.money[FREE], float(offer[p.OFFER_PRICE])))
    offer[p.OFFER_UNITS] = min(units, most)
    return offer[p.OFFER_UNITS] != units or offer[p.OFFER_PRICE] != price
