"""The cyclic share: none where ratings say all, all of it in a circle, and in between as made."""

import numpy as np
import pytest

from understudy.league.analysis.cyclicity import cyclicity

CIRCLE = np.sin(2 * np.pi * (np.arange(5)[:, None] - np.arange(5)) / 5)


def population(lead, games, seed=None):
    """Points of a population whose log odds are these; sampled, or as expected."""
    rate = 1 / (1 + np.exp(-lead))
    if seed is None:
        return np.where(np.eye(len(lead)), 0, games * rate)
    won = np.triu(np.random.default_rng(seed).binomial(games, rate), 1).astype(float)
    return won + np.triu(games - won, 1).T


def ladder(players=8, step=0.5):
    strength = step * np.arange(players)
    return strength[:, None] - strength


def test_a_ladder_has_no_circles_and_a_circle_nothing_else():
    assert cyclicity(population(ladder(), 1e6)).value == pytest.approx(0, abs=1e-4)
    assert cyclicity(population(2 * CIRCLE, 1e6)).value == pytest.approx(1, abs=1e-4)


def test_both_together_are_in_between():
    mixed = ladder(5, 0.4) + CIRCLE
    shares = [cyclicity(population(ladder(5, 0.4) + a * CIRCLE, 1e6)).value for a in (0.5, 1, 2)]
    assert shares == sorted(shares) and 0.05 < shares[0] < shares[2] < 0.95
    assert cyclicity(population(mixed, 1e6)).n == 10


@pytest.mark.parametrize("lead", [ladder(12, 0.2), np.kron(CIRCLE, np.ones((2, 2)))])
def test_chance_is_not_taken_for_a_circle(lead):
    """Forty matches a pair; the mean over samples is what it would be of very many."""
    true = cyclicity(population(lead, 1e6)).value
    found = [cyclicity(population(lead, 40, seed)) for seed in range(12)]
    assert np.mean([one.value for one in found]) == pytest.approx(true, abs=0.05)
    assert sum(one.low <= true <= one.high for one in found) >= 10


def test_of_two_players_nothing_is_known():
    found = cyclicity(np.array([[0.0, 30.0], [10.0, 0.0]]))
    assert (found.low, found.high, found.n) == (0.0, 1.0, 1)
    assert cyclicity(np.zeros((3, 3))).n == 0


def test_equals_have_nothing_to_explain():
    found = cyclicity(population(np.zeros((6, 6)), 40, 3))
    assert found.low == 0.0
