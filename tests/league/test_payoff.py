"""Win rates as beliefs: defined for every record, and of matches that were played."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from understudy.data.results import both_sides, pair_results
from understudy.data.stats import Estimate
from understudy.league.matches import tallies
from understudy.league.payoff import Payoff, Tally, belief

counts = st.tuples(*[st.integers(0, 5000).map(float)] * 3)
names = st.sampled_from("abcd")
matches = st.lists(st.tuples(names, names, counts), max_size=20)


def filled(rows):
    payoff = Payoff()
    for one, other, tally in rows:
        payoff.add(one, other, Tally(*map(float, tally)))
    return payoff


def test_a_belief_is_the_beta_posterior_under_a_uniform_prior():
    found = belief(Tally(wins=12.0, draws=4.0, losses=5.0), confidence=0.9)
    posterior = stats.beta(1 + 12 + 2, 1 + 5 + 2)
    assert found.value == pytest.approx(posterior.mean())
    assert found.low == pytest.approx(posterior.ppf(0.1))
    assert found.high == pytest.approx(posterior.ppf(0.9))


def test_nothing_is_known_without_games():
    assert belief(Tally(), 0.95).plain() == pytest.approx((0.5, 0.05, 0.95))


@example((2628.0, 0.0, 3236.0), 0.5000000000000001)  # whose bounds differ by rounding only
@given(counts, st.floats(0.5, 0.999))
def test_every_record_gives_a_belief(tally, confidence):
    found = belief(Tally(*tally), confidence)
    assert 0 < found.value < 1
    assert 0 <= found.low <= found.high <= 1
    turned = belief(Tally(*tally).turned(), confidence)
    assert (found.value, found.low) == pytest.approx((1 - turned.value, 1 - turned.high))


@pytest.mark.parametrize("tally", [Tally(wins=1e6), Tally(losses=1e6), Tally(draws=1e6)])
def test_records_of_one_kind_give_a_belief(tally):
    assert np.isfinite(belief(tally).plain()).all()


def test_the_lower_bound_holds_as_often_as_it_says():
    """Facts: a decayed mean lets a true 75 % pass as often as luck has it; the bound does not."""
    rng = np.random.default_rng(1)
    rates = rng.uniform(size=4000)
    wins = rng.binomial(30, rates)
    lows = [belief(Tally(won, 0.0, 30 - won), 0.9).low for won in wins.astype(float).tolist()]
    assert np.mean(rates > lows) == pytest.approx(0.9, abs=0.02)


@given(matches)
def test_both_sides_of_a_pair_tell_the_same(rows):
    payoff = filled(rows)
    for one in "abcd":
        for other in "abcd":
            assert payoff.played(one, other) == payoff.played(other, one).turned()
            both = payoff.belief(one, other).value + payoff.belief(other, one).value
            assert both == pytest.approx(1)
    matrix = payoff.matrix("abcd")
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix + matrix.T, 1)
    assert (np.diag(payoff.points("abcd")) == 0).all()


def test_matches_add_up_and_points_count_draws_half():
    payoff = filled([("b", "a", (1, 1, 0)), ("a", "b", (3, 0, 2))])
    assert payoff.played("a", "b") == Tally(3, 1, 3)
    assert payoff.points(["a", "b"]).tolist() == [[0, 3.5], [3.5, 0]]
    assert payoff.names() == ["a", "b"]


def test_matches_against_oneself_tell_nothing():
    payoff = filled([("a", "a", (9, 0, 0))])
    assert payoff.belief("a", "a") == Estimate(0.5, 0.5, 0.5)
    assert payoff.names() == []


def test_one_player_and_none():
    payoff = Payoff()
    assert payoff.matrix([]).shape == (0, 0)
    assert payoff.matrix(["a"]).tolist() == [[0.5]]
    assert payoff.win_rates("a", []).shape == (0,)


def test_graded_scores_are_parts_of_wins_and_draws_for_the_rest():
    rows = both_sides(
        pair_results("toy"),
        pa.table(
            {
                "match": ["1", "2", "3"],
                "seed": [1, 2, 3],
                "player_0": ["a", "b", "a"],
                "player_1": ["b", "a", "b"],
                "score": np.array([0.25, 1.0, -0.5], np.float32),
                "steps": [1, 1, 1],
                "ending": ["x"] * 3,
            }
        ),
    )
    assert tallies(rows)["a", "b"] == Tally(1, 0, 1)
    graded = tallies(rows, graded=True)
    assert graded["a", "b"] == Tally(0.25, 0.75 + 0.5, 0.5)
    assert graded["b", "a"] == Tally(1, 0, 0)
    payoff = filled([(*pair, tally) for pair, tally in graded.items()])
    assert payoff.points(["a", "b"])[0, 1] == pytest.approx((1.25 + 0 + 0.5) / 2)
    assert payoff.belief("a", "b").n == 3


@given(matches)
def test_everything_survives_json(rows):
    payoff = filled(rows)
    text = json.dumps(payoff.to_json())
    again = Payoff.from_json(json.loads(text))
    assert json.dumps(again.to_json()) == text
    assert (again.matrix("abcd") == payoff.matrix("abcd")).all()


def test_mean_beliefs_are_those_of_the_beliefs():
    payoff = Payoff()
    payoff.add("one", "other", Tally(7.0, 2.0, 4.0))
    names = ["one", "other", "third"]
    expected = [[payoff.belief(row, column).value for column in names] for row in names]
    assert payoff.matrix(names).tolist() == expected
