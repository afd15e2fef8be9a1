"""Whom to prefer: the published weightings, for every win rate there can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.league.matchmaking import probabilities, weights

rates = st.lists(st.floats(0, 1), max_size=12).map(np.array)
ways = st.sampled_from(["hard", "variance", "even"])


def test_the_published_weightings():
    rate = np.array([0.0, 0.25, 1.0])
    np.testing.assert_allclose(weights(rate, "hard"), [1, 0.5625, 0])
    np.testing.assert_allclose(weights(rate, "hard", power=3.0), [1, 0.421875, 0])
    np.testing.assert_allclose(weights(rate, "variance"), [0, 0.1875, 0])


def test_worked_example():
    # hard: 0.81 and 0.01; variance: 0.09 twice
    rate = np.array([0.1, 0.9])
    np.testing.assert_allclose(probabilities(rate, "hard"), [81 / 82, 1 / 82])
    np.testing.assert_allclose(probabilities(rate, "variance"), [0.5, 0.5])


@given(rates, ways, st.floats(0.5, 8))
def test_probabilities_sum_to_one_whoever_wins(rate, way, power):
    found = probabilities(rate, way, power)
    assert found.shape == rate.shape
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1 if len(rate) else 0)


@pytest.mark.parametrize("way", ["hard", "variance"])
@pytest.mark.parametrize("rate", [[0.0, 0.0], [1.0, 1.0]])
def test_all_wins_and_all_losses_make_all_alike(rate, way):
    assert probabilities(np.array(rate), way).tolist() == [0.5, 0.5]


def test_only_wins_and_losses_together_still_choose():
    assert probabilities(np.array([0.0, 1.0]), "hard").tolist() == [1, 0]
    assert probabilities(np.array([0.0, 1.0]), "variance").tolist() == [0.5, 0.5]


def test_tiny_weights_are_weights():
    found = probabilities(np.array([1 - 1e-16, 1 - 1e-16, 1.0]), "hard", power=20.0)
    np.testing.assert_allclose(found, [0.5, 0.5, 0])


def test_the_harder_the_more_often():
    found = probabilities(np.linspace(0, 1, 9), "hard")
    assert (np.diff(found) < 0).all()


@pytest.mark.parametrize("rate", [np.nan, -0.1, 1.1])
def test_what_is_no_win_rate_is_refused(rate):
    with pytest.raises(ValueError, match="between 0 and 1"):
        probabilities(np.array([0.5, rate]))
