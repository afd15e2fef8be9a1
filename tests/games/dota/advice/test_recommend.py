"""Advice on a match, and its page in a browser, with the models that come with the program."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

from tests.games.dota.small_matches import small_match
from understudy import games
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.advice import buying, spots
from understudy.games.dota.advice.buying import item_lines
from understudy.games.dota.advice.match_context import load_models, open_match
from understudy.games.dota.advice.recommend import advise
from understudy.games.dota.features.inventory import item_index, item_keys
from understudy.games.dota.policies import wards
from understudy.games.dota.report import item_timeline
from understudy.games.dota.sources.synthetic import World, generate
from understudy.games.dota.value.checkpoint import ValueDelta
from understudy.pipeline import import_matches as import_matches_stage
from understudy.pipeline import report as report_stage

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def models():
    return load_models()


@pytest.fixture
def match(tmp_path):
    """Radiant a little ahead; slot 0 has the parts of a Black King Bar but one."""
    content = small_match(minutes=20)
    content["players"][0]["purchase_log"] = [
        {"time": 300, "key": "ogre_axe"},
        {"time": 400, "key": "blink"},
        {"time": 900, "key": "black_king_bar"},  # not yet at minute 10
    ]
    path = tmp_path / "match.json"
    path.write_text(json.dumps(content))
    return path


def test_advice_names_what_is_left_to_pay_and_never_what_is_owned(match, models):
    advice = advise(open_match(str(match)), models, 10, player=0)
    assert 0.3 < advice.chance < 0.9 and advice.trained_on[-1] == "7.38"
    assert len(advice.items) == 3 and {line["slot"] for line in advice.items} == {0}
    names = [line["item"] for line in advice.items]
    assert "Blink Dagger" not in names and "Ogre Axe" not in names
    spent = facts.items()["ogre_axe"].cost + facts.items()["blink"].cost
    assert advice.items[0]["cash"] == max(0, 600 + 1000 - spent)
    for line in advice.items:
        assert line["affordable"] == (line["left_to_pay"] <= line["cash"])
        assert line["short"] == max(0, line["left_to_pay"] - line["cash"])
        assert sum(p["cost"] * p["count"] for p in line["parts"]) == line["left_to_pay"]
        assert line["model"] == str(ValueDelta(line["gain"], line["error"])) and line["error"] > 0
    assert "no proof" in advice.view
    assert {line["side"] for line in advice.wards} == {"Radiant"} and len(advice.wards) == 8
    # The middle tower of Dire fell at 300 s.
    assert {line["take"] for line in advice.objectives} == {
        *("tier 1 tower, top", "tier 2 tower, mid", "tier 1 tower, bot"),
        "Roshan",
    }
    assert all(line["gain"] > 0 for line in advice.objectives)


def test_gold_that_is_not_there_yet_is_waited_for(match, models):
    content = json.loads(match.read_text())
    for player in content["players"]:
        player["gold_t"] = [40 * k for k in range(21)]
    match.write_text(json.dumps(content))
    lines = advise(open_match(str(match)), models, 10, player=3).items
    assert {line["cash"] for line in lines} == {1000}
    for line in lines:
        left = line["left_to_pay"]
        minutes = (left - 1000) / 40
        when = "within a minute" if minutes < 1 else f"about {minutes:.0f} min"
        wait = f"{left - 1000:,} gold short, {when}"
        assert line["why"] == ("can be paid now" if left <= 1000 else wait)


def boots(match, models, *worn):
    """What footwear is refused to somebody who wears this, and what is advised."""
    content = json.loads(match.read_text())
    content["players"][4]["purchase_log"] = [{"time": 100, "key": key} for key in worn]
    match.write_text(json.dumps(content))
    context = open_match(str(match))
    held = buying.held_at(context, 4, 600)
    advised = {line["key"] for line in item_lines(context, models, 10, 4)}
    refused = {key for key, no in zip(item_keys(), buying.second_boots(held), strict=True) if no}
    assert not advised & refused
    return refused


def test_nobody_is_advised_a_second_pair_of_boots(match, models):
    assert boots(match, models) == boots(match, models, "boots") == set()
    every = {key for key in buying.BOOTS if key in item_keys()}
    assert boots(match, models, "phase_boots") == every
    # What is built from what one wears is no second pair.
    assert boots(match, models, "arcane_boots") == every - {"guardian_greaves"}
    assert boots(match, models, "tranquil_boots") == every - {"boots_of_bearing"}
    assert boots(match, models, "travel_boots") == every - {"travel_boots_2"}


def test_the_next_part_is_what_can_be_paid_and_then_what_others_buy():
    likely = np.zeros(len(item_keys()))
    likely[item_index()["mithril_hammer"]] = 0.5
    parts = {"ogre_axe": 1000.0, "mithril_hammer": 1600.0, "recipe_black_king_bar": 1450.0}
    assert buying.next_part(parts, 2000, likely) == "mithril_hammer"
    assert buying.next_part(parts, 1500, likely) == "recipe_black_king_bar"  # the dearest payable
    assert buying.next_part(parts, 1000, likely) == "ogre_axe"
    assert buying.next_part(parts, 0, likely) == "mithril_hammer"
    assert buying.part_name("recipe_black_king_bar") == "Black King Bar recipe"
    assert buying.next_part({}, 0, likely) == ""


def test_spots_are_apart_named_and_scored_by_themselves(match, models):
    advice = advise(open_match(str(match)), models, 10, player=0)
    for kind in ("observer", "sentry"):
        lines = [line for line in advice.wards if line["kind"] == kind]
        for one, other in combinations(lines, 2):
            apart = np.hypot(one["x"] - other["x"], one["y"] - other["y"])
            assert apart >= spots.APART
        assert len({line["why"] for line in lines}) == len(lines)
        for line in lines:
            assert line["place"] == facts.place_at(line["x"], line["y"])
            assert 60 < line["stands"] <= 420 and 0 <= line["taken"] <= 1
    assert spots.fresh_view(500, []) == 1
    assert spots.fresh_view(500, [wards.centre_of(500)]) == 0


def test_no_ward_is_advised_where_one_of_ours_stands(match, models):
    first = advise(open_match(str(match)), models, 10, player=0).wards[0]
    content = json.loads(match.read_text())
    ward = {"time": 590, "x": first["x"], "y": first["y"], "ehandle": 5, "key": "[1,1]"}
    content["players"][1]["obs_log"] = [ward]
    match.write_text(json.dumps(content))
    later = advise(open_match(str(match)), models, 10, player=0).wards
    later = [w for w in later if w["kind"] == "observer"]
    assert len(later) == 5
    assert all(max(abs(w["x"] - first["x"]), abs(w["y"] - first["y"])) >= 6 for w in later)
    content["players"][1]["obs_left_log"] = [ward | {"time": 595}]
    match.write_text(json.dumps(content))
    again = advise(open_match(str(match)), models, 10, player=0).wards
    assert (first["x"], first["y"]) in {(w["x"], w["y"]) for w in again}


def test_advice_does_not_know_what_comes_later(match, models):
    content = json.loads(match.read_text())
    before = advise(open_match(str(match)), models, 10)
    for player in content["players"]:
        for name in ("gold_t", "xp_t"):
            player[name][11:] = [9 * x for x in player[name][11:]]
    content["radiant_gold_adv"][11:] = [-3000] * 10
    content["players"][0]["purchase_log"][2] = {"time": 601, "key": "ultimate_orb"}
    content["objectives"].append({**content["objectives"][0], "time": 601})
    content["radiant_win"] = False
    match.write_text(json.dumps(content))
    assert advise(open_match(str(match)), models, 10) == before


def test_a_state_beyond_the_training_range_gets_a_reason_instead(match, models):
    content = json.loads(match.read_text())
    content["radiant_gold_adv"] = [90_000] * 21
    match.write_text(json.dumps(content))
    advice = advise(open_match(str(match)), models, 10)
    assert advice.chance is None and not advice.items
    assert advice.reasons[0].startswith("no advice: the lead in gold is beyond the")


def test_a_later_patch_and_unknown_teams_are_mentioned(match, models):
    content = json.loads(match.read_text())
    match.write_text(json.dumps(content | {"patch": 60}))
    reasons = advise(open_match(str(match)), models, 10).reasons
    assert "this is 7.41, so be careful" in reasons[0]
    assert "equally strong" in reasons[1]


def test_what_cannot_be_advised_on_says_why(match, tmp_path, models):
    with pytest.raises(InputError, match="neither a match file nor RUN/NUMBER"):
        open_match("nothing")
    with pytest.raises(InputError, match="has no minute 21: it goes from 0 to 20"):
        advise(open_match(str(match)), models, 21)
    content = json.loads(match.read_text())
    match.write_text(json.dumps(content | {"version": None}))
    with pytest.raises(InputError, match="never parsed"):
        open_match(str(match))
    match.write_text("{")
    with pytest.raises(InputError, match="cut off or damaged"):
        open_match(str(match))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run, game = Run(tmp_path_factory.mktemp("dota")), games.load("dota")
    import_matches_stage.take_in(game, run, generate(World(), 12), {"synthetic": 12})
    path = run.folder / "match.html"
    with pytest.raises(InputError, match="holds no match 5"):
        report_stage.replay(run, "5", path)
    with pytest.raises(InputError, match="goes by its number"):
        report_stage.replay(run, "first", path)
    return report_stage.replay(run, "9000000003", path)


@pytest.mark.browser
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"no browser at {CHROMIUM}")
def test_the_page_of_a_match_shows_everything_and_asks_for_nothing(page):
    messages, asked = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.on("console", lambda message: messages.append(message.text))
        tab.on("pageerror", lambda error: messages.append(str(error)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(page.as_uri())
        titles = tab.locator("section.card > h2").all_inner_texts()
        before = tab.locator("[data-from]:visible").count()
        tab.locator(".minute input").nth(1).fill("12")
        shown = tab.locator(".minute output").all_inner_texts()
        level = tab.locator("[data-by-minute]").first.inner_text()
        standing = tab.locator("[data-from]:not(.gone)").count()
        expected = tab.locator("[data-from]").evaluate_all(
            "all => all.filter(d => +d.dataset.from <= 720 && 720 < +d.dataset.to).length"
        )
        players = tab.locator(".items details")
        opened = players.evaluate_all("all => all.map(one => one.open)")
        second = players.nth(1)
        hidden = second.locator("td").first.is_visible()
        second.locator("summary").click()
        minutes = second.locator("td:first-child").all_inner_texts()
        tips = second.locator("td span").evaluate_all("all => all.map(one => one.title)")
        wide = tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        browser.close()
    assert titles[:2] == ["Made up", "Who will win"]
    assert titles[2:] == [
        *("Line-ups", "What swung it", "Team strength", "Map"),
        *("Gold and experience", "What was likely", "Items and advice"),
    ]
    assert opened == [True] + [False] * 9 and not hidden and wide
    assert minutes[:2] == ["5", "10"] and len(tips) == 3 * len(minutes)
    assert all(tip.startswith("model ") and "gold to pay" in tip for tip in tips)
    assert shown == ["12", "12"] and level.isdigit() and standing == expected != before
    assert messages == [] and asked == [page.as_uri()]


def test_the_timeline_sets_what_was_bought_beside_what_was_advised(match, models):
    context = open_match(str(match))
    first, second, third, *_ = item_timeline.looks(context, models, 0)
    # 300 s: the axe is there; the dagger at 400 s; the bar at 900 s is of minutes 10 to 15.
    assert first.bought == [(6, "blink")] and second.bought == [(15, "black_king_bar")]
    assert third.bought == [] and not third.followed(3)
    for look, row in ((first, 5), (second, 10)):
        assert look.minute == row and look.advised == item_lines(context, models, row, 0)
        keys = [line["key"] for line in look.advised]
        for most in (1, 2, 3):
            assert look.followed(most) == bool({*keys[:most]} & {key for _, key in look.bought})
    likely = item_timeline.Look(5, second.advised, [(6, second.advised[1]["key"])])
    assert not likely.followed(1) and likely.followed(2)


def test_a_minute_out_of_range_has_no_advice_on_the_timeline(match, models):
    content = json.loads(match.read_text())
    content["radiant_gold_adv"] = [90_000] * 21
    match.write_text(json.dumps(content))
    context = open_match(str(match))
    assert all(not look.advised for look in item_timeline.looks(context, models, 0))
    assert (
        "no advice: beyond what was trained on" in item_timeline.items_panel(context, models).html
    )


def test_swings_tell_what_happened(page):
    text = page.read_text()
    assert "Chance that Radiant wins" in text and 'class="swing">Minutes ' in text
    assert "<script src" not in text
