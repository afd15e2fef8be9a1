"""Nash mixtures and populations against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.league.analysis.nash import beaten_by, nash, relative_performance, shares_by_name

CIRCLE = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def antisymmetric(size, seed):
    upper = np.triu(np.random.default_rng(seed).uniform(-0.5, 0.5, (size, size)), 1)
    return 0.5 + upper - upper.T


def test_a_circle_is_mixed_evenly():
    np.testing.assert_allclose(nash(CIRCLE), 1 / 3, atol=1e-3)


def test_worked_example():
    # a beats b by 1 and loses to c by 1/3; b beats c by 2/3: shares as the edges opposite
    edge = np.array([[0, 1, -1 / 3], [-1, 0, 2 / 3], [1 / 3, -2 / 3, 0]])
    np.testing.assert_allclose(nash(0.5 + edge / 2), [1 / 3, 1 / 6, 1 / 2], atol=2e-3)


def test_clones_share_what_one_would_have():
    names = [0, 1, 2, 2, 2]
    np.testing.assert_allclose(
        nash(CIRCLE[np.ix_(names, names)]), [1 / 3, 1 / 3, *[1 / 9] * 3], atol=1e-3
    )


def test_who_is_beaten_by_all_has_no_share():
    rates = np.full((4, 4), 0.5)
    rates[:3, :3] = CIRCLE
    rates[:3, 3], rates[3, :3] = 0.6, 0.4
    assert nash(rates)[3] < 1e-2
    rates[:3, 3], rates[3, :3] = 0.4, 0.6
    assert nash(rates)[3] > 0.99


def test_equals_share_evenly():
    np.testing.assert_allclose(nash(np.full((7, 7), 0.5)), 1 / 7, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6))
def test_nobody_in_the_population_beats_the_mixture(size, seed):
    rates = antisymmetric(size, seed)
    mixture = nash(rates)
    assert mixture.sum() == pytest.approx(1)
    assert (mixture >= 0).all()
    assert beaten_by(rates, mixture) <= 0.5 + 2e-3


@pytest.mark.parametrize("size", [0, 1])
def test_one_player_and_none(size):
    assert nash(np.full((size, size), 0.5)).tolist() == [1.0] * size


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_one_who_wins_or_loses_always(rate):
    found = nash(np.array([[0.5, rate], [1 - rate, 0.5]]))
    assert found[int(rate == 0)] > 0.99


def test_populations_against_each_other():
    assert relative_performance(CIRCLE) == pytest.approx(0.5)
    assert relative_performance(CIRCLE[:, :1]) == pytest.approx(1)  # paper against rock
    assert relative_performance(CIRCLE[:1]) == pytest.approx(0)
    # rock and paper against all three: 1/3 rock, 2/3 paper is sure of 1/3
    assert relative_performance(CIRCLE[:2]) == pytest.approx(1 / 3)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_what_one_population_gains_the_other_loses(rows, columns, seed):
    rates = np.random.default_rng(seed).uniform(size=(rows, columns))
    value = relative_performance(rates)
    assert value == pytest.approx(1 - relative_performance(1 - rates.T), abs=1e-7)
    assert rates.min(axis=1).max() - 1e-9 <= value <= rates.max(axis=0).min() + 1e-9


def test_a_population_without_players_is_refused():
    with pytest.raises(ValueError, match="without players"):
        relative_performance(np.zeros((0, 3)))


def test_small_shares_are_not_named():
    assert shares_by_name("abc", np.array([0.7, 0.2999, 0.0001])) == {"a": 0.7, "b": 0.2999}
