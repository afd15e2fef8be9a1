"""Panels of a league, from the files it leaves."""

import json
import xml.etree.ElementTree as ET

import pytest

from understudy.errors import InputError
from understudy.report import charts
from understudy.report.league.lineage import Life, lineage, lives
from understudy.report.league.panels import comparison_panel, league_panels
from understudy.report.league.shares import shares_over_time
from understudy.report.page import page

NASTY = 'a<b onclick="x">&amp;'


def named(*folders):
    return {folder.name: folder for folder in folders}


def learner(version, life=0, begun_from="clone"):
    return {
        "version": version, "parent": begun_from, "begun_from": begun_from, "life": life,
        "agent_steps": 10,
    }  # fmt: skip


def entry(number, **changes):
    found = {
        "round": number,
        "agent_steps": 100 * number,
        "opponents": {"main": {"main": 0.5, "clone": 0.5}, "rival": {"clone": 1.0}},
        "learners": {
            "main": learner(f"main-{number:03d}"),
            "rival": learner(f"rival-{number:03d}"),
        },
        "worst": {"main": {"opponent": "clone", "mean": 0.6, "low": 0.5, "high": 0.7}},
        "nash": {f"main-{number:03d}": 0.75, "clone": 0.25},
        "kept": [],
        "reset": {},
        "metrics": {},
    }
    return found | changes


def frozen(name, learner=None, number=0, parent=None, reason="why"):
    return {
        "name": name, "kind": "historical", "role": learner, "learner": learner, "parent": parent,
        "round": number, "agent_steps": 0, "reason": reason,
    }  # fmt: skip


def player(name, rating):
    return {"name": name, "rating": rating, "low": rating - 10, "high": rating + 10}


STATE = {
    "start": "clone",
    "match_steps": 250,
    "players": [frozen("clone"), frozen("main-002", "main", 2, "clone")],
    "history": [
        entry(1),
        entry(2, opponents={"main": {"main": 1.0}, "rival": {"main-001": 0.25, "clone": 0.75}}),
        entry(
            3,
            opponents={"main": {"main": 1.0}, "rival": {"main-002": 1.0}},
            learners={"main": learner("main-003"), "rival": learner("rival-003", 1, "main-002")},
        ),
    ],
}
SUMMARY = {
    "rounds": 3,
    "agent_steps": 300,
    "match_steps": 250,
    "matches": 60,
    "elo_scale": "400 points are odds of 10 to 1; clone has 1000",
    "players": [player("main-003", 1200.0), player("main-002", 1100.0), player("clone", 1000.0)],
    "rating_curves": {
        "main": [
            {"round": n, "agent_steps": 100 * n, "value": 1000.0 + n, "low": 990.0, "high": 1010.0}
            for n in (1, 2, 3)
        ]
    },
    "win_rates": [
        {
            "player": "main-003", "opponent": "clone", "wins": 15.0, "draws": 2.0, "losses": 3.0,
            "mean": 0.8, "low": 0.6, "high": 0.9,
        }
    ],
    "nash": {"main-003": 1.0},
    "relative_population_performance": 0.8,
    "minimum_win_rate": {
        "main": {
            "opponent": "clone", "among": 2, "matches": 20, "mean": 0.6, "low": 0.5, "high": 0.7,
        }
    },
    "best_response": {
        "main": {
            "agent_steps": 5000, "matches": 400, "mean": 0.7, "low": 0.65, "high": 0.75,
        }
    },
    "highlights": [
        {
            "kind": "upset", "match": "clone-main-003-7", "round": 3, "seed": 7,
            "players": ["clone", "main-003"], "winner": "clone", "why": "little <chance>",
        }
    ],
}  # fmt: skip


def league(folder, state=STATE, summary=SUMMARY):
    folder.mkdir(parents=True)
    (folder / "league_state.json").write_text(json.dumps(state))
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


@pytest.fixture
def folder(tmp_path):
    return league(tmp_path / "leagues" / "quick")


def panel(folder, title):
    (found,) = [one for one in league_panels(folder) if one.title.startswith(title)]
    return found.html


def parsed(html):
    return ET.fromstring(f"<div>{html}</div>")


def found(html, kind):
    return [e for e in parsed(html).iter() if kind in e.get("class", "").split()]


def test_every_panel_is_well_formed_and_named_after_the_league(folder):
    panels = league_panels(folder)
    assert [one.title for one in panels] == [
        "League: quick", "Win rates: quick", "Ratings: quick", "Nash mixture: quick",
        "Lineage: quick", "Opponents: quick", "Matches to watch: quick",
    ]  # fmt: skip
    for one in panels:
        parsed(one.html)
    assert page("t", "s", panels).count(".lineage .birth {") == 1


def test_nothing_before_the_first_round(tmp_path):
    assert league_panels(tmp_path) == []
    assert league_panels(league(tmp_path / "x", STATE | {"history": []})) == []


def test_the_heat_map_goes_by_rating_and_counts(folder):
    html = panel(folder, "Win rates")
    heads = [e.get("title") for e in parsed(html).iter("th") if e.get("scope") == "col"]
    assert heads == ["main-003", "main-002", "clone"]
    assert "main-003 - clone: 80.0\u00a0% of 20" in html


def test_rating_curves_have_bands(folder):
    html = panel(folder, "Ratings")
    assert len(found(html, "band")) == 1
    assert "10 to 1" in league_panels(folder)[2].note


def test_a_best_response_is_shown_from_its_targets_side(folder):
    html = panel(folder, "League")
    assert "30.0\u00a0% <small>25.0\u00a0% to 35.0\u00a0%</small>" in html
    assert [e.text for e in found(html, "row-label")][:2] == [
        "worst past, least of 2; 20 matches",
        "best response, from the start; 5 k agent-steps",
    ]


def test_steps_of_matches_stand_beside_those_of_agents(folder, tmp_path):
    other = league(tmp_path / "leagues" / "self-play", summary=SUMMARY | {"match_steps": 150})
    (one,) = comparison_panel(named(folder, other))
    rows = [[cell.text for cell in row] for row in parsed(one.html).iter("tr")]
    assert ["quick", "3", "300", "250", "60"] in rows
    assert ["self-play", "3", "300", "150", "60"] in rows


@pytest.mark.parametrize("name", ["league_state.json", "summary.json"])
def test_a_league_of_an_earlier_version_is_one_line_with_a_cure(folder, name):
    old = json.loads((folder / name).read_text())
    del old["match_steps"]
    (folder / name).write_text(json.dumps(old))
    with pytest.raises(InputError, match=rf"{name} is of an earlier version.* --fresh"):
        league_panels(folder)


def test_nash_shares_are_summed_by_learner(folder):
    html = panel(folder, "Nash")
    assert [e.get("data-name") for e in found(html, "line")] == ["main", "the beginning"]
    points = json.loads(found(html, "line")[0].get("data-points"))
    assert [point[3] for point in points] == ["75.0\u00a0%"] * 3


def test_opponents_are_rows_and_versions_not_kept_go_by_their_learner(folder):
    html = panel(folder, "Opponents")
    of_main, of_rival = (
        [th.text for th in figure.iter("th") if th.get("scope") == "row"]
        for figure in parsed(html).iter("figure")
    )
    assert of_main == ["itself", "clone"]
    assert of_rival == ["clone", "main, present", "main-002"]


def test_a_match_to_watch_is_linked_once_its_replay_is_there(folder):
    assert "href" not in panel(folder, "Matches")
    (folder / "replays").mkdir()
    (folder / "replays" / "clone-main-003-7.html").write_text("")
    (link,) = parsed(panel(folder, "Matches")).iter("a")
    assert link.get("href") == "leagues/quick/replays/clone-main-003-7.html"
    assert "little &lt;chance&gt;" in panel(folder, "Matches")


def test_leagues_are_compared_where_there_are_several(folder, tmp_path):
    assert comparison_panel(named(folder)) == []
    strong = {"mean": 0.9, "low": 0.85, "high": 0.95}
    weak = {"best_response": {"main": SUMMARY["best_response"]["main"] | strong}}
    other = league(tmp_path / "leagues" / "self-play", summary=SUMMARY | weak)
    (one,) = comparison_panel(named(folder, other, tmp_path / "not-begun"))
    labels = [e.text for e in found(one.html, "row-label") if e.text]
    assert [label.split(",")[0].split(";")[0] for label in labels] == ["quick", "self-play"] * 2
    assert "10.0\u00a0% <small>" in one.html


def test_a_damaged_file_is_named(folder):
    (folder / "summary.json").write_text("{")
    with pytest.raises(InputError, match=r"summary.json is damaged"):
        league_panels(folder)


# --- Lineage -------------------------------------------------------------------------------------


def test_lives_run_from_reset_to_reset():
    assert lives(STATE["history"]) == [
        Life("main", "clone", 0, 3),
        Life("rival", "clone", 0, 2),
        Life("rival", "main-002", 2, 3),
    ]


def test_a_birth_leads_from_the_snapshot_it_began_with():
    html = lineage("clone", STATE["players"], STATE["history"], {"main-002": 1100.0})
    births = [e.get("d") for e in found(html, "birth")]
    assert len(births) == 3
    # main-002 lies in the second of three rows after round 2 of 3; the rival is the third row
    assert births[2].startswith("M666.7,150.0C")
    assert births[2].endswith("666.7,250.0")
    dots = found(html, "kept")
    assert [dot.get("title").split(":")[0] for dot in dots] == [
        "clone, round 0", "main-002, round 2, 1100 Elo"
    ]  # fmt: skip
    assert "left:66.67%" in dots[1].get("style")
    assert [e.text for e in found(html, "lane")] == ["clone", "main", "rival"]


def test_names_are_escaped():
    history = [
        entry(1, learners={NASTY: learner("x", begun_from=NASTY)}, opponents={NASTY: {NASTY: 1.0}})
    ]
    html = lineage(NASTY, [frozen(NASTY, reason=NASTY)], history, {})
    html += shares_over_time({1: {NASTY: 0.5}}, title=NASTY)
    assert "<b onclick" not in html
    parsed(html)


def test_a_lineage_of_nothing():
    assert lineage("clone", [], [], {}) == charts.NOTHING


# --- Shares --------------------------------------------------------------------------------------


def test_shares_are_shaded_by_the_greatest():
    html = shares_over_time({1: {"a": 0.2, "b": 0.0}, 2: {"c": 0.4, "a": 0.001}}, title="t")
    cells = [(e.text, e.get("style", "")[-4:]) for e in parsed(html).iter("td")][1:]
    assert cells == [
        ("20%", ":50%"), (None, "t:0%"), (None, ""), (None, ""), (None, ""), ("40%", "100%")
    ]  # fmt: skip


def test_rows_to_stand_on_top():
    html = shares_over_time({1: {"b": 0.5}, 2: {"a": 0.5}}, title="t", first={"a": "itself"})
    rows = [e.text for e in parsed(html).iter("th") if e.get("scope") == "row"]
    assert rows == ["itself", "b"]


@pytest.mark.parametrize("rounds", [{}, {1: {}}, {1: {"a": 0.0}}])
def test_no_shares_at_all(rounds):
    cells = [e.text for e in parsed(shares_over_time(rounds, title="t")).iter("td")]
    assert cells[0] == "round" and not any(cells[1:])


# --- Bands of line charts ------------------------------------------------------------------------


def test_a_band_goes_there_and_back():
    html = charts.line_chart(
        {"a": [(0, 1), (1, 1)]}, title="t", bands={"a": [(0, 0, 2), (1, 0, 2), (2, None, 3)]}
    )
    (band,) = found(html, "band")
    assert band.get("d") == "M0.0,0.0 L1000.0,0.0 L1000.0,1000.0 L0.0,1000.0Z"


@pytest.mark.parametrize("band", [[], [(0, 0, 2)], [(0, float("nan"), 2), (1, None, None)]])
def test_no_band_of_less_than_two_points(band):
    html = charts.line_chart({"a": [(0, 1), (1, 1)]}, title="t", bands={"a": band, "b": band})
    assert found(html, "band") == []
