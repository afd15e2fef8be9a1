"""The report of a whole run in a real browser: all of it shows, plays, and asks for nothing."""

import re
import shutil

import pytest

from tests.browser import silent_tab
from tests.small_runs import COMPETE, ENCODE, RECORD, TRAIN, finished_run, succeed, understudy

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reported") / "run"
    shutil.copytree(finished_run(tmp_path_factory), folder)
    succeed("compete arena expert rusher --matches 2", folder)
    assert understudy("report", folder).out == f"{folder}/report.html\n"
    return folder


@pytest.fixture
def tab(run, browser):
    with silent_tab(browser, run / "report.html") as tab:
        yield tab


def card(tab, title):
    """The card whose title begins so."""
    return tab.locator("section.card").filter(
        has=tab.locator("h2", has_text=re.compile(f"^{re.escape(title)}"))
    )


def test_the_report_shows_every_stage_of_the_run(tab):
    titles = tab.locator("section.card > h2").all_inner_texts()
    assert {title.split(":")[0].lower() for title in titles} >= {
        "strength",
        "imitate-quick",
        "samples",
        "how it was made",
    }
    assert sum(title.lower().startswith("strength") for title in titles) == 2
    commands = card(tab, "How it was made").inner_text()
    for command in (RECORD, ENCODE, TRAIN, COMPETE):
        assert f"understudy {command}" in commands


def test_the_tab_tells_which_run_it_is(tab, run):
    assert tab.title() == f"{run.parent.name}/run · arena report"


def test_everything_one_can_use_has_a_name(tab):
    unnamed = """[...document.querySelectorAll("input, select, button")].filter((one) =>
        !(one.labels?.length || one.ariaLabel || one.title || one.textContent.trim())
    ).map((one) => one.outerHTML)"""
    assert tab.evaluate(unnamed) == []


def test_the_strength_table_has_a_row_for_each_side_of_a_pair(tab):
    strength = (
        tab.locator("section.card").filter(has_text="imitate-quick").filter(has_text="Points of")
    )
    rows = strength.first.locator("table").last.locator("tbody tr").all()
    cells = [row.locator("td, th").all_inner_texts() for row in rows]
    assert sorted(row[:3] for row in cells) == [
        ["expert", "imitate-quick", "6"],
        ["imitate-quick", "expert", "6"],
    ]
    for row in cells:
        points, low, high = (float(text.rstrip("%")) for text in row[-3:])
        assert 0 <= low <= points <= high <= 100


def test_the_training_curve_is_drawn(tab):
    loss = card(tab, "imitate-quick: loss")
    curves = loss.locator("svg path, svg polyline").all()
    longest = max(len(c.get_attribute("d") or c.get_attribute("points") or "") for c in curves)
    assert longest > 40  # six evaluations, not a dot
    box = loss.locator("svg").first.bounding_box()
    assert box["width"] > 200
    assert box["height"] > 80
    assert "best validation loss" in loss.inner_text().lower()


def test_replays_of_the_run_can_be_chosen_and_played(tab):
    matches = tab.evaluate("arenaViewers.length")
    assert matches == 1
    shown = tab.evaluate("arenaViewers[0].replay.players")
    assert "imitate-quick" in shown  # matches of what was trained come first
    tab.get_by_label("Replay").first.select_option(index=1)
    last = tab.evaluate("arenaViewers[0].replay.frames.x[0].length") - 1
    assert last > 5
    tab.get_by_label("Speed").select_option("8\u00d7")
    tab.get_by_label("Play (Space)").click()
    for _ in range(500):
        if tab.evaluate("arenaViewers[0].step") > 4:
            break
        tab.wait_for_timeout(20)
    assert tab.evaluate("arenaViewers[0].step") > 4
    assert tab.evaluate("arenaViewers[0].error") is None


@pytest.mark.parametrize("width", [360, 768, 1600])
def test_nothing_sticks_out_sideways(tab, width):
    tab.set_viewport_size({"width": width, "height": 740})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    for section in tab.locator("section.card").all():
        box = section.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
