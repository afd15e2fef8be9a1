"""Who was first, and whether it won."""

import pytest

from tests.games.dota.small_matches import small_match, small_tables
from understudy.games.dota.report.scenarios import firsts, rates


def match(number, won, *events):
    return small_match(number, radiant_win=won, objectives=list(events))


def tower(time, loser):
    return {"time": time, "type": "building_kill", "key": f"npc_dota_{loser}_tower1_mid"}


def roshan(time, team):
    return {"time": time, "type": "CHAT_MESSAGE_ROSHAN_KILL", "team": team}


def test_only_the_first_counts_and_the_side_is_who_did_it():
    tables = small_tables(
        match(1, True, tower(700, "badguys"), tower(100, "goodguys"), roshan(650, 2)),
        match(2, False, tower(300, "goodguys"), roshan(200, 3)),
    )
    found = sorted(firsts(tables))
    assert found == [
        ("first Roshan", 3, True),
        ("first Roshan", 10, True),
        ("first tower", 1, False),  # Dire took it, Radiant won
        ("first tower", 5, True),
    ]


def test_rates_by_span_with_intervals():
    found = rates([("first tower", 4, True), ("first tower", 9, False), ("first tower", 10, True)])
    assert [(r.minutes, r.won.n, r.won.value) for r in found] == [
        ("0-9", 2, 0.5),
        ("10-19", 1, 1.0),
    ]
    assert found[0].won.low < 0.5 < found[0].won.high and found[1].won.high == pytest.approx(1)
