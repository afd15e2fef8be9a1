"""What a decision brought: potentials by hand, and gains of negotiations against a slow loop."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.scml.states import PROFILE, state
from understudy.games.scml.learning import rewards
from understudy.games.scml.view.columns import packed


def potential(**day_start):
    return float(rewards.potentials(packed([state(**day_start)]))[0])


WORTH = rewards.STOCK_USE * 44 * 18
"""Of a unit of stock on day 5 of 50: it is used on a quarter of 44 days, and earns 20 - 2."""


def test_an_empty_book_is_worth_nothing():
    assert potential() == 0


def test_a_sale_is_worth_its_margin_as_far_as_the_lines_go():
    # 4 units at 20 each, made for 2 each
    assert potential(sold=(0, 4)) == pytest.approx(4 * 18 / 1000)
    # of 12 units 10 can be made; two fall short at 0.5 * 20 each
    assert potential(sold=(12,)) == pytest.approx((10 * 18 - 2 * 10) / 1000)
    assert potential(sold=(6, 6)) == pytest.approx(12 * 18 / 1000)


def test_a_purchase_is_owed_and_earns_as_stock_up_to_the_lines():
    assert potential(bought=(0, 0, 3)) == pytest.approx((3 * WORTH - 30) / 1000)
    assert potential(stock=7) == pytest.approx(7 * WORTH / 1000)
    assert potential(stock=8, bought=(6,)) == pytest.approx((10 * WORTH - 60) / 1000)


def test_on_the_last_day_and_where_all_perishes_stock_is_worth_nothing():
    assert potential(stock=7, day=49) == 0
    assert potential(stock=7, profile=replace(PROFILE, perishable=True, horizon=0)) == 0


def test_nobody_is_paid_for_losing_money_on_stock():
    assert potential(stock=7, price_out=1.0) == 0  # less than the cost of making one


@settings(max_examples=40, deadline=None, derandomize=True)
@given(negotiation=st.lists(st.integers(0, 4), max_size=20))
def test_gains_fade_with_every_decision_before_the_last_of_a_negotiation(negotiation):
    worth = np.array([10.0, -3.0, 0.5, 0.0, 7.0])
    found = rewards.negotiation_gains(
        np.array(negotiation, int), worth[negotiation] if negotiation else np.zeros(0)
    )
    for index, number in enumerate(negotiation):
        later = negotiation[index + 1 :].count(number)
        assert found[index] == pytest.approx(worth[number] * rewards.FADE**later)
