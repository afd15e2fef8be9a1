"""The dice of the compiled world, and that agents in the hosting engine roll the same."""

import math
from collections import Counter

import numpy as np
import pytest

from understudy.games.scml.batch import dice
from understudy.games.scml.batch.state import WORLD
from understudy.games.scml.reference.dice import DICE, OrderedSet, with_dice

SEED, ME = 2**40 + 7, 3


@pytest.fixture
def world():
    """A world in which factory ME has its dice; the agents' dice are the same."""
    found = np.zeros(1, WORLD)
    found["dice"][0, ME] = dice.key_of(SEED, ME)
    DICE.begin(SEED, ME + 1)
    DICE.factory = ME
    return found[0]


def test_a_number_depends_on_seed_factory_and_count_alone():
    numbers = {
        dice.number_of(dice.key_of(seed, factory), count)
        for seed in (0, 1, 2**32, 2**61 - 1)
        for factory in range(32)
        for count in range(100)
    }
    assert len(numbers) > 4 * 32 * 100 - 10  # of 32 bits: two may meet
    assert all(0 <= number < 2**32 for number in numbers)


def test_numbers_are_spread_evenly():
    key = dice.key_of(SEED, ME)
    numbers = np.array([dice.number_of(key, count) for count in range(20_000)]) / 2**32
    assert abs(numbers.mean() - 0.5) < 4 / math.sqrt(12 * 20_000)
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 4 / math.sqrt(20_000)
    assert np.bincount((numbers * 16).astype(int)).std() < 2 * math.sqrt(20_000 / 16)


def test_agents_roll_what_the_compiled_players_roll(world):
    for count in (1, 5, 11, 16):
        assert DICE.random() == dice.uniform(world, ME)
        assert DICE.randint(3, 3 + count) == dice.between(world, ME, 3, 3 + count)
        theirs, ours = list(range(count)), np.arange(count)
        DICE.shuffle(theirs)
        dice.shuffle(world, ME, ours, count)
        assert theirs == ours.tolist()
        bins = np.zeros(count, np.int64)
        dice.scatter(world, ME, 3 * count, bins, count)
        chosen = Counter(DICE.choice(count, 3 * count))
        assert bins.tolist() == [chosen[place] for place in range(count)]
        drawn = np.zeros(count, np.int64)
        dice.sample(world, ME, np.arange(count), count, count // 2, drawn)
        assert DICE.sample(range(count), count // 2) == drawn[: count // 2].tolist()


def test_every_order_is_as_likely(world):
    orders = Counter()
    for _ in range(6000):
        items = np.arange(4)
        dice.shuffle(world, ME, items, 4)
        orders[tuple(items)] += 1
    assert len(orders) == 24
    assert np.std(list(orders.values())) < 1.5 * math.sqrt(6000 / 24)


def test_several_things_drawn_from_one_number_have_nothing_in_common(world):
    pairs = np.zeros((8, 8))
    for _ in range(20_000):
        items = np.arange(8)
        dice.shuffle(world, ME, items, 8)
        pairs[items[7], items[6]] += 1
    expected = 20_000 / 56
    assert abs(pairs[~np.eye(8, dtype=bool)] - expected).max() < 5 * math.sqrt(expected)


def test_a_set_of_an_agent_keeps_the_order_in_which_it_was_filled():
    module = with_dice("scml.oneshot.agents.rand")
    assert module.set is OrderedSet
    mixed = OrderedSet([3, 1, 2, 1])
    assert list(mixed) == [3, 1, 2]
    assert list(mixed - [1]) == list(mixed.difference([1], [7])) == [3, 2]
    assert list(mixed & [2, 3]) == [3, 2]
    assert list(mixed | [9, 1]) == [3, 1, 2, 9]
