"""Scores against their definitions, and calibration that does no harm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.data.stats import Estimate, logistic, logit
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.value import calibration, drift, metrics
from understudy.games.dota.value.linear import fit_linear, fit_logistic

RNG = np.random.default_rng(0)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_auc_is_the_chance_to_place_a_won_row_above_a_lost_one(rows):
    won, chance = (np.array(part, float) for part in zip(*rows, strict=True))
    pairs = [(a > b) + (a == b) / 2 for a in chance[won == 1] for b in chance[won == 0]]
    found = metrics.auc(won, chance / 5)
    assert (np.isnan(found) and not pairs) or found == pytest.approx(np.mean(pairs))


def test_log_loss_by_hand():
    losses = metrics.log_losses(np.array([1.0, 0.0, 1.0]), np.array([0.25, 0.25, 0.0]))
    assert losses == pytest.approx([np.log(4), np.log(4 / 3), 6 * np.log(10)])


def test_bands_hold_every_row_once():
    minute = np.arange(1.0, 90)
    found = metrics.bands(minute)
    assert sum(rows.astype(int) for rows in found.values()).tolist() == [1] * 89
    assert minute[found["6-10"]].tolist() == [6, 7, 8, 9, 10]


def test_reliability_by_hand():
    won, chance = np.array([1.0, 0.0, 1.0]), np.array([0.11, 0.13, 1.0])
    table = metrics.reliability(won, chance, np.ones(3))
    assert [(row["said"], row["seen"]) for row in table] == [(pytest.approx(0.12), 0.5), (1, 1)]
    assert metrics.calibration_error(table) == pytest.approx(0.38 * 2 / 3)


def test_regressions_find_what_made_the_data():
    columns = RNG.normal(size=(40_000, 2))
    score = 0.8 * columns[:, 0] - 0.4 * columns[:, 1] + 0.2
    won = (RNG.random(40_000) < logistic(score)).astype(float)
    ones, none = np.ones(40_000), np.full(2, 1e-6)
    assert fit_logistic(columns, won, ones, none) == pytest.approx([0.8, -0.4, 0.2], abs=0.05)
    assert fit_linear(columns, score, ones, none) == pytest.approx([0.8, -0.4, 0.2])
    held = fit_logistic(columns, won, ones, np.array([1e9, 1e-6]))
    assert abs(held[0]) < 1e-3 < abs(held[1])


def rows_of(matches, slope=1.0, shift=0.0, seed=0):
    """Chances as a model says them, and results that come by other odds."""
    rng = np.random.default_rng(seed)
    predicted = logistic(rng.normal(size=matches))
    won = (rng.random(matches) < logistic(slope * logit(predicted) + shift)).astype(float)
    rows = 10  # minutes that say the same
    return (
        won.repeat(rows),
        predicted.repeat(rows),
        np.full(10 * matches, 0.1),
        np.arange(matches).repeat(rows),
    )


@pytest.mark.parametrize("name", ["platt", "shrunk", "cautious"])
def test_methods_find_a_slope_when_there_is_plenty(name):
    won, predicted, weight, match = rows_of(20_000, slope=0.5, shift=0.3)
    better = calibration.METHODS[name](won, predicted, weight, match)(np.array([0.2, 0.9]))
    assert better == pytest.approx(logistic(0.5 * logit(np.array([0.2, 0.9])) + 0.3), abs=0.02)


def test_intercept_shifts_and_isotonic_rises():
    won, predicted, weight, match = rows_of(20_000, shift=0.5)
    better = calibration.intercept(won, predicted, weight, match)(np.array([0.2, 0.9]))
    assert better == pytest.approx(logistic(logit(np.array([0.2, 0.9])) + 0.5), abs=0.01)
    curve = calibration.isotonic(won, predicted, weight, match)(np.linspace(0, 1, 50))
    assert (np.diff(curve) >= 0).all() and 0.01 <= curve[0] < curve[-1] <= 0.99


def test_isotonic_pools_neighbours_out_of_order():
    chance = np.array([0.1, 0.2, 0.3, 0.4])
    won = np.array([0.0, 1.0, 0.0, 1.0])
    curve = calibration.isotonic(won, chance, np.ones(4), np.arange(4))
    assert curve(chance) == pytest.approx([0.01, 0.5, 0.5, 0.99])


def test_few_matches_move_a_cautious_calibration_hardly_ever():
    moved = 0
    for seed in range(40):
        won, predicted, weight, match = rows_of(25, seed=seed)
        better = calibration.cautious(won, predicted, weight, match)(predicted)
        moved += not np.array_equal(better, predicted)
        assert np.abs(better - predicted).max() < 0.1
    assert moved <= 6


def test_a_bias_is_believed_only_where_it_is_clear():
    match = np.arange(400).repeat(5)
    truth = RNG.normal(size=400).repeat(5) * 600
    plain, careful = calibration.bias(truth, np.zeros(2000), match)
    assert careful == 0 and abs(plain) < 120
    plain, careful = calibration.bias(truth + 500, np.zeros(2000), match)
    assert 300 < careful < plain


@pytest.mark.parametrize(
    ("slope", "word"), [(1.0, "trust"), (0.8, "calibrate: too sure"), (0.4, "do not trust")]
)
def test_the_monitor_says_when_not_to_trust(slope, word):
    assert drift.verdict(10, Estimate(1, 1, 1), False) == "too few to say (10 of 30)"
    won, predicted, _, match = rows_of(3000, slope=slope)

    features = np.zeros((len(won), len(ALL_NAMES)), np.float32)
    features[:, ALL_NAMES.index("t_min")] = won
    patch = np.full(len(won), 57)
    rows = Samples(features, match, patch, patch, {"y_win": won})
    (figures,) = drift.drift(rows, predicted, {"t_min": (0.0, 0.5)}, draws=100)
    line = drift.Drift(**figures)
    assert line.patch == "7.38" and line.matches == 3000
    assert line.verdict.startswith(word)
    assert line.slope == pytest.approx(slope, abs=0.1)
    assert line.out_of_range == won.mean()
