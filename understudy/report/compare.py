"""Several runs or models side by side: what differs, how they learnt, who is stronger.

Strengths are compared only where something is shared: the same seeds, slots and company. Each such
place gives one difference, and whole seeds are drawn for its interval.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.data.integrity.evaluations import Evaluation
from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.shapes import MetricsLine
from understudy.data.results import paired_scores
from understudy.data.runs import ModelFolder, Run, read_manifest
from understudy.report import charts
from understudy.report.league.panels import comparison_panel
from understudy.report.page import Panel
from understudy.report.run import metrics_in, trained_in
from understudy.report.training import ACCURACY, by_step

Read = Callable[[Path], Sequence[MetricsLine]]
Results = Mapping[str, tuple[Mapping[str, Any], pa.Table]]
"""Results of one run by the name of their folder: the settings they were played with, and rows."""

LONGEST = 60
"""Characters of a value in a table."""
MOST_PAIRS = 60
_FIRST = ("val/loss", "train/loss", "score", "train/entropy", "train/kl", "train/value_error")
_SIZE = ("players", "matches", "seed", "keep", "configs", "tasks", "parts", "code", "added")
"""Settings of a compete by which what was played at equal seeds does not differ."""


@dataclass(frozen=True)
class Subject:
    """What is compared: a run, or one model of it."""

    label: str
    run: Run
    model: str | None = None

    def models(self) -> dict[str, Path]:
        """The models to compare, by what they are called here."""
        folders = sorted(self.run.models.glob("*/")) if self.model is None else []
        if self.model is not None:
            return {self.label: self.run.model(self.model)}
        return {f"{self.label} / {folder.name}": folder for folder in folders}

    def players(self) -> set[str]:
        """Those whose strength is compared."""
        return trained_in(self.run) if self.model is None else {self.model}


def compare_panels(
    subjects: Sequence[Subject], results: Mapping[str, Results], read: Read
) -> list[Panel]:
    """All there is to compare; `results` by a subject's label."""
    models = {name: folder for one in subjects for name, folder in one.models().items()}
    leagues = {
        f"{one.label} / {folder.name}": folder
        for one in subjects
        if one.model is None
        for folder in sorted(one.run.leagues.glob("*/"))
    }
    return [
        *_strength(subjects, results),
        *_ends(models),
        *_what_differs(models),
        *_curves({name: read(folder) for name, folder in _measured(models).items()}),
        *comparison_panel(leagues),
    ]


def _measured(models: Mapping[str, Path]) -> dict[str, Path]:
    """Models and their parts that have metrics."""
    return {
        " / ".join([name, *part]): where
        for name, folder in models.items()
        for part, where in metrics_in(folder).items()
    }


# --- What differs --------------------------------------------------------------------------------


def _what_differs(models: Mapping[str, Path]) -> list[Panel]:
    known = {name: _facts(folder) for name, folder in models.items()}
    names = dict.fromkeys(name for facts in known.values() for name in facts)
    rows = [
        (name, *(facts.get(name, "") for facts in known.values()))
        for name in names
        if len({facts.get(name) for facts in known.values()}) > 1
    ]
    if len(models) < 2:
        return []
    same = len(names) - len(rows)
    html = charts.table(("setting", *models), rows) if rows else charts.NOTHING
    note = f"{same} more are the same in all. 'data' stands for the files that were learnt from."
    return [Panel("What differs", html, note, wide=True)]


def _facts(folder: Path) -> dict[str, str]:
    """All that a manifest says of how a model was made, flat and short."""
    manifest = read_manifest(folder)
    if manifest is None:
        return {}
    told = {"recipe": "", **manifest["settings"], "versions": manifest["versions"]}
    facts = {name: _short(value) for name, value in _flat("", told)}
    digests = "+".join(sorted(manifest["inputs"].values()))
    return facts | {"data": f"{len(manifest['inputs'])} files {digests[:8]}"}


def _flat(before: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{before}.{name}" if before else str(name), inner)
    else:
        yield before, value


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


# --- How they ended ------------------------------------------------------------------------------


def _ends(models: Mapping[str, Path]) -> list[Panel]:
    rows = [(name, *_end(folder)) for name, folder in models.items()]
    columns = ("model", "steps", "seconds", "validation loss", "test accuracy", "majority", "gain")
    html = charts.table(columns, rows, percent=columns[4:])
    note = "Accuracies are means over heads, on matches never trained on, beside the majority's."
    return [Panel("How they ended", html, note, wide=True)] if rows else []


def _end(folder: Path) -> tuple[float | None, ...]:
    found = read_json(ModelFolder(folder).evaluation, Evaluation, "Train it again with --fresh")
    if found is None:
        return (None,) * 6
    heads = found.get("test", {}).get("heads", {}).values()
    right = _mean([one["accuracy"] for one in heads])
    trivial = _mean([max(one["majority"], one["majority_legal"]) for one in heads])
    gain = None if right is None or trivial is None else right - trivial
    return found["steps"], found["seconds"], found.get("val", {}).get("loss"), right, trivial, gain


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# --- Who is stronger -----------------------------------------------------------------------------


def _strength(subjects: Sequence[Subject], results: Mapping[str, Results]) -> list[Panel]:
    rows = list[tuple[charts.Cell, ...]]()
    whiskers = list[charts.Interval]()
    for (one, player), (other, rival) in combinations(_players(subjects), 2):
        mine, theirs = results.get(one.label, {}), results.get(other.label, {})
        for found in _shared(mine, theirs, player, rival):
            label = f"{one.label}: {player} less {other.label}: {rival}, {found.against}"
            whiskers.append(charts.Interval(label, found.gap.value, found.gap.low, found.gap.high))
            values = (found.gap.value, found.gap.low, found.gap.high, found.gap.n)
            rows.append((one.label, player, other.label, rival, found.against, *values))
    if not rows:
        return []
    chart = charts.interval_chart(
        whiskers[:MOST_PAIRS],
        title="Difference of scores where all else is equal",
        reference=0.0,
        reference_label="level",
    )
    columns = ("of", "player", "less of", "rival", "against", "difference", "low", "high", "places")
    note = (
        "Paired: both played the same seed in the same slot against the same opponent, or in the "
        "same company. 95 % intervals are drawn by seed. What shares nothing is not compared."
    )
    return [Panel("Who is stronger", chart + charts.table(columns, rows), note, wide=True)]


def _players(subjects: Sequence[Subject]) -> list[tuple[Subject, str]]:
    return [(one, player) for one in subjects for player in sorted(one.players())]


def _shared(mine: Results, theirs: Results, player: str, rival: str) -> Iterator[Any]:
    """Every pair of results in which both played under equal settings, with what came of it."""
    for _, (settings, rows) in sorted(mine.items()):
        for _, (others, other_rows) in sorted(theirs.items()):
            if _played_alike(settings) == _played_alike(others):
                yield from paired_scores(rows, other_rows, player, rival)


def _played_alike(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in _SIZE}


# --- How they learnt -----------------------------------------------------------------------------


def _curves(metrics: Mapping[str, Sequence[MetricsLine]]) -> list[Panel]:
    steps = {name: by_step(lines) for name, lines in metrics.items()}
    every = dict.fromkeys(
        key for lines in steps.values() for line in lines.values() for key in line
    )
    left_out = {key for key in every if key.startswith("val/majority")} | {"step", "seconds"}
    first = [key for key in _FIRST if key in every]
    heads = [key for key in every if key.startswith(ACCURACY)]
    points = [key for key in every if key.startswith("points/")]
    others = [key for key in every if key not in {*first, *heads, *points, *left_out}]
    large = [_over(key, steps) for key in [*first, *points]]
    panels = []
    if large:
        html = f'<div class="small-multiples">{"".join(large)}</div>'
        panels.append(Panel("Curves", html, wide=True))
    if small := [_over(key, steps) for key in [*heads, *others]]:
        html = f'<div class="small-multiples">{"".join(small)}</div>'
        panels.append(Panel("Other measures", html, wide=True))
    return panels


def _over(key: str, steps: Mapping[str, Mapping[float, Mapping[str, float]]]) -> str:
    """One measure of all models over each other; each has its colour everywhere."""
    return charts.line_chart(
        {
            name: [(step, line[key]) for step, line in lines.items() if key in line]
            for name, lines in steps.items()
        },
        title=key.replace("_", " "),
        x_label="step",
        unit="percent" if key.startswith((ACCURACY, "points/")) else "number",
    )
