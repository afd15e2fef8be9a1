"""Trading prices against their definition: the mean of all sales, the recent counting more."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.games.scml.engine.prices import CATALOG_WEIGHT, DISCOUNT, TradingPrices

sales = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 60)), max_size=5)
"""Of one product on one day: units and unit price."""


def after(catalog, *days):
    """Prices of a single product after these days of sales."""
    prices = TradingPrices([catalog])
    for day in days:
        for quantity, unit_price in day:
            prices.add_sale(0, quantity, unit_price)
        prices.close_day()
    return prices


def weighted_mean(catalog, days):
    """The definition, slow and obvious: what was sold k trading days ago weighs 0.9^k a unit."""
    traded = [day for day in days if day]  # a day without sales takes nothing from the past
    weight = CATALOG_WEIGHT * DISCOUNT ** len(traded)
    total = catalog * weight
    for ago, day in enumerate(reversed(traded)):
        for quantity, unit_price in day:
            weight += quantity * DISCOUNT**ago
            total += quantity * unit_price * DISCOUNT**ago
    return total / weight


def test_worked_example():
    # 5 units at 12 and 5 at 20 are 10 at 16; the catalog's 50 at 10 weigh 45 by now
    prices = after(10, [(5, 12), (5, 20)])
    assert prices.now[0] == pytest.approx((45 * 10 + 10 * 16) / 55)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(catalog=st.integers(1, 60), days=st.lists(sales, max_size=8))
def test_a_price_is_the_mean_of_all_sales_the_recent_weighing_more(catalog, days):
    prices = after(catalog, *days)
    assert prices.now[0] == pytest.approx(weighted_mean(catalog, days))
    seen = [catalog, *(unit_price for day in days for _, unit_price in day)]
    assert min(seen) - 1e-9 <= prices.now[0] <= max(seen) + 1e-9


def test_only_what_was_sold_moves():
    prices = TradingPrices([10, 20, 30])
    prices.add_sale(1, 10, 40)
    prices.close_day()
    assert prices.now[0] == 10 and prices.now[2] == 30 and 20 < prices.now[1] < 40


def test_sales_move_the_price_overnight_and_only_once():
    prices = TradingPrices([10])
    prices.add_sale(0, 10, 20)
    assert prices.now == [10]
    prices.close_day()
    moved = list(prices.now)
    prices.close_day()
    assert prices.now == moved


def test_who_kept_yesterdays_prices_has_yesterdays():
    prices = TradingPrices([10, 20])
    kept = prices.published
    prices.add_sale(0, 10, 20)
    prices.close_day()
    assert kept.tolist() == [10, 20]
    assert prices.published.tolist() == prices.now != kept.tolist()


@pytest.mark.parametrize(
    ("price", "share", "expected"),
    [
        (20, 0.1, (18, 22)),
        (14, 0.1, (12, 15)),  # 12.6 and 15.4, cut
        (5, 0.1, (4, 5)),
        (1, 0.1, (1, 1)),  # never for nothing
        (20, None, (19, 20)),  # OneShot: the two whole numbers around it
        (1, None, (1, 1)),
    ],
)
def test_the_range_that_may_be_offered(price, share, expected):
    assert TradingPrices([price]).range_of(0, share) == expected


def test_between_two_whole_numbers_oneshot_may_offer_both():
    prices = after(10, [(45, 11)])  # 10.5
    assert prices.now[0] == 10.5 and prices.range_of(0, None) == (10, 11)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(price=st.integers(1, 500), share=st.sampled_from([None, 0.1, 0.3]))
def test_a_range_is_in_order_and_of_whole_prices_from_1(price, share):
    low, high = TradingPrices([price]).range_of(0, share)
    assert 1 <= low <= high and (type(low), type(high)) == (int, int)
    assert low <= price <= high
