"""Sales beyond what was known to suffice, by worked examples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    assert counts([*today, *today], bought, of=FIRST) == (1, 0)  # supplied once, not per contract

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


def test_what_the_bankrupt_will_not_take_can_be_sold_again():
    # MIDDLE is forced to buy what it cannot pay, and is bankrupt on the morning of day 1
    ruin = Exogenous(day=0, product=0, factory=MIDDLE, quantity=9, unit_price=10_000)
    supply = Exogenous(day=1, product=0, factory=FIRST, quantity=10, unit_price=10)
    made = [purchase(10, 1), purchase(10, 1, concluded=1, buyer=OTHER)]
    assert counts(made, world(ruin, supply), of=FIRST) == (1, 0)  # the first, when made
    assert counts(made, world(supply), of=FIRST) == (2, 1)


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


# --- any world -----------------------------------------------------------------------------------

quantities, steps = st.integers(1, 14), st.integers(0, STEPS - 1)
routes = st.sampled_from([(FIRST, MIDDLE), (FIRST, OTHER), (MIDDLE, LAST), (OTHER, LAST)])
agreed = st.builds(
    lambda route, quantity, concluded, ahead: sale(quantity, concluded + ahead, concluded, *route),
    routes,
    quantities,
    steps,
    st.integers(0, 2 * STEPS),  # an audit knows no horizon
)
forced = st.builds(
    lambda day, whose, quantity, price: Exogenous(day, *whose, quantity, price),
    steps,
    st.sampled_from([(0, FIRST), (0, MIDDLE), (3, LAST)]),
    quantities,
    st.sampled_from([1, 400]),  # at 400 a factory is soon bankrupt
)


def expected(contracts, config, conserve_stock, of):
    """By the words of the module, for every sale anew: slow and obvious."""
    days = account(config, contracts, conserve_stock)
    since = {day.factory: day.day for day in reversed(days.days) if day.bankrupt}
    lines, unsafe, over_lines = config.factories[of].lines, 0, 0
    for number, made in enumerate(contracts):
        if made.seller != of:
            continue
        today = days.of(made.concluded, of)
        void = {who for who, day in since.items() if day <= today.day}
        known = [c for c in contracts[: number + 1] if not {c.seller, c.buyer} & (void - {of})]

        def arriving(day, known=known, today=today):
            bought = sum(c.quantity for c in known if c.buyer == of and c.day == day)
            return bought + (today.supply_quantity if day == today.day else 0)

        def ordered(day, known=known, today=today):
            sold = sum(c.quantity for c in known if c.seller == of and c.day == day)
            return sold + (today.sale_quantity if day == today.day else 0)

        stock = today.stock
        for day in range(today.day, made.day):
            left = arriving(day) - min(stock + arriving(day), lines, ordered(day))
            stock += left if conserve_stock else max(0, left)
        over_lines += ordered(made.day) > lines
        unsafe += ordered(made.day) > min(lines, stock + arriving(made.day))
    return unsafe, over_lines


def possible(contracts, config, conserve_stock):
    """Without those that one of both was too bankrupt to make."""
    found = []
    for made in contracts:
        days = account(config, found, conserve_stock)
        if not any(days.of(made.concluded, who).bankrupt for who in (made.seller, made.buyer)):
            found.append(made)
    return found


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    contracts=st.lists(agreed, max_size=20),
    outside=st.lists(forced, max_size=5, unique_by=lambda one: (one.day, one.factory)),
    balance=st.sampled_from([2_000, 100_000]),
    conserve_stock=st.booleans(),
)
def test_counts_are_those_of_the_definition(contracts, outside, balance, conserve_stock):
    config = world(*outside, balance=balance)
    in_order = sorted(contracts, key=lambda made: made.concluded)
    made = possible(in_order, config, conserve_stock)
    for factory_, found in enumerate(audits(made, config, conserve_stock)):
        assert (found.unsafe, found.over_lines) == expected(made, config, conserve_stock, factory_)
        assert found.sales == sum(one.seller == factory_ for one in made)
        assert found.agreements == sum(factory_ in (one.seller, one.buyer) for one in made)


def test_what_was_agreed_on_a_day_that_never_ended_counts_as_agreed_only():
    config = world()
    made = [purchase(5, 0), sale(6, 0), sale(9, 3, concluded=2)]
    ended = account(config, made, False, steps=2)
    found = audit(config, made, ended, False)[MIDDLE]
    assert (found.agreements, found.sales, found.unsafe) == (3, 2, 1)
