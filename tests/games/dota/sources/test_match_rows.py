"""Everything with a time in an answer of OpenDota becomes one event, whoever tells of it."""

import pytest

from tests.games.dota.small_matches import small_match, small_tables
from understudy.games.dota.sources.match_files import tables_of
from understudy.games.dota.sources.opendota import MatchError, is_parsed, rows_of, scrubbed


def events(match, kind):
    """Without what all share and what is missing."""
    rows = small_tables(match)["events"].to_pylist()
    return [
        {
            name: value
            for name, value in row.items()
            if value is not None and name not in ("match_id", "event_type")
        }
        for row in rows
        if row["event_type"] == kind
    ]


def with_log(slot, log, *entries):
    match = small_match(objectives=[])
    match["players"][slot][log] = list(entries)
    return match


def test_logs_of_a_player_by_hand():
    rune = with_log(6, "runes_log", {"time": 360, "key": 5})
    assert events(rune, "rune") == [{"t": 360, "slot_idx": 6, "team": 1, "key": "5"}]
    back = with_log(4, "buyback_log", {"time": 900, "slot": 4, "type": "buyback_log"})
    assert events(back, "buyback") == [{"t": 900, "slot_idx": 4, "team": 0}]
    found = {"time": 420, "item_neutral": "trusty_shovel", "item_neutral_enhancement": "quick"}
    (neutral,) = events(with_log(0, "neutral_item_history", found), "neutral")
    assert (neutral["key"], neutral["target"]) == ("trusty_shovel", "quick")
    ward = {"time": 70, "x": 100.5, "y": 90.25, "ehandle": 77}
    place = {"t": 70, "slot_idx": 9, "team": 1, "x": 100.5, "y": 90.25, "value": 77}
    for log, kind in (("obs_log", "ward_obs_place"), ("sen_log", "ward_sen_place")):
        assert events(with_log(9, log, ward), kind) == [place]
    gone = with_log(9, "sen_left_log", ward | {"time": 99, "attackername": "npc_dota_hero_axe"})
    assert events(gone, "ward_sen_left") == [place | {"t": 99, "target": "npc_dota_hero_axe"}]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"player_slot": 3, "team": 3}, {"slot_idx": 3, "team": 0}),  # a player says more
        ({"player_slot": 130}, {"slot_idx": 7, "team": 1}),
        ({"team": 2}, {"team": 0}),
        ({"team": 3}, {"team": 1}),
        ({"team": 0}, {}),
        ({"key": 0, "value": 250}, {"value": 250}),
        ({"key": 12}, {"target": "12"}),
    ],
)
def test_whose_an_objective_is(entry, expected):
    match = small_match(objectives=[{"time": 50, "type": "CHAT_MESSAGE_X", **entry}])
    assert events(match, "objective") == [{"t": 50, "key": "CHAT_MESSAGE_X", **expected}]


def test_fights_keep_their_number_and_who_killed_how_many():
    match = small_match()
    fight = match["teamfights"][0]
    fight["players"][3]["killed"] = {"npc_dota_hero_axe": 1, "npc_dota_hero_lina": 2}
    match["teamfights"] = [fight, {**fight, "start": 500, "end": 560}]
    tables = small_tables(match)
    assert tables["teamfights"]["fight_id"].to_pylist() == [0, 1]
    assert tables["teamfights"]["end"].to_pylist() == [150, 560]
    shares = tables["teamfight_players"].to_pylist()
    assert [row["n_killed"] for row in shares if row["slot_idx"] == 3] == [2, 2]
    assert [row["gold_delta"] for row in shares[:10]] == [10 * slot for slot in range(10)]


def test_teams_and_league_may_be_told_in_a_part_of_their_own():
    match = small_match(
        radiant_team_id=None,
        radiant_team={"team_id": 77},
        dire_team_id=0,
        league={"name": "The League", "tier": "premium"},
    )
    (row,) = small_tables(match)["matches"].to_pylist()
    assert (row["radiant_team_id"], row["dire_team_id"]) == (77, None)
    assert (row["league"], row["tier"]) == ("The League", "premium")
    (row,) = small_tables()["matches"].to_pylist()
    assert row["league"] is None and row["n_min"] == 13


def broken(change):
    match = small_match()
    change(match)
    return match


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda m: m.pop("players"), "no match: neither match_id nor players"),
        (lambda m: m["players"][9].update(player_slot=0), "player slots [0, 0, 1"),
        (lambda m: m["players"][3].update(times=[0, 60]), "minutes of slot 3 are not those of the"),
        (lambda m: m["players"][3].update(times=[5, *range(60, 781, 60)]), "minutes of slot 3"),
        (lambda m: m["players"][6]["lh_t"].pop(), "ValueError"),
        (lambda m: m["players"][6].pop("gold_t"), "KeyError: 'gold_t'"),
        (lambda m: m["objectives"].append({"type": "x"}), "KeyError: 'time'"),
        (lambda m: m["teamfights"].append({"start": 5}), "KeyError"),
    ],
)
def test_a_match_told_otherwise_says_where(change, word):
    with pytest.raises(MatchError) as failure:
        rows_of(broken(change))
    assert word in str(failure.value)


def test_logs_that_are_missing_or_empty_tell_nothing():
    match = small_match(objectives=None, teamfights=None, picks_bans=None)
    for player in match["players"]:
        player |= dict.fromkeys(("purchase_log", "kills_log", "obs_log", "runes_log"))
    tables = small_tables(match)
    assert not any(len(tables[name]) for name in ("events", "teamfights", "drafts"))
    assert len(tables["state_team_minute"]) == 13
    nothing = tables_of([])
    assert all(len(table) == 0 for table in nothing.values()) and set(nothing) == set(tables)


def test_scrubbing_takes_people_and_leaves_the_match():
    match = small_match(chat=[1], players=[{"name": "x", "hero_id": 4, "plus": True}, "odd"])
    kept = scrubbed(match | {"replay_url": "http://there", "name": "of the league"})
    assert kept["players"] == [{"hero_id": 4}] and kept["name"] == "of the league"
    assert "chat" not in kept and "replay_url" not in kept and is_parsed(kept)
    assert scrubbed({"match_id": 5, "players": None}) == {"match_id": 5, "players": None}
