"""Lying bars, one group per label."""

from collections.abc import Mapping, Sequence
from html import escape

from understudy.report.charts.axis import Axis, Unit, drawable_at, finite, span_of, written
from understudy.report.charts.frame import NOTHING, color, figure, labelled_row, legend_of


def bar_chart(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    *,
    title: str,
    baseline: Mapping[str, Sequence[float | None]] | None = None,
    baseline_name: str = "baseline",
    unit: Unit = "number",
    limits: tuple[float, float] | None = None,
) -> str:
    """Lying bars, one group per label, one bar per series.

    `baseline` marks a value on each bar: for a series' name, one value per label. `limits` fixes
    the span, for example (0, 1); without it the bars start at 0 and the longest fills its track.
    """
    marks = baseline or {}
    spread = [value for values in (*series.values(), *marks.values()) for value in values]
    if not labels or all(finite(value) is None for value in spread):
        return figure("bars", title, NOTHING)
    span = span_of([0.0, *spread], limits)
    rows = []
    for row, label in enumerate(labels):
        bars = [
            _bar(
                label,
                name,
                drawable_at(values, row),
                drawable_at(marks.get(name, ()), row),
                place,
                span,
                unit,
            )
            for place, (name, values) in enumerate(series.items())
        ]
        rows.append(labelled_row(label, "".join(bars)))
    key = f'<span class="key baseline-key">{escape(baseline_name)}</span>' if marks else ""
    return figure("bars", title, legend_of(list(series), key) + "".join(rows))


def _bar(
    label: str,
    name: str,
    value: float | None,
    mark: float | None,
    place: int,
    span: Axis,
    unit: Unit,
) -> str:
    zero = span.inside(0.0)
    end, text = zero if value is None else span.inside(value), written(value, unit)
    hint = f"{label}, {name}: {text}" + ("" if mark is None else f" (beside {written(mark, unit)})")
    tick = "" if mark is None else f'<i class="baseline" style="left:{span.inside(mark):.2%}"></i>'
    return (
        f'<div class="bar-line" title="{escape(hint)}" style="{color(place)}"><div class="track">'
        f'<i class="bar" style="left:{min(zero, end):.2%};width:{abs(end - zero):.2%}"></i>{tick}'
        f'</div><span class="value">{text}</span></div>'
    )
