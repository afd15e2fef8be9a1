"""Numbers as they are: tables that sort, and tiles."""

from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

from understudy.report.charts.axis import Unit, finite, written
from understudy.report.charts.frame import NOTHING


class Link(NamedTuple):
    """Words that lead somewhere."""

    words: str
    address: str


SHORT = 40
"""Characters of a cell that a narrow page scrolls to, rather than to stand them in a column."""

Cell = str | float | None | Link


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
        f"<div><b>{escape(_words(value))}</b><span>{escape(name)}</span></div>"
        for name, value in facts
    )
    return f'<div class="tiles">{"".join(boxes)}</div>'


def _words(cell: Cell) -> str:
    if isinstance(cell, Link):
        return cell.words
    return cell if isinstance(cell, str) else written(cell)


def _is_numeric(cells: Sequence[Cell]) -> bool:
    known = [cell for cell in cells if cell is not None]
    return bool(known) and not any(isinstance(cell, (str, bool, Link)) for cell in known)


def _cell(cell: Cell, right: bool, unit: Unit) -> str:
    if isinstance(cell, Link):
        link = f'<a href="{escape(cell.address, quote=True)}">{escape(cell.words)}</a>'
        return f"<td{_short(cell.words)}>{link}</td>"
    if not right or isinstance(cell, str):
        text = "" if cell is None else str(cell)
        return f"<td{_short(text)}>{escape(text)}</td>"
    number = finite(cell)
    value = "" if number is None else f' data-value="{number!r}"'
    return f"<td{_side(True)}{value}>{written(number, unit)}</td>"


def _short(text: str) -> str:
    return ' class="short"' if 0 < len(text) <= SHORT else ""


def _side(right: bool) -> str:
    return ' class="number"' if right else ""
