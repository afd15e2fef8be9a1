"""Ratings kept with a model: who goes on from them; nobody is rated by their own future."""

import json

import pytest

from understudy.data.integrity.json_files import write_json
from understudy.errors import InputError
from understudy.games.dota.features import kept_ratings
from understudy.games.dota.features.team_rating import Ratings, Result, strengths
from understudy.games.dota.sources.synthetic import FIRST_MATCH

HOUR = 3600


def results(count, first=1, start=1_000_000):
    """One match after another, an hour each, among four teams; the lower number mostly wins."""
    found = []
    for k in range(first, first + count):
        teams = (1 + k % 4, 1 + (k + 1 + k // 4 % 2) % 4)
        begin = start + 2 * HOUR * k
        won = (teams[0] < teams[1]) != (k % 5 == 0)
        found.append(Result(k, begin, begin + HOUR, won, teams))
    return found


@pytest.fixture(scope="module")
def halves():
    every = results(40)
    return every, every[:25], every[25:]


def test_later_matches_go_on_as_if_the_earlier_were_there(halves):
    every, earlier, later = halves
    known = kept_ratings.learnt(earlier)
    assert known.until == earlier[-1].end and known.matches == 25
    before = strengths(every)
    assert kept_ratings.rated(later, known) == {one.number: before[one.number] for one in later}
    assert kept_ratings.strength_in(known, later[0]) == before[later[0].number]
    assert known.matches == 25  # a rating is no lesson
    assert kept_ratings.rated(later) != kept_ratings.rated(later, known)


def test_nobody_is_rated_by_results_of_later_matches(halves):
    every, earlier, later = halves
    known = kept_ratings.learnt(every)
    assert kept_ratings.strength_in(known, later[-1]) is None
    assert kept_ratings.rated(earlier, known) == strengths(earlier)
    few = [*earlier[-3:], *results(2, first=60)]
    found = kept_ratings.rated(few, known)
    assert {k: found[k] for k in (23, 24, 25)} == strengths(few[:3])
    assert found[60] == known.before(few[3])


def test_a_history_of_their_own_that_is_as_long_is_enough(halves):
    every, earlier, _ = halves
    other = kept_ratings.learnt([one._replace(won=not one.won) for one in earlier])
    assert kept_ratings.rated(every, other) == strengths(every)
    assert kept_ratings.rated(every[1:], other) != strengths(every[1:])
    assert kept_ratings.learnt(every, other) == kept_ratings.learnt(every)


def test_ratings_learn_on_from_those_before(halves):
    every, earlier, later = halves
    whole = kept_ratings.learnt(later, kept_ratings.learnt(earlier))
    assert whole == kept_ratings.learnt(every) and whole.matches == 40


def test_made_up_matches_know_nothing_of_real_teams(halves):
    _, earlier, later = halves
    made_up = [one._replace(number=FIRST_MATCH + one.number) for one in later]
    known = kept_ratings.learnt(earlier)
    assert kept_ratings.rated(made_up, known) == strengths(made_up)
    assert kept_ratings.strength_in(known, made_up[0]) is None
    assert kept_ratings.learnt(made_up, known).matches == len(made_up)


def test_what_is_written_is_read_back_to_five_digits(halves, tmp_path):
    known = kept_ratings.learnt(halves[0])
    kept_ratings.save(tmp_path, known)
    read = kept_ratings.load(tmp_path)
    assert read.mean == pytest.approx(known.mean, abs=1e-5) and read.games == known.games
    assert read.variance == pytest.approx(known.variance, abs=1e-5)
    same = ("until", "matches", "last_result", "noise", "fading")
    assert [getattr(read, name) for name in same] == [getattr(known, name) for name in same]
    assert kept_ratings.of_model(tmp_path) == read
    assert kept_ratings.load(tmp_path / "none") is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 9},
        {"settings": {}},
        {"teams": {"one": [0.0, 1.0, 0, 1]}},
        {"teams": {"1": [0.0]}},
    ],
)
def test_a_file_without_ratings_says_how_to_make_one(change, tmp_path):
    kept_ratings.save(tmp_path, Ratings())
    path = tmp_path / kept_ratings.FILE
    content = {k: v for k, v in json.loads(path.read_text()).items() if k != "seal"}
    write_json(path, content | change)
    with pytest.raises(InputError, match="understudy train dota value"):
        kept_ratings.load(tmp_path)


def test_ratings_that_come_with_the_program_are_of_hundreds_of_teams():
    known = kept_ratings.shipped()
    assert len(known.mean) > 300 and known.matches > 3_000
    assert all(0 < variance <= 1.5 * known.team_variance for variance in known.variance.values())
