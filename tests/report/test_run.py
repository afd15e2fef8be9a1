"""Panels of a run: which of its models are told of, and how."""

import json
import re

from understudy.data.results import WinRate
from understudy.data.runs import Run
from understudy.data.stats import Estimate
from understudy.report.run import run_panels, run_parts, strength_panel


def model(run, name, *parts, finished=True):
    for part in parts:
        (run.model(name) / part).mkdir(parents=True, exist_ok=True)
        line = json.dumps({"step": 3, "train/loss": 1.0})
        (run.model(name) / part / "metrics.jsonl").write_text(line + "\n")
    run.model(name).mkdir(parents=True, exist_ok=True)
    if finished:
        (run.model(name) / "evaluation.json").write_text("{}")


def test_a_model_of_several_parts_has_the_curves_of_each(tmp_path):
    run = Run(tmp_path)
    model(run, "clone", ".")
    model(run, "whole", "l2", "l3")
    model(run, "rounds", "round-1/model", "round-2/model")
    titles = [panel.title for panel in run_panels(run, [])]
    assert [title for title in titles if title.endswith("loss")] == [
        "clone: loss",
        "rounds / round-1: loss",
        "rounds / round-2: loss",
        "whole / l2: loss",
        "whole / l3: loss",
    ]


def test_a_model_without_steps_is_left_to_its_game(tmp_path):
    run = Run(tmp_path)
    model(run, "value")
    assert run_panels(run, []) == []
    model(run, "begun", finished=False)
    (panel,) = run_panels(run, [])
    assert panel.title == "begun: loss" and "Nothing to show yet" in panel.html


def test_the_points_are_those_of_the_player_who_was_named_first():
    names = ("expert", "imitate-quick", "imitate", "camper")
    rates = [
        WinRate(one, other, Estimate(0.5, 0.4, 0.6, 8), 0.0, Estimate(0.5, 0.4, 0.6, 8))
        for one in names
        for other in names
        if one != other
    ]
    for name, first in (
        ("imitate-quick-expert-imitate-camper-8-0", "imitate-quick"),
        ("imitate-expert-imitate-quick-camper-8-0", "imitate"),
        ("camper-expert-8-0", "camper"),
    ):
        html = strength_panel(name, rates).html
        assert f"Points of {first}<" in html
        rows = re.findall(r">([^<>]+) - [^<>]+<", html)
        assert set(rows) == {first} and len(rows) == len(names) - 1


def test_the_finding_tells_of_the_strongest_that_was_trained():
    def rate(one, other, value):
        span = Estimate(value, value - 0.05, value + 0.05, 40)
        return WinRate(one, other, span, 0.0, span)

    pairs = {("refine", "clone"): 0.66, ("refine", "expert"): 0.48, ("clone", "expert"): 0.3}
    rates = [
        each
        for (one, other), value in pairs.items()
        for each in (rate(one, other, value), rate(other, one, 1 - value))
    ]
    panel = strength_panel("clone-refine-expert-40-0", rates, {"clone", "refine"})
    told = "refine beats clone 66 % [61, 71], is level with expert 48 % [43, 53]"
    assert panel.finding == f"{told}: points of 40 matches each."
    assert strength_panel("clone", rates[4:], {"clone"}).finding.startswith("clone loses to expert")


def test_who_is_how_strong_stands_before_how_they_were_made(tmp_path):
    run = Run(tmp_path)
    for folder in (run.league("quick"), run.model("imitate")):
        folder.mkdir(parents=True)
    keys = [part.key for part in run_parts(run, list)]
    assert keys.index("results") < keys.index("leagues/quick") < keys.index("models/imitate")
