"""The report of a run with leagues in a real browser: all of it shows, and it asks for nothing."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser import silent_tab
from tests.league import rps
from tests.league.toy_league import NAME, recipe
from understudy import games
from understudy.data.runs import Run
from understudy.league.interface import League
from understudy.pipeline import report as report_stage
from understudy.pipeline.league import league

pytestmark = pytest.mark.browser
SMALL = {"rounds": 5, "matches": 10, "agent_steps": 60, "exploiter_steps": 50}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    run = Run(tmp_path_factory.mktemp("reported"))
    small = {name: recipe(name, **SMALL) for name in ("quick", "quick-self-play")}
    game = replace(rps.GAME, league=lambda: League(rps.improve, small))
    for name in small:
        league(game, run, name, worker=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(games, "__path__", [*games.__path__, str(Path(rps.__file__).parent)])
        patch.setitem(sys.modules, NAME, rps)
        return report_stage.report(run)


@pytest.fixture(params=["light", "dark"])
def tab(request, report, browser):
    with silent_tab(browser, report, color_scheme=request.param) as tab:
        yield tab


def card(tab, title):
    return tab.locator("section.card").filter(has=tab.locator("h2", has_text=title)).first


def test_every_panel_shows_something(tab):
    titles = tab.locator("section.card > h2").all_inner_texts()
    assert titles[0] == "Leagues compared"
    for name in ("quick", "quick-self-play"):
        for panel in ("League", "Win rates", "Ratings", "Nash mixture", "Lineage", "Opponents"):
            assert f"{panel}: {name}" in titles
    assert tab.get_by_text("Nothing to show yet").count() == 0


def test_the_lineage_is_drawn_where_its_rows_are(tab):
    tree = card(tab, "Lineage: quick").locator(".tree")
    box = tree.bounding_box()
    assert box["width"] > 600
    dots = [dot.bounding_box() for dot in tree.locator(".kept").all()]
    assert len(dots) >= 3
    for dot in dots:
        assert box["x"] - 8 <= dot["x"] <= box["x"] + box["width"] + 8
    rows = [lane.bounding_box() for lane in tree.locator(".lane").all()]
    middles = [row["y"] + row["height"] / 2 for row in rows]
    for dot in dots:  # each lies in the row of some learner
        assert min(abs(dot["y"] + dot["height"] / 2 - y) for y in middles) < 3
    assert all(row["x"] >= 0 for row in rows)


def test_hovering_over_ratings_names_the_learners(tab):
    field = card(tab, "Ratings: quick").locator(".field").first
    field.hover()
    tip = field.locator(".tip").inner_text()
    for name in ("main", "main-exploiter", "league-exploiter"):
        assert name in tip


def test_bands_go_with_their_lines(tab):
    ratings = card(tab, "Ratings: quick")
    band = ratings.locator(".band").first
    assert band.is_visible()
    ratings.get_by_role("button", name="main", exact=True).click()
    assert not band.is_visible()


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_nothing_sticks_out_sideways(tab, width):
    tab.set_viewport_size({"width": width, "height": 740})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_matches_to_watch_open(tab, report):
    link = card(tab, "Matches to watch: quick").get_by_role("link").first
    assert (report.parent / link.get_attribute("href")).is_file()
