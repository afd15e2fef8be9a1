"""Lay data into a page together with the scripts that draw it, all in one file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import Any

from understudy.report.page import Panel, asset, document

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Viewer:
    """Scripts that draw one kind of data, as files beside a package's modules."""

    package: str
    template: str
    """The body of a page of its own: HTML with `${title}` and `${data}`."""
    style: str
    scripts: tuple[str, ...]
    data_class: str
    """By this class the scripts find their data,"""
    box_class: str
    """and by this one the place to draw it in."""

    def page(self, title: str, data: Data, of: str = "") -> str:
        """A page that shows one thing and nothing else; its tab says which run it is `of`."""
        body = Template(asset(self.template, self.package)).substitute(
            title=escape(title), data=data_script(self.data_class, data)
        )
        return document(f"{title} · {of}" if of else title, body, [self.head()])

    def panel(self, title: str, many: Sequence[Data], note: str) -> Panel:
        """Several things in a report, with a list to choose from."""
        scripts = "".join(data_script(self.data_class, data) for data in many)
        html = f'<div class="{self.box_class}">{scripts}</div>'
        return Panel(title, html, note=note, head=self.head(), wide=True)

    def head(self) -> str:
        """Style and scripts; one scope for all scripts, so that their names meet nobody else's."""
        script = "\n".join(asset(name, self.package) for name in self.scripts)
        style = asset(self.style, self.package)
        return f'<style>\n{style}</style>\n<script>\n"use strict";\n{{\n{script}}}\n</script>\n'


def data_script(data_class: str, data: Data) -> str:
    """The data as JSON. No `<` survives, so nothing in it can end the script or open a tag."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" class="{data_class}">{text}</script>'
