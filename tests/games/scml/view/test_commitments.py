"""What can still be promised, held against the simulator's own factory by trying every number."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.agent.test_l1_safety import PROFILE, state
from understudy.games.scml.agent.l1_safety import RemainingCapacity, Safety
from understudy.games.scml.domain import DAYS, SafetySettings
from understudy.games.scml.engine.config import FactoryConfig
from understudy.games.scml.engine.factory import Factory, Today
from understudy.games.scml.view import commitments as c
from understudy.games.scml.view import features as f
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.state import OpenNegotiation, PastOffer
from understudy.games.scml.view.turns import LiveTurns

LINES, OPEN = 4, 4
MOST = 3 * LINES
"""More than anything that could be safe here."""
CONFIG = FactoryConfig(
    level=1,
    lines=LINES,
    cost=1,
    initial_balance=10**9,
    storage_cost=(0.0,) * OPEN,
    disposal_cost=(0.0,) * OPEN,
    shortfall_penalty=(0.0,) * OPEN,
    means=(0.0, 0.0, 0.0),
    deviations=(0.0, 0.0, 0.0),
)
few = st.integers(0, 6)
by_day = st.lists(few, min_size=OPEN, max_size=OPEN)
books = st.fixed_dictionaries(
    {
        "stock": few,
        "supply": few,
        "sale": few,
        "bought": by_day,
        "sold": by_day,
        "perishable": st.booleans(),
        "conserves": st.booleans(),
    }
)


def simulated(known, buys=False, ahead=0, extra=0):
    """The factory of our engine, which is held against scml's: its shortfall, input and stock.

    As things are `known`, with `extra` units bought or sold for one day.
    """
    made = Factory(CONFIG, known["conserves"], known["perishable"])
    made.stock = known["stock"]
    inputs = []
    for day in range(OPEN):
        more = extra if day == ahead else 0
        made.exogenous = Today(known["supply"], 0, known["sale"], 0) if day == 0 else Today()
        bought = known["bought"][day] + (more if buys else 0)
        sold = known["sold"][day] + (0 if buys else more)
        inputs.append(made.stock + made.exogenous.supply_quantity + bought)
        made.close_day(day, [(bought, 1)], [(sold, 1)], 10.0, 20.0)
        if known["perishable"]:  # in such worlds there is never any stock to begin with
            made.stock = 0
    return sum(result.shortfall for result in made.results), inputs, made.stock


def remaining_of(known):
    profile = replace(PROFILE, lines=LINES, horizon=OPEN - 1, perishable=known["perishable"])
    here = state(
        known["bought"],
        known["sold"],
        profile=profile,
        stock=known["stock"],
        supply_quantity=known["supply"],
        sale_quantity=known["sale"],
    )
    return RemainingCapacity(here, SafetySettings(conserves=known["conserves"]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(known=books)
def test_what_can_be_sold_is_the_most_with_which_the_simulator_is_short_of_nothing_more(known):
    remaining, (before, inputs, stock) = remaining_of(known), simulated(known)
    assert remaining.days == OPEN
    assert c.find_inputs(remaining.book, OPEN) == stock
    assert remaining.book.inputs[:OPEN].tolist() == inputs
    assert c.shortfall(remaining.book, c.NO_DAY, 0) == before
    for ahead in range(OPEN):
        safe = [q for q in range(MOST) if simulated(known, False, ahead, q)[0] <= before]
        assert remaining.to_sell(ahead) == max(safe)
    assert remaining.by_day(False).tolist() == [remaining.to_sell(ahead) for ahead in range(OPEN)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(known=books)
def test_what_can_be_bought_is_the_most_that_could_be_worked_on(known):
    """No more input on its day than lines; where stock lasts, no more left over in the end."""
    remaining, (_, inputs, stock) = remaining_of(known), simulated(known)
    lasts = not known["conserves"] and not known["perishable"]
    for ahead in range(OPEN):
        if lasts:
            left_over = [simulated(known, True, ahead, q)[2] for q in range(MOST)]
            useful = [q for q in range(MOST) if left_over[q] <= LINES] if stock < LINES else []
        else:
            useful = [q for q in range(MOST) if inputs[ahead] + q <= LINES]
        assert remaining.to_buy(ahead) == max(useful, default=0)
    assert remaining.by_day(True).tolist() == [remaining.to_buy(ahead) for ahead in range(OPEN)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(known=books, offers=st.lists(st.tuples(st.booleans(), few, few, few), max_size=6))
def test_a_commitment_takes_capacity_need_and_money(known, offers):
    """Sales are as if they had been there from the beginning; purchases only lessen the need."""
    remaining, later = remaining_of(known), dict(known)
    free = remaining.money
    for buys, quantity, ahead, price in offers:
        need = [remaining.to_buy(day) for day in range(OPEN)] if buys else []
        remaining.take(buys, (quantity, remaining.today + ahead, price))
        if buys:
            free -= quantity * price
            assert [remaining.to_buy(day) for day in range(OPEN)] == [
                max(0, n - quantity) for n in need
            ]
        elif ahead < OPEN:
            free -= quantity * PROFILE.cost
            sold = list(later["sold"])
            sold[ahead] += quantity
            later["sold"] = sold
    assert remaining.money == free
    assert remaining.by_day(False).tolist() == remaining_of(later).by_day(False).tolist()


def test_outside_the_open_days_nothing_remains():
    remaining = RemainingCapacity(state(stock=9, day=47))
    for buys in (False, True):
        found = [c.remaining_on(remaining.book, buys, ahead) for ahead in (-1, 0, 2, 3, DAYS)]
        assert [units > 0 for units in found] == [False, True, True, False, False]


@pytest.mark.parametrize(("ahead", "price", "units"), [(0, 10, 9), (0, 15, 6), (3, 10, 0)])
def test_the_money_limits_purchases_and_the_agenda_everything(ahead, price, units):
    here = packed([state(day=47, balance=190.0)]).facts[0]  # 90 are free; 3 days are left
    remaining = np.array([99, 99, 99])
    assert c.allowed_units(here, True, remaining, 90.0, ahead, price) == units
    assert c.allowed_units(here, False, remaining, 0.0, ahead, price) == (0 if ahead == 3 else 30)


def test_turns_and_live_play_keep_the_same_book():
    """What a negotiation is told to be left is what the clip lets through, whatever came before."""
    negotiations = [
        OpenNegotiation(name, buys, 1, (PastOffer(False, 3, 7, 10),))
        for name, buys in NEGOTIATIONS.items()
    ]
    here = state((3, 0, 2), (1, 4), negotiations, stock=3, sale_quantity=1)
    chosen = SafetySettings(reserve=0.4)
    columns, safety = packed([here]), Safety.of(here, chosen)
    turns = LiveTurns(columns, np.zeros(len(negotiations), np.float32), chosen)
    for index, (negotiation, quantity) in enumerate(
        zip(negotiations, (2, 0, 3, 1, 2), strict=True)
    ):
        turns.come(index)
        found = turns.values
        assert found.left[index].tolist() == safety.remaining.by_day(negotiation.buys).tolist()
        assert found.money[index] == safety.remaining.money
        assert found.safe[index] == safety.allows(negotiation.buys, negotiation.heard[1:])
        same_side = [other.buys for other in negotiations[:index]].count(negotiation.buys)
        assert found.features[index, f.TURN_AT.served] == np.float32(same_side / 6)
        turns.take(negotiation.buys, quantity, index % 3, 10)
        if quantity:
            safety.remaining.take(negotiation.buys, (quantity, here.day_start.day + index % 3, 10))


NEGOTIATIONS = {"a": True, "b": False, "c": False, "d": True, "e": False}
