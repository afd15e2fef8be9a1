"""Pages of the studio: templates around the same panels that static reports are made of."""

import hashlib
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from understudy.report.charts import written
from understudy.report.page import Panel, asset, card, fragment, head_parts

_OWN = "understudy.studio"
_KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_FOR_GOOD = {"cache-control": "private, max-age=31536000, immutable"}
_LENGTHS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass
class Assets:
    """Styles and scripts, each at an address that changes with its content."""

    _texts: dict[str, str] = field(default_factory=dict)

    def add(self, text: str, ending: str) -> str:
        """The address of a text of ours."""
        name = f"{hashlib.blake2b(text.encode(), digest_size=10).hexdigest()}{ending}"
        self._texts[name] = text
        return f"/assets/{name}"

    def file(self, name: str, package: str = f"{_OWN}.static") -> str:
        """The address of a file of ours."""
        return self.add(asset(name, package), name[name.rindex(".") :])

    def of_panels(self, panels: Iterable[Panel]) -> list[str]:
        """The addresses of what panels need."""
        endings = {"style": ".css", "script": ".js"}
        parts = head_parts([panel.head for panel in panels if panel.head])
        return [self.add(text, endings[kind]) for kind, text in parts]

    def get(self, name: str) -> Response | None:
        """What lies at an address; None where nothing does."""
        if name not in self._texts:
            return None
        kind = _KINDS[name[name.rindex(".") :]]
        return Response(self._texts[name], headers={"content-type": kind, **_FOR_GOOD})


class Pages:
    """Templates, with what all of them need."""

    def __init__(self) -> None:
        self.assets = Assets()
        self._jinja = Environment(
            loader=PackageLoader(_OWN),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._jinja.filters |= {
            **{"ago": ago, "duration": duration, "written": written, "size": size},
            "percent": lambda share: f"{100 * share:.0f} %",
        }
        styles = [
            self.assets.file("page.css", "understudy.report"),
            self.assets.file("league.css", "understudy.report.league"),
            self.assets.file("studio.css"),
        ]
        scripts = [
            self.assets.file("htmx.min.js"),
            self.assets.file("page.js", "understudy.report"),
            self.assets.file("studio.js"),
        ]
        self._jinja.globals |= {"styles": styles, "scripts": scripts}

    def html(self, template: str, **told: Any) -> str:
        """A page or a part of one."""
        return self._jinja.get_template(template).render(**told)

    def answer(self, template: str, status: int = 200, **told: Any) -> HTMLResponse:
        """The same as an answer."""
        return HTMLResponse(self.html(template, **told), status)

    def cards(self, key: str, panels: Sequence[Panel]) -> Markup:
        """Panels as they stand in a live page. What they hold was escaped when it was drawn."""
        names = [f"{plain(key)}-{number}" for number in range(len(panels))]
        return Markup("".join(fragment(card(*one)) for one in zip(names, panels, strict=True)))


def static_files() -> list[str]:
    """The names of our own files that browsers may ask for."""
    return sorted(one.name for one in files(f"{_OWN}.static").iterdir())


def plain(key: str) -> str:
    """A place in a run as it may stand in an id."""
    return "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in key)


def ago(moment: float) -> str:
    """How long something is past."""
    return f"{duration(time.time() - moment)} ago"


def duration(seconds: float | None) -> str:
    """Seconds in words, in one or two units."""
    if seconds is None:
        return "-"
    left, words = max(0, round(seconds)), list[str]()
    for length, unit in _LENGTHS:
        count, left = divmod(left, length)
        if count and len(words) < 2:
            words.append(f"{count} {unit}")
        elif words:
            break
    return " ".join(words) or "0 s"


def size(count: float) -> str:
    """Bytes in words."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
