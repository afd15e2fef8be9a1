"""What stands around every chart: the figure, its rows and its legend."""

from collections.abc import Sequence
from html import escape

NUM_COLORS = 8  # --s1 ... --s8 in page.css; a ninth series starts again, dashed
NOTHING = '<p class="empty">Nothing to show yet.</p>'


def figure(kind: str, title: str, inside: str) -> str:
    """A chart below its title."""
    return f'<figure class="chart {kind}"><figcaption>{escape(title)}</figcaption>{inside}</figure>'


def labelled_row(label: str, inside: str, kind: str = "") -> str:
    """A name at the left, and what is drawn beside it."""
    name = escape(label)
    return (
        f'<div class="row {kind}"><span class="row-label" title="{name}">{name}</span>'
        f'<div class="row-body">{inside}</div></div>'
    )


def legend_of(names: Sequence[str], extra: str = "", *, switches: bool = False) -> str:
    """Names beside their colours; none where there is only one thing to name."""
    if len(names) + bool(extra) < 2:
        return ""
    tag, pressed = ("button", ' type="button" aria-pressed="true"') if switches else ("span", "")
    keys = (
        f'<{tag} class="key" style="{color(place)}"{pressed}>{escape(name)}</{tag}>'
        for place, name in enumerate(names)
    )
    return f'<div class="legend">{"".join(keys)}{extra}</div>'


def color(place: int) -> str:
    """The style that gives the series at this place its colour."""
    return f"--color:var(--s{place % NUM_COLORS + 1})"
