"""What all panels of a match page share: the minute that is shown, its slider, style and script."""

import json
from collections.abc import Sequence
from html import escape

from understudy.games.dota.advice.match_context import MatchContext
from understudy.report.page import asset

HERE = "understudy.games.dota.report"
HEAD = f"<style>\n{asset('match.css', HERE)}</style>\n<script>\n{asset('match.js', HERE)}</script>"


def slider(context: MatchContext) -> str:
    """A slider over the minutes of a match; all of a page move together (`match.js`)."""
    first, last = (int(context.timeline.t[row]) // 60 for row in (0, -1))
    return (
        f'<div class="minute"><label>Minute <output>{last}</output></label>'
        f'<input type="range" aria-label="Minute" min="{first}" max="{last}" value="{last}"/></div>'
    )


def by_minute(values: Sequence[str]) -> str:
    """A text that follows the slider, from the first minute on; without a script, the last."""
    data = escape(json.dumps(list(values), separators=(",", ":")))
    return f'<span data-by-minute="{data}">{escape(values[-1])}</span>'
