"""The panels of strength: well-formed, in the order of strength, honest about what is unknown."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from tests.games.scml.results import FOUR, Tournament, scores, table
from understudy.games.scml.report.panels import MOST, strength_panels
from understudy.games.scml.strength.strength import assess
from understudy.report.page import page


def panels(results, name="season"):
    made = strength_panels(name, results)
    for panel in made:
        ElementTree.fromstring(f"<div>{panel.html}</div>")
    assert page("t", "s", made)
    return {panel.title.split(":")[0]: panel for panel in made}


def columns(html, index):
    """The cells of a column of the last table."""
    rows = html[html.rindex("<tbody>") :].split("<tr>")[1:]
    return [unescape(re.findall(r"<td[^>]*>(.*?)</td>", row)[index]) for row in rows]


def test_the_strongest_comes_first_everywhere():
    made = panels(Tournament(FOUR).play())
    assert list(made) == ["Strength", "Levels", "Head to head", "How they play"]
    for name in ("Levels", "How they play"):
        assert columns(made[name].html, 0) == ["ace", "bee", "cat", "dud"]
    labels = re.findall(r'row-label" title="(\w+)"', made["Strength"].html)
    assert labels == ["ace", "bee", "cat", "dud"]


def test_the_numbers_are_those_of_strength():
    results = Tournament(FOUR).play()
    best = assess(results).players[0]
    made = panels(results)
    assert float(columns(made["How they play"].html, 1)[0]) == pytest.approx(
        best.adjusted.value, abs=6e-4
    )
    assert float(columns(made["How they play"].html, 3)[0]) == pytest.approx(
        best.official.value, abs=6e-4
    )
    assert columns(made["How they play"].html, 14)[0] == str(best.configurations)
    for index, level in enumerate(("first", "middle", "last")):
        at = best.levels[level]
        cells = [columns(made["Levels"].html, 1 + 4 * index + offset)[0] for offset in range(4)]
        half = (at.adjusted.high - at.adjusted.low) / 2
        assert [float(cell) for cell in cells] == pytest.approx(
            [at.mean, at.adjusted.value, half, at.rows], abs=6e-4
        )


def test_boxes_are_of_one_level():
    rows = [{"score": 1.0, "level": 0}, {"score": 3.0, "level": 2}, {"score": 4.0, "level": 2}]
    html = panels(table(rows))["Levels"].html
    assert "a, first: median 1, half from 1 to 1, 1 values" in html
    assert "a, last: median 3.5, half from 3.25 to 3.75, 2 values" in html
    assert "a, middle" not in html


def test_whom_the_results_are_about_stands_against_the_others():
    results = Tournament(FOUR).play()
    assert set(columns(panels(results)["Head to head"].html, 0)) == {"ace"}
    about_cat = panels(results, "cat-ace-bee")["Head to head"].html
    assert set(columns(about_cat, 0)) == {"cat"}
    assert columns(about_cat, 1) == ["ace", "bee", "dud"]


def test_many_players_are_all_in_the_tables_but_not_in_the_charts():
    effects = {f"player {index:02}": -index / 10 for index in range(MOST + 5)}
    made = panels(Tournament(effects, configurations=120, competitors=4).play())
    assert len(columns(made["How they play"].html, 0)) == MOST + 5
    assert made["Head to head"].html.count('scope="row"') == MOST
    assert f"the first {MOST} players" in made["Head to head"].html
    assert f"the first {MOST} players" in made["Levels"].html


def test_what_is_not_known_is_not_shown_as_known():
    results = scores((1, 0, "a", 1), (1, 0, "b", 2), (2, 0, "c", 5), (2, 0, "d", 4))
    made = panels(results)
    assert "whisker" not in made["Strength"].html
    assert "group 2" in made["Strength"].html
    assert "2 groups of players that cannot be compared" in made["Strength"].note
    assert set(columns(made["How they play"].html, 2)) == {""}


def test_nobody_and_somebody_alone():
    assert strength_panels("season", table([{"competes": False}])) == []
    assert list(panels(table([{}]))) == ["Strength", "Levels", "How they play"]


def test_names_are_escaped():
    name = "<b>&'\""
    made = panels(scores((1, 0, name, 1), (1, 0, "b", 2)), name)
    assert all("<b>&" not in panel.html for panel in made.values())
