"""Pages of a match and of a run: what they tell, by hand, and that nothing odd breaks them."""

import json
import re

import pytest

from tests.games.dota.small_matches import small_match, small_tables
from understudy import games
from understudy.data.runs import Run
from understudy.games.dota.advice.match_context import MatchContext, load_models
from understudy.games.dota.report import panels
from understudy.games.dota.report.item_timeline import items_panel
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.synthetic import World, generate
from understudy.pipeline import import_matches


@pytest.fixture(scope="module")
def models():
    return load_models()


def building(time, side, name):
    return {"time": time, "type": "building_kill", "key": f"npc_dota_{side}guys_{name}"}


def shown(models, **changes):
    """The panels of a small match, by title."""
    match = small_match(**{"minutes": 11, "objectives": [], **changes})
    found = panels.match_panels(MatchContext(small_tables(match), None), models)
    return {panel.title: panel for panel in found}


def test_a_swing_tells_what_happened_in_its_minute(models):
    """One jump of the lead, in the minute from 300 s (without it) to 360 s (with it)."""
    events = [
        building(300, "bad", "tower1_top"),
        building(301, "bad", "tower1_mid"),
        {"time": 320, "type": "CHAT_MESSAGE_ROSHAN_KILL", "team": 3},
        {"time": 330, "type": "CHAT_MESSAGE_FIRSTBLOOD", "player_slot": 1},
        {"time": 340, "type": "CHAT_MESSAGE_FIRSTBLOOD"},  # of nobody known: not shown
        building(360, "good", "melee_rax_bot"),
    ]
    match = small_match(minutes=11, objectives=events)
    match["radiant_gold_adv"] = [0] * 6 + [9000] * 6
    times = {0: (301, 360), 5: (300, 355)}
    for slot, seconds in times.items():
        log = [{"time": t, "key": "npc_dota_hero_x"} for t in seconds]
        match["players"][slot]["kills_log"] = log
    found = panels.match_panels(MatchContext(small_tables(match), None), models)
    swings = next(panel.html for panel in found if panel.title == "Swings")
    rows = re.findall(r"<tr><td[^>]*>(.*?)</td>.*?<td>([^<]*)</td></tr>", swings)
    words = dict(rows)
    assert len(rows) == panels.SWINGS and [int(m) for m, _ in rows] == sorted(map(int, words))
    assert words["6"] == (
        "kills 2:1, tower1 mid of Dire falls, Roshan, Dire, first blood, Radiant, "
        "melee rax bot of Radiant falls"
    )
    chance = next(panel.html for panel in found if panel.title == "Who will win")
    assert all(word in chance for word in ("Roshan, Dire", "first blood, Radiant"))
    assert "barracks of Radiant fall" in chance


def test_a_quiet_minute_moved_by_gold_alone(models):
    html = shown(models, radiant_gold_adv=[0] * 6 + [9000] * 6)["Swings"].html
    assert "gold and experience alone" in html


def test_the_note_tells_who_won_and_what_not_to_trust(models):
    note = shown(models, radiant_win=False, patch=60)["Who will win"].note
    assert note.startswith("Dire won. Trained on 7.35") and note.endswith("this match is of 7.41.")
    note = shown(models, radiant_gold_adv=[90_000] * 12)["Who will win"].note
    assert note.startswith("Radiant won.")
    assert "Not to be trusted everywhere: radiant_gold_adv is beyond the" in note


def test_wards_are_drawn_where_they_stood_and_while_they_did(models):
    match = small_match(minutes=11)
    ward = {"x": 64.0, "y": 64.0, "ehandle": 1}
    match["players"][0]["obs_log"] = [{**ward, "time": 60}, {"time": 61, "ehandle": 3}]
    match["players"][0]["obs_left_log"] = [{**ward, "time": 100}]
    match["players"][6]["obs_log"] = [{"time": 90, "x": 128.0, "y": 192.0, "ehandle": 2}]
    found = panels.match_panels(MatchContext(small_tables(match), None), models)
    html = next(panel.html for panel in found if panel.title == "Wards")
    dots = re.findall(r'<circle cx="(\d+)" cy="(\d+)".*?from="(\d+)" data-to="(\d+)">', html)
    assert dots == [("0", "400", "60", "100"), ("200", "0", "90", "450")]
    assert "Radiant, 1 min, stood 40 s" in html and "Dire, 1 min, stood 360 s" in html
    assert 'max="11"' in html


@pytest.mark.parametrize("minutes", [0, 1, 4])
def test_a_match_of_hardly_a_minute_without_wards_has_its_page(minutes, models):
    found = shown(models, minutes=minutes, picks_bans=None, teamfights=None)
    assert list(found) == [
        *("Who will win", "Gold and experience", "Swings", "Wards", "Items and advice")
    ]
    assert "<circle" not in found["Wards"].html
    assert "no item of note" in found["Items and advice"].html


def test_items_are_named_with_their_minute_and_ticked_where_advised(models):
    match = small_match(minutes=12)
    match["players"][9]["hero_id"] = 9999
    log = [{"time": 400, "key": "blink"}, {"time": 430, "key": "item_of_<b>"}]
    match["players"][3]["purchase_log"] = log
    html = items_panel(MatchContext(small_tables(match), None), models).html
    players = html.split("<details")[1:]
    assert len(players) == 10 and "hero 9999" in players[9] and players[0].startswith(" open")
    assert "Blink Dagger 6</summary>" in players[3].replace("<br>", "")
    assert "item_of_" not in html and players[3].count("<tr><td>") == 2  # minutes 5 and 10
    assert "Radiant; bought as advised" in players[3] and "bought as" not in players[4]
    ticked = re.search(r"<b><span[^>]*>Blink Dagger", players[3]) is not None
    assert ("as advised 1 of 1" in players[3]) == ticked


# --- runs ----------------------------------------------------------------------------------------


def test_a_run_without_anything_shows_nothing(tmp_path):
    assert panels.run_panels(Run(tmp_path)) == []
    (tmp_path / "models/items").mkdir(parents=True)
    (tmp_path / "models/items/evaluation.json").write_text(
        '{"policy": {}, "steps": 1, "seconds": 2}'
    )
    assert panels.run_panels(Run(tmp_path)) == []


def test_a_run_shows_who_was_first_and_how_good_its_models_are(tmp_path):
    events = [building(100, "good", "tower1_mid")]
    (tmp_path / "a.jsonl").write_text(
        "\n".join(
            json.dumps(small_match(k, objectives=events, radiant_win=k < 2)) for k in range(8)
        )
    )
    run = Run(tmp_path / "run")
    import_matches.take_in(games.load("dota"), run, read_logs(tmp_path / "a.jsonl"), {})
    (first,) = panels.run_panels(run)
    assert "first tower" in first.html and "0-9" in first.html and "75" in first.html
    score = {
        "log_loss": 0.5,
        "log_loss_by_match": 0.5,
        "auc": 0.75,
        "dgold_rmse": 1234.0,
        "dxp_rmse": 2345.0,
    }
    score["beside_bar"] = {"mean": -0.01, "low": -0.02, "high": 0.0}
    line = dict.fromkeys(("slope", "slope_low", "slope_high"), 0.9)
    line |= {"patch": "7.38", "matches": 321, "verdict": "calibrate: too sure"}
    line |= {"log_loss": 0.5, "out_of_range": 0.0}
    evaluation = {"line_up": {"best": score}, "reliability": [{"said": 0.1, "seen": 0.2}]}
    evaluation |= {"steps": 3, "seconds": 1.5}
    run.model("value").mkdir(parents=True)
    text = json.dumps(evaluation | {"drift": [line]})
    (run.model("value") / "evaluation.json").write_text(text)
    value, again = panels.run_panels(run)
    assert value.title == "Value: value" and again == first
    for word in ("best", "0.75", 'data-value="1234', "321", "calibrate: too sure"):
        assert word in value.html, word


def test_made_up_matches_say_so(tmp_path):
    run, dota = Run(tmp_path / "run"), games.load("dota")
    import_matches.take_in(dota, run, generate(World(seed=1), 12), {"synthetic": 12})
    (said, *_) = panels.run_panels(run)
    assert 'class="made-up">Matches of this run are made up' in said.html
    html = panels.match_page(run, "9000000003")
    assert "<title>Made-up match 9000000003, patch" in html and f"{run.title}</title>" in html
    assert 'class="made-up">This match is made up' in html
