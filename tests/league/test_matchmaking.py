"""Whom each role meets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.league.members import ALL, league, payoff
from understudy.league.matchmaking import (
    ByRole,
    FictitiousSelfPlay,
    SelfPlay,
    entropy,
    forgotten_players,
    likeliest,
    mixed,
)
from understudy.league.payoff import Payoff, Tally

SNAPSHOTS = [("main", 2), ("main-exploiter", 3), ("league-exploiter", 4), ("main", 6)]
PAST = ["clone", "main-002", "main-exploiter-003", "league-exploiter-004", "main-006"]
ROLES = ByRole()


def chosen(name, roster, results, way=ROLES):
    return way(roster.learner(name), roster, results)


def test_before_anything_was_played_a_main_meets_itself_and_the_beginning():
    assert chosen("main", league(), Payoff()) == {"clone": 0.7, "main": 0.3}


@pytest.mark.parametrize("way", [ROLES, ByRole(self_play=0.05, past=0.7)])
def test_until_an_exploiter_is_kept_a_main_has_a_share_of_self_play_of_its_own(way):
    """Scripts, and a past that was forgotten, change nothing of that."""
    past = [("main", 2), ("main", 6)]
    rates = {("main-009", "clone"): 0.4, ("main-009", "main-002"): 0.4, ("main-009", "bot"): 0.1}
    for results in (Payoff(), payoff(rates | {("main-009", "main-006"): 0.6})):
        found = chosen("main", league(snapshots=past, scripted=["bot"]), results, way)
        assert found["main"] == pytest.approx(0.3)
        assert sum(found.values()) == pytest.approx(1)
    for exploiter in ("main-exploiter", "league-exploiter"):
        hunted = league(snapshots=[*past, (exploiter, 3)])
        found = chosen("main", hunted, payoff({("main-009", f"{exploiter}-003"): 0.01}), way)
        practises = exploiter == "main-exploiter"
        rest = 1 - way.self_play - way.past
        assert found["main"] == pytest.approx(way.self_play + (0 if practises else rest))


@pytest.mark.parametrize("wrong", [-0.1, 1.1])
def test_a_share_of_self_play_at_first_is_a_share(wrong):
    with pytest.raises(ValueError, match="self_play_at_first is a share"):
        ByRole(self_play_at_first=wrong)


def test_nothing_but_self_play_even_where_somebody_is_lost_to():
    hunted = league(snapshots=[("main-exploiter", 3)])
    results = payoff({("main-009", "main-exploiter-003"): 0.01})
    alone = ByRole(self_play=1.0, past=0.0, self_play_at_first=1.0)
    assert chosen("main", hunted, results, alone) == {"main": 1.0}


def test_a_main_plays_half_against_the_past_the_hard_ones_more():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-009", name): 0.9 for name in PAST} | {("main-009", "clone"): 0.7}
    found = chosen("main", roster, payoff(rates))
    assert found["main"] == pytest.approx(0.5)  # 35 % and the 15 % nobody else needs
    assert sum(found[name] for name in PAST) == pytest.approx(0.5)
    # (1 - 0.7)² beside four of (1 - 0.9)²
    assert found["clone"] == pytest.approx(0.5 * 0.09 / 0.13, rel=0.02)
    assert found["main-006"] == pytest.approx(0.5 * 0.01 / 0.13, rel=0.05)


def test_a_main_practises_against_an_exploiter_that_beats_it():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-009", name): 0.9 for name in PAST}
    rates["main-009", "main-exploiter-003"] = 0.25
    found = chosen("main", roster, payoff(rates))
    assert found["main"] == pytest.approx(0.35)
    past = 0.5 * 0.75**2 / (0.75**2 + 4 * 0.01)
    assert found["main-exploiter-003"] == pytest.approx(0.15 + past, rel=0.02)


def test_a_league_exploiter_that_beats_it_is_left_to_the_past():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-009", name): 0.9 for name in PAST}
    rates["main-009", "league-exploiter-004"] = 0.25
    assert ROLES.to_practise(roster.learner("main"), roster, payoff(rates)) == []


def test_a_main_practises_against_a_forgotten_self():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-009", name): 0.9 for name in PAST}
    rates["main-009", "main-002"] = 0.4
    results = payoff(rates)
    assert ROLES.to_practise(roster.learner("main"), roster, results) == ["main-002"]
    assert chosen("main", roster, results)["main-002"] > 0.15


@pytest.mark.parametrize(
    ("rates", "forgotten"),
    [
        ([], []),
        ([0.1], []),
        ([0.9, 0.8, 0.6, 0.5], []),  # the newer the harder: as it should be
        ([0.5, 0.9, 0.6, 0.5], [0]),  # the oldest is hard again
        ([0.5, 0.9, 0.6, 0.65], [0, 2, 3]),
        ([0.8, 0.9, 0.6], []),  # forgotten a little, still beaten
        ([0.5, 0.5, 0.5], []),
    ],
)
def test_what_counts_as_forgotten(rates, forgotten):
    assert forgotten_players(rates, 0.7) == forgotten


def test_two_mains_meet_each_other_unless_one_is_too_strong():
    learners = (("main-a", "main"), ("main-b", "main"))
    roster = league(learners, snapshots=[("main-b", 1)])
    even = payoff({("main-a-009", "main-b-009"): 0.4})
    alone = ByRole(self_play=1.0, past=0.0, self_play_at_first=1.0)
    found = chosen("main-a", roster, even, alone)
    assert found == pytest.approx({"main-a": 0.5, "main-b-009": 0.5})
    weak = payoff({("main-a-009", "main-b-009"): 0.2, ("main-a-009", "main-b-001"): 0.5})
    found = chosen("main-a", roster, weak, alone)
    assert set(found) == {"main-a", "main-b-001", "clone"}


def test_a_main_exploiter_meets_mains_and_half_of_the_time_their_past():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-exploiter-009", name): 0.5 for name in ("main-009", *PAST)}
    found = chosen("main-exploiter", roster, payoff(rates))
    third = 0.5 / 3
    expected = {"main-009": 0.5, "clone": third, "main-002": third, "main-006": third}
    assert found == pytest.approx(expected)


def test_a_hopeless_main_exploiter_meets_only_the_past():
    roster = league(snapshots=SNAPSHOTS)
    rates = {("main-exploiter-009", "main-009"): 0.15, ("main-exploiter-009", "main-002"): 0.5}
    rates |= {("main-exploiter-009", "main-006"): 0.1, ("main-exploiter-009", "clone"): 0.9}
    found = chosen("main-exploiter", roster, payoff(rates))
    assert "main-009" not in found
    assert found["main-002"] == pytest.approx(0.25 / (0.25 + 2 * 0.09), rel=0.02)


def test_a_league_exploiter_meets_everybodys_past():
    roster = league(snapshots=SNAPSHOTS, scripted=["bot"])
    found = chosen("league-exploiter", roster, Payoff())
    assert found == pytest.approx(dict.fromkeys(["clone", "bot", *PAST[1:]], 1 / 6))


def test_plain_self_play_knows_only_itself():
    assert chosen("main", league(snapshots=SNAPSHOTS), Payoff(), SelfPlay()) == {"main": 1.0}


def test_fictitious_self_play_meets_all_it_has_been():
    found = chosen("main", league(snapshots=SNAPSHOTS), Payoff(), FictitiousSelfPlay())
    assert found == dict.fromkeys(["clone", "main-002", "main-006", "main"], 0.25)


def test_one_just_kept_is_not_met_twice_in_fictitious_self_play():
    roster = league(snapshots=[("main", 9)])
    found = chosen("main", roster, Payoff(), FictitiousSelfPlay())
    assert found == {"clone": 0.5, "main-009": 0.5}


def test_a_league_of_one_player():
    roster = league((("main", "main"),))
    for way in (ROLES, SelfPlay(), FictitiousSelfPlay()):
        assert sum(chosen("main", roster, Payoff(), way).values()) == pytest.approx(1)


records = st.lists(
    st.tuples(
        st.sampled_from([f"{name}-009" for name, _ in ALL]),
        st.sampled_from([*PAST, "main-009", "bot"]),
        st.tuples(*[st.integers(0, 300).map(float)] * 3),
    ),
    max_size=25,
)


@given(records, st.sampled_from([name for name, _ in ALL]))
def test_whoever_wins_the_shares_sum_to_one(rows, name):
    results = Payoff()
    for one, other, tally in rows:
        results.add(one, other, Tally(*tally))
    roster = league(snapshots=SNAPSHOTS, scripted=["bot"])
    found = chosen(name, roster, results)
    assert sum(found.values()) == pytest.approx(1)
    assert all(share > 0 for share in found.values())
    assert set(found) <= {"main", "main-009", "bot", *PAST}


def test_shares_of_nobody_go_to_the_others():
    assert mixed([(1.0, {"a": 1.0}), (3.0, {})]) == {"a": 1.0}
    assert mixed([(1.0, {"a": 1.0}), (3.0, {"a": 0.5, "b": 0.5})]) == {"a": 0.625, "b": 0.375}


def test_only_the_likeliest_are_met():
    opponents = {"a": 0.1, "b": 0.4, "c": 0.2, "d": 0.3}
    assert likeliest(opponents, 2) == pytest.approx({"b": 4 / 7, "d": 3 / 7})
    assert list(likeliest(opponents, 4)) == list("abcd")
    assert likeliest(opponents, 9) == pytest.approx(opponents)
    assert likeliest({"a": 1.0}, 1) == {"a": 1.0}


def test_effective_opponents():
    assert entropy({"a": 1.0}) == pytest.approx(1)
    assert entropy({"a": 0.5, "b": 0.5, "c": 0.0}) == pytest.approx(2)


def test_shares_above_one_are_refused():
    with pytest.raises(ValueError, match="must not exceed 1"):
        ByRole(self_play=0.6, past=0.5)
