import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.data.results import both_sides, pair_results, win_rates
from understudy.data.stats import wilson


def results(scores, seeds=None, player="a", opponent="b"):
    number = len(scores)
    return pair_results("arena").build(
        {
            "match": [f"m{row}" for row in range(number)],
            "seed": np.arange(number) if seeds is None else np.asarray(seeds),
            "player": [player] * number,
            "opponent": [opponent] * number,
            "slot": np.zeros(number, np.int8),
            "score": np.asarray(scores, np.float32),
            "steps": np.full(number, 10, np.int32),
            "ending": ["time"] * number,
        }
    )


def test_worked_example():
    (rate,) = win_rates(results([1, 1, 1, 0, -1, -0.5, 0.25, 0]))
    # four wins (any gain is one), two draws, two losses
    assert (rate.player, rate.opponent, rate.matches) == ("a", "b", 8)
    assert (rate.wins.value, rate.draws, rate.points.value) == (0.5, 0.25, 0.625)
    assert 0.2 < rate.points.low < 0.4 < 0.8 < rate.points.high < 1
    assert 0.1 < rate.wins.low < 0.3 < 0.7 < rate.wins.high < 0.9


def test_as_json_a_rate_is_one_flat_row():
    (rate,) = win_rates(results([1, 1, 0, -1]))
    told = rate.to_json()
    names = "player opponent matches wins draws points low high wins_low wins_high"
    assert list(told) == names.split()
    assert (told["wins"], told["points"], told["matches"]) == (0.5, 0.625, 4)
    assert (told["low"], told["wins_high"]) == (rate.points.low, rate.wins.high)


def test_each_ordered_pair_has_its_own_rate():
    table = pa.concat_tables([results([1, 1]), results([-1, -1], player="b", opponent="a")])
    first, second = win_rates(table)
    assert (first.player, first.wins.value) == ("a", 1)
    assert (second.player, second.wins.value) == ("b", 0)


@pytest.mark.parametrize("score", [1, -1])
def test_winning_or_losing_all_is_not_certainty(score):
    (rate,) = win_rates(results([score] * 20))
    assert rate.points.high - rate.points.low > 0.1
    assert (rate.points.high if score > 0 else rate.points.low) == pytest.approx((score + 1) / 2)
    assert rate.points.low == pytest.approx(wilson(20 * rate.wins.value, 20).low)


def test_a_match_and_its_rematch_are_drawn_together():
    # Whoever has the better side wins: each pair of matches is one win and one loss, so drawing
    # whole pairs leaves no spread at all, and only Wilson's interval remains.
    scores, seeds = [1, -1] * 100, np.arange(200) // 2
    (together,) = win_rates(results(scores, seeds))
    least = wilson(100, 200)
    assert together.points == least
    # Each seed decides both of its matches: 100 coins, not 200, so the interval is wider.
    (doubled,) = win_rates(results(np.repeat([1, -1], 100), seeds))
    assert doubled.points.high - doubled.points.low > 1.3 * (least.high - least.low)


def test_the_interval_hangs_on_the_seed_alone():
    table = results([1, -1, 1, 0, 1], [0, 0, 1, 1, 2])
    assert win_rates(table, seed=1) == win_rates(table, seed=1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([-1, 0, 1]), st.integers(0, 5)), min_size=1, max_size=30))
def test_intervals_hold_their_rate(rows):
    scores, seeds = zip(*rows, strict=True)
    (rate,) = win_rates(results(scores, seeds), resamples=200)
    assert 0 <= rate.points.low <= rate.points.value + 1e-9
    assert rate.points.value - 1e-9 <= rate.points.high <= 1
    assert 0 <= rate.wins.low <= rate.wins.value + 1e-9
    assert rate.wins.value - 1e-9 <= rate.wins.high <= 1
    assert rate.points.low < rate.points.high


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(200):
        scores = np.where(rng.random(60) < 0.7, 1, -1)
        (rate,) = win_rates(results(scores), seed=trial, resamples=200)
        hits += rate.points.low <= 0.7 <= rate.points.high
    assert hits >= 180


def test_a_match_is_told_from_both_sides():
    matches = pa.table(
        {
            "match": ["a-b-7"],
            "seed": [7],
            "player_0": ["a"],
            "player_1": ["b"],
            "score": [0.5],
            "steps": [12],
            "ending": ["kill"],
        }
    )
    rows = both_sides(pair_results("arena"), matches).to_pylist()
    shared = {"match": "a-b-7", "seed": 7, "steps": 12, "ending": "kill"}
    assert rows == [
        shared | {"player": "a", "slot": 0, "opponent": "b", "score": 0.5},
        shared | {"player": "b", "slot": 1, "opponent": "a", "score": -0.5},
    ]
