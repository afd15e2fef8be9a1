"""Pages that are single files: a notebook shows them inline, a browser opens them."""

import tempfile
import webbrowser
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

HEIGHT = 640  # pixels inside a notebook


@dataclass(frozen=True)
class Page:
    """One page; it needs nothing beside itself."""

    html: str = field(repr=False)
    path: Path | None = None
    """Where it lies, if it was written."""

    def save(self, path: str | Path) -> Path:
        """Write it."""
        from understudy.data.files import write_text

        write_text(Path(path), self.html)
        return Path(path)

    def open(self) -> None:
        """Show it in the browser."""
        path = self.path or self.save(Path(tempfile.mkdtemp()) / "page.html")
        webbrowser.open(path.resolve().as_uri())

    def _repr_html_(self) -> str:
        # In a frame of its own: what it styles and runs does not touch the notebook.
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:0"></iframe>'
        )


def replay(match: str | Path, out: str | Path | None = None) -> Page:
    """One recorded match as a page: RUN/NAME, the NAME of a match in any run, or a match file.

    With `out` it is written there as well.
    """
    from understudy.data.runs import RUNS, Run
    from understudy.pipeline import report as stage

    path = Path(match)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "replay.html" if out is None else Path(out)
        if path.is_file():
            stage.replay_file(path, target)
        elif len(path.parts) > 1:
            stage.replay(Run.existing(path.parent), path.name, target)
        else:
            stage.replay_anywhere(RUNS, str(match), target)
        return Page(target.read_text(encoding="utf-8"), None if out is None else target)
