"""What is told of a league: ratings, weaknesses, the matches to watch."""

import json
from dataclasses import replace

import pytest

from tests.league.members import league, payoff
from tests.league.toy_league import season
from understudy.data.stats import Estimate
from understudy.errors import InputError
from understudy.league.analysis.highlights import best_exploit, highlight_matches, loser, winner
from understudy.league.analysis.summary import (
    own_nash,
    ratings_of,
    read_lines,
    read_summary,
    summarise,
    write_summary,
)

SMALL = {"rounds": 4, "matches": 10, "agent_steps": 60}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    league = season(tmp_path_factory.mktemp("summary"), **SMALL)
    return league, league.run()


@pytest.fixture(scope="module")
def summary(played):
    league, state = played
    return summarise(
        state,
        read_lines(league.folder),
        {"main": {"mean": 0.6, "low": 0.5, "high": 0.7, "agent_steps": 9, "matches": 8}},
    )


def test_a_summary_is_plain_json_and_comes_back(summary, tmp_path):
    write_summary(tmp_path, summary)
    assert read_summary(tmp_path) == json.loads(json.dumps(summary))


def test_all_matches_are_counted(played, summary):
    _, state = played
    assert summary["matches"] == 2 * state.seeds
    wins = sum(pair["wins"] + pair["draws"] / 2 for pair in summary["win_rates"])
    games = sum(pair["wins"] + pair["draws"] + pair["losses"] for pair in summary["win_rates"])
    assert wins == pytest.approx(games / 2)


def test_players_come_by_rating_and_the_beginning_has_1000(played, summary):
    ratings = [player["rating"] for player in summary["players"]]
    assert ratings == sorted(ratings, reverse=True)
    found = {player["name"]: player for player in summary["players"]}
    assert found["rock"]["rating"] == 1000
    assert set(found) == set(played[1].roster.members())
    assert found["main-004"]["present"] == ["main"]
    assert found["main-002"]["kind"] == "historical"
    assert "1000" in summary["elo_scale"]
    assert "10 to 1" in summary["elo_scale"]


def test_ratings_cover_versions_that_are_no_more(played):
    _, state = played
    assert "main-001" in ratings_of(state)
    assert "main-001" not in state.roster.members()


def test_the_league_is_compared_with_its_beginning(summary):
    assert summary["relative_population_performance"] > 0.6  # rock is beaten by paper
    assert sum(summary["nash"].values()) == pytest.approx(1, abs=0.02)
    worst = summary["minimum_win_rate"]["main"]
    assert worst["opponent"] in {"rock", "main-002"}  # itself as it was
    assert (worst["among"], worst["matches"]) == (2, 10)


def test_the_own_mixture_is_of_those_with_weights(played):
    league, _ = played
    strong = season(league.folder.with_name("scripted"), **SMALL)
    state = replace(strong, scripted=("paper",)).run()
    shares = own_nash(state)
    assert "paper" not in shares
    assert sum(shares.values()) == pytest.approx(1)
    assert "paper" in state.roster.members()


def test_one_who_has_just_started_over_is_not_present(played):
    _, state = played
    reset = replace(state.roster.learners[1].reset("rock"))
    learners = (state.roster.learners[0], reset, state.roster.learners[2])
    again = replace(state, roster=replace(state.roster, learners=learners))
    found = {p["name"]: p for p in summarise(again, [], {})["players"]}
    assert found["rock"]["present"] == []
    assert found["rock"]["learner"] is None


def test_a_league_that_has_not_begun_has_a_summary(tmp_path):
    state = season(tmp_path, **SMALL).begun()
    found = summarise(state, [], {})
    assert found["relative_population_performance"] is None
    assert found["highlights"] == []
    assert found["players"][0]["rating"] == 1000
    json.dumps(found, allow_nan=False)


def test_a_missing_summary_is_named(tmp_path):
    with pytest.raises(InputError, match=r"summary.json is missing\. Run"):
        read_summary(tmp_path)


# --- Matches to watch ----------------------------------------------------------------------------


def match(one, other, score, number, steps=10):
    return {
        "round": 1, "match": f"m{number}", "seed": number, "players": [one, other],
        "score": score, "steps": steps,
    }  # fmt: skip


ROSTER = league(snapshots=[("main", 2), ("main-exploiter", 3)])
RATINGS = {
    name: Estimate(value, value, value)
    for name, value in {
        "clone": 1000.0, "main-002": 1300.0, "main-exploiter-003": 1100.0, "main-009": 1500.0,
    }.items()
}  # fmt: skip
RATES = payoff(
    {
        ("main-exploiter-003", "main-002"): 0.9,
        ("main-exploiter-003", "main-009"): 0.2,
        ("clone", "main-009"): 0.05,
    }
)


def test_the_matches_to_watch():
    rows = [
        match("main-009", "main-exploiter-003", -1.0, 1),
        match("main-exploiter-003", "main-002", 1.0, 2),
        match("clone", "main-009", 1.0, 3),
        match("main-002", "main-009", -1.0, 4, steps=10),
        match("main-002", "main-009", -1.0, 5, steps=99),
        match("main-002", "main-009", 0.0, 6, steps=500),  # drawn: nobody won
        match("clone", "gone-001", 1.0, 7),  # whose weights are no more
    ]
    exploit, upset, duel = highlight_matches(rows, ROSTER, RATES, RATINGS)
    assert (exploit.kind, exploit.match, exploit.winner) == (
        "best exploit", "m2", "main-exploiter-003"
    )  # fmt: skip
    assert exploit.why == "main-exploiter-003 beats main-002 in 90%, by 1000 matches"
    assert (upset.kind, upset.match, upset.winner) == ("upset", "m3", "clone")
    assert (duel.kind, duel.match, duel.players) == ("duel", "m5", ("main-002", "main-009"))


def test_nothing_was_decided():
    rows = [match("main-002", "main-009", 0.0, 1)]
    assert highlight_matches(rows, ROSTER, RATES, RATINGS) == []


def test_without_exploiters_there_is_no_exploit():
    rows = [match("main-002", "main-009", 1.0, 1)]
    kinds = [one.kind for one in highlight_matches(rows, ROSTER, RATES, RATINGS)]
    assert kinds == ["upset", "duel"]


def test_how_a_best_response_wins():
    """Not its luckiest match: the one of middle length."""
    lengths = (30, 600, 20)
    rows = [match("x", "main-009", 1.0, n, steps=s) for n, s in enumerate(lengths)]
    rows += [match("main-009", "x", 1.0, 7), match("x", "main-009", 0.0, 8)]
    found = best_exploit(rows, "x")
    assert (found.kind, found.match, found.winner) == ("fresh exploit", "m0", "x")
    assert found.why == "x wins 3 of 5 matches against main-009"
    assert best_exploit(rows[3:], "x") is None


def test_winner_and_loser():
    assert (winner(match("a", "b", 1.0, 1)), loser(match("a", "b", 1.0, 1))) == ("a", "b")
    assert (winner(match("a", "b", -0.5, 1)), loser(match("a", "b", -0.5, 1))) == ("b", "a")
