"""Timelines: from which row on a thing is known, and sums that stay in their match."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.games.dota.small_matches import (
    late_match,
    put,
    small_match,
    small_tables,
    small_timeline,
)
from understudy.games.dota.features.timeline import KINDS, build_timeline


def bought_at(*times, match=None):
    raw = match or small_match(minutes=10)
    raw["players"][0]["purchase_log"] = [{"time": t, "key": "tango"} for t in times]
    return small_timeline(raw)


@pytest.mark.parametrize(
    ("t", "row"), [(-80, 0), (0, 0), (1, 1), (60, 1), (61, 2), (599, 10), (600, 10), (601, -1)]
)
def test_a_thing_is_known_on_the_first_row_that_is_not_before_it(t, row):
    assert bought_at(t).events["purchase"].row.tolist() == [row]


@given(st.lists(st.integers(-90, 800), max_size=12), st.sampled_from([0, 60, 180]))
@settings(max_examples=25, deadline=None)
def test_known_from_is_the_first_minute_that_has_come(times, begin):
    """By looking through the rows one by one, also where the first minutes were missed."""
    match = bought_at(*times, match=late_match(begin, minutes=10))
    things = match.events["purchase"]
    for t, row in zip(things.t.tolist(), things.row.tolist(), strict=True):
        come = [k for k, now in enumerate(match.t.tolist()) if now >= t]
        assert row == (come[0] if come else -1)


def two_matches():
    first, second = small_match(1, minutes=6), small_match(2, minutes=9)
    first["players"][5]["kills_log"] = [{"time": t, "key": "x"} for t in (30, 61, 400)]
    second["players"][2]["kills_log"] = [{"time": t, "key": "x"} for t in (0, 300, 540)]
    second["players"][5]["kills_log"] = []
    return small_timeline(first, second)


def test_sums_begin_anew_with_every_match():
    match = two_matches()
    kills = match.events["kill"]
    expected = np.zeros((len(match.t), 2))
    for row, (which, now) in enumerate(zip(match.which, match.t, strict=True)):
        for team in (0, 1):
            own = (kills.which == which) & (kills.team == team) & (kills.t <= now)
            expected[row, team] = own.sum()
    np.testing.assert_array_equal(match.so_far(kills.row, kills.team), expected)
    size = np.arange(1.0, 1 + len(kills))
    tenfold = match.so_far(kills.row, kills.team, 10 * size)
    np.testing.assert_allclose(tenfold, 10 * match.so_far(kills.row, kills.team, size))
    assert match.so_far(kills.row, kills.team, size)[6].tolist() == [0, 3]  # 1 + 2, not 400 s


def test_running_and_earlier_by_their_definitions():
    match = two_matches()
    rng = np.random.default_rng(0)
    amount = rng.integers(-5, 9, (len(match.t), 3)).astype(float)
    total, before = match.running(amount), match.earlier(amount, 3)
    for row, which in enumerate(match.which):
        first = match.first[which]
        np.testing.assert_allclose(total[row], amount[first : row + 1].sum(axis=0))
        np.testing.assert_array_equal(before[row], amount[max(first, row - 3)])


def test_players_and_heroes_lie_where_their_slots_are():
    match = two_matches()
    assert match.minutes.tolist() == [7, 10] and match.first.tolist() == [0, 7]
    assert match.match_id.tolist() == [1, 2] and match.heroes[1].tolist() == list(range(1, 11))
    gold = match.players["gold"]
    assert gold[6].tolist() == [600.0] * 5 + [540.0] * 5 and gold[7].tolist() == [0.0] * 10
    assert match.players["xp"][16, 9] == 2 * 90 * 9 and match.players["lh"][8, 3] == 1


def test_a_hero_that_is_missing_is_number_0():
    raw = small_match()
    raw["players"][4]["hero_id"] = None
    assert small_timeline(raw).heroes[0].tolist() == [1, 2, 3, 4, 0, 6, 7, 8, 9, 10]


def test_an_unparsed_match_has_no_rows_and_its_events_go_nowhere():
    tables = small_tables(small_match(1), small_match(2))
    kept = dict(tables)
    for name in ("state_team_minute", "state_player_minute"):
        kept[name] = tables[name].filter(pa.array(tables[name]["match_id"].to_numpy() == 2))
    match = build_timeline(kept)
    assert match.match_id.tolist() == [2] and set(match.which.tolist()) == {0}
    assert all(len(things) <= 1 and (things.which == 0).all() for things in match.events.values())
    assert len(match.fights) == 1 and len(match.fight_shares["deaths"]) == 1
    alone = small_timeline(small_match(2))
    np.testing.assert_array_equal(match.events["kill"].row, alone.events["kill"].row)


def test_no_match_at_all_is_a_timeline_without_rows():
    match = build_timeline({name: table.slice(0, 0) for name, table in small_tables().items()})
    assert len(match.t) == len(match.match_id) == 0 and set(match.events) == {*KINDS}
    assert match.so_far(np.zeros(0, int), np.zeros(0, int)).shape == (0, 2)


def test_a_fight_is_known_at_its_end_with_what_each_gained():
    match = small_timeline()
    assert match.fights.row.tolist() == [3] and match.fights.t.tolist() == [150]
    assert match.fight_shares["gold_delta"].tolist() == [[10.0 * k for k in range(10)]]
    assert match.fights.value.tolist() == [3]


def without(name, table, row):
    keep = np.arange(len(table)) != row
    return {name: table.filter(pa.array(keep))}


def test_what_is_no_timeline_is_refused():
    tables = small_tables()
    state, players = tables["state_team_minute"], tables["state_player_minute"]
    with pytest.raises(ValueError, match="minutes are missing or out of order"):
        build_timeline(tables | without("state_team_minute", state, 4))
    with pytest.raises(ValueError, match="minutes are missing or out of order"):
        build_timeline(tables | {"state_team_minute": put(state, t=state["t"].to_pylist()[::-1])})
    with pytest.raises(ValueError, match="not ten players at every minute"):
        build_timeline(tables | without("state_player_minute", players, 7))
    with pytest.raises(ValueError, match="minutes of a match that is not there"):
        build_timeline(tables | {"matches": tables["matches"].slice(0, 0)})
