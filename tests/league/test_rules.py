"""When learners are kept, and what they start over from."""

from dataclasses import replace

import numpy as np
import pytest

from tests.league.members import league, payoff
from understudy.league.payoff import Payoff
from understudy.league.population import initial_roster
from understudy.league.rules import ResetRule, SnapshotRule, hardest_past_main, targets

SNAPSHOTS = [("main", 2), ("main", 6), ("main-exploiter", 3)]
RULE = SnapshotRule(min_steps=100, max_steps=400, beats=0.7, confidence=0.9)
RNG = np.random.default_rng(0)


def with_steps(roster, name, steps):
    learners = [
        replace(one, unsaved_steps=steps) if one.name == name else one for one in roster.learners
    ]
    return replace(roster, learners=tuple(learners))


def verdict(name, steps, results, rule=RULE, snapshots=SNAPSHOTS):
    roster = with_steps(league(snapshots=snapshots), name, steps)
    return rule(roster.learner(name), roster, results)


BEATS = payoff({("main-exploiter-009", "main-009"): 0.8})


def test_a_main_exploiter_that_beats_the_main_is_kept():
    kept = verdict("main-exploiter", 100, BEATS)
    assert kept.succeeded
    assert "main-009 the least" in kept.reason
    assert "by 1000 matches" in kept.reason


def test_not_before_its_least_steps():
    assert verdict("main-exploiter", 99, BEATS) is None


def test_not_on_a_few_lucky_games():
    lucky = payoff({("main-exploiter-009", "main-009"): 0.8}, games=10)
    assert verdict("main-exploiter", 100, lucky) is None
    # the same games are enough for one who asks for less
    assert verdict("main-exploiter", 100, lucky, replace(RULE, confidence=0.5)) is not None


def test_not_for_what_its_predecessors_did():
    before = payoff({("main-exploiter-008", "main-009"): 1.0, ("main-exploiter-009", "x"): 1.0})
    assert verdict("main-exploiter", 100, before) is None


def test_at_its_most_steps_in_any_case():
    assert verdict("main-exploiter", 399, Payoff()) is None
    kept = verdict("main-exploiter", 400, Payoff())
    assert not kept.succeeded
    assert kept.reason == "400 agent-steps have passed"


def test_a_league_exploiter_must_beat_everybody():
    rates = {("league-exploiter-009", name): 0.9 for name in ("clone", "main-002", "main-006")}
    assert verdict("league-exploiter", 100, payoff(rates)) is None
    rates["league-exploiter-009", "main-exploiter-003"] = 0.9
    assert verdict("league-exploiter", 100, payoff(rates)).succeeded


def test_a_main_may_be_kept_by_steps_alone():
    rule = SnapshotRule(max_steps=200)
    everywhere = payoff({("main-009", name): 1.0 for name in ("clone", "main-002", "main-006")})
    assert verdict("main", 199, everywhere, rule) is None
    assert verdict("main", 200, Payoff(), rule) is not None


def test_who_has_not_learned_is_not_kept():
    assert verdict("main", 0, Payoff(), SnapshotRule()) is None


def test_whom_each_role_should_beat():
    roster = league(snapshots=[*SNAPSHOTS, ("main", 9)])
    past = ["clone", "main-002", "main-006", "main-exploiter-003"]
    assert targets(roster.learner("main"), roster) == past  # not itself
    assert targets(roster.learner("main-exploiter"), roster) == ["main-009"]
    assert targets(roster.learner("league-exploiter"), roster) == [*past, "main-009"]


HARDEST = payoff(
    {("main-009", "main-002"): 0.4, ("main-009", "main-006"): 0.6, ("main-009", "clone"): 0.9}
)


def start(to, succeeded, begun_from="clone", probability=1.0, rng=RNG):
    roster = league(snapshots=SNAPSHOTS)
    learner = replace(roster.learner("main-exploiter"), begun_from=begun_from)
    return ResetRule(probability, to)(learner, roster, HARDEST, succeeded, rng)


@pytest.mark.parametrize(
    ("to", "succeeded", "begun_from", "expected"),
    [
        ("imitation", False, "clone", "clone"),
        ("imitation", True, "main-002", "clone"),
        ("past main", True, "clone", "main-002"),
        ("adaptive", True, "clone", "clone"),
        ("adaptive", False, "clone", "main-002"),
        ("adaptive", True, "main-006", "main-002"),
    ],
)
def test_what_exploiters_start_over_from(to, succeeded, begun_from, expected):
    assert start(to, succeeded, begun_from) == expected


def test_some_go_on():
    assert start("imitation", True, probability=0.0) is None
    rng = np.random.default_rng(3)
    again = [start("imitation", True, probability=0.25, rng=rng) for _ in range(2000)]
    assert np.mean([one is not None for one in again]) == pytest.approx(0.25, abs=0.03)


def test_the_hardest_past_main_is_not_the_present_one():
    roster = league(snapshots=[("main", 9)])
    assert hardest_past_main(roster, Payoff()) == "clone"
    assert hardest_past_main(initial_roster("clone", [("main", "main")]), Payoff()) == "clone"


def test_a_life_in_steps():
    (learner,) = initial_roster("clone", [("main", "main")]).learners
    learner = learner.trained("main-001", 10).trained("main-002", 20)
    assert (learner.agent_steps, learner.unsaved_steps, learner.parent) == (30, 30, "clone")
    learner = learner.kept().trained("main-003", 5)
    assert (learner.agent_steps, learner.unsaved_steps, learner.parent) == (35, 5, "main-002")
    learner = learner.reset("clone")
    assert (learner.agent_steps, learner.version, learner.life) == (0, "clone", 1)


def test_two_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two players of one name: expert"):
        initial_roster("expert", [("main", "main")], ["expert"])
