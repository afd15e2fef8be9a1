"""The words of SCML agree with each other."""

import pytest

from understudy.errors import InputError
from understudy.games.scml import domain
from understudy.games.scml.domain import BUCKETS, CALLS, DAYS, RESPONSES, RULES, track_named


def test_every_day_ahead_is_in_one_bucket():
    days = [day for first, last in BUCKETS for day in range(first, last + 1)]
    assert days == list(range(DAYS)) and RULES["std"].horizon == days[-1]


@pytest.mark.parametrize("words", [CALLS, RESPONSES], ids=["calls", "responses"])
def test_a_number_is_the_index_of_its_word(words):
    assert [getattr(domain, word.upper()) for word in words] == list(range(len(words)))


def test_a_track_is_found_by_its_name_and_a_wrong_one_is_told_which_there_are():
    assert [track_named(name) for name in RULES] == ["std", "oneshot"]
    with pytest.raises(InputError, match="there is no track 'collusion'; there is std, oneshot"):
        track_named("collusion")
