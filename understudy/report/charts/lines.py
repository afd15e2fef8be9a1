"""Lines over a common x, with bands and marks."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import NamedTuple

from understudy.report.charts.axis import Axis, Unit, axis, finite, span_of, ticks_across, written
from understudy.report.charts.frame import NOTHING, NUM_COLORS, color, figure, legend_of

Run = list[tuple[float, float]]

NUM_POINTS = 600  # a line is thinned to about this many points; more cannot be seen
FIELD = 1000  # the side of the drawing, in SVG units


class Mark(NamedTuple):
    """A point of a line chart worth naming."""

    x: float
    y: float
    label: str


def line_chart(
    series: Mapping[str, Sequence[tuple[float, float | None]]],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    unit: Unit = "number",
    log_x: bool = False,
    log_y: bool = False,
    smooth: Collection[str] = (),
    marks: Sequence[Mark] = (),
    bands: Mapping[str, Sequence[tuple[float, float | None, float | None]]] | None = None,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
) -> str:
    """Lines over a common x. A gap in the values is a gap in the line.

    A series named in `smooth` is drawn as its running mean, with the raw line faint behind it.
    `bands` shade the range (x, low, high) around a series. A logarithmic axis leaves out what is
    not above 0. `limits` are the ends of the y axis whatever the values; `reference` is a y that is
    drawn as a line of its own. Hovering shows the values (`page.js`).
    """
    runs = {name: _runs(points, log_x, log_y) for name, points in series.items()}
    kept = [point for parts in runs.values() for part in parts for point in part]
    if not kept:
        return figure("lines", title, NOTHING)
    marks = [mark for mark in marks if _drawable(mark.x, mark.y, log_x, log_y)]
    counts = all(point[0].is_integer() for point in kept)  # rounds and steps
    x = axis([point[0] for point in kept], log=log_x, snug=True, whole=counts)
    edges = {name: _edges(band, log_x, log_y) for name, band in (bands or {}).items()}
    ends = [point[1] for edge in edges.values() for point in edge]
    if limits is None:
        y = axis([*(point[1] for point in kept), *(mark.y for mark in marks), *ends], log=log_y)
    else:
        y = span_of((), limits)
    lines = [
        _line(name, place, runs[name], x, y, unit, name in smooth, edges.get(name, []))
        for place, name in enumerate(series)
    ]
    field = (
        f'<svg viewBox="0 0 {FIELD} {FIELD}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}">{_grid(x, y)}{_reference(reference, y)}'
        f"{''.join(lines)}</svg>" + "".join(_mark(mark, x, y, unit) for mark in marks)
    )
    legend = legend_of(list(series), switches=True)
    return figure("lines", title, legend + _plot(field, x, y, x_label, y_label, unit))


def _drawable(x: object, y: object, log_x: bool, log_y: bool) -> bool:
    across, up = finite(x), finite(y)
    if across is None or up is None:
        return False
    return (across > 0 or not log_x) and (up > 0 or not log_y)


def _runs(points: Sequence[tuple[float, float | None]], log_x: bool, log_y: bool) -> list[Run]:
    """The points cut where one cannot be drawn."""
    runs: list[Run] = [[]]
    for x, y in points:
        if y is not None and _drawable(x, y, log_x, log_y):
            runs[-1].append((float(x), float(y)))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _edges(
    band: Sequence[tuple[float, float | None, float | None]], log_x: bool, log_y: bool
) -> Run:
    """The way around a band: along its high ends, and back along its low ones."""
    kept = [
        (float(x), float(low), float(high))
        for x, low, high in band
        if low is not None and high is not None
        if _drawable(x, low, log_x, log_y) and _drawable(x, high, log_x, log_y)
    ]
    there, back = [(x, high) for x, _, high in kept], [(x, low) for x, low, _ in reversed(kept)]
    return there + back if len(kept) > 1 else []


def _mean(run: Run) -> Run:
    """The run with each value replaced by the mean of about a thirtieth of its neighbours."""
    reach = len(run) // 60
    total = [0.0, *accumulate(y for _, y in run)]
    spans = [(max(0, i - reach), min(len(run), i + reach + 1)) for i in range(len(run))]
    return [
        (x, (total[end] - total[start]) / (end - start))
        for (x, _), (start, end) in zip(run, spans, strict=True)
    ]


def _thinned(run: Run, limit: int) -> Run:
    """At most about `limit` points: the lowest and highest of each stretch, so spikes stay."""
    if len(run) <= limit:
        return run
    stretch = math.ceil(2 * len(run) / limit)
    kept = {0, len(run) - 1}
    for start in range(0, len(run), stretch):
        places = range(start, min(start + stretch, len(run)))
        kept |= {min(places, key=lambda i: run[i][1]), max(places, key=lambda i: run[i][1])}
    return [run[place] for place in sorted(kept)]


def _line(
    name: str,
    place: int,
    runs: Sequence[Run],
    x: Axis,
    y: Axis,
    unit: Unit,
    smooth: bool,
    edges: Run,
) -> str:
    """One series. `data-points` is what the crosshair reads: x and y as shares, then in words."""
    limit = max(2, NUM_POINTS // max(1, len(runs)))
    raw = [_thinned(run, limit) for run in runs]
    drawn = [_thinned(_mean(run), limit) for run in runs] if smooth else raw
    points = [
        [round(x.share(a), 4), round(y.share(b), 4), written(a), written(b, unit)]
        for run in drawn
        for a, b in run
    ]
    data = escape(json.dumps(points, separators=(",", ":")))
    last = f"{name}: {points[-1][3]} at {points[-1][2]}" if points else name
    behind = f'<path class="band" d="{_path([edges], x, y)}Z"/>' if edges else ""
    behind += f'<path class="faint" d="{_path(raw, x, y)}"/>' if smooth else ""
    lone = [run * 2 for run in drawn if len(run) == 1]  # a line to itself: round ends make it a dot
    behind += f'<path class="lone" d="{_path(lone, x, y)}"/>' if lone else ""
    return (
        f'<g class="line{" dashed" if place >= NUM_COLORS else ""}" style="{color(place)}" '
        f'data-name="{escape(name)}" data-points="{data}"><title>{escape(last)}</title>'
        f'{behind}<path d="{_path(drawn, x, y)}"/></g>'
    )


def _path(runs: Sequence[Run], x: Axis, y: Axis) -> str:
    spots = [
        [f"{FIELD * x.share(a):.1f},{FIELD * (1 - y.share(b)):.1f}" for a, b in r] for r in runs
    ]
    return " ".join("M" + " L".join(run) for run in spots)


def _grid(x: Axis, y: Axis) -> str:
    across = (f"M0,{FIELD * (1 - y.share(tick)):.1f}H{FIELD}" for tick in y.ticks)
    up = (f"M{FIELD * x.share(tick):.1f},0V{FIELD}" for tick in x.ticks)
    return f'<path class="grid" d="{"".join(across)}{"".join(up)}"/>'


def _reference(value: float | None, y: Axis) -> str:
    if value is None or not y.low <= value <= y.high:
        return ""
    return f'<path class="even" d="M0,{FIELD * (1 - y.share(value)):.1f}H{FIELD}"/>'


def _mark(mark: Mark, x: Axis, y: Axis, unit: Unit) -> str:
    across, up = min(max(x.share(mark.x), 0), 1), y.share(mark.y)
    side = "left" if across > 0.6 else "right"
    text = f"{mark.label}: {written(mark.y, unit)} at {written(mark.x)}"
    return (
        f'<span class="mark {side}" style="left:{across:.2%};bottom:{up:.2%}" '
        f'title="{escape(text)}"><b>{escape(mark.label)}</b></span>'
    )


def _plot(field: str, x: Axis, y: Axis, x_label: str, y_label: str, unit: Unit) -> str:
    """The field framed by its two axes."""
    y_texts = y.texts(unit)
    y_ticks = "".join(
        f'<span style="bottom:{y.share(tick):.2%}">{text}</span>'
        for tick, text in zip(y.ticks, y_texts, strict=True)
    )
    return (
        f'<div class="y-label">{escape(y_label)}</div>'
        f'<div class="plot" style="--ticks:{max(map(len, y_texts), default=1)}ch">'
        f'<div class="y-axis">{y_ticks}</div><div class="field">{field}</div>'
        f'{ticks_across(x)}</div><div class="x-label">{escape(x_label)}</div>'
    )
