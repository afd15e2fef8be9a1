"""A day of production, by worked examples."""

import pytest

from understudy.games.scml.engine.config import FactoryConfig
from understudy.games.scml.engine.factory import Factory, Today

PRICE_IN, PRICE_OUT = 10.0, 20.0


def factory(balance=1000, stock=0, conserve_stock=False, supply=(0, 0), sale=(0, 0)):
    config = FactoryConfig(
        level=1,
        lines=10,
        cost=2,
        initial_balance=balance,
        storage_cost=(0.1,),
        disposal_cost=(0.0,),
        shortfall_penalty=(0.5,),
        means=(0.1, 0.0, 0.5),
        deviations=(0.0, 0.0, 0.0),
    )
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


def test_the_score_is_the_balance_over_the_first():
    made = factory(balance=100)
    assert made.score == 1
    close(made, bought=[(1, 10)], sold=[(1, 22)])
    assert made.score == pytest.approx(1.1)
