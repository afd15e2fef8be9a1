"""Sales beyond what was known to suffice, by worked examples."""

import pytest

from tests.games.scml.chains import chain
from understudy.games.scml.engine.config import Exogenous
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.recording.days import account
from understudy.games.scml.recording.safety_audit import audit

STEPS = 6
FIRST, MIDDLE, OTHER, LAST = range(4)
"""One factory at the first level, two in the middle, one at the last."""


def world(*outside, balance=10_000):
    return chain((0, 1, 1, 2), outside, steps=STEPS, balance=balance, cost=1)


def sale(quantity, day, concluded=0, seller=MIDDLE, buyer=LAST):
    product = {FIRST: 1, MIDDLE: 2, OTHER: 2}[seller]
    return Contract(seller, buyer, product, quantity, day, 20, concluded)


def purchase(quantity, day, concluded=0, buyer=MIDDLE):
    return sale(quantity, day, concluded, seller=FIRST, buyer=buyer)


def audits(contracts, config=None, conserve_stock=False):
    config = config or world()
    return audit(config, contracts, account(config, contracts, conserve_stock), conserve_stock)


def counts(contracts, config=None, conserve_stock=False, of=MIDDLE):
    found = audits(contracts, config, conserve_stock)[of]
    return found.unsafe, found.over_lines


@pytest.mark.parametrize(
    ("contracts", "unsafe", "over_lines"),
    [
        # bought first, then sold: safe, up to what was bought
        ([purchase(5, 0), sale(5, 0)], 0, 0),
        ([purchase(5, 0), sale(6, 0)], 1, 0),
        ([purchase(5, 0), sale(3, 0), sale(2, 0)], 0, 0),
        ([purchase(5, 0), sale(3, 0), sale(3, 0)], 1, 0),
        # it counts what was known when the sale was made, not what came after
        ([sale(5, 0), purchase(5, 0)], 1, 0),
        # beyond the lines there is no help, however much arrives
        ([purchase(20, 0), sale(10, 0), sale(1, 0)], 1, 1),
        ([purchase(20, 0), sale(11, 0), sale(1, 0)], 2, 2),
        # input for a later day than the sale does not help, for an earlier one it does
        ([purchase(5, 3), sale(5, 2)], 1, 0),
        ([purchase(5, 1), sale(5, 2)], 0, 0),
        # of 5 that arrive on day 1, 3 are made that day and 2 are left over
        ([purchase(5, 1), sale(3, 1), sale(2, 2)], 0, 0),
        ([purchase(5, 1), sale(3, 1), sale(3, 2)], 1, 0),
    ],
)
def test_a_sale_is_unsafe_beyond_lines_and_known_input(contracts, unsafe, over_lines):
    assert counts(contracts) == (unsafe, over_lines)


def test_production_takes_nothing_from_stock_unless_stock_is_conserved():
    # 5 left over from day 0; sold again on each of days 1, 2 and 3
    contracts = [purchase(5, 0), *(sale(5, day, concluded=1) for day in (1, 2, 3))]
    assert counts(contracts) == (0, 0)
    assert counts(contracts, conserve_stock=True) == (2, 0)


def test_todays_trades_with_the_outside_are_known_and_tomorrows_are_not():
    supply = Exogenous(day=1, product=0, factory=FIRST, quantity=4, unit_price=10)
    bought = world(supply)
    today = [sale(4, 1, concluded=1, seller=FIRST, buyer=MIDDLE)]
    ahead = [sale(4, 1, concluded=0, seller=FIRST, buyer=MIDDLE)]
    carried = [sale(4, 2, concluded=1, seller=FIRST, buyer=MIDDLE)]
    assert [counts(one, bought, of=FIRST)[0] for one in (today, ahead, carried)] == [0, 1, 0]

    # 8 must be sold to the outside on day 1, which is known on that day only
    ordered = world(Exogenous(day=1, product=2, factory=MIDDLE, quantity=8, unit_price=40))
    contracts = [purchase(20, 0), sale(3, 1, concluded=0), sale(1, 1, concluded=1)]
    assert counts(contracts, ordered) == (1, 1)
    found = audits([sale(8, 1, buyer=MIDDLE, seller=FIRST)], ordered)[MIDDLE]
    assert (found.promised, found.shortfall, found.produced, found.sales) == (8, 0, 8, 0)


def test_what_the_bankrupt_will_not_deliver_is_not_counted_on():
    # FIRST can pay for nothing: it is forced to buy, and is bankrupt on the morning of day 1
    ruin = world(Exogenous(day=0, product=0, factory=FIRST, quantity=9, unit_price=10_000))
    bought = purchase(5, 3)
    assert counts([bought, sale(5, 3, concluded=0)], ruin) == (0, 0)
    assert counts([bought, sale(5, 3, concluded=1)], ruin) == (1, 0)
    void = audits([bought, purchase(2, 0)], ruin)[FIRST]
    assert (void.agreements, void.promised) == (2, 2)


def test_talks_end_with_bankruptcy_and_agreements_count_on_both_sides():
    ruin = world(Exogenous(day=0, product=0, factory=FIRST, quantity=9, unit_price=10_000))
    found = audits([purchase(5, 3), sale(5, 3), sale(1, 0, seller=OTHER)], ruin)
    # on day 0 everybody meets; then MIDDLE and OTHER have nobody left to buy from
    assert [one.talks for one in found] == [2, 2 + 5, 2 + 5, 2 * 6]
    assert [one.agreements for one in found] == [1, 2, 1, 2]
    assert [one.sales for one in found] == [1, 1, 1, 0]


def test_promised_is_what_fell_due():
    found = audits([purchase(3, 0), sale(5, 0), sale(5, 1)])[MIDDLE]
    # nothing of the 3 remains for day 1
    assert (found.promised, found.produced, found.shortfall) == (10, 3, 7)
