"""Every kind of page can be read by everybody and used without a mouse, in both themes."""

import shutil

import pytest

from tests.accessibility import faults, keyboard_faults
from tests.browser import silent_tab
from tests.small_runs import finished_run, succeed, understudy

pytestmark = pytest.mark.browser

MINE = """
from negmas import ResponseType, SAOResponse
from scml.std import StdSyncAgent

class Mine(StdSyncAgent):
    def first_proposals(self):
        return {partner: None for partner in self.negotiators}

    def counter_all(self, offers, states):
        end = SAOResponse(ResponseType.END_NEGOTIATION, None)
        return {partner: end for partner in offers}
"""


def _arena(folder, tmp_path_factory):
    shutil.copytree(finished_run(tmp_path_factory), folder)
    assert understudy("report", folder).code == 0
    match = "imitate-quick-expert-100000000"
    assert understudy(f"replay {folder}/{match} -o {folder}/replay.html").code == 0
    return {"arena report": "report.html", "arena replay": "replay.html"}


def _scml(folder):
    folder.mkdir()
    (folder / "mine.py").write_text(MINE)
    field = f"compete scml {folder}/mine.py:Mine Greedy --configs 2 --steps 6 --why Mine"
    succeed(field, folder / "run")
    assert understudy("report", folder / "run").code == 0
    (why,) = (folder / "run/results").glob("*/*.html")
    return {"scml report": "run/report.html", "scml why": str(why.relative_to(folder))}


def _dota(folder):
    made = understudy(f"record dota --synthetic 30 --out {folder} --quiet")
    assert made.code == 0, made.err
    assert understudy("report", folder).code == 0
    assert understudy(f"replay {folder}/9000000000 -o {folder}/match.html").code == 0
    return {"dota report": "report.html", "dota match": "match.html"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Paths of pages, by what they show."""
    root = tmp_path_factory.mktemp("pages")
    made = {"arena": _arena(root / "arena", tmp_path_factory), "scml": _scml(root / "scml")}
    made["dota"] = _dota(root / "dota")
    return {name: root / game / path for game in made for name, path in made[game].items()}


KINDS = [f"{game} {kind}" for game, kind in (
    ("arena", "report"), ("arena", "replay"), ("scml", "report"), ("scml", "why"),
    ("dota", "report"), ("dota", "match"),
)]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_keeps_the_rules_in_both_themes_wide_and_narrow(pages, browser, kind):
    for width, theme in ((1280, "light"), (390, "dark"), (1280, "dark"), (390, "light")):
        looks = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
        with silent_tab(browser, pages[kind], **looks) as tab:
            assert faults(tab) == [], f"{kind}, {width} wide, {theme}"
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", KINDS)
def test_the_tab_key_comes_to_all_that_can_be_used_and_shows_where_it_is(pages, browser, kind):
    with silent_tab(browser, pages[kind]) as tab:
        assert keyboard_faults(tab) == []


def test_what_is_wrong_is_found(browser, tmp_path):
    page = tmp_path / "bad.html"
    page.write_text(
        "<title></title><h1>A</h1><h3>B</h3><p style='color:#999;background:#fff'>pale</p>"
        "<p style='color:#767676;background:#fff'>just enough</p><input id=x><i id=x></i>"
        "<div style='width:50px;overflow:auto'><p style='width:200px'>wide</p></div>"
        "<button style='outline:none'>here</button><a href='#' tabindex=-1>skipped</a>"
        "<button tabindex=2>first</button>"
    )
    tab = browser.new_page(color_scheme="light")
    tab.goto(page.as_uri())
    found = faults(tab)
    assert [line.split(":")[0] for line in found] == [
        "contrast 2.85 of rgb(153, 153, 153) on 255,255,255,1", "nameless",
        "the page has no title", "the page has no language", "tabindex above 0", "id twice",
        "a heading is left out before", "scrolls, but not by keys",
    ]  # fmt: skip
    assert any("focus is not shown" in line for line in keyboard_faults(tab))
    tab.close()
