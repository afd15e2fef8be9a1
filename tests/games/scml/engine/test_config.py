"""Configurations: the same for the same seed, plain numbers, and what scml's generator promises."""

import random
from itertools import pairwise

import numpy as np
import pytest
from scml.oneshot.common import OneShotProfile

from understudy.games.scml.engine.config import LINES, draw
from understudy.games.scml.engine.random_state import random_state_kept

SIZES, STEPS = (2, 3, 2), 40


@pytest.fixture(scope="module")
def std():
    return draw(SIZES, STEPS, seed=11)


@pytest.fixture(scope="module")
def oneshot():
    return draw((3, 3), STEPS, seed=11, track="oneshot")


def test_the_same_seed_is_the_same_world_and_another_is_another(std):
    assert draw(SIZES, STEPS, seed=11) == std
    other = draw(SIZES, STEPS, seed=12)
    assert other.catalog_prices != std.catalog_prices or other.factories != std.factories
    assert draw(SIZES, STEPS, seed=2**32 + 11) != std  # numpy's seed alone would be the same


def test_drawing_leaves_the_random_state_alone():
    random.seed(4)
    np.random.seed(4)
    expected = random.random(), np.random.random()
    random.seed(4)
    np.random.seed(4)
    draw((1, 1), 6, seed=99)
    assert (random.random(), np.random.random()) == expected


def test_random_states_are_put_back_also_after_a_failure():
    random.seed(7)
    before = random.getstate(), np.random.get_state()[1].tolist()
    with pytest.raises(KeyError), random_state_kept():
        random.random()
        np.random.random(5)
        raise KeyError
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_factories_are_in_order_of_level_and_named_by_index(std):
    assert [factory.level for factory in std.factories] == [0, 0, 1, 1, 1, 2, 2]
    assert std.names == ["00@0", "01@0", "02@1", "03@1", "04@1", "05@2", "06@2"]
    assert std.num_products == len(SIZES) + 1
    assert {factory.lines for factory in std.factories} == {LINES}


def test_prices_rise_along_the_chain_and_everything_is_a_plain_number(std):
    assert all(one < other for one, other in pairwise(std.catalog_prices))
    assert all(type(price) is int for price in std.catalog_prices)
    for factory in std.factories:
        assert (type(factory.cost), type(factory.initial_balance)) == (int, int)
        assert all(type(cost) is float for cost in factory.storage_cost)


@pytest.mark.parametrize("world", ["std", "oneshot"])
def test_the_outside_sells_the_first_product_and_buys_the_last(world, request):
    config = request.getfixturevalue(world)
    last = config.num_products - 1
    assert {trade.product for trade in config.exogenous} == {0, last}
    for trade in config.exogenous:
        level = config.factories[trade.factory].level
        assert level == (0 if trade.product == 0 else last - 1)
        assert 0 <= trade.day < config.steps and trade.quantity >= 0 and trade.unit_price > 0


def test_what_perishes_is_thrown_away_and_what_keeps_is_stored(std, oneshot):
    for config, stores in ((std, True), (oneshot, False)):
        for factory in config.factories:
            storage, disposal, _ = factory.means
            assert (storage > 0, disposal > 0) == (stores, not stores)
            assert any(factory.storage_cost) == stores
            assert any(factory.disposal_cost) != stores


def test_costs_vary_from_day_to_day_around_what_the_owner_is_told(std):
    for factory in std.factories:
        mean, deviation = factory.means[2], factory.deviations[2]
        found = np.array(factory.shortfall_penalty)
        assert len(found) == STEPS and (found >= 0).all()
        assert abs(found.mean() - mean) < 5 * deviation / np.sqrt(STEPS) + 1e-12


def test_a_profile_tells_an_agent_what_is_in_the_configuration(std):
    factory = std.factories[3]
    assert factory.profile == OneShotProfile(
        cost=factory.cost,
        input_product=1,
        n_lines=LINES,
        shortfall_penalty_mean=factory.means[2],
        disposal_cost_mean=factory.means[1],
        shortfall_penalty_dev=factory.deviations[2],
        disposal_cost_dev=factory.deviations[1],
        storage_cost_mean=factory.means[0],
        storage_cost_dev=factory.deviations[0],
    )
