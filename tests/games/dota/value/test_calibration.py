"""Calibration beside its definitions: likelihoods, pooling, priors, and who decides to move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from understudy.data.stats import logistic, logit
from understudy.games.dota.value import calibration
from understudy.games.dota.value.calibration import METHODS, SHIFT_STD, SLOPE_STD


def few_rows(seed=0, rows=60):
    rng = np.random.default_rng(seed)
    chance = logistic(1.5 * rng.normal(size=rows))
    won = (rng.random(rows) < chance**2).astype(float)
    return won, chance, rng.uniform(0.1, 1.0, rows), rng.integers(0, 20, rows)


@pytest.mark.parametrize(("slope_prior", "shift_prior"), [(0.0, 0.0), (44.0, 100.0), (3.0, 0.5)])
def test_slope_and_shift_are_the_likeliest_under_their_priors(slope_prior, shift_prior):
    won, chance, weight, _ = few_rows()

    def loss(beta):
        predicted = 1 / (1 + np.exp(-(beta[0] * np.log(chance / (1 - chance)) + beta[1])))
        rows = -(won * np.log(predicted) + (1 - won) * np.log(1 - predicted))
        prior = slope_prior * (beta[0] - 1) ** 2 + shift_prior * beta[1] ** 2
        return weight @ rows + prior / 2

    best = minimize(loss, [1.0, 0.0], method="BFGS", options={"gtol": 1e-8})
    found = calibration.slope_and_shift(won, chance, weight, slope_prior, shift_prior)
    assert found == pytest.approx(best.x, abs=1e-4)


def test_an_infinite_prior_keeps_the_slope():
    won, chance, weight, _ = few_rows()
    slope, shift = calibration.slope_and_shift(won, chance, weight, np.inf, 0.0)
    assert slope == 1.0
    predicted = logistic(logit(chance) + shift)
    assert weight @ predicted == pytest.approx(weight @ won, abs=1e-4)  # as many wins as were seen


@pytest.mark.parametrize("name", ["intercept", "platt", "shrunk", "cautious"])
def test_methods_know_no_side(name):
    """Losing instead of winning, with chances turned around, is the same calibration."""
    won, chance, weight, match = few_rows(rows=200)
    one = METHODS[name](won, chance, weight, match)(chance)
    other = METHODS[name](1 - won, 1 - chance, weight, match)(1 - chance)
    assert one == pytest.approx(1 - other, abs=1e-6)


def test_the_prior_is_a_few_matches_strong():
    won, chance, weight, match = few_rows()
    free = calibration.slope_and_shift(won, chance, weight)
    priors = SLOPE_STD**-2, SHIFT_STD**-2
    held = calibration.slope_and_shift(won, chance, weight, *priors)

    def surprise(found):
        return priors[0] * (found[0] - 1) ** 2 + priors[1] * found[1] ** 2

    assert surprise(held) < surprise(free) / 4
    far = calibration.slope_and_shift(won, chance, 1e5 * weight, *priors)
    assert far == pytest.approx(free, abs=0.01)
    assert calibration.shrunk(won, chance, weight, match)(chance) == pytest.approx(
        logistic(held[0] * logit(chance) + held[1])
    )


ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(1, 99), st.integers(1, 4)), min_size=1, max_size=25
)


@given(ROWS)
@settings(max_examples=60)
def test_isotonic_is_the_largest_mean_from_the_left_of_the_least_to_the_right(rows):
    """max over starts, min over ends, of the mean between: slow, and it is the definition."""
    rows = {predicted: (won, heavy) for won, predicted, heavy in rows}  # one row for each chance
    at = np.array(sorted(rows)) / 100
    won = np.array([rows[predicted][0] for predicted in sorted(rows)], float)
    weight = np.array([rows[predicted][1] for predicted in sorted(rows)], float)
    curve = calibration.isotonic(won, at, weight, np.arange(len(at)))(at)
    for k in range(len(at)):
        means = [
            min(np.average(won[i : j + 1], weights=weight[i : j + 1]) for j in range(k, len(at)))
            for i in range(k + 1)
        ]
        assert curve[k] == pytest.approx(np.clip(max(means), 0.01, 0.99))


@pytest.mark.parametrize("matches", [1, 2, 4])
def test_too_few_matches_to_leave_any_out_move_nothing(matches):
    won, chance, weight, _ = few_rows()
    match = np.arange(60) % matches
    assert calibration.cautious(won, chance, weight, match)(chance) is chance
    assert calibration.none(won, chance, weight, match)(chance) is chance


def test_caution_is_shrunk_where_matches_left_out_agree():
    won, chance, weight, _ = few_rows(rows=3000)
    match = np.arange(3000)
    cautious = calibration.cautious(won, chance, weight, match)(chance)
    np.testing.assert_array_equal(cautious, calibration.shrunk(won, chance, weight, match)(chance))
    fair = (np.random.default_rng(1).random(3000) < chance).astype(float)
    assert calibration.cautious(fair, chance, weight, match)(chance) is chance


def test_a_bias_is_the_mean_of_matches_by_hand():
    truth, guess = np.array([10.0, 30.0, 130.0]), np.array([0.0, 0.0, 100.0])
    plain, careful = calibration.bias(truth, guess, np.array([1, 1, 2]))
    assert plain == (20 + 30) / 2
    variance = 50 / 2  # of 20 and 30, over two matches
    assert careful == pytest.approx(25 * 3600 / (3600 + variance))
    assert calibration.bias(truth, guess, np.array([5, 5, 5])) == (70 / 3, 0.0)  # one: no error
    assert calibration.bias(-truth, -guess, np.array([1, 1, 2])) == (-plain, -careful)


def test_all_methods_answer_with_chances():
    won, chance, weight, match = few_rows(3)
    ends = np.array([0.0, 1e-9, 0.5, 1 - 1e-9, 1.0])
    for name, method in METHODS.items():
        predicted = method(won, chance, weight, match)(ends)
        assert ((predicted >= 0) & (predicted <= 1)).all(), name
        assert (np.diff(predicted) >= 0).all(), name
    assert calibration.CHOSEN in METHODS
