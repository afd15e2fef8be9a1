"""What came of a stage: plain values, and ways to look at them.

A `Competition` is a list of rows and `Figures` a dict, so that programs use them as such;
`table()` is for a terminal, `_repr_html_` for a notebook, `to_frame()` for pandas, `report()` the
page of the whole run.
"""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.data.runs import Run
from understudy.errors import InputError

if TYPE_CHECKING:
    import pandas

    from understudy.api.pages import Page

Rows = Sequence[Mapping[str, Any]]


class Competition(list[dict[str, Any]]):
    """How strong players are: a row per player, or per ordered pair of a game of two."""

    def __init__(self, rows: Rows, run: Run, game: str) -> None:
        """Rows as `compete` found them in a run."""
        super().__init__(map(dict, rows))
        self.run, self.game = run, game

    def table(self) -> str:
        """The rows as text."""
        return _as_text(self)

    def to_frame(self) -> "pandas.DataFrame":
        """The rows for pandas; an interval is a column each for mean, low and high."""
        return _frame([_spread(row) for row in self])

    def report(self, out: str | Path | None = None) -> "Page":
        """The page of the whole run, written to `out` (or RUN/report.html)."""
        return report_of(self.run, out)

    def _repr_html_(self) -> str:
        return _as_html(self)


class Figures(dict[str, Any]):
    """Figures by name: counts of an encoding, the evaluation of a training, a league's summary."""

    def __init__(self, figures: Mapping[str, Any], run: Run, folder: Path) -> None:
        """What a stage returned, and where it lies."""
        super().__init__(figures)
        self.run, self.folder = run, folder

    def table(self) -> str:
        """The figures as text, those within figures by their path."""
        return _as_text(self._rows())

    def to_frame(self) -> "pandas.DataFrame":
        """Names and values for pandas."""
        return _frame(self._rows())

    def report(self, out: str | Path | None = None) -> "Page":
        """The page of the whole run, written to `out` (or RUN/report.html)."""
        return report_of(self.run, out)

    def _rows(self) -> list[dict[str, Any]]:
        return [{"figure": name, "value": value} for name, value in _flat(self)]

    def _repr_html_(self) -> str:
        return _as_html(self._rows())


def report_of(run: Run, out: str | Path | None) -> "Page":
    """A run's page, written and to be shown."""
    from understudy.api.pages import Page
    from understudy.pipeline import report as stage

    path = stage.report(run, None if out is None else Path(out))
    return Page(path.read_text(encoding="utf-8"), path)


def _flat(figures: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Figures within figures as PATH/NAME; what is no figure, text or truth is left out."""
    found = list[tuple[str, Any]]()
    for name, value in figures.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name}/")
        elif isinstance(value, str | int | float):
            found.append((f"{before}{name}", value))
    return found


def _spread(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row in which intervals are three columns."""
    found = dict[str, Any]()
    for name, value in row.items():
        if _is_interval(value):
            found |= {name: value[0], f"{name}_low": value[1], f"{name}_high": value[2]}
        else:
            found[name] = value
    return found


def _is_interval(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 3


def _frame(rows: Rows) -> "pandas.DataFrame":
    try:
        import pandas
    except ModuleNotFoundError as missing:
        raise InputError(
            "to_frame() needs the package pandas, which is not installed. Install it: "
            "pip install pandas. Without it, the result is a list of rows already"
        ) from missing
    return pandas.DataFrame(list(rows))


def _word(value: Any) -> str:
    if _is_interval(value):
        mean, low, high = (_word(part) for part in value)
        return f"{mean} [{low}, {high}]"
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _columns(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _as_text(rows: Rows) -> str:
    """Columns side by side; numbers to the right."""
    names = _columns(rows)
    cells = [[_word(row.get(name)) for name in names] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    right = [_is_right(rows, name) for name in names]
    lines = [
        "  ".join(
            cell.rjust(width) if side else cell.ljust(width)
            for cell, width, side in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in (names, *cells)
    ]
    return "\n".join(lines)


def _is_right(rows: Rows, name: str) -> bool:
    return not any(isinstance(row.get(name), str) for row in rows)


def _as_html(rows: Rows) -> str:
    """A table that a notebook shows; all text escaped."""
    names = _columns(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_word(row.get(name)))}</td>' for name in names)}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
