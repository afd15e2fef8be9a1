"""Ranges on a common axis: a value with its interval, or how many values are spread."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from understudy.report.charts.axis import Axis, Unit, finite, span_of, ticks_across, written
from understudy.report.charts.frame import NOTHING, color, figure, labelled_row, legend_of


class Interval(NamedTuple):
    """A measured value and the range it may lie in."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


def interval_chart(
    intervals: Sequence[Interval],
    *,
    title: str,
    reference: float | None = None,
    reference_label: str = "",
    unit: Unit = "number",
    limits: tuple[float, float] | None = None,
) -> str:
    """A dot and its whisker per row.

    Beside a reference line, a whisker wholly above it is coloured as better, one wholly below as
    worse, and one that crosses it stays grey: not yet known.
    """
    known = [end for interval in intervals for end in interval[1:] if finite(end) is not None]
    if not known:
        return figure("intervals", title, NOTHING)
    span = span_of([*known, reference], limits)
    line = _reference(span, reference, reference_label, unit)
    rows = "".join(_whisker(interval, span, reference, line, unit) for interval in intervals)
    return figure("intervals", title, rows + _foot(span, unit))


def _reference(span: Axis, reference: float | None, label: str, unit: Unit) -> str:
    if (at := finite(reference)) is None:
        return ""
    hint = escape(label or f"reference {written(at, unit)}")
    return f'<i class="reference" style="left:{span.inside(at):.2%}" title="{hint}"></i>'


def _foot(span: Axis, unit: Unit) -> str:
    """The axis below rows of whiskers or boxes."""
    return labelled_row("", f'<div class="bar-line">{ticks_across(span, unit)}</div>', "foot")


def _whisker(interval: Interval, span: Axis, reference: float | None, line: str, unit: Unit) -> str:
    value, low, high = (finite(end) for end in interval[1:])
    parts, text = line, written(value, unit)
    if low is not None and high is not None:
        left, right = sorted((span.inside(low), span.inside(high)))
        parts += f'<i class="whisker" style="left:{left:.2%};width:{right - left:.2%}"></i>'
        text += f" <small>{written(low, unit)} to {written(high, unit)}</small>"
    if value is not None:
        parts += f'<i class="dot" style="left:{span.inside(value):.2%}"></i>'
    return labelled_row(
        interval.label,
        f'<div class="bar-line {_verdict(low, high, finite(reference))}">'
        f'<div class="track">{parts}</div><span class="value">{text}</span></div>',
    )


def _verdict(low: float | None, high: float | None, reference: float | None) -> str:
    if low is None or high is None or reference is None:
        return "plain"
    if low > reference:
        return "better"
    return "worse" if high < reference else "unsure"


def box_chart(
    labels: Sequence[str],
    series: Mapping[str, Sequence[Sequence[float | None]]],
    *,
    title: str,
    reference: float | None = None,
    reference_label: str = "",
    unit: Unit = "number",
) -> str:
    """How values are spread: one group per label, one box per series that has values there.

    The box holds the middle half of the values, its mark is the median, and the line goes from the
    lowest to the highest twentieth, so that a few odd values do not squeeze all others together.
    """
    boxes = {
        name: [sorted(n for v in values if (n := finite(v)) is not None) for values in groups]
        for name, groups in series.items()
    }
    drawn = [values for groups in boxes.values() for values in groups[: len(labels)] if values]
    if not drawn:
        return figure("intervals", title, NOTHING)
    ends = [_quantile(values, share) for values in drawn for share in (0.05, 0.95)]
    span = span_of([*ends, reference], None)
    line = _reference(span, reference, reference_label, unit)
    rows = []
    for row, label in enumerate(labels):
        lines = [
            _box(f"{label}, {name}", groups[row], place, span, line, unit)
            for place, (name, groups) in enumerate(boxes.items())
            if row < len(groups) and groups[row]
        ]
        rows.append(labelled_row(label, f'<div style="padding:.3rem 0">{"".join(lines)}</div>'))
    legend = legend_of(list(series))
    return figure("intervals", title, legend + "".join(rows) + _foot(span, unit))


def _box(name: str, values: Sequence[float], place: int, span: Axis, line: str, unit: Unit) -> str:
    cuts = [_quantile(values, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    least, first, middle, third, most = (span.inside(cut) for cut in cuts)
    low, median, high = (written(float(f"{cut:.3g}"), unit) for cut in cuts[1:4])
    hint = f"{name}: median {median}, half from {low} to {high}, {len(values)} values"
    return (
        f'<div class="bar-line" style="{color(place)}" title="{escape(hint)}">'
        f'<div class="track" style="height:1.1rem">{line}'
        f'<i class="whisker" style="left:{least:.2%};width:{most - least:.2%}"></i>'
        f'<i class="bar" style="left:{first:.2%};width:{third - first:.2%};top:15%;bottom:15%"></i>'
        f'<i class="baseline" style="left:{middle:.2%};top:0;bottom:0"></i></div>'
        f'<span class="value">{median} <small>{low} to {high}</small></span></div>'
    )


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Between neighbours in proportion, as numpy does."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    return low + (high - low) * (place - below)
