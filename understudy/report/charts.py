"""Turn numbers into charts: strings of HTML and SVG, coloured by `page.css`, nothing loaded.

Lines lie in an SVG that stretches with the window; every letter is HTML beside it, so that text
keeps its size on a phone. Each function answers for every input: what cannot be drawn (None, NaN,
infinity) is left out, and a chart with nothing to draw says so. Each string is well-formed XML.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from numbers import Real
from typing import Literal, NamedTuple

Unit = Literal["number", "percent"]
Cell = str | float | None
Run = list[tuple[float, float]]

NUM_COLORS = 8  # --s1 ... --s8 in page.css; a ninth series starts again, dashed
NUM_POINTS = 600  # a line is thinned to about this many points; more cannot be seen
FIELD = 1000  # the side of a line chart's drawing, in SVG units
LARGEST = 1e300  # beyond it differences overflow
SMALLEST = 1e-290  # below it they vanish
NOTHING = '<p class="empty">Nothing to show yet.</p>'


class Mark(NamedTuple):
    """A point of a line chart worth naming."""

    x: float
    y: float
    label: str


class Interval(NamedTuple):
    """A measured value and the range it may lie in."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Axis:
    """Which values a chart spans, and where it names them."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool = False

    def share(self, value: float) -> float:
        """Where `value` lies: 0 at the low end, 1 at the high end."""
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            return (math.log10(value) - low) / (high - low)
        return (value - self.low) / (self.high - self.low)

    def texts(self, unit: Unit) -> list[str]:
        """The ticks in words, with no more decimals than their distance calls for."""
        scale = 100 if unit == "percent" else 1
        gap = min((b - a for a, b in pairwise(self.ticks)), default=0.0) * scale
        top = max((abs(tick) for tick in self.ticks), default=0.0) * scale
        plain = 1e-2 <= top < 1e4 or gap * 1000 < top < 1e15
        if self.log or not plain or gap <= 1e-12:
            return [written(tick, unit) for tick in self.ticks]
        decimals = max(0, -math.floor(math.log10(gap) + 1e-9))
        decimals += abs(gap * 10**decimals - round(gap * 10**decimals)) > 1e-6  # steps of 2.5
        ending = "\u00a0%" if unit == "percent" else ""
        return [f"{tick * scale:.{decimals}f}{ending}" for tick in self.ticks]


# Numbers and axes


def finite(value: object) -> float | None:
    """The value as a float that can be drawn, or None."""
    if not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:  # an int of more than 308 digits
        return None
    if not abs(number) <= LARGEST:  # NaN is not, either
        return None
    return number if abs(number) > SMALLEST else 0.0


def written(value: float | None, unit: Unit = "number") -> str:
    """A number for reading: about four digits, thousands as k, M, G, and - for none."""
    number = finite(value)
    if number is None:
        return "-"
    if unit == "percent":
        return f"{number * 100:.1f}\u00a0%"
    if 0 < abs(number) < 1e-3:
        return _scientific(number)
    for least, size, letter in ((1e12, 0.0, ""), (1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(number) >= least:
            return f"{number / size:.4g}{letter}" if size else _scientific(number)
    return f"{number:.4g}"


def _scientific(number: float) -> str:
    digits, power = f"{number:.2e}".split("e")
    return f"{float(digits):g}e{int(power)}"


def axis(values: Iterable[float | None], *, log: bool = False, snug: bool = False) -> Axis:
    """An axis that spans the values; it ends on ticks unless `snug`."""
    known = [number for number in map(finite, values) if number is not None]
    if log:
        return _log_axis([number for number in known if number > 0])
    low, high = min(known, default=0.0), max(known, default=1.0)
    if high - low <= 1e-9 * max(abs(low), abs(high)):  # constant: put the line in the middle
        pad = abs(low) / 10 or 1.0
        low, high = low - pad, high + pad
    step = _step(high - low)
    if not snug:
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(low, high, tuple(step * count for count in range(first, last + 1)))


def _step(span: float) -> float:
    """A round distance that cuts the span into four to eight."""
    magnitude = 10.0 ** math.floor(math.log10(span / 5))
    return magnitude * next(size for size in (1, 2, 2.5, 5, 10) if size * magnitude >= span / 6.5)


def _log_axis(known: Sequence[float]) -> Axis:
    """Ticks at powers of ten; where these are few, also at doubles and fives, or at any round."""
    low, high = min(known, default=1.0), max(known, default=10.0)
    if high <= low * 1.001:
        low, high = low / 2, high * 2
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    powers = range(first, last + 1, max(1, (last - first) // 6))
    for sizes in ((1.0,), (1.0, 2.0, 5.0)):
        ticks = [size * 10.0**power for power in powers for size in sizes]
        inside = tuple(tick for tick in ticks if low <= tick <= high)
        if len(inside) > 2:
            return Axis(low, high, inside, log=True)
    return Axis(low, high, axis((low, high), snug=True).ticks, log=True)


# Line chart


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
) -> str:
    """Lines over a common x. A gap in the values is a gap in the line.

    A series named in `smooth` is drawn as its running mean, with the raw line faint behind it.
    `bands` shade the range (x, low, high) around a series. A logarithmic axis leaves out what is
    not above 0. Hovering shows the values (`page.js`).
    """
    runs = {name: _runs(points, log_x, log_y) for name, points in series.items()}
    kept = [point for parts in runs.values() for part in parts for point in part]
    if not kept:
        return _figure("lines", title, NOTHING)
    marks = [mark for mark in marks if _drawable(mark.x, mark.y, log_x, log_y)]
    x = axis([point[0] for point in kept], log=log_x, snug=True)
    edges = {name: _edges(band, log_x, log_y) for name, band in (bands or {}).items()}
    ends = [point[1] for edge in edges.values() for point in edge]
    y = axis([*(point[1] for point in kept), *(mark.y for mark in marks), *ends], log=log_y)
    lines = [
        _line(name, place, runs[name], x, y, unit, name in smooth, edges.get(name, []))
        for place, name in enumerate(series)
    ]
    field = (
        f'<svg viewBox="0 0 {FIELD} {FIELD}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}">{_grid(x, y)}{"".join(lines)}</svg>'
        + "".join(_mark(mark, x, y, unit) for mark in marks)
    )
    legend = _legend(list(series), switches=True)
    return _figure("lines", title, legend + _plot(field, x, y, x_label, y_label, unit))


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
        f'<g class="line{" dashed" if place >= NUM_COLORS else ""}" style="{_color(place)}" '
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
    y_texts, x_texts = y.texts(unit), x.texts("number")
    y_ticks = "".join(
        f'<span style="bottom:{y.share(tick):.2%}">{text}</span>'
        for tick, text in zip(y.ticks, y_texts, strict=True)
    )
    x_ticks = "".join(
        f'<span style="left:{x.share(tick):.2%}">{text}</span>'
        for tick, text in zip(x.ticks, x_texts, strict=True)
    )
    return (
        f'<div class="y-label">{escape(y_label)}</div>'
        f'<div class="plot" style="--ticks:{max(map(len, y_texts), default=1)}ch">'
        f'<div class="y-axis">{y_ticks}</div><div class="field">{field}</div>'
        f'<div class="x-axis">{x_ticks}</div></div><div class="x-label">{escape(x_label)}</div>'
    )


# Bars, intervals, heat


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
        return _figure("bars", title, NOTHING)
    span = _span([0.0, *spread], limits)
    rows = []
    for row, label in enumerate(labels):
        bars = [
            _bar(
                label, name, _item(values, row), _item(marks.get(name, ()), row), place, span, unit
            )
            for place, (name, values) in enumerate(series.items())
        ]
        rows.append(_row(label, "".join(bars)))
    key = f'<span class="key baseline-key">{escape(baseline_name)}</span>' if marks else ""
    return _figure("bars", title, _legend(list(series), key) + "".join(rows))


def _bar(
    label: str,
    name: str,
    value: float | None,
    mark: float | None,
    place: int,
    span: Axis,
    unit: Unit,
) -> str:
    zero = _inside(span, 0.0)
    end, text = zero if value is None else _inside(span, value), written(value, unit)
    hint = f"{label}, {name}: {text}" + ("" if mark is None else f" (beside {written(mark, unit)})")
    tick = (
        "" if mark is None else f'<i class="baseline" style="left:{_inside(span, mark):.2%}"></i>'
    )
    return (
        f'<div class="bar-line" title="{escape(hint)}" style="{_color(place)}"><div class="track">'
        f'<i class="bar" style="left:{min(zero, end):.2%};width:{abs(end - zero):.2%}"></i>{tick}'
        f'</div><span class="value">{text}</span></div>'
    )


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
        return _figure("intervals", title, NOTHING)
    span = _span([*known, reference], limits)
    line = _reference(span, reference, reference_label, unit)
    rows = "".join(_whisker(interval, span, reference, line, unit) for interval in intervals)
    return _figure("intervals", title, rows + _foot(span, unit))


def _reference(span: Axis, reference: float | None, label: str, unit: Unit) -> str:
    if (at := finite(reference)) is None:
        return ""
    hint = escape(label or f"reference {written(at, unit)}")
    return f'<i class="reference" style="left:{_inside(span, at):.2%}" title="{hint}"></i>'


def _foot(span: Axis, unit: Unit) -> str:
    """The axis below rows of whiskers or boxes."""
    ticks = "".join(
        f'<span style="left:{span.share(tick):.2%}">{text}</span>'
        for tick, text in zip(span.ticks, span.texts(unit), strict=True)
    )
    return _row("", f'<div class="bar-line"><div class="x-axis">{ticks}</div></div>', "foot")


def _whisker(interval: Interval, span: Axis, reference: float | None, line: str, unit: Unit) -> str:
    value, low, high = (finite(end) for end in interval[1:])
    parts, text = line, written(value, unit)
    if low is not None and high is not None:
        left, right = sorted((_inside(span, low), _inside(span, high)))
        parts += f'<i class="whisker" style="left:{left:.2%};width:{right - left:.2%}"></i>'
        text += f" <small>{written(low, unit)} to {written(high, unit)}</small>"
    if value is not None:
        parts += f'<i class="dot" style="left:{_inside(span, value):.2%}"></i>'
    return _row(
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
        return _figure("intervals", title, NOTHING)
    ends = [_quantile(values, share) for values in drawn for share in (0.05, 0.95)]
    span = _span([*ends, reference], None)
    line = _reference(span, reference, reference_label, unit)
    rows = []
    for row, label in enumerate(labels):
        lines = [
            _box(f"{label}, {name}", groups[row], place, span, line, unit)
            for place, (name, groups) in enumerate(boxes.items())
            if row < len(groups) and groups[row]
        ]
        rows.append(_row(label, f'<div style="padding:.3rem 0">{"".join(lines)}</div>'))
    legend = _legend(list(series))
    return _figure("intervals", title, legend + "".join(rows) + _foot(span, unit))


def _box(name: str, values: Sequence[float], place: int, span: Axis, line: str, unit: Unit) -> str:
    cuts = [_quantile(values, share) for share in (0.05, 0.25, 0.5, 0.75, 0.95)]
    least, first, middle, third, most = (_inside(span, cut) for cut in cuts)
    low, median, high = (written(float(f"{cut:.3g}"), unit) for cut in cuts[1:4])
    hint = f"{name}: median {median}, half from {low} to {high}, {len(values)} values"
    return (
        f'<div class="bar-line" style="{_color(place)}" title="{escape(hint)}">'
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


def heat_map(
    labels: Sequence[str],
    values: Sequence[Sequence[float | None]],
    counts: Sequence[Sequence[int | None]] | None = None,
    *,
    title: str,
    columns: Sequence[str] | None = None,
    corner: str = "",
    unit: Unit = "percent",
) -> str:
    """A square per row and column, red towards 0 and green towards 1, pale at a half.

    `counts` (how many matches a value rests on) stands small below it. None is an empty square.
    """
    columns = labels if columns is None else columns
    if not labels or not columns:
        return _figure("heat", title, NOTHING)
    heads = "".join(
        f'<th scope="col" title="{escape(name)}"><span>{escape(name)}</span></th>'
        for name in columns
    )
    body = []
    for row, label in enumerate(labels):
        across, under = _line_of(values, row), _line_of(counts or (), row)
        cells = [
            _square(label, name, _item(across, place), _item(under, place), unit)
            for place, name in enumerate(columns)
        ]
        name = escape(label)
        body.append(f'<tr><th scope="row" title="{name}">{name}</th>{"".join(cells)}</tr>')
    return _figure(
        "heat",
        title,
        f'<div class="scroll"><table><thead><tr><td class="corner">{escape(corner)}</td>{heads}'
        f"</tr></thead><tbody>{''.join(body)}</tbody></table></div>",
    )


def _square(row: str, column: str, value: float | None, count: float | None, unit: Unit) -> str:
    if value is None:
        return f'<td class="none" title="{escape(f"{row} - {column}: no value")}"></td>'
    away = min(max(value, 0.0), 1.0) * 2 - 1
    text = f"{value * 100:.0f}\u00a0%" if unit == "percent" else f"{value:.2f}"
    hint, small = f"{row} - {column}: {written(value, unit)}", ""
    if count is not None:
        hint, small = f"{hint} of {count:.0f}", f"<small>{written(count)}</small>"
    side = "high" if away > 0 else "low"
    return (
        f'<td class="{side}" style="--heat:{abs(away):.0%}" title="{escape(hint)}">'
        f"{text}{small}</td>"
    )


# Tables and tiles


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    highlight: Collection[int] = (),
    percent: Collection[str] = (),
) -> str:
    """A table that sorts by a click on a column's name (`page.js`).

    Columns of numbers stand right-aligned; those named in `percent` are shares. `highlight` holds
    the places of the rows to stress.
    """
    width = max([len(columns), *map(len, rows)])
    if not width:
        return NOTHING
    names = [*columns, *[""] * (width - len(columns))]
    whole = [[*row, *[None] * (width - len(row))] for row in rows]
    numeric = [_is_numeric([row[place] for row in whole]) for place in range(width)]
    heads = "".join(
        f'<th scope="col"{_side(right)}>{escape(name)}</th>'
        for name, right in zip(names, numeric, strict=True)
    )
    body = []
    for place, row in enumerate(whole):
        cells = "".join(
            _cell(cell, right, "percent" if name in percent else "number")
            for cell, name, right in zip(row, names, numeric, strict=True)
        )
        kind = ' class="stress"' if place in highlight else ""
        body.append(f"<tr{kind}>{cells}</tr>")
    return (
        f'<div class="scroll"><table class="sortable"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def tiles(facts: Sequence[tuple[str, Cell]]) -> str:
    """A few large numbers, each with what it means below it."""
    boxes = (
        f"<div><b>{escape(value if isinstance(value, str) else written(value))}</b>"
        f"<span>{escape(name)}</span></div>"
        for name, value in facts
    )
    return f'<div class="tiles">{"".join(boxes)}</div>'


def _is_numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and not any(isinstance(cell, (str, bool)) for cell in known)


def _cell(cell: Cell, right: bool, unit: Unit) -> str:
    if not right or isinstance(cell, str):
        return f"<td>{escape('' if cell is None else str(cell))}</td>"
    number = finite(cell)
    value = "" if number is None else f' data-value="{number!r}"'
    return f"<td{_side(True)}{value}>{written(number, unit)}</td>"


def _side(right: bool) -> str:
    return ' class="number"' if right else ""


# Shared pieces


def _figure(kind: str, title: str, inside: str) -> str:
    return f'<figure class="chart {kind}"><figcaption>{escape(title)}</figcaption>{inside}</figure>'


def _row(label: str, inside: str, kind: str = "") -> str:
    name = escape(label)
    return (
        f'<div class="row {kind}"><span class="row-label" title="{name}">{name}</span>'
        f'<div class="row-body">{inside}</div></div>'
    )


def _legend(names: Sequence[str], extra: str = "", *, switches: bool = False) -> str:
    """Names beside their colours; none where there is only one thing to name."""
    if len(names) + bool(extra) < 2:
        return ""
    tag, pressed = ("button", ' type="button" aria-pressed="true"') if switches else ("span", "")
    keys = (
        f'<{tag} class="key" style="{_color(place)}"{pressed}>{escape(name)}</{tag}>'
        for place, name in enumerate(names)
    )
    return f'<div class="legend">{"".join(keys)}{extra}</div>'


def _color(place: int) -> str:
    return f"--color:var(--s{place % NUM_COLORS + 1})"


def _span(values: Sequence[float | None], limits: tuple[float, float] | None) -> Axis:
    return axis(values if limits is None else limits, snug=limits is not None)


def _inside(span: Axis, value: float) -> float:
    """The value's share of the span, held to the track."""
    return min(max(span.share(value), 0.0), 1.0)


def _item(values: Sequence[float | None], place: int) -> float | None:
    """A value that may be missing or not drawable."""
    return finite(values[place]) if place < len(values) else None


def _line_of(matrix: Sequence[Sequence[float | None]], row: int) -> Sequence[float | None]:
    return matrix[row] if row < len(matrix) else ()
