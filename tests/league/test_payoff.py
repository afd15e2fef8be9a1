"""Win rates as beliefs: defined for every record, and hardly moved by what was inherited."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from understudy.data.stats import Estimate
from understudy.league.payoff import INHERITED_MAX, Payoff, Tally, belief

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


def test_new_versions_inherit_what_their_predecessors_played_as_a_prior():
    payoff = filled(
        [
            ("main-1", "bot", (2, 0, 1)),
            ("main-1", "rival-1", (3, 0, 0)),
            ("rival-1", "bot", (0, 3, 0)),
        ]
    )
    payoff.pass_on({"main-2": "main-1", "rival-2": "rival-1"}, ["bot", "main-1"])
    assert payoff.prior("main-2", "bot") == Tally(2, 0, 1)
    assert payoff.prior("main-2", "rival-2") == Tally(3, 0, 0)
    assert payoff.prior("rival-2", "main-1") == Tally(0, 0, 3)  # who is frozen and stays
    assert payoff.prior("main-2", "main-1") == Tally()
    assert payoff.played("main-2", "bot") == Tally()  # nothing of it counts as played
    assert payoff.belief("main-2", "bot").n == 0
    assert "main-2" not in payoff.names()
    assert payoff.played("main-1", "bot") == Tally(2, 0, 1)


def test_however_much_is_inherited_the_matches_of_the_version_itself_decide():
    """What was found in a league: believed .547 by 119 matches, of which 40 were played: .775."""
    payoff = filled([("main-2", "bot", (31, 0, 9))])
    payoff.add_prior("main-2", "bot", Tally(34.0, 0.0, 45.0))
    found = payoff.belief("main-2", "bot")
    points = 31 + INHERITED_MAX * 34 / 79
    assert found.value == pytest.approx((1 + points) / (2 + 40 + INHERITED_MAX))
    assert found.value == pytest.approx(31 / 40, abs=0.05)
    assert found.n == 40


@given(counts, matches, counts)
def test_a_prior_is_worth_a_few_matches_at_most(played, told, predecessor):
    payoff = filled([("old", "a", predecessor)])
    payoff.pass_on({"b": "old"}, ["a"])
    for *_, tally in told:
        payoff.add_prior("b", "a", Tally(*tally))
    payoff.add("b", "a", Tally(*played))
    prior, found = payoff.prior("b", "a"), payoff.belief("b", "a")
    assert prior.games <= INHERITED_MAX * (1 + 1e-12)
    own = belief(Tally(*played)).value
    assert abs(found.value - own) <= INHERITED_MAX / (2 + sum(played) + INHERITED_MAX) + 1e-9
    assert found.n == sum(played)


def test_little_that_was_inherited_is_not_made_more():
    assert Tally(1.0, 1.0, 0.0).at_most(4.0) == Tally(1, 1, 0)
    assert Tally(6.0, 4.0, 10.0).at_most(4.0) == pytest.approx((1.2, 0.8, 2.0))


def test_what_was_inherited_is_not_passed_on_again():
    payoff = filled([("m1", "bot", (3, 0, 0))])
    payoff.pass_on({"m2": "m1"}, ["bot"])
    payoff.add_prior("m2", "bot", Tally(wins=1.0))
    payoff.add("m2", "bot", Tally(losses=2.0))
    payoff.pass_on({"m3": "m2"}, ["bot"])
    assert payoff.prior("m3", "bot") == Tally(0, 0, 2)
    assert payoff.prior("m2", "bot") == Tally()  # by now its own matches tell


def test_heirs_of_one_predecessor_know_nothing_of_each_other():
    payoff = filled([("a", "b", (3, 0, 0))])
    payoff.pass_on({"x": "a", "y": "a"}, ["b"])
    assert payoff.prior("x", "y") == Tally()
    assert payoff.prior("x", "b") == payoff.prior("y", "b") == Tally(3, 0, 0)


@given(matches, matches)
def test_everything_survives_json(rows, presumed):
    payoff = filled(rows)
    for one, other, tally in presumed:
        payoff.add_prior(one, other, Tally(*tally))
    text = json.dumps(payoff.to_json())
    again = Payoff.from_json(json.loads(text))
    assert json.dumps(again.to_json()) == text
    assert (again.matrix("abcd") == payoff.matrix("abcd")).all()
