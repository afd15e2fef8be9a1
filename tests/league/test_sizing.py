"""The size of a league follows from what one learner needs, and is measured once."""

from dataclasses import replace

import pytest

from tests.league import rps
from tests.league.toy_league import play
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.league.recipe import with_baselines
from understudy.league.sizing import HUNT, LIVES, recipe_of

LEAGUE = replace(rps.league(), play=play, results=rps.RESULTS)
ROCK = PlayerRef("rock")


def test_a_life_lasts_as_often_as_said_what_beats_the_start(tmp_path):
    asked = []

    def improve(job):
        asked.append(job.agent_steps)
        return rps.improve(job)

    league = replace(LEAGUE, improve=improve)
    found = recipe_of(league, "auto", ROCK, 0, tmp_path)
    needed = sum(asked)
    assert asked[0] == 240 // 40 and asked[1:2] in ([], asked[:1])
    _, hunter = found.slots
    assert found.steps_of(hunter) == pytest.approx(LIVES * needed, abs=1)
    assert found.exploiter_steps == HUNT * needed
    asked.clear()
    again = recipe_of(league, "auto-self-play", ROCK, 0, tmp_path)
    assert asked == []  # what was measured is kept
    assert again.agent_steps == found.agent_steps and len(again.slots) == 1


def test_other_names_are_the_games_own(tmp_path):
    assert recipe_of(LEAGUE, "quick", ROCK, 0, tmp_path) is LEAGUE.recipes["quick"]
    with pytest.raises(InputError, match="no league 'slow'"):
        recipe_of(LEAGUE, "slow", ROCK, 0, tmp_path)


def test_who_cannot_beat_the_start_gets_no_size(tmp_path):
    def learn_nothing(job):
        return rps.improve(replace(job, agent_steps=0))

    tiny = {k: replace(v, agent_steps=40) for k, v in LEAGUE.recipes.items()}
    league = replace(LEAGUE, improve=learn_nothing, recipes=tiny)
    with pytest.raises(InputError, match="nobody learnt to beat rock"):
        recipe_of(league, "auto", ROCK, 0, tmp_path)
    assert set(with_baselines("auto", tiny["quick"])) >= {"auto", "auto-psro"}
