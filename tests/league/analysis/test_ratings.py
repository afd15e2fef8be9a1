"""Ratings: the definition, worked examples, and intervals that hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.league.analysis.ratings import (
    ANCHOR,
    POINTS_PER_NAT,
    bradley_terry,
    elo,
    win_probability,
)


def played(strength, games, seed):
    """Points of every pair after so many games each."""
    dice = np.random.default_rng(seed)
    size = len(strength)
    points = np.zeros((size, size))
    for i, j in itertools.combinations(range(size), 2):
        chance = 1 / (1 + np.exp(strength[j] - strength[i]))
        won = dice.binomial(games, chance)
        points[i, j], points[j, i] = won, games - won
    return points


def by_minorisation(points, prior, rounds=20_000):
    """The classical iteration (Hunter 2004): slow and obvious; the imagined player has skill 1."""
    games = points + points.T
    skill = np.ones(len(points))
    for _ in range(rounds):
        shared = games / (skill[:, None] + skill[None, :])
        np.fill_diagonal(shared, 0)
        skill = (points.sum(axis=1) + prior / 2) / (shared.sum(axis=1) + prior / (skill + 1))
    return np.log(skill)


@pytest.mark.parametrize("seed", range(5))
def test_strengths_are_those_of_the_classical_iteration(seed):
    points = played(np.random.default_rng(seed).normal(size=6), 9, seed)
    points[0, 1] = points[1, 0] = 0  # a pair that has not met
    np.testing.assert_allclose(
        bradley_terry(points, prior=0.7).strength, by_minorisation(points, 0.7), atol=1e-7
    )


def test_worked_example():
    # 30 of 40 without a prior to speak of: odds of 3
    fit = bradley_terry(np.array([[0, 30.0], [10.0, 0]]), prior=1e-9)
    assert fit.strength[0] - fit.strength[1] == pytest.approx(np.log(3), abs=1e-6)


def test_the_elo_scale_is_that_of_tens():
    # 100 of 110 points: odds of 10, thus 400 Elo points but for the prior
    found = elo(["a", "b"], np.array([[0, 1e6], [1e7, 0]]), anchor="a")
    assert found["a"].plain() == (ANCHOR, ANCHOR, ANCHOR)
    assert found["b"].value == pytest.approx(1400, abs=0.1)
    assert win_probability(1400.0, 1000.0) == pytest.approx(10 / 11)
    assert win_probability(1000.0, 1400.0) == pytest.approx(1 / 11)


def test_the_gradient_is_zero_at_the_answer():
    points = played(np.array([0.0, 1.0, 3.0]), 25, 4)
    strength = bradley_terry(points, prior=2.0).strength
    expected = 1 / (1 + np.exp(-strength[:, None] + strength[None, :]))
    surplus = points.sum(axis=1) - ((points + points.T) * expected).sum(axis=1)
    np.testing.assert_allclose(surplus + 2.0 * (0.5 - 1 / (1 + np.exp(-strength))), 0, atol=1e-8)


def test_intervals_hold_as_often_as_they_say():
    truth = np.array([0.0, 0.5, -0.7, 1.2])
    inside = []
    for seed in range(150):
        found = elo("abcd", played(truth, 60, seed), anchor="a")
        for name, strength in zip("bcd", truth[1:], strict=True):
            true = ANCHOR + strength * POINTS_PER_NAT
            inside.append(found[name].low <= true <= found[name].high)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.03)


def test_more_games_make_narrower_intervals():
    widths = []
    for games in (10, 1000):
        rating = elo("ab", played(np.array([0.0, 1.0]), games, 0), anchor="a")["b"]
        widths.append(rating.high - rating.low)
    assert widths[1] < widths[0] / 5


points = st.integers(1, 6).flatmap(
    lambda size: st.lists(
        st.lists(st.floats(0, 1e5), min_size=size, max_size=size), min_size=size, max_size=size
    ).map(np.array)
)


@settings(max_examples=60, deadline=None)
@given(points)
def test_every_record_has_ratings(record):
    np.fill_diagonal(record, 0)
    found = elo([str(i) for i in range(len(record))], record, anchor="0")
    for rating in found.values():
        assert np.isfinite(rating.plain()).all()
        assert rating.low <= rating.value <= rating.high


def test_who_has_not_played_is_as_the_imagined_player_and_very_unsure():
    found = elo("abc", np.array([[0, 5.0, 0], [5.0, 0, 0], [0, 0, 0]]), anchor="a")
    assert found["c"].value == pytest.approx(ANCHOR, abs=1e-6)
    assert found["c"].high - found["c"].low > 500


def test_only_wins_and_only_losses_have_finite_ratings():
    found = elo("abc", np.array([[0, 50.0, 50.0], [0, 0, 50.0], [0, 0, 0]]), anchor="b")
    assert found["a"].value > found["b"].value > found["c"].value
    assert found["a"].high < 1e5
