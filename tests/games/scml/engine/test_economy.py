"""Days of an economy worked by hand, and what no day may lose: money and goods."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.chains import chain, demand, supply
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.economy import Economy

SELLER, BUYER = 0, 1


def sale(quantity, day=0, unit_price=20, concluded=0):
    return Contract(SELLER, BUYER, 1, quantity, day, unit_price, concluded)


def played(config, contracts=(), days=1, **options):
    economy = Economy(config, **options)
    for day in range(days):
        economy.open_day()
        for contract in contracts:
            if contract.concluded == day:
                economy.ledger.add(contract)
        economy.close_day()
    return economy


def balances(economy):
    return [factory.balance for factory in economy.factories]


# --- worked examples -----------------------------------------------------------------------------


def test_a_day_of_two_factories_by_hand():
    config = chain(outside=[supply(6, 9), demand(5, 31)], storage=0.1, shortfall=0.5, cost=2)
    economy = played(config, [sale(4, unit_price=20)])
    # The first buys 6 at 9, makes 4 of them at 2 and sells them at 20; 2 cost 0.1 * 10 each.
    assert economy.factories[SELLER].profits == [80 - 54 - 8 - 2]
    # The last buys 4, makes 4 and sells them at 31; 1 of 5 is missing and costs 0.5 * 30.
    assert economy.factories[BUYER].profits == [124 - 80 - 8 - 15]
    assert [factory.stock for factory in economy.factories] == [2, 0]
    assert balances(economy) == [1016, 1021]


def test_prices_move_with_what_was_delivered_and_penalties_are_of_the_day_start():
    config = chain(outside=[demand(1, 31), demand(1, 31, day=1)], shortfall=0.5)
    economy = played(config, [sale(10, unit_price=31)], days=2)
    input_, middle, output = economy.prices.now
    assert input_ == 10  # nobody bought any
    assert middle == pytest.approx((45 * 20 + 10 * 31) / 55)
    weight = 45 + 1
    first = (45 * 30 + 31) / weight
    assert output == pytest.approx((0.9 * weight * first + 31) / (0.9 * weight + 1))
    # The seller had no input. Its penalty is of the day-start price, 20, not the evening's.
    assert economy.factories[SELLER].profits[0] == -10 * 0.5 * 20


def test_several_trades_with_the_outside_on_a_day_are_added():
    economy = Economy(chain(outside=[supply(2, 10), supply(3, 12), demand(4), supply(1, 9, day=1)]))
    economy.open_day()
    first, last = (factory.exogenous for factory in economy.factories)
    assert (first.supply_quantity, first.supply_price) == (5, 20 + 36)
    assert (last.sale_quantity, last.sale_price) == (4, 120)
    assert (last.supply_quantity, first.sale_quantity) == (0, 0)
    economy.close_day()
    economy.open_day()
    assert (first.supply_quantity, economy.factories[0].exogenous.supply_quantity) == (5, 1)


def test_what_was_agreed_for_later_is_delivered_then():
    economy = played(chain(outside=[supply(4)]), [sale(4, day=2)], days=3)
    assert [result.produced for result in economy.factories[SELLER].results] == [0, 0, 4]
    assert economy.ledger.contracts[0].executed


# --- bankruptcy ----------------------------------------------------------------------------------


def test_with_a_bankrupt_partner_nothing_is_delivered_any_more():
    config = chain(outside=[supply(9, 12), demand(3, day=1)], balance=100, shortfall=0.5)
    economy = played(config, [sale(3, day=1)], days=2)
    assert [factory.bankrupt for factory in economy.factories] == [True, False]
    assert economy.factories[SELLER].balance == 100 - 9 * 12
    (contract,) = economy.ledger.contracts
    assert contract.nullified and not contract.executed
    # The buyer pays for nothing, but has nothing to make: three short at 0.5 * 30.
    assert economy.factories[BUYER].profits == [0, -45]


def test_bankruptcy_is_for_good_even_where_money_comes_back():
    config = chain(outside=[supply(9, 12)], balance=100)
    economy = played(config)
    factory = economy.factories[SELLER]
    factory.stock = 9
    economy.open_day()
    economy.ledger.add(sale(1, day=1, unit_price=40, concluded=1))
    economy.close_day()
    assert factory.bankrupt and factory.results[-1].produced == 0


# --- what may be offered -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("track", "day", "quantity", "days", "price"),
    [
        ("std", 0, (1, 30), (0, 10), (18, 22)),
        ("std", 15, (1, 30), (15, 19), (18, 22)),  # no further than the last day
        ("std", 19, (1, 30), (19, 19), (18, 22)),
        ("std", 20, (1, 30), (19, 19), (18, 22)),  # after the end, as scml goes on
        ("oneshot", 4, (1, 10), (4, 4), (19, 20)),  # a horizon of 0: only today
    ],
)
def test_ranges(track, day, quantity, days, price):
    economy = Economy(chain(steps=20, track=track))
    economy.day = day
    assert economy.ranges(1) == (quantity, days, price)


def test_the_factory_with_most_lines_sets_the_quantities_of_all():
    few = chain(lines=4)
    assert Economy(few).ranges(1)[0] == (1, 12)
    assert Economy(chain(lines=0)).ranges(1)[0] == (1, 1)


# --- nothing is lost -----------------------------------------------------------------------------

deals = st.lists(
    st.tuples(st.integers(1, 15), st.integers(0, 3), st.integers(1, 40), st.integers(0, 3)),
    max_size=8,
)
trades = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 40), st.integers(0, 3)), max_size=5)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(deals=deals, bought=trades, sold=trades, conserve=st.booleans())
def test_money_goes_from_factory_to_factory_or_to_and_from_the_outside(
    deals, bought, sold, conserve
):
    """What both own together changes by trades with the outside, work and penalties only."""
    costs = {"cost": 2, "storage": 0.1, "disposal": 0.05, "shortfall": 0.5}
    outside = [supply(*trade) for trade in bought] + [demand(*trade) for trade in sold]
    config = chain(outside=outside, steps=4, balance=10**6, **costs)
    economy = Economy(config, conserve_stock=conserve)
    contracts = [sale(q, max(d, c), p, c) for q, d, p, c in deals]
    for day in range(4):
        before, prices = sum(balances(economy)), economy.prices.now
        economy.open_day()
        for contract in contracts:
            if contract.concluded == day:
                economy.ledger.add(contract)
        economy.close_day()
        first, last = (factory.results[-1] for factory in economy.factories)
        spent = 2 * (first.produced + last.produced)
        for level, result in enumerate((first, last)):
            spent += 0.15 * prices[level] * result.stored
            spent += 0.5 * prices[level + 1] * result.shortfall
        spent += sum(q * p for q, p, d in bought if d == day)
        today = [(q, p) for q, p, d in sold if d == day]
        money, units = sum(q * p for q, p in today), sum(q for q, _ in today)
        earned = last.produced * money / max(units, 1)  # the outside pays one mean price
        # Who buys pays for all, but who sells is paid only for what it could make.
        inside = [(c.quantity, c.unit_price) for c in contracts if c.day == day]
        unpaid = sum(q * p for q, p in inside) - _fetched(first.produced, inside)
        assert sum(balances(economy)) - before == pytest.approx(earned - spent - unpaid)


def _fetched(made, sales):
    """What the dearest units of all that was sold bring."""
    prices = sorted((price for quantity, price in sales for _ in range(quantity)), reverse=True)
    return sum(prices[:made])


def test_a_day_is_the_same_in_whatever_order_its_contracts_were_made():
    config = chain(outside=[supply(8, 9), demand(9)], storage=0.1, shortfall=0.5)
    contracts = [sale(2, unit_price=19), sale(3, unit_price=25), sale(4, unit_price=21)]
    one, other = (played(config, order) for order in (contracts, contracts[::-1]))
    assert balances(one) == balances(other)
    assert one.prices.now == pytest.approx(other.prices.now)
