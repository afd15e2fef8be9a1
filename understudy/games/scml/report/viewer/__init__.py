"""Turn stories of SCML worlds into pages to look into: one world alone, or some in a report.

Stories (version 1, from `world_page.py`) are laid into the page as JSON, in
`<script class="scml-world">`. The scripts beside this file read them: `story.js` makes numbers of
them, `chain.js` draws the supply chain, `charts.js` the days, `factory.js` one factory's day and
its negotiations; `explorer.js` is the page around it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.report.embed import Viewer
from understudy.report.page import Panel

_EXPLORER = Viewer(
    package=__name__,
    template="explorer.html",
    style="explorer.css",
    scripts=("story.js", "chain.js", "charts.js", "factory.js", "explorer.js"),
    data_class="scml-world",
    box_class="scml-explorer",
)


def world_page(story: Mapping[str, Any], of: str = "") -> str:
    """One world as a page of its own; keys work anywhere on it."""
    title = f"{story['match']}: a supply chain of {len(story['factories'])} factories"
    return _EXPLORER.page(title, story, of)


def world_panel(stories: Sequence[Mapping[str, Any]], title: str = "Worlds to look into") -> Panel:
    """Some worlds in a report, with a list to choose from."""
    note = "Arrow keys move by a day and Space plays, once the panel has been clicked."
    return _EXPLORER.panel(title, stories, note)
