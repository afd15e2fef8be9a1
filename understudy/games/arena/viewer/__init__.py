"""Turn replays of arena matches into pages that play them: one match alone, or several in a report.

Replays (version 1) are laid into the page as JSON, in `<script class="arena-replay">`. The scripts
beside this file read them: `replay.js` checks, `scene.js` draws, `viewer.js` is the page around it.
`live.js` is the page around a match that is being played.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from understudy.report.embed import Viewer
from understudy.report.page import Panel, asset

_VIEWER = Viewer(
    package=__name__,
    template="replay.html",
    style="viewer.css",
    scripts=("replay.js", "scene.js", "viewer.js"),
    data_class="arena-replay",
    box_class="arena-viewer",
)
_LIVE = replace(_VIEWER, scripts=("replay.js", "scene.js", "live.js"))


def live_head() -> str:
    """Style and script of a match that goes on."""
    return f"{_LIVE.head()}<style>\n{asset('live.css', __name__)}</style>\n"


def replay_page(replay: Mapping[str, Any], of: str = "") -> str:
    """One match as a page of its own; keys and dropped files work anywhere on it."""
    players = " against ".join(str(name) for name in replay.get("players", ())) or "replay"
    return _VIEWER.page(f"{replay.get('match', 'Arena')}: {players}", replay, of)


def replay_panel(replays: Sequence[Mapping[str, Any]], title: str = "Replays") -> Panel:
    """Several matches in a report, with a list to choose from."""
    note = "Drop another replay on the field, a .json or a page with one, to see it here."
    return _VIEWER.panel(title, replays, note)
