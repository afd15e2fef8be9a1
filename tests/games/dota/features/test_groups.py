"""Each group of features worked out by hand on small matches."""

import numpy as np
import pytest

from tests.games.dota.small_matches import small_match, small_timeline
from understudy.games.dota import facts
from understudy.games.dota.features import features

LAST = -1


def objective(time, kind, **more):
    return {"time": time, "type": kind, **more}


def fell(time, side, building):
    return objective(time, "building_kill", key=f"npc_dota_{side}guys_{building}")


def timeline_of(*objectives, minutes=20, **logs):
    """A match with these objectives; `obs_log_3=[...]` is a log of slot 3."""
    match = small_match(minutes=minutes, objectives=list(objectives), teamfights=[])
    match["players"][5]["kills_log"] = []
    match["players"][0]["purchase_log"] = []
    for name, entries in logs.items():
        log, _, slot = name.rpartition("_")
        match["players"][int(slot)][log] = entries
    return small_timeline(match)


def group(name, match):
    return features.GROUPS[name](match)


def test_sums_means_and_shares_of_gold():
    found = group("economy", small_timeline(small_match(minutes=4)))
    assert found["t_min"].tolist() == [0, 1, 2, 3, 4] and found["t"][LAST] == 240
    assert found["rad_gold_sum"][LAST] == 2000 and found["dire_gold_sum"][LAST] == 1800
    assert found["gold_sum_diff"][LAST] == 200 and found["gold_total"][LAST] == 3800
    assert found["gold_share"].tolist() == pytest.approx([0] + [200 / 3800] * 4)
    assert found["rad_xp_mean"][LAST] == 800 and found["xp_max_diff"][LAST] == 80
    assert found["lh_sum_diff"][LAST] == 0 and "lh_mean_diff" not in found


def test_ranks_set_the_richest_beside_the_richest():
    match = small_match(minutes=1)
    for slot, gold in enumerate([5, 1, 4, 2, 3, 10, 30, 20, 50, 40]):
        match["players"][slot]["gold_t"] = [0, 100 * gold]
    found = group("rank_economy", small_timeline(match))
    assert [found[f"gold_rank_{k}"][1] for k in range(1, 6)] == [
        100 * (own - other) for own, other in ((5, 50), (4, 40), (3, 30), (2, 20), (1, 10))
    ]
    assert found["top_share"][1] == pytest.approx(5 / 15 - 50 / 150)
    assert found["top_share"][0] == 0  # nobody has anything yet
    assert found["level_sum"].tolist() == [0, 0]


def test_buildings_count_for_who_took_them():
    match = timeline_of(
        fell(60, "bad", "tower1_mid"),
        fell(61, "bad", "tower1_top"),
        fell(100, "good", "tower1_bot"),
        fell(240, "bad", "melee_rax_mid"),
        fell(240, "good", "range_rax_top"),
        fell(300, "good", "tower4"),
        minutes=6,
    )
    found = group("objectives", match)
    assert found["towers_1"].tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert found["towers_4"].tolist() == [0, 0, 0, 0, 0, -1, -1]
    assert found["barracks_melee"][LAST] == 1 and found["barracks_range"][LAST] == -1
    assert found["buildings_change_3"].tolist() == [0, 1, 1, 1, 0, -1, -1]


def test_the_aegis_runs_out_and_roshan_does_not():
    aegis = {"player_slot": 128}
    match = timeline_of(
        objective(60, "CHAT_MESSAGE_ROSHAN_KILL", team=3),
        objective(60, "CHAT_MESSAGE_AEGIS", **aegis),
        objective(600, "CHAT_MESSAGE_ROSHAN_KILL", team=2),
        objective(600, "CHAT_MESSAGE_AEGIS_STOLEN", **aegis),
        objective(660, "CHAT_MESSAGE_ROSHAN_KILL"),  # by nobody of the ten
    )
    found = group("objectives", match)
    assert found["roshans"].tolist() == [0] + [-1] * 9 + [0] * 11
    assert found["roshans_total"].tolist() == [0] + [1] * 9 + [2] * 11
    assert found["aegis"].tolist() == [0] + [-1] * 5 + [0] * 4 + [-1] * 5 + [0] * 6


def test_first_blood_is_a_gain_and_a_lost_courier_is_not():
    match = timeline_of(
        objective(30, "CHAT_MESSAGE_FIRSTBLOOD", player_slot=2),
        objective(90, "CHAT_MESSAGE_COURIER_LOST", team=2),
        minutes=5,
    )
    found = group("objectives", match)
    assert found["first_blood"].tolist() == [0, 1, 1, 1, 1, 1]
    assert found["couriers"].tolist() == [0, 0, -1, -1, -1, -1]


def test_wards_stand_until_they_are_gone_and_early_ends_were_taken_down():
    ward = {"x": 100.0, "y": 100.0}

    def at(*pairs):
        return [{"time": t, "ehandle": handle, **ward} for t, handle in pairs]

    match = timeline_of(
        obs_log_1=at((60, 1), (120, 2)),
        obs_left_log_1=at((200, 1), (480, 2)),  # after 140 s, and after its full 360 s
        sen_log_7=at((0, 3)),
        sen_left_log_7=at((300, 3), (400, 99)),  # 99 was never seen placed: counts as old
        minutes=9,
    )
    found = group("vision", match)
    assert found["obs_placed"].tolist() == [0, 1] + [2] * 8
    assert found["obs_standing"].tolist() == [0, 1, 2, 2, 1, 1, 1, 1, 0, 0]
    assert found["obs_taken_down"].tolist() == [0] * 4 + [-1] * 6  # for Dire
    assert found["obs_placed_change_3"].tolist() == [0, 1, 2, 2, 1] + [0] * 5
    assert found["sen_placed"].tolist() == [-1] * 10 and found["sen_standing"][LAST] == 0
    assert found["sen_taken_down"].tolist() == [0] * 5 + [1] * 5


def test_what_is_put_together_costs_its_parts_alone():
    cost = {key: item.cost for key, item in facts.items().items()}
    parts = ("ogre_axe", "mithril_hammer", "recipe_black_king_bar")
    bought = [{"time": 60, "key": key} for key in (*parts, "black_king_bar")]
    smoke = [{"time": 100, "key": "smoke_of_deceit"}] * 2
    match = timeline_of(purchase_log_6=bought, purchase_log_2=smoke, minutes=3)
    found = group("items", match)
    spent = cost["black_king_bar"]
    assert found["spent"].tolist() == [0, -spent] + [2 * cost["smoke_of_deceit"] - spent] * 2
    assert found["unspent"][0] == 0 and found["unspent"][1] == 3500 - max(0, 3450 - spent)
    assert found["big_items"].tolist() == [0, -1, -1, -1]
    assert found["has_black_king_bar"].tolist() == [0, -1, -1, -1]
    assert found["has_ogre_axe"].tolist() == [0, -1, -1, -1]
    assert found["bought_smoke_of_deceit"].tolist() == [0, 0, 2, 2]


def test_heroes_count_for_their_side_and_the_same_lineup_twice_is_even():
    match = small_match(minutes=1)  # heroes 1 to 10
    found = group("heroes", small_timeline(match))
    known = facts.heroes()
    for number in range(1, 12):
        name = known[number].key.removeprefix("npc_dota_")
        assert found[name].tolist() == [(number <= 5) - (5 < number <= 10)] * 2
    for slot in range(10):
        match["players"][slot]["hero_id"] = slot % 5 + 1
    assert not any(values.any() for values in group("heroes", small_timeline(match)).values())


@pytest.mark.parametrize("stranger", [0, 24, 999])  # nobody, a number between, a later hero
def test_a_hero_that_is_not_known_is_nobody(stranger):
    assert stranger not in facts.heroes()
    match = small_match(minutes=1)
    for slot in range(10):
        match["players"][slot]["hero_id"] = stranger
    match["players"][7]["hero_id"] = 2
    found = group("heroes", small_timeline(match))
    assert {name: v.tolist() for name, v in found.items() if v.any()} == {"hero_axe": [-1, -1]}


@pytest.mark.parametrize("name", features.GROUPS)
def test_a_group_has_the_same_names_whatever_happens(name):
    for match in (features.nothing(), timeline_of(minutes=1), small_timeline()):
        found = group(name, match)
        assert tuple(found) == features.names_of(name)
        assert all(values.shape == match.t.shape for values in found.values())
        assert all(np.isfinite(values).all() for values in found.values())
    alone = group(name, small_timeline(small_match(2)))
    both = group(name, small_timeline(small_match(1, minutes=5), small_match(2)))
    for key, values in alone.items():  # whoever lies beside it
        np.testing.assert_allclose(both[key][6:], values, err_msg=key)
