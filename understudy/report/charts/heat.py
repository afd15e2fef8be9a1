"""A square per row and column, coloured by its value."""

from collections.abc import Sequence
from html import escape

from understudy.report.charts.axis import Unit, drawable_at, written
from understudy.report.charts.frame import NOTHING, figure


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
        return figure("heat", title, NOTHING)
    heads = "".join(
        f'<th scope="col" title="{escape(name)}"><span>{escape(name)}</span></th>'
        for name in columns
    )
    body = []
    for row, label in enumerate(labels):
        across, under = _line_of(values, row), _line_of(counts or (), row)
        cells = [
            _square(label, name, drawable_at(across, place), drawable_at(under, place), unit)
            for place, name in enumerate(columns)
        ]
        name = escape(label)
        body.append(f'<tr><th scope="row" title="{name}">{name}</th>{"".join(cells)}</tr>')
    return figure(
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


def _line_of(matrix: Sequence[Sequence[float | None]], row: int) -> Sequence[float | None]:
    return matrix[row] if row < len(matrix) else ()
