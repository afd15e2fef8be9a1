"""A day of production, by worked examples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scml.oneshot.ufun import OneShotUFun

from tests.games.scml.chains import factory_config
from understudy.games.scml.engine.factory import Factory, Today

PRICE_IN, PRICE_OUT = 10.0, 20.0


def factory(balance=1000, stock=0, conserve_stock=False, supply=(0, 0), sale=(0, 0)):
    config = factory_config(balance=balance, storage=0.1, shortfall=0.5)
    made = Factory(config, conserve_stock)
    made.stock = stock
    made.exogenous = Today(*supply, *sale)
    return made


def close(made, bought=(), sold=()):
    made.close_day(0, bought, sold, PRICE_IN, PRICE_OUT)
    return made.results[-1]


def test_what_is_sold_is_made_and_the_rest_is_stored():
    made = factory()
    result = close(made, bought=[(5, 9)], sold=[(3, 21)])
    # 3 * 21 earned, 5 * 9 paid, 3 * 2 for the work, 2 * 0.1 * 10 for storage
    assert (result.produced, result.stored, result.shortfall) == (3, 2, 0)
    assert result.profit == 63 - 45 - 6 - 2
    assert made.stock == 2


def test_what_cannot_be_made_is_paid_for():
    result = close(factory(), bought=[(2, 9)], sold=[(3, 21), (1, 30)])
    # the dearest two of four units: 30 + 21; two short at 0.5 * 20 each
    assert (result.produced, result.shortfall) == (2, 2)
    assert result.profit == 51 - 18 - 4 - 20


def test_lines_limit_a_day():
    result = close(factory(stock=30), sold=[(12, 21)])
    assert (result.produced, result.shortfall, result.stored) == (10, 2, 20)


def test_production_takes_no_stock_unless_it_is_conserved():
    as_scml, conserving = factory(stock=8), factory(stock=8, conserve_stock=True)
    for made in (as_scml, conserving):
        assert close(made, bought=[(1, 9)], sold=[(5, 21)]).produced == 5
    assert (as_scml.stock, conserving.stock) == (8, 4)


def test_trades_with_the_outside_count():
    result = close(factory(supply=(4, 40), sale=(4, 100)))
    assert (result.produced, result.profit) == (4, 100 - 40 - 8)


def test_without_money_nothing_is_made_of_what_was_bought():
    # 20 units at 9 + 2 each pass the balance of 50: work on int(50 / 11) = 4 of them
    made = factory(balance=50)
    result = close(made, bought=[(20, 9)], sold=[(10, 21)])
    assert (result.produced, result.shortfall) == (4, 6)
    assert made.bankrupt and made.balance < 0  # and so it makes nothing the day after
    assert close(made, bought=[(2, 9)], sold=[(1, 21)]).produced == 0


def test_money_runs_out_in_the_middle_of_what_was_bought_cheapest_first():
    # 5 at 9 are paid; of the 10 at 12 there is money to work on (100 - 45) // 14 = 3
    result = close(factory(balance=100), bought=[(10, 12), (5, 9)], sold=[(10, 21)])
    assert (result.produced, result.stored, result.shortfall) == (8, 7, 2)


def test_the_score_is_the_balance_over_the_first():
    made = factory(balance=100)
    assert made.score == 1
    close(made, bought=[(1, 10)], sold=[(1, 22)])
    assert made.score == pytest.approx(1.1)


def test_what_perishes_is_not_there_the_next_day():
    config = factory_config(steps=2, disposal=0.2)
    made = Factory(config, conserve_stock=False, perishable=True)
    result = close(made, bought=[(5, 9)], sold=[(3, 21)])
    # 63 earned, 45 paid, 6 for the work, and 2 units thrown away at 0.2 * 10 each
    assert (made.stock, result.stored) == (0, 2)
    assert result.profit == 63 - 45 - 6 - 4


def test_a_factory_without_lines_makes_nothing_and_pays_for_all_it_sold():
    made = Factory(factory_config(lines=0, shortfall=0.5), False)
    result = close(made, bought=[(4, 9)], sold=[(3, 21)])
    assert (result.produced, result.shortfall, result.stored) == (0, 3, 4)
    assert result.profit == -36 - 30


def test_a_day_without_trades_costs_only_the_storage_of_stock():
    made = factory(stock=6)
    result = close(made)
    assert result == (0, -6 * 0.1 * PRICE_IN, 0, 6)
    assert made.stock == 6


@pytest.mark.parametrize(
    ("stock", "supply", "bought", "sale", "sold", "breach"),
    [
        (0, 0, 5, 0, 5, 0),
        (2, 0, 1, 0, 6, 0.5),  # 3 of 6
        (30, 0, 0, 0, 20, 0.5),  # the lines are 10
        (0, 2, 0, 0, 4, 0),  # what comes from outside counts twice, as in scml
        (0, 0, 4, 2, 0, 0),
        (0, 0, 0, 2, 0, 1),
    ],
)
def test_a_breach_is_the_share_of_what_was_promised_and_cannot_be_made(
    stock, supply, bought, sale, sold, breach
):
    made = factory(stock=stock, supply=(supply, 10 * supply), sale=(sale, 20 * sale))
    close(made, [(bought, 9)] if bought else (), [(sold, 21)] if sold else ())
    assert made.breach_levels == [pytest.approx(breach)]


deals = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 30)), max_size=4)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    balance=st.integers(1, 400),
    stock=st.integers(0, 15),
    supply=st.tuples(st.integers(0, 12), st.integers(1, 20)),
    sale=st.tuples(st.integers(0, 12), st.integers(1, 30)),
    bought=deals,
    sold=deals,
)
def test_the_profit_of_any_day_is_scmls(balance, stock, supply, sale, bought, sold):
    """Held against scml's own utility function, which decides a day's profit there."""
    outside = (supply[0], supply[0] * supply[1]), (sale[0], sale[0] * sale[1])
    made = factory(balance, stock, supply=outside[0], sale=outside[1])
    scmls = OneShotUFun(
        ex_qin=outside[0][0], ex_pin=outside[0][1], ex_qout=outside[1][0], ex_pout=outside[1][1],
        input_product=1, input_agent=False, output_agent=False, production_cost=2,
        disposal_cost=0.0, storage_cost=0.1, shortfall_penalty=0.5, input_penalty_scale=PRICE_IN,
        storage_penalty_scale=PRICE_IN, output_penalty_scale=PRICE_OUT, n_input_negs=1,
        n_output_negs=1, current_step=0, agent_id="a", n_lines=10, current_balance=balance,
        inventory_in=stock, inventory_out=0, perishable=False, time_range=(0, 0),
    )  # fmt: skip
    offers = tuple((quantity, 0, price) for quantity, price in (*bought, *sold))
    outputs = (False,) * len(bought) + (True,) * len(sold)
    expected = scmls.from_offers(offers, outputs, return_info=True)
    found = close(made, bought, sold)
    assert found.profit == pytest.approx(expected.utility, abs=1e-9)
    assert found.stored == expected.remaining_quantity
    assert (found.produced, found.shortfall) == (
        expected.producible,
        expected.shortfall_quantity,
    )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(days=st.lists(st.tuples(deals, deals), min_size=1, max_size=4))
def test_where_stock_is_conserved_every_unit_is_in_stock_or_was_made(days):
    made = Factory(factory_config(steps=4, balance=10_000), conserve_stock=True)
    for day, (bought, sold) in enumerate(days):
        made.close_day(day, bought, sold, PRICE_IN, PRICE_OUT)
    arrived = sum(quantity for bought, _ in days for quantity, _ in bought)
    assert arrived == made.stock + sum(result.produced for result in made.results)
