"""Turn panels into one HTML page that needs nothing beside itself: no server, no library."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from understudy.report.charts import NOTHING

# A page may load nothing, not even by mistake; `connect-src` lets a live page ask its own server.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Panel:
    """One card of a page."""

    title: str
    html: str
    """Trusted markup: whoever makes it escapes what came from outside."""
    note: str = ""
    """Plain text below the content: how to read it, what it rests on."""
    head: str = ""
    """Style and script the content needs. Panels with the same head share one copy."""
    wide: bool = False
    """Take the whole width of the page."""


def page(title: str, subtitle: str, panels: Sequence[Panel]) -> str:
    """A whole page: header, contents bar, one card per panel."""
    names = _anchors([panel.title for panel in panels])
    links = "".join(
        f'<a href="#{name}">{escape(panel.title)}</a>'
        for name, panel in zip(names, panels, strict=True)
    )
    cards = "".join(_card(name, panel) for name, panel in zip(names, panels, strict=True))
    body = (
        f"<header><h1>{escape(title)}</h1><p>{escape(subtitle)}</p></header>"
        f'<nav aria-label="Contents">{links}</nav>'
        f"<main>{cards or NOTHING}</main>"
    )
    return document(title, body, list(dict.fromkeys(panel.head for panel in panels)))


def document(title: str, body: str, heads: Sequence[str] = ()) -> str:
    """The frame around any page: `page.css`, `page.js`, and the ban on loading anything else."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{asset('page.css')}</style>\n"
        f"<script>\n{asset('page.js')}</script>\n{''.join(heads)}</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def asset(name: str, package: str = "understudy.report") -> str:
    """The text of a file that lies beside a package's modules."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _card(name: str, panel: Panel) -> str:
    note = f'<p class="note">{escape(panel.note)}</p>' if panel.note else ""
    return (
        f'<section id="{name}" class="card{" wide" if panel.wide else ""}">'
        f"<h2>{escape(panel.title)}</h2>{panel.html}{note}</section>"
    )


def _anchors(titles: Sequence[str]) -> list[str]:
    """A name for each title that can stand in an address; equal titles get a number."""
    names: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "panel"
        name, count = plain, 1
        while name in names:
            count += 1
            name = f"{plain}-{count}"
        names.append(name)
    return names
