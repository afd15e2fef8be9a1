"""Turn the lines of a `metrics.jsonl` into panels: how the loss fell, what each head learned.

A line holds "step" and some of "train/NAME", "val/NAME", "val/NAME/HEAD" and plain names such as
"learning_rate". "val/majority/HEAD" is how often the commonest option alone would be right,
"val/majority_legal/HEAD" the commonest of the legal ones.
"""

from collections.abc import Mapping, Sequence

from understudy.report.charts import Mark, bar_chart, finite, line_chart, table, tiles, written
from understudy.report.page import Panel

ACCURACY, MAJORITY, OF_LEGAL = "val/accuracy/", "val/majority/", "val/majority_legal/"
SHOWN_ELSEWHERE = ("step", "train/loss", "val/loss", "seconds")

Curve = list[tuple[float, float | None]]


def training_panels(name: str, metrics: Sequence[Mapping[str, float]]) -> list[Panel]:
    """Panels of one training: loss, accuracy of each head beside its majority, the rest small."""
    steps = by_step(metrics)
    best = _best_step(steps)
    learns_by_play = any("score" in line for line in steps.values())
    panels = [] if learns_by_play else [_loss_panel(name, steps, best)]
    if heads := _names(steps, ACCURACY):
        panels.append(_accuracy_panel(name, steps, heads, best))
    if others := _other_charts(steps, heads):
        html = f'<div class="small-multiples">{"".join(others)}</div>'
        panels.append(Panel(f"{name}: other measures", html, wide=True))
    return panels


def by_step(metrics: Sequence[Mapping[str, float]]) -> dict[float, dict[str, float]]:
    """One mapping per step, in order. A resumed training repeats some: the later line holds."""
    steps: dict[float, dict[str, float]] = {}
    for line in metrics:
        if (step := finite(line.get("step"))) is not None:
            known = {key: value for key, value in line.items() if finite(value) is not None}
            steps.setdefault(step, {}).update(known)
    return dict(sorted(steps.items()))


def _best_step(steps: Mapping[float, Mapping[str, float]]) -> float | None:
    """Where the validation loss was lowest; without one, the last step that measured accuracy."""
    judged = [step for step in steps if "val/loss" in steps[step]]
    if judged:
        return min(judged, key=lambda step: steps[step]["val/loss"])
    measured = [step for step in steps if any(key.startswith(ACCURACY) for key in steps[step])]
    return measured[-1] if measured else None


def _names(steps: Mapping[float, Mapping[str, float]], prefix: str = "") -> list[str]:
    """What follows the prefix in any line's keys, in order of appearance."""
    found = {key: None for line in steps.values() for key in line if key.startswith(prefix)}
    return [key.removeprefix(prefix) for key in found]


def _curve(steps: Mapping[float, Mapping[str, float]], key: str) -> Curve:
    return [(step, line[key]) for step, line in steps.items() if key in line]


def _loss_panel(name: str, steps: Mapping[float, Mapping[str, float]], best: float | None) -> Panel:
    curves = {"train": _curve(steps, "train/loss"), "validation": _curve(steps, "val/loss")}
    curves = {key: curve for key, curve in curves.items() if curve}
    lowest = steps[best].get("val/loss") if best is not None else None
    marks = [Mark(best, lowest, "best")] if best is not None and lowest is not None else []
    speeds = sorted(value for _, value in _curve(steps, "samples_per_second") if value is not None)
    facts: list[tuple[str, float | str | None]] = [("steps", max(steps, default=0))]
    if marks:
        facts += [("best validation loss", lowest), ("at step", best)]
    if speeds:
        facts.append(("samples per second", written(speeds[len(speeds) // 2])))
    chart = line_chart(
        curves,
        title="Loss",
        x_label="step",
        y_label="loss",
        smooth={"train"} if len(curves.get("train", ())) >= 60 else (),
        marks=marks,
    )
    return Panel(f"{name}: loss", tiles(facts) + chart)


def _accuracy_panel(
    name: str,
    steps: Mapping[float, Mapping[str, float]],
    heads: Sequence[str],
    best: float | None,
) -> Panel:
    """Per head at the best step, or at the last step before it that measured accuracy."""
    measured = [step for step in steps if any(ACCURACY + head in steps[step] for head in heads)]
    at = max((step for step in measured if best is None or step <= best), default=measured[0])
    accuracy = [steps[at].get(ACCURACY + head) for head in heads]
    majority = [_larger(steps[at], MAJORITY + head, OF_LEGAL + head) for head in heads]
    chart = bar_chart(
        heads,
        {"accuracy": accuracy},
        title=f"Accuracy on held-out matches at step {written(at)}",
        baseline={"accuracy": majority},
        baseline_name="majority",
        unit="percent",
        limits=(0.0, 1.0),
    )
    rows = [
        (
            head,
            right,
            trivial,
            right - trivial if right is not None and trivial is not None else None,
        )
        for head, right, trivial in zip(heads, accuracy, majority, strict=True)
    ]
    columns = ("head", "accuracy", "majority", "gain")
    return Panel(
        f"{name}: accuracy",
        chart + table(columns, rows, percent=columns[1:]),
        note="Majority: how often the commonest option, or commonest legal one, would be right. "
        "A head has learned something only where its bar passes the mark.",
    )


def _larger(line: Mapping[str, float], *keys: str) -> float | None:
    return max((line[key] for key in keys if key in line), default=None)


def _other_charts(steps: Mapping[float, Mapping[str, float]], heads: Sequence[str]) -> list[str]:
    """One small chart per name; its parts (train and val, or the heads) share it."""
    groups: dict[str, dict[str, Curve]] = {}
    for key in _names(steps):
        if key not in SHOWN_ELSEWHERE and not key.startswith((MAJORITY, OF_LEGAL)):
            kind, part = _kind_and_part(key, heads)
            groups.setdefault(kind, {})[part] = _curve(steps, key)
    return [_small(kind, curves, percent=kind == "accuracy") for kind, curves in groups.items()]


def _kind_and_part(key: str, heads: Sequence[str]) -> tuple[str, str]:
    """Which chart a measure belongs to, and which of its lines it is."""
    side, _, rest = key.partition("/")
    kind, _, head = rest.rpartition("/")
    if head in heads and kind:
        return kind, head
    return (rest, side) if rest and side in ("train", "val") else (key, key)


def _small(title: str, curves: Mapping[str, Curve], *, percent: bool = False) -> str:
    return line_chart(
        curves,
        title=title.replace("_", " "),
        x_label="step",
        unit="percent" if percent else "number",
    )
