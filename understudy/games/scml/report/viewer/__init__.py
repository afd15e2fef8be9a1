"""Turn stories of SCML worlds into pages to look into: one world alone, or some in a report.

Stories (version 1, from `world_page.py`) are laid into the page as JSON, in
`<script class="scml-world">`. The scripts beside this file read them: `story.js` makes numbers of
them, `chain.js` draws the supply chain, `charts.js` the days, `factory.js` one factory's day and
its talks; `explorer.js` is the page around it.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape
from string import Template
from typing import Any

from understudy.report.page import Panel, asset, document

SCRIPTS = ("story.js", "chain.js", "charts.js", "factory.js", "explorer.js")


def world_page(story: Mapping[str, Any]) -> str:
    """One world as a page of its own; keys work anywhere on it."""
    title = f"{story['match']}: a supply chain of {len(story['factories'])} factories"
    body = Template(asset("explorer.html", __name__)).substitute(
        title=escape(title), worlds=_script(story)
    )
    return document(title, body, [_head()])


def world_panel(stories: Sequence[Mapping[str, Any]], title: str = "Worlds to look into") -> Panel:
    """Some worlds in a report, with a list to choose from."""
    scripts = "".join(_script(story) for story in stories)
    return Panel(
        title,
        f'<div class="scml-explorer">{scripts}</div>',
        note="Arrow keys move by a day and Space plays, once the panel has been clicked.",
        head=_head(),
        wide=True,
    )


def _head() -> str:
    """One scope for the scripts, so that their names meet nobody else's."""
    script = "\n".join(asset(name, __name__) for name in SCRIPTS)
    style = asset("explorer.css", __name__)
    return f'<style>\n{style}</style>\n<script>\n"use strict";\n{{\n{script}}}\n</script>\n'


def _script(story: Mapping[str, Any]) -> str:
    """The story as data. No `<` survives, so nothing in it can end the script or open a tag."""
    text = json.dumps(story, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" class="scml-world">{text}</script>'
