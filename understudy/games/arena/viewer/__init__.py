"""Turn replays of arena matches into pages that play them: one match alone, or several in a report.

Replays (version 1) are laid into the page as JSON, in `<script class="arena-replay">`. The scripts
beside this file read them: `replay.js` checks, `scene.js` draws, `viewer.js` is the page around it.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from understudy.report.page import Panel, asset, document

SCRIPTS = ("replay.js", "scene.js", "viewer.js")


def replay_page(replay: Mapping[str, Any]) -> str:
    """One match as a page of its own; keys and dropped files work anywhere on it."""
    title = f"{replay.get('match', 'Arena')}: {_versus(replay)}"
    body = Template(asset("replay.html", __name__)).substitute(
        title=escape(title), replays=_script(replay)
    )
    return document(title, body, [_head()])


def replay_panel(replays: Sequence[Mapping[str, Any]], title: str = "Replays") -> Panel:
    """Several matches in a report, with a list to choose from."""
    scripts = "".join(_script(replay) for replay in replays)
    return Panel(
        title,
        f'<div class="arena-viewer">{scripts}</div>',
        note="Drop another replay on the field, a .json or a page with one, to see it here.",
        head=_head(),
        wide=True,
    )


def _head() -> str:
    """One scope for the three scripts, so that their names meet nobody else's."""
    script = "\n".join(asset(name, __name__) for name in SCRIPTS)
    style = asset("viewer.css", __name__)
    return f'<style>\n{style}</style>\n<script>\n"use strict";\n{{\n{script}}}\n</script>\n'


def _script(replay: Mapping[str, Any]) -> str:
    """The replay as data. No `<` survives, so nothing in it can end the script or open a tag."""
    text = json.dumps(replay, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" class="arena-replay">{text}</script>'


def _versus(replay: Mapping[str, Any]) -> str:
    return " against ".join(str(name) for name in replay.get("players", ())) or "replay"
