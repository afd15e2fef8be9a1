"""Posts as clients write them, and posts that are none."""

import pytest

from tests.games.dota.live.streams import recorded_match
from understudy.games.dota.live.gsi import CLIENT_NAMES, configuration, read_post
from understudy.games.dota.live.live_list import is_entry, read_entry
from understudy.games.dota.live.posts import posts_of
from understudy.games.dota.live.report import BUILDINGS, LIST, PLAYER, ReportError

PLAYING = {
    "provider": {"name": "Dota 2"},
    "map": {
        **{"matchid": "77", "clock_time": 600, "game_time": 690, "radiant_score": 4},
        **{"dire_score": 2, "game_state": "DOTA_GAMERULES_STATE_GAME_IN_PROGRESS"},
    },
    "player": {
        **{"steamid": "7656", "accountid": "9", "name": "somebody", "team_name": "dire"},
        **{"team_slot": 2, "kills": 1, "kill_list": {"victimid_3": 1}, "gold": 431, "gpm": 420},
    },
    "hero": {"id": 8, "xp": 3000, "buyback_cooldown": 0},
    "items": {
        "slot0": {"name": "item_blink"},
        "slot1": {"name": "empty"},
        "neutral0": {"name": "x"},
    },
    "buildings": {"dire": {"dota_badguys_tower1_top": {"health": 900}, "dota_badguys_fort": {}}},
    "events": [
        {"game_time": 650, "event_type": "roshan_killed", "killed_by_team": "radiant"},
        {"game_time": 651, "event_type": "tip"},
    ],
}


def test_a_post_of_who_plays():
    report = read_post(PLAYING, lambda: 10_000)
    assert (report.source, report.match_id, report.clock, report.own_slot) == (PLAYER, 77, 600, 7)
    assert report.started_at == 9_400 and report.scores == (4, 2)
    own = report.heroes[7]
    assert (own.gold, own.cash, own.xp, own.items) == (4_200, 431, 3_000, ("blink",))
    assert own.killed == {3: 1}
    assert report.standing == (None, frozenset({"npc_dota_badguys_tower1_top"}))
    (event,) = report.events
    assert (event.kind, event.team, event.t) == ("roshan", 0, 560)  # by the clock, not by loading


def test_nothing_of_who_plays_is_kept():
    text = repr(read_post(PLAYING))
    assert "somebody" not in text and "7656" not in text


def test_gold_is_what_it_came_of_where_that_is_told():
    parts = {f"gold_from_{n}": k for k, n in enumerate(("hero_kills", "creep_kills", "income"), 1)}
    post = {**PLAYING, "player": {**PLAYING["player"], **parts, "gold_from_shared": 4_000}}
    assert read_post(post).heroes[7].gold == 4_006


def test_the_menu_is_no_match():
    assert read_post({"provider": {}, "player": {}}) is None


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {"map": {}},
        {**PLAYING, "map": {"clock_time": "soon"}},
        {**PLAYING, "map": {"clock_time": 10**30}},
        {**PLAYING, "player": {"team_name": "dire", "team_slot": 9}},
        {**PLAYING, "player": {"team2": {"player7": {}}}},
        {**PLAYING, "player": {"team2": {"player1": []}}},
        {**PLAYING, "items": {"slot0": 1}, "hero": 3},
        {**PLAYING, "events": [3]},
        {**PLAYING, "buildings": {"dire": {"dota_badguys_tower1_top": {"health": {}}}}},
    ],
)
def test_what_is_no_post_is_refused_in_one_line(wrong):
    with pytest.raises(ReportError) as told:
        read_post(wrong)
    assert "\n" not in str(told.value)


def test_every_building_has_a_name_there_and_back():
    post = next(posts_of(recorded_match()))
    assert read_post(post).standing == BUILDINGS
    assert CLIENT_NAMES[0]["npc_dota_goodguys_melee_rax_mid"] == "good_rax_melee_mid"
    assert {len(names) for names in BUILDINGS} == {17}


def test_the_file_for_the_client_names_the_address_and_the_token():
    text = configuration("http://127.0.0.1:8770/gsi", 'a"b')
    assert '"uri" "http://127.0.0.1:8770/gsi"' in text and '"token" "a\\"b"' in text
    assert text.count("{") == text.count("}")


def test_an_entry_of_the_live_list():
    entry = {
        **{"match_id": "5", "game_time": 1_205, "activate_time": 50, "radiant_lead": -3_400},
        **{"radiant_score": 9, "dire_score": 14, "deactivate_time": 0},
        "players": [{"account_id": 1, "team": 1, "hero_id": 8}, {"team": 0, "hero_id": 2}],
    }
    assert is_entry(entry) and not is_entry({"match_id": 5})
    report = read_entry(entry)
    assert (report.source, report.clock, report.gold_lead) == (LIST, 1_205, -3_400)
    assert {slot: hero.hero_id for slot, hero in report.heroes.items()} == {0: 2, 5: 8}
    with pytest.raises(ReportError, match="not as OpenDota"):
        read_entry({**entry, "radiant_lead": "much"})
