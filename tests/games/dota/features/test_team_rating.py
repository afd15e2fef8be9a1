"""Strength before a match: the filter beside the same filter in matrices, and what it may know."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import known_of, made_up, small_match, small_timeline
from understudy.data import shards
from understudy.games.dota.features import kept_ratings, team_rating
from understudy.games.dota.features.team_rating import DAY, Ratings, Result, Strength, strengths
from understudy.games.dota.sources.tables import MATCHES


def result(number, won=True, teams=(1, 2), day=None):
    start = round(DAY * (number if day is None else day))
    return Result(number, start, start + 2000, won, teams)


def test_one_result_moves_means_as_a_filter_of_independent_parts_does():
    """m + P h (y - h m) / (h P h + noise), and the diagonal of P - P h h P / (...)."""
    ratings = Ratings(noise=3.0, team_variance=0.8, fading=0.0)
    ratings.learn(result(1, True))
    sign, prior = np.array([1.0, -1.0]), 0.8 * np.eye(2)
    gain = prior @ sign / (sign @ prior @ sign + 3.0)
    assert [ratings.mean[key] for key in (1, 2)] == pytest.approx(gain)
    after = np.diag(prior - np.outer(gain, sign @ prior))
    assert [ratings.variance[key] for key in (1, 2)] == pytest.approx(after)
    # What parts share is left out: a filter of the diagonal.
    mean, covariance = gain, np.diag(after)
    ratings.learn(result(1, False))
    gain = covariance @ sign / (sign @ covariance @ sign + 3.0)
    expected = mean + gain * (-1 - sign @ mean)
    assert [ratings.mean[key] for key in (1, 2)] == pytest.approx(expected)


def test_days_without_a_match_make_a_team_less_sure_up_to_a_limit():
    ratings = Ratings(fading=0.01)
    ratings.learn(result(1, day=0))
    held = ratings.variance[1]
    ratings.learn(result(2, teams=(3, 4), day=20))
    assert ratings.variance[1] == held
    aged = held + 0.2
    ratings.learn(result(3, teams=(1, 5), day=20))
    assert ratings.variance[1] == pytest.approx(aged - aged**2 / (aged + 1.0 + 4.0))
    ratings.learn(result(4, teams=(1, 6), day=9000))
    assert ratings.variance[1] == pytest.approx(1.5 - 1.5**2 / (1.5 + 1.0 + 4.0))


TEAMS = st.tuples(st.integers(1, 4), st.integers(1, 4))
GAMES = st.lists(st.tuples(st.booleans(), TEAMS, st.integers(0, 30)), min_size=1, max_size=12)


@given(GAMES, st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_results_does_not_matter_and_sides_are_alike(games, rng):
    results = [result(k, won, teams, day=day / 2) for k, (won, teams, day) in enumerate(games)]
    known = strengths(results)
    mixed = list(results)
    rng.shuffle(mixed)
    assert strengths(mixed) == known
    turned = strengths([r._replace(won=not r.won, teams=r.teams[::-1]) for r in results])
    for number, strength in known.items():
        assert turned[number].teams == pytest.approx(-strength.teams)
        assert turned[number][1:3] == pytest.approx(strength[1:3])
        assert turned[number].experience == pytest.approx(-strength.experience)


def test_experience_is_by_matches_seen_of_each_side():
    ratings = Ratings()
    for number in range(3):
        ratings.learn(result(number, True, (1, 2), day=number))
    found = ratings.before(result(9, teams=(1, 3), day=9))
    assert found.experience == pytest.approx(np.log(4)) and found.games == 0
    assert ratings.before(result(9, teams=(1, 2), day=9)).experience == 0
    assert (ratings.until, ratings.matches) == (result(2, True, (1, 2), day=2).end, 3)


def test_a_team_against_itself_or_nobody_teaches_nothing_of_teams():
    for teams in ((1, 1), (None, 2), (1, 0), (None, None)):
        ratings = Ratings()
        ratings.learn(result(1, teams=teams))
        assert not ratings.mean
        assert ratings.before(result(2, teams=teams)) == Strength(0.0, 2.0, 0.0)


def test_a_match_counts_from_its_last_second_on():
    first = result(1, day=0)
    begun = [
        first._replace(number=k, start=first.end + k - 3, end=first.end + 99) for k in (2, 3, 4)
    ]
    known = strengths([first, *begun])
    assert [known[k].games for k in (1, 2, 3, 4)] == [0, 0, 1, 1]


# --- tables --------------------------------------------------------------------------------------


def test_strengths_are_read_back_as_they_were_written():
    known = known_of(made_up(30))
    assert team_rating.from_table(team_rating.as_table(known)) == known
    assert any(strength.teams for strength in known.values())
    assert team_rating.from_table(team_rating.as_table({})) == {}


def test_a_survey_over_shards_knows_what_other_shards_tell(tmp_path):
    tables = made_up(30)
    numbers = tables["matches"]["match_id"].to_numpy()
    parts = {"00001": numbers[::2], "00002": numbers[1::2]}
    for key, chosen in parts.items():
        rows = tables[MATCHES.name]
        kept = np.flatnonzero(np.isin(rows["match_id"].to_numpy(), chosen))
        shards.write_shard(shards.shard_path(tmp_path, MATCHES, key), rows.take(kept))
    found = kept_ratings.survey(tmp_path, list(parts))
    known = {}
    for key, chosen in parts.items():
        own = team_rating.from_table(found[key][team_rating.STRENGTH])
        assert set(own) == set(chosen.tolist())
        known |= own
    assert known == known_of(tables)


def test_features_are_the_same_at_every_minute_and_nothing_special_for_a_stranger():
    match = small_timeline(small_match(1, minutes=6), small_match(2, minutes=9))
    found = team_rating.features(match, {2: Strength(0.5, 1.2, 7.0)})
    assert found["strength_teams"].tolist() == [0.0] * 7 + [0.5] * 10
    assert found["strength_unsure"].tolist() == [2.0] * 7 + [1.2] * 10
    assert found["strength_games"][-1] == 7
