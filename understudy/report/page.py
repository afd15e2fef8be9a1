"""Turn panels into one HTML page that needs nothing beside itself: no server, no library."""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files

from understudy.report.charts import NOTHING

# A page may load nothing, not even by mistake, and run only what its head brings, by hash: what
# slips into the body as a script, a handler or an address is dead. `connect-src` lets a live page
# ask its own server.
_POLICY = (
    "default-src 'none'; style-src {style}; script-src {script}; "
    "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
MOST_FINDINGS = 3
_HEAD_PART = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)
_TAG = re.compile(r"<[a-z][^<>]*>")  # no attribute holds a < or >: they are escaped
_STYLE = re.compile(r' style="([\w\s.,:;%()#+-]*)"')


@dataclass(frozen=True)
class Panel:
    """One card of a page."""

    title: str
    html: str
    """Trusted markup: whoever makes it escapes what came from outside."""
    note: str = ""
    """Plain text below the content: how to read it, what it rests on."""
    head: str = ""
    """Style and script the content needs, from our own files: nothing that was read goes here.
    Panels with the same head share one copy."""
    wide: bool = False
    """Take the whole width of the page."""
    finding: str = ""
    """What came out, in one plain sentence; the first few of a page stand at its top."""


def page(title: str, subtitle: str, panels: Sequence[Panel], tab: str = "") -> str:
    """A whole page: header, contents bar, one card per panel; `tab` is the browser's title."""
    names = anchors([panel.title for panel in panels])
    links = "".join(
        f'<a href="#{name}">{escape(panel.title)}</a>'
        for name, panel in zip(names, panels, strict=True)
    )
    cards = "".join(card(name, panel) for name, panel in zip(names, panels, strict=True))
    told = [panel.finding for panel in panels if panel.finding][:MOST_FINDINGS]
    found = "".join(f'<p class="finding">{escape(line)}</p>' for line in told)
    body = (
        f"<header><h1>{escape(title)}</h1>{found}<p>{escape(subtitle)}</p></header>"
        f'<nav aria-label="Contents">{links}</nav>'
        f"<main>{cards or NOTHING}</main>"
    )
    return document(tab or title, body, list(dict.fromkeys(panel.head for panel in panels)))


def document(title: str, body: str, heads: Sequence[str] = ()) -> str:
    """The frame around any page: `page.css`, `page.js`, and the ban on anything else."""
    body, styles = _styles_apart(body)
    head = (
        f"<style>\n{asset('page.css')}</style>\n<script>\n{asset('page.js')}</script>\n"
        f"{''.join(heads)}<style>\n{styles}</style>\n"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(head)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n{head}</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _policy(head: str) -> str:
    """What the page may do: the styles and scripts of its head, each by its hash."""
    hashes = dict[str, list[str]](style=[], script=[])
    for kind, text in _HEAD_PART.findall(head):
        found = b64encode(sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{found}'")
    return _POLICY.format(**{kind: " ".join(found) for kind, found in hashes.items()})


def _styles_apart(body: str) -> tuple[str, str]:
    """The body with classes in place of style attributes, which a hash cannot allow; their rules.

    A rule names its class four times, so that it goes before any rule of a style sheet, as the
    attribute did.
    """
    classes = dict[str, str]()

    def classed(tag: re.Match[str]) -> str:
        if (style := _STYLE.search(tag[0])) is None:
            return tag[0]
        name = classes.setdefault(style[1], f"s-{len(classes):x}")
        plain = tag[0].replace(style[0], "", 1)
        if ' class="' in plain:
            return plain.replace(' class="', f' class="{name} ', 1)
        return re.sub(r"^<[a-z]+", rf'\g<0> class="{name}"', plain)

    changed = _TAG.sub(classed, body)
    return changed, "".join(f"{f'.{name}' * 4}{{{css}}}\n" for css, name in classes.items())


def asset(name: str, package: str = "understudy.report") -> str:
    """The text of a file that lies beside a package's modules."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def head_parts(heads: Sequence[str]) -> list[tuple[str, str]]:
    """Each style and script of some heads once, in order: its kind and its text."""
    return list(dict.fromkeys(part for head in heads for part in _HEAD_PART.findall(head)))


def fragment(html: str) -> str:
    """A part of a page that comes by itself, where style attributes are not allowed.

    They stand in `data-style`, and `page.js` applies them.
    """

    def set_aside(tag: re.Match[str]) -> str:
        return _STYLE.sub(r' data-style="\1"', tag[0])

    return _TAG.sub(set_aside, html)


def card(name: str, panel: Panel) -> str:
    """One panel as it stands in a page, under a name for links."""
    note = f'<p class="note">{escape(panel.note)}</p>' if panel.note else ""
    return (
        f'<section id="{name}" class="card{" wide" if panel.wide else ""}">'
        f"<h2>{escape(panel.title)}</h2>{panel.html}{note}</section>"
    )


def anchors(titles: Sequence[str]) -> list[str]:
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
