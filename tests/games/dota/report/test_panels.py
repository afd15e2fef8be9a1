"""Pages of a match and of a run: what they tell, by hand, and that nothing odd breaks them."""

import json
import re
from html import unescape
from itertools import pairwise

import numpy as np
import pytest

from tests.games.dota.small_matches import small_match, small_tables
from understudy import games
from understudy.data.runs import Run
from understudy.games.dota.advice.match_context import MatchContext, load_models
from understudy.games.dota.features.team_rating import Strength
from understudy.games.dota.report import (
    chance_panel,
    futures_panel,
    game_map,
    great_events,
    lineups,
    panels,
)
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


def context_of(match):
    return MatchContext(small_tables(match), None)


def test_a_swing_tells_what_happened_in_its_minutes(models):
    """One jump of the lead, from 300 s (without it) to 360 s (with it), so from minute 3 or 5."""
    events = [
        building(300, "bad", "tower1_top"),
        building(301, "bad", "tower1_mid"),
        {"time": 320, "type": "CHAT_MESSAGE_ROSHAN_KILL", "team": 3},
        {"time": 330, "type": "CHAT_MESSAGE_FIRSTBLOOD", "player_slot": 1},
        {"time": 340, "type": "CHAT_MESSAGE_FIRSTBLOOD"},  # of nobody known: not told
        building(360, "good", "melee_rax_bot"),
    ]
    match = small_match(minutes=11, objectives=events)
    match["radiant_gold_adv"] = [0] * 6 + [9000] * 6
    times = {0: (301, 360), 5: (300, 355)}
    for slot, seconds in times.items():
        log = [{"time": t, "key": "npc_dota_hero_x"} for t in seconds]
        match["players"][slot]["kills_log"] = log
    context = context_of(match)
    assert great_events.words_between(context, 300, 360) == [
        *("kills 2:1", "Dire's tier 1 tower mid falls", "Roshan, Dire", "first blood, Radiant"),
        "Radiant's melee barracks bot falls",
    ]
    chance = models.value.chance(context.samples)
    told = re.findall(r"<p class=\"swing\">Minutes (\d+) to (\d+): (.*?)</p>", great_events.swings(
        context, chance
    ))  # fmt: skip
    spans = [(int(begin), int(end)) for begin, end, _ in told]
    assert all(end - begin == 3 for begin, end in spans) and spans == sorted(spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))  # none within another
    (most,) = (words for begin, end, words in told if int(begin) <= 5 < int(end))
    assert re.match(r"Radiant from [45]\d% to 9\d%", most) and "gold +9,000 for Radiant" in most


def test_quiet_minutes_say_so(models):
    match = small_match(minutes=11, objectives=[], teamfights=None)
    match["players"][5]["kills_log"] = []
    match["radiant_gold_adv"] = [0] * 6 + [9000] * 6
    context = context_of(match)
    told = great_events.swings(context, models.value.chance(context.samples))
    assert "Nothing but farm; gold +9,000 for Radiant." in told


@pytest.mark.parametrize("minutes", [12, 30, 70])
def test_signs_do_not_overlap_however_long_the_match(minutes):
    """A building every half minute, at both borders too: signs are apart, none is lost."""
    events = [building(t, "bad", f"tower{1 + t % 4}_mid") for t in range(0, 60 * minutes + 1, 30)]
    context = context_of(small_match(minutes=minutes, objectives=events))
    groups = great_events.gathered(great_events.great_events(context), 0, 60 * minutes)
    html = great_events.strip(context)
    places = [float(x) for x in re.findall(r"left:([\d.]+)%;--color:var\(--s1\)", html)]
    assert len(places) > 5 and min(places) >= 4.49 and max(places) <= 95.51
    assert min(b - a for a, b in pairwise(places)) >= 100 * great_events.APART - 0.01
    assert sum(len(group) for group in groups) == len(great_events.great_events(context))


def test_a_fight_is_told_by_its_deaths_and_coloured_by_its_gold():
    context = context_of(small_match(minutes=11, objectives=[]))
    (fight,) = great_events.great_events(context)
    # deaths: slots 1, 3 and 5, 7, 9; gold: 0 to 40, and 50 to 90 for Dire
    assert (fight.t, fight.team, fight.lane) == (150, 1, "fights")
    assert fight.words == "a fight of 5 deaths (Radiant loses 2, Dire 3)"


def test_line_ups_follow_the_slider(models):
    match = small_match(minutes=11)
    match["players"][5]["kills_log"] = [{"time": 61, "key": "npc_dota_hero_antimage"}]
    match["players"][0]["hero_id"] = 1
    match["players"][0]["assists"] = 7
    context = context_of(match)
    kills, deaths = lineups.counts(context)
    assert kills[:, 5].tolist() == [0, 0] + [1] * 10 and kills.sum() == 10
    assert deaths[:, 0].tolist() == [0, 0] + [1] * 10 and deaths.sum() == 10
    worth = lineups.net_worth(context)
    assert worth[0, 9] == 600 and worth[-1, 9] == 600 + 11 * 90
    assert worth[-1, 0] == pytest.approx(600 + 1100 - (600 + 100) / 40)
    html = lineups.lineups_panel(context, models.value, models.value.chance(context.samples)).html
    cells = re.findall(r'data-by-minute="(.*?)">(.*?)</span>', html)
    for data, shown_now in cells:
        values = json.loads(unescape(data))
        assert len(values) == 12 and values[-1] == unescape(shown_now)
    (middle, low, high) = models.value.changes_ahead(context.samples.where(np.array([11])))[
        "y_dgold_adv"
    ]
    assert f"three minutes, 80 %: gold {middle:+,.0f} ({low:+,.0f} to {high:+,.0f})" in html
    assert "Anti-Mage" in html and "<td>7</td>" in html and 'max="11"' in html


def test_the_chance_has_a_fixed_axis_a_line_in_the_middle_and_a_band(models):
    context = context_of(small_match(minutes=11))
    model = models.value
    low, high = chance_panel.band(model, context.samples)
    chance = model.chance(context.samples)
    assert (low <= chance).all() and (chance <= high).all() and (low < high).any()
    html = shown(models)["Who will win"].html
    assert 'class="even" d="M0,500.0H1000"' in html and 'class="band"' in html
    assert "0\u00a0%" in html and "100\u00a0%" in html


@pytest.mark.parametrize(
    ("minutes", "asked"), [(70, [10, 20, 30, 40, 50, 60]), (88, [20, 40, 60, 80])]
)
def test_a_long_match_asks_for_its_futures_less_often(minutes, asked, models):
    context = MatchContext(small_tables(small_match(minutes=minutes)), None)
    (panel,) = futures_panel.futures_panels(context, models)
    assert [int(word) for word in re.findall(r"as seen at (\d+)</button>", panel.html)] == asked


def test_team_strength_says_what_it_counts(models):
    tables = small_tables(small_match(minutes=11))
    stronger = Strength(120.0, 60.0, 0.0)
    context = MatchContext(tables, stronger)
    model = models.value
    without = model.chance(chance_panel.equally_strong(context.samples))
    plain = model.chance(MatchContext(tables, None).samples)
    np.testing.assert_allclose(without, plain, atol=0.02)
    panel = chance_panel.strength_panel(context, model, model.chance(context.samples))
    assert (
        "by side, heroes and the teams' earlier" in unescape(panel.html)
        and "strength counts" in panel.html
    )
    nobody = chance_panel.strength_panel(MatchContext(tables, None), model, plain)
    assert "count as equally strong" in nobody.html


def test_the_note_tells_who_won_and_what_not_to_trust(models):
    note = shown(models, radiant_win=False, patch=60)["Who will win"].note
    assert note.startswith("Dire won. Trained on 7.35") and "this match is of 7.41." in note
    note = shown(models, radiant_gold_adv=[90_000] * 12)["Who will win"].note
    assert note.startswith("Radiant won.")
    assert "Not to be trusted everywhere: the lead in gold is beyond the" in note


def test_wards_and_fights_are_drawn_where_they_were_and_while_they_lasted(models):
    match = small_match(minutes=11)
    ward = {"x": 64.0, "y": 64.0, "ehandle": 1}
    match["players"][0]["obs_log"] = [{**ward, "time": 60}, {"time": 61, "ehandle": 3}]
    match["players"][0]["obs_left_log"] = [{**ward, "time": 100}]
    match["players"][6]["sen_log"] = [{"time": 90, "x": 128.0, "y": 192.0, "ehandle": 2}]
    match["teamfights"][0]["players"][1]["deaths_pos"] = {"128": {"128.0": 1}}
    html = shown(models, players=match["players"], teamfights=match["teamfights"])["Map"].html
    observer = re.findall(
        r'ward radiant" cx="(\d+)" cy="(\d+)".*?from="(\d+)" data-to="(\d+)"', html
    )
    assert observer == [("0", "400", "60", "100")]
    sentry = re.findall(r'ward dire" d="M(\d+),(-?\d+)l.*?from="(\d+)" data-to="(\d+)"', html)
    assert sentry == [("200", "-6", "90", "510")]
    assert "Radiant, observer, 1:00, stood 40 s, at Radiant&#x27;s base" in html
    (fight,) = re.findall(r'class="fight" d="M195,195l.*?from="(\d+)" data-to="(\d+)"', html)
    assert fight == ("100", "210")  # from 100 to 150 s, and a minute more


def test_towers_are_hollow_once_they_fell():
    events = [building(300, "bad", "tower1_mid"), building(400, "good", "tower4")]
    found = game_map.fallen_towers(context_of(small_match(objectives=events)))
    assert found == {"Dire's tier 1 tower mid": 300}
    html = game_map.ground(found)
    assert html.count("data-falls") == 1 and html.count("<rect") == 18


@pytest.mark.parametrize("minutes", [0, 1, 4])
def test_a_match_of_hardly_a_minute_without_wards_has_its_page(minutes, models):
    found = shown(models, minutes=minutes, picks_bans=None, teamfights=None)
    assert list(found) == [
        *("Who will win", "Line-ups", "What swung it", "Team strength", "Map"),
        *("Gold and experience", "Items and advice"),
    ]
    assert "data-from" not in found["Map"].html
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
