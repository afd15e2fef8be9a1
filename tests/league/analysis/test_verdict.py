"""The sentence on a league says what was measured, and claims nothing else."""

from understudy.league.analysis.verdict import strongest, verdict

RATE = {"mean": 0.8, "low": 0.7, "high": 0.9}
SUMMARY = {
    "players": [
        {"name": "main-004", "present": ["main"], "rating": 1200, "low": 1100, "high": 1300},
        {"name": "clone", "present": [], "rating": 1000, "low": 1000, "high": 1000},
    ],
    "win_rates": [{"player": "main-004", "opponent": "clone", **RATE}],
    "best_response": {
        "main": {"mean": 0.4, "low": 0.3, "high": 0.5, "agent_steps": 9_000},
        "main from itself": {"mean": 0.6, "low": 0.5, "high": 0.7, "agent_steps": 9_000},
    },
    "exact": {"main agent": 0.653},
    "cyclicity": {"value": 0.5, "low": 0.3, "high": 0.7, "n": 6},
}


def test_it_names_the_strongest_and_what_it_wins():
    assert strongest(SUMMARY)[0] == "main from itself"
    told = verdict({**SUMMARY, "exact": {}})
    assert told.startswith("main-004 beats clone, which all began as, 80 % [70, 90]; ")
    assert "strongest of 2" in told and "from the main agent itself) wins 60 % [50, 70]" in told
    assert "in circles (cyclic share 50 % [30, 70])" in told


def test_the_exact_best_answer_takes_the_place_of_learnt_ones():
    told = verdict(SUMMARY)
    assert "; the exact best answer wins 65.3 % against the main agent; players" in told
    assert "best responses" not in told


def test_what_is_not_known_is_not_told():
    none = {**SUMMARY, "best_response": {}, "exact": {}, "cyclicity": {"n": 0}}
    assert verdict(none) == "main-004 beats clone, which all began as, 80 % [70, 90]."
    level = [{**SUMMARY["win_rates"][0], "mean": 0.5, "low": 0.4, "high": 0.6}]
    assert "is level with clone" in verdict({**SUMMARY, "win_rates": level})
    assert "loses to" in verdict({**SUMMARY, "win_rates": [{**level[0], "high": 0.49}]})
    ladder = {"value": 0.02, "low": 0.0, "high": 0.05, "n": 6}
    assert "self-play may do as well" in verdict({**SUMMARY, "cyclicity": ladder})
    assert "is open" in verdict({**SUMMARY, "cyclicity": {**ladder, "high": 0.5}})
    assert verdict({**SUMMARY, "players": SUMMARY["players"][1:]}) == ""


def test_a_main_agent_that_still_beats_what_it_was_has_not_settled():
    kept = [{**SUMMARY["players"][0], "name": f"main-{n:03}", "present": []} for n in range(1, 9)]
    kept[-1]["present"] = ["main"]
    players = [{**one, "learner": "main"} for one in reversed(kept)] + SUMMARY["players"][1:]
    rates = [{"player": "main-008", "opponent": f"main-{n:03}", **RATE} for n in range(1, 8)]
    found = {**SUMMARY, "players": players, "win_rates": rates}
    assert "it had not settled (it beats main-006, which it was, 80 % [70, 90])" in verdict(found)
    level = [{**one, "low": 0.5} for one in rates]
    assert "settled" not in verdict({**found, "win_rates": level})
    assert "settled" not in verdict({**found, "way": "NashResponse"})
    others = [{**one, "learner": "main-exploiter"} for one in players]
    assert "settled" not in verdict({**found, "players": [*players[:1], *others[1:]]})
    assert "settled" not in verdict({**found, "players": [*players[:3], *players[8:]]})
