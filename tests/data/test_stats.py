"""Intervals against their definitions and worked examples, fits against another's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from understudy.data.stats import (
    Estimate,
    as_share,
    beta_posterior,
    cluster_bootstrap,
    logistic,
    logit,
    newton,
    paired_difference,
    percentile,
    ratio,
    resample_weights,
    resamples_one_by_one,
    student,
    t_quantile,
    welch,
    widened,
    widening,
    wilson,
)

DICE = np.random.default_rng(0)


def width(found):
    return found.high - found.low


# A number and its interval


def test_seen_from_the_other_side():
    assert Estimate(0.7, 0.6, 0.9, 5).flipped(around=1.0).plain() == pytest.approx((0.3, 0.1, 0.4))
    assert Estimate(2.0, 1.0, 4.0).flipped() == Estimate(-2.0, -4.0, -1.0)
    assert Estimate(0.7, 0.6, 0.9, 5).flipped().n == 5


def test_without_an_interval_nothing_is_sure():
    found = Estimate(3.0)
    assert not found.bounded and found.low < -1e300 < 1e300 < found.high
    assert found.plain() == (3.0, None, None)
    assert found.flipped() == Estimate(-3.0)
    assert not Estimate(3.0, 2.0).bounded and not Estimate(3.0, high=4.0).bounded


def test_names_for_json():
    assert Estimate(2.0, 1.0, 4.0, 9).named() == {"mean": 2.0, "low": 1.0, "high": 4.0}
    assert list(Estimate(2.0, 1.0, 4.0).named("points")) == ["points", "low", "high"]


# Shares


@pytest.mark.parametrize(
    ("wins", "matches", "expected"),
    [(0, 10, (0, 0.2775)), (5, 10, (0.2366, 0.7634)), (10, 10, (0.7225, 1)), (0, 0, (0, 1))],
)
def test_wilsons_interval_is_as_printed_in_tables(wins, matches, expected):
    found = wilson(wins, matches)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-4)
    assert found.n == matches


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilsons_ends_are_where_the_share_seen_is_just_no_surprise(drawn):
    wins, trials = drawn
    found = wilson(wins, trials)
    assert found.value == wins / trials
    assert 0 <= found.low <= found.value + 1e-9 and found.value - 1e-9 <= found.high <= 1
    for end in (found.low, found.high):
        error = math.sqrt(end * (1 - end) / trials)
        assert abs(found.value - end) == pytest.approx(1.96 * error, abs=1e-6)


def test_wilson_covers_the_truth_about_as_often_as_it_says():
    for truth, trials in ((0.5, 40), (0.9, 40), (0.03, 200)):
        wins = np.arange(trials + 1)
        inside = [wilson(k, trials).low <= truth <= wilson(k, trials).high for k in wins.tolist()]
        assert stats.binom(trials, truth).pmf(wins)[inside].sum() == pytest.approx(0.95, abs=0.03)


def test_a_share_is_never_surer_than_wilson_nor_beyond_0_and_1():
    always = as_share(Estimate(1.0, 1.0, 1.0, 20), 20, 20)
    assert (always.low, always.high, always.n) == (wilson(20, 20).low, 1.0, 20)
    assert as_share(Estimate(0.5, -0.2, 1.3), 5, 10).plain() == (0.5, 0.0, 1.0)
    assert as_share(Estimate(0.5, 0.1, 0.6), 5, 10).low == 0.1  # wider than Wilson: as it is
    assert as_share(Estimate(0.5), 1, 2) == Estimate(0.5)


def test_the_posterior_is_scipys_beta():
    found, known = beta_posterior(15.0, 8.0, 0.9), stats.beta(15, 8)
    assert found.plain() == pytest.approx((known.mean(), known.ppf(0.1), known.ppf(0.9)))
    assert beta_posterior(1.0, 1.0).plain() == pytest.approx((0.5, 0.05, 0.95))


# Few numbers


def test_quantiles_are_students():
    for degrees in (*range(1, 40), 1000):
        assert t_quantile(degrees) == pytest.approx(stats.t.ppf(0.975, degrees), rel=1e-9)


def test_students_interval_by_hand():
    found = student([1.0, 2.0, 6.0])  # mean 3, standard deviation root 7
    assert found.n == 3
    reach = 4.302653 * math.sqrt(7 / 3)
    assert found.plain() == pytest.approx((3.0, 3 - reach, 3 + reach))
    assert student([5.0]) == Estimate(5.0, n=1)
    assert math.isnan(student([]).value) and not student([]).bounded


def test_widening_is_that_of_student():
    quantiles = {2: 12.706, 3: 4.303, 5: 2.776, 6: 2.571, 10: 2.262, 30: 2.045, 1000: 1.962}
    for count, quantile in quantiles.items():
        expected = quantile / 1.96 * np.sqrt(count / (count - 1))
        assert widening(count) == pytest.approx(expected, rel=0.01)


# Bootstrap


def test_a_bootstrap_of_clusters_is_what_it_says():
    cluster = np.array([7, 3, 3, 9, 7, 7])
    values = np.array([1.0, 4.0, 0.0, 2.0, 3.0, 5.0])
    found = cluster_bootstrap(values, cluster, seed=5, resamples=300)
    means = []
    for often in resample_weights(3, 300, seed=5).astype(int).tolist():
        parts = zip((3, 7, 9), often, strict=True)
        means.append(np.concatenate([np.tile(values[cluster == c], k) for c, k in parts]).mean())
    assert found.plain() == pytest.approx((2.5, *np.quantile(means, [0.025, 0.975])))
    assert found.n == 6


def test_resamples_draw_as_many_clusters_as_there_are():
    often = resample_weights(40, 700, seed=1)
    assert often.shape == (700, 40) and (often.sum(axis=1) == 40).all()
    assert often.mean(axis=0) == pytest.approx(np.ones(40), abs=0.15)
    assert often.var() == pytest.approx(1 - 1 / 40, rel=0.05)
    one_by_one = np.array([*resamples_one_by_one(40, 700, seed=1)])
    assert one_by_one.shape == (700, 40) and (one_by_one.sum(axis=1) == 40).all()
    assert one_by_one.var() == pytest.approx(1 - 1 / 40, rel=0.05)


def test_more_resamples_begin_with_the_same():
    assert (resample_weights(9, 600, seed=2)[:70] == resample_weights(9, 70, seed=2)).all()


def test_one_cluster_leaves_no_spread_and_no_rows_no_interval():
    alone = cluster_bootstrap(np.array([1.0, 4.0]), np.array([3, 3]))
    assert alone == Estimate(2.5, 2.5, 2.5, 2)
    assert cluster_bootstrap(np.array([6.0]), np.array([0])) == Estimate(6.0, 6.0, 6.0, 1)
    nothing = cluster_bootstrap(np.zeros(0), np.zeros(0, int))
    assert math.isnan(nothing.value) and not nothing.bounded and nothing.n == 0


def test_the_interval_of_clusters_holds_the_truth_about_as_often_as_it_says():
    inside = 0
    for seed in range(300):
        dice = np.random.default_rng(seed)
        shared = dice.normal(size=50).repeat(4)
        found = cluster_bootstrap(
            shared + dice.normal(size=200), np.arange(200) // 4, seed=seed, resamples=400
        )
        inside += found.low <= 0 <= found.high
    assert 0.90 <= inside / 300 <= 0.98


def test_a_difference_is_paired_and_drawn_by_cluster():
    match_id = np.arange(50).repeat(20)
    one = DICE.normal(size=1000)
    better = paired_difference(one - 0.3, one, match_id)
    assert better.low == pytest.approx(-0.3) == better.high  # the same everywhere: no doubt
    # One sign for a whole match: 50 draws, not 1000, so the interval is wide.
    by_match = DICE.choice([-1.0, 1.0], 50).repeat(20)
    doubt = paired_difference(one + by_match, one, match_id)
    assert width(doubt) == pytest.approx(4 / np.sqrt(50), rel=0.25)


def test_what_pairs_share_of_luck_makes_no_difference_wider():
    shared, cluster = DICE.normal(size=400), np.arange(400)
    one, other = (0.1 * DICE.normal(size=400) for _ in range(2))
    paired = paired_difference(shared + one, shared + other, cluster)
    apart = paired_difference(shared + one, DICE.permutation(shared + other), cluster)
    assert width(paired) < width(apart) / 5
    assert paired.value == pytest.approx(apart.value)


def test_percentiles_by_hand():
    assert percentile(0.5, np.linspace(0, 1, 1001)).plain() == pytest.approx((0.5, 0.025, 0.975))
    assert percentile(2.0, [2.0], n=1) == Estimate(2.0, 2.0, 2.0, 1)


def test_a_draw_that_says_nothing_may_be_anything():
    draws = np.linspace(-1, 1, 1001)[:-1][:, None].repeat(3, axis=1)
    draws[500:510, 1] = np.nan
    draws[500:530, 2] = np.nan
    whole, some, none = widened(np.zeros(3), draws, np.full(3, 10_000))
    assert (whole.low, whole.high) == pytest.approx((-0.952, 0.95), abs=0.001)
    assert (some.low, some.high) == pytest.approx((-0.972, 0.97), abs=0.001)
    assert none == Estimate(0.0)


def test_few_clusters_widen_and_one_gives_no_interval():
    draws = np.linspace(-1, 1, 1001)[:, None].repeat(3, axis=1)
    one, two, many = widened(np.zeros(3), draws, np.array([1, 2, 10_000]))
    assert not one.bounded
    assert width(two) == pytest.approx(widening(2) * width(many), rel=0.001)
    known = np.array([[True, False, True]]).repeat(1001, axis=0)
    assert [e.bounded for e in widened(np.zeros(3), draws, np.full(3, 9), known)] == [
        True, False, True,
    ]  # fmt: skip


def test_a_few_clusters_that_are_alike_give_no_interval():
    alike = np.full((1001, 2), 0.5)
    few, more = widened(np.full(2, 0.5), alike, np.array([2, 6]))
    assert not few.bounded and (more.low, more.high) == (0.5, 0.5)


def test_a_ratio_of_nothing_is_no_number():
    found = ratio(np.array([[1.0, 3.0], [0.0, 2.0]]), np.array([2.0, 0.0]))
    assert found == pytest.approx(np.array([[0.5, np.nan], [0.0, np.nan]]), nan_ok=True)


# Fits


def test_log_odds_and_back():
    chance = np.array([0.001, 0.25, 0.5, 0.9])
    assert logit(chance)[1:3] == pytest.approx([-math.log(3), 0])
    assert logistic(logit(chance)) == pytest.approx(chance)
    assert logistic(np.array([-1e4, 1e4])) == pytest.approx([0, 1], abs=1e-20)
    assert np.isfinite(logit(np.array([0.0, 1.0]))).all()


class Regression:
    """A logistic toy: sixty rows, with a ridge."""

    def __init__(self, scale=1.0):
        dice = np.random.default_rng(3)
        self.columns = dice.normal(size=(60, 3)) * scale
        self.won = (dice.random(60) < logistic(self.columns @ [1.0, -2.0, 0.5])).astype(float)

    def loss(self, beta):
        score = self.columns @ beta
        return float((np.logaddexp(0, score) - self.won * score).sum() + 0.05 * beta @ beta)

    def slopes(self, beta):
        chance = logistic(self.columns @ beta)
        gradient = self.columns.T @ (chance - self.won) + 0.1 * beta
        curve = chance * (1 - chance)
        return gradient, (self.columns * curve[:, None]).T @ self.columns + 0.1 * np.eye(3)


@pytest.mark.parametrize("last", ["dropped", "tried", "taken"])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_newton_finds_what_scipy_finds(last, scale):
    toy = Regression(scale)
    found = newton(toy.slopes, np.zeros(3), toy.loss, rounds=60, tolerance=1e-8, last=last)
    expected = optimize.minimize(toy.loss, np.zeros(3), jac=lambda b: toy.slopes(b)[0], tol=1e-10)
    assert found == pytest.approx(expected.x, abs=1e-5)
    assert toy.slopes(found)[0] == pytest.approx(np.zeros(3), abs=1e-5)


def test_newton_without_a_loss_takes_short_steps():
    toy, seen = Regression(), []

    def slopes(beta):
        seen.append(beta)
        return toy.slopes(beta)

    found = newton(slopes, np.full(3, 5.0), rounds=200, tolerance=1e-9, longest=0.25)
    assert toy.slopes(found)[0] == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.abs(np.diff(seen, axis=0)).max() == pytest.approx(0.25)


def test_newton_halves_steps_that_lead_upwards():
    """Of sqrt(1 + x²), whole steps from beyond 1 lead further and further away."""

    def slopes(x):
        root = np.sqrt(1 + x**2)
        return x / root, np.diag(root**-3)

    def loss(x):
        return float(np.sqrt(1 + x**2).sum())

    assert newton(slopes, np.array([3.0]), loss, rounds=50, tolerance=1e-9) == pytest.approx([0])
    assert abs(newton(slopes, np.array([3.0]), rounds=4, tolerance=1e-9)[0]) > 1e6


def test_what_becomes_of_the_last_step():
    """The loss is flat but for one stair: every step below tolerance leads upwards."""

    def slopes(x):
        return np.array([1e-3]), np.eye(1)

    def stair(x):
        return float(x[0] < 1.0)

    start, found = np.array([1.0]), {}
    for last in ("dropped", "tried", "taken"):
        found[last] = newton(slopes, start, stair, rounds=9, tolerance=1e-2, last=last)[0]
    assert found == {"dropped": 1.0, "tried": 1.0, "taken": 1.0 - 1e-3}
    free = newton(slopes, start, rounds=9, tolerance=1e-2, last="dropped")
    assert (free == start).all()  # not even tried


def test_newton_of_nothing():
    assert newton(lambda x: (x, np.eye(0)), np.zeros(0), rounds=5, tolerance=1e-9).shape == (0,)


# --- Two means that share nothing ----------------------------------------------------------------


def test_welch_worked_example():
    # means 2 and 5, variances 1 and 4 over 3 and 3: error sqrt(1/3 + 4/3), 2.94 degrees, t 3.217
    found = welch([1.0, 2.0, 3.0], [3.0, 5.0, 7.0])
    assert found.value == -3
    degrees = (1 / 3 + 4 / 3) ** 2 / ((1 / 3) ** 2 / 2 + (4 / 3) ** 2 / 2)
    reach = stats.t.ppf(0.975, degrees) * (5 / 3) ** 0.5
    assert (found.low, found.high) == pytest.approx((-3 - reach, -3 + reach))


def test_welch_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        one, other = rng.normal(1, 1, 5).tolist(), rng.normal(0, 3, 4).tolist()
        found = welch(one, other)
        expected = stats.ttest_ind(one, other, equal_var=False).confidence_interval()
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        held += found.low <= 1 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_welch_of_single_runs_has_no_interval():
    found = welch([1.0], [0.0, 2.0])
    assert found.value == 0 and found.low == -np.inf and found.high == np.inf
