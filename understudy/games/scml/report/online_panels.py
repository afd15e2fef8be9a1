"""Learning by play in a report: scores as they rose, what each stage was worth, what changed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.data.integrity.json_files import fitting_together
from understudy.data.runs import ModelFolder, Run
from understudy.games.scml.learning.online.measure import HABITS
from understudy.learn.base import read_evaluation
from understudy.report import charts
from understudy.report.charts import Interval
from understudy.report.page import Panel
from understudy.report.run import read_metrics

_MANY = 40
"""From so many iterations on, scores are drawn as running means."""


def online_panels(run: Run) -> list[Panel]:
    """Of every model of the run that learned by play."""
    found = list[Panel]()
    for folder in sorted(run.models.glob("*/")) if run.models.is_dir() else []:
        with fitting_together(folder, "Train it again with --fresh"):
            found += _panels(folder)
    return found


def _panels(folder: Path) -> list[Panel]:
    lines = read_metrics(folder) if ModelFolder(folder).metrics.is_file() else []
    if not any("score" in line for line in lines):
        return []
    found, evaluation = [_curves(folder.name, lines)], read_evaluation(folder)
    if evaluation is not None and evaluation.get("stages"):
        found += [_stages(folder.name, evaluation), _changes(folder.name, evaluation)]
    return found


def _curves(name: str, lines: list[dict[str, float]]) -> Panel:
    """Scores while it learned."""
    places = sorted({key for line in lines for key in line if key.startswith("score/")})
    curves = {
        key.removeprefix("score/"): [(line["step"], line.get(key)) for line in lines]
        for key in places
    }
    chart = charts.line_chart(
        curves,
        title="Mean score of the learner, by its place in the chain",
        x_label="iteration",
        y_label="score",
        smooth=curves if len(lines) >= _MANY else (),
    )
    worlds = max(line.get("worlds", 0.0) for line in lines)
    facts = charts.tiles([("iterations", len(lines)), ("worlds played", f"{worlds:,.0f}")])
    return Panel(
        f"{name}: learning by play",
        facts + chart,
        note="Every iteration has worlds of its own, so most of the ups and downs are theirs. What "
        "was learnt is measured below, in the same worlds for all stages.",
        wide=True,
    )


def _stages(name: str, evaluation: Mapping[str, Any]) -> Panel:
    """Each stage beside the one before."""
    gains = {stage: row for stage, row in evaluation["stages"].items() if "gain" in row}
    chart = _gains(gains, "Gain over the stage before, in the same factories")
    chosen = evaluation["stages"][evaluation["chosen"]]
    if "over_start" in chosen:  # unless the start was chosen
        chart += _gains(chosen["over_start"], "Where it gains over its start, by place")
    rows = [
        (stage, row["mean"], *row["places"].values(), row["bankrupt"])
        for stage, row in evaluation["stages"].items()
    ]
    places = next(iter(evaluation["stages"].values()))["places"]
    table = charts.table(("after", "score", *places, "bankrupt"), rows, percent=("bankrupt",))
    return Panel(
        f"{name}: what each stage was worth",
        chart + table,
        note=f"Worlds that trained nothing; these chose '{evaluation['chosen']}', so they are no "
        "measure of its strength: `understudy compete` is.",
    )


def _gains(rows: Mapping[str, Mapping[str, float]], title: str) -> str:
    """With 95 % intervals, to the fourth digit: more is noise."""
    intervals = list[Interval]()
    for name, row in rows.items():
        gain, far = row["gain"], 1.96 * row["standard_error"]
        intervals.append(Interval(name, *(round(end, 4) for end in (gain, gain - far, gain + far))))
    return charts.interval_chart(intervals, title=title, reference=0.0, reference_label="no gain")


def _changes(name: str, evaluation: Mapping[str, Any]) -> Panel:
    """How it plays, before and after."""
    stages = evaluation["stages"]
    before, after = stages["start"]["habits"], stages[evaluation["chosen"]]["habits"]
    rows = [
        (what, *(side[place][habit] or None for place in before for side in (before, after)))
        for habit, what in HABITS.items()
    ]
    columns = [f"{place}, {when}" for place in before for when in ("before", "after")]
    table = charts.table(("what", *columns), rows)
    return Panel(
        f"{name}: what changed in its play", table, "Means over the same worlds.", wide=True
    )
