"""Settings of leagues, and baselines that cost the same."""

import json
from dataclasses import replace

import pytest

from tests.league.toy_league import recipe
from understudy.league.recipe import LeagueRecipe, Slot, three_roles, with_baselines
from understudy.league.rules import USUAL, Overrides, RoleRules, SnapshotRule

RULES = {"main": RoleRules(SnapshotRule(max_steps=1))}
NUMBERS = {"description": "d", "rounds": 3, "agent_steps": 100, "matches": 4}


def test_shares_of_agent_steps():
    league = three_roles(**NUMBERS, shares=(6.0, 3.0, 1.0))
    assert [league.steps_of(slot) for slot in league.slots] == [60, 30, 10]
    assert league.rules["main"].snapshot.max_steps == 90  # every second round, half a round early
    assert league.rules["main exploiter"].snapshot.max_steps == 105
    assert league.rules["league exploiter"].snapshot.min_steps == 5


def test_main_agents_learn_ever_more_slowly():
    league = three_roles(**NUMBERS | {"rounds": 4})
    main, hunter, _ = league.slots
    overrides = [league.overrides(main, number) for number in (1, 2, 3, 4)]
    assert [(one.rate, one.rate_end) for one in overrides] == [
        *((1, 0.75), (0.75, 0.5), (0.5, 0.25), (0.25, 0)),
    ]
    assert league.overrides(hunter, 4) == USUAL  # it has to find what the main agent leaves open
    assert replace(league, anneal_from=1.0).overrides(main, 4) == USUAL
    late = replace(league, anneal_from=0.5)
    overrides = [late.overrides(main, number) for number in (1, 2, 3, 4)]
    assert [(one.rate, one.rate_end) for one in overrides] == [(1, 1), (1, 1), (1, 0.5), (0.5, 0)]
    with pytest.raises(ValueError, match="anneal_from is a share"):
        replace(league, anneal_from=1.5)


def test_exploiters_hunt_in_their_own_way_and_fresh_ones_end_calmly():
    hunting = Overrides(rate=2.0, rate_end=2.0, kl_scale=0.0, draw=-1.0)
    league = three_roles(**NUMBERS, hunting=hunting)
    main, *hunters = league.slots
    assert league.overrides(main, 1) == USUAL.slowed(1.0, 2 / 3)
    assert all(league.overrides(one, 3) == hunting for one in hunters)
    for one in with_baselines("q", league).values():  # all are measured alike
        assert one.exploiter_overrides == replace(hunting, rate_end=0.0)


@pytest.mark.parametrize(
    "wrong", [{"rate": 0.0}, {"rate_end": -1.0}, {"kl_scale": -1.0}, {"draw": 2.0}]
)
def test_a_way_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match="rate must be above 0"):
        Overrides(**wrong)


def test_baselines_learn_as_the_main_agent_does():
    slow = RoleRules(SnapshotRule(max_steps=1), overrides=Overrides(rate=0.5))
    league = replace(three_roles(**NUMBERS), anneal_from=1.0)
    league = replace(league, rules={**league.rules, "main": slow})
    for name, one in with_baselines("q", league, magnet=0.3).items():
        held = replace(slow.overrides, magnet=0.3) if name == "q-magnet" else slow.overrides
        assert one.overrides(one.slots[0], 2) == held


def test_a_role_without_a_share_is_left_out():
    league = three_roles(**NUMBERS, shares=(0.6, 0.4, 0.0))
    assert [slot.role for slot in league.slots] == ["main", "main exploiter"]


def test_other_words_are_no_other_league():
    league = three_roles(**NUMBERS)
    assert replace(league, description="in other words").settings() == league.settings()


def test_baselines_take_as_many_agent_steps_and_are_kept_as_often():
    found = with_baselines("quick", three_roles(**NUMBERS))
    ways = ("self-play", "fictitious", "psro", "magnet")
    assert list(found) == ["quick", *(f"quick-{way}" for way in ways)]
    league, psro = found.pop("quick"), found.pop("quick-psro")
    assert psro.rules["main"].snapshot.max_steps == 50  # every round
    assert psro.anneal_from == 1.0
    for baseline in found.values():
        (slot,) = baseline.slots
        assert baseline.steps_of(slot) * baseline.rounds == 300
        rule, own = baseline.rules["main"].snapshot, league.rules["main"].snapshot
        assert rule.max_steps / 100 == own.max_steps / league.steps_of(league.slots[0])
        assert "quick" in baseline.description


def test_settings_are_json_and_tell_baselines_apart():
    texts = {json.dumps(one.settings()) for one in with_baselines("q", recipe()).values()}
    assert len(texts) == 5
    assert json.loads(json.dumps(recipe().settings()))["matchmaking"]["way"] == "ByRole"


@pytest.mark.parametrize("matches", [0, 1, 5])
def test_each_seed_is_played_from_both_sides(matches):
    with pytest.raises(ValueError, match="even number"):
        LeagueRecipe(**NUMBERS | {"matches": matches}, slots=(Slot("a", "main", 1.0),), rules=RULES)


def test_best_responses_too_are_measured_from_both_sides():
    with pytest.raises(ValueError, match="exploiter_matches must be an even number, not 5"):
        three_roles(**NUMBERS, exploiter_matches=5)


def test_a_league_needs_a_main_agent_and_rules_for_all():
    with pytest.raises(ValueError, match="needs a main agent"):
        LeagueRecipe(**NUMBERS, slots=(), rules=RULES)
    slots = (Slot("a", "main", 1.0), Slot("b", "league exploiter", 1.0))
    with pytest.raises(ValueError, match="no rules for league exploiter"):
        LeagueRecipe(**NUMBERS, slots=slots, rules=RULES)


def test_a_job_needs_an_opponent():
    with pytest.raises(ValueError, match="opponents_max must be at least 1"):
        LeagueRecipe(**NUMBERS, slots=(Slot("a", "main", 1.0),), rules=RULES, opponents_max=0)
