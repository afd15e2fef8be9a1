"""The parts of a run's page, drawn by the code of static reports and kept until they change."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from understudy.data.integrity.shapes import MetricsLine
from understudy.data.runs import MANIFEST, LeagueFolder, ModelFolder, Run
from understudy.errors import InputError
from understudy.report.page import Panel
from understudy.report.run import Part, run_parts
from understudy.studio.live.catalogue import RunState
from understudy.studio.live.curves import LARGE, AllCurves

MOST_KEPT = 200
FIRST_LOOK = (
    "A first look at some lines of a long file: the rest is being read, and this page follows."
)


class Drawn(NamedTuple):
    """A part as it was drawn."""

    stamp: str
    """Changes when it would be drawn otherwise."""
    panels: Sequence[Panel]


class Drawings:
    """Draws parts of runs, one at a time; called from threads."""

    def __init__(self) -> None:
        self.curves = AllCurves()
        self._drawn = dict[tuple[Path, str], Drawn]()
        self._one = threading.Lock()

    def keys(self, state: RunState) -> list[str]:
        """The parts a run's page has, those of its stages that show something."""
        return [part.key for part in run_parts(state.run, lambda: []) if _is_there(state, part.key)]

    def known(self, state: RunState, key: str) -> Drawn | None:
        """A part as it was drawn, if it would be drawn so again; None: it must be drawn."""
        found = self._drawn.get((state.run.folder, key))
        return found if found and found.stamp == self._stamp(state.run, key) else None

    def draw(self, state: RunState, key: str, own: Sequence[Panel] = ()) -> Drawn:
        """One part; `own` are the game's panels, where they are the part."""
        parts = {part.key: part for part in run_parts(state.run, lambda: list(own), self._lines)}
        if key not in parts:
            raise InputError(f"{state.name} has no such part")
        with self._one:
            stamp = self._stamp(state.run, key)
            drawn = Drawn(stamp, self._panels(state.run, parts[key]))
            self._drawn.pop((state.run.folder, key), None)
            self._drawn[state.run.folder, key] = drawn
            while len(self._drawn) > MOST_KEPT:
                del self._drawn[next(iter(self._drawn))]
            return drawn

    def _panels(self, run: Run, part: Part) -> list[Panel]:
        try:
            panels = part.draw()
        except (InputError, OSError) as damage:
            return [Panel(part.key, "", note=str(damage))]
        if self.behind(run, part.key) and panels:
            panels[0] = Panel(**{**vars(panels[0]), "note": FIRST_LOOK})
        return panels

    def _lines(self, folder: Path) -> list[MetricsLine]:
        curves = self.curves.of(folder)
        if curves.unread() > LARGE:
            return curves.glance()
        curves.read()
        return curves.lines()

    def behind(self, run: Run, key: str) -> list[Path]:
        """Models of a part whose metrics are too long to be read while somebody waits."""
        return self.curves.behind(_metrics(run, key))

    def read_on(self, folder: Path, most: int) -> bool:
        """Read some more of such metrics; whether there is more still."""
        with self._one:
            return self.curves.of(folder).read(most)

    def _stamp(self, run: Run, key: str) -> str:
        paths = [folder / name for folder in _metrics(run, key) for name in _named(folder)]
        if not paths:
            folder = run.folder / key
            league = LeagueFolder(folder)
            paths = [league.state, league.summary, *sorted(run.folder.glob(f"*/{MANIFEST}"))]
            paths += sorted(run.folder.glob(f"*/*/{MANIFEST}"))
        behind = [str(folder) for folder in self.behind(run, key)]
        return "-".join([*map(_moment, paths), *behind])


def _metrics(run: Run, key: str) -> list[Path]:
    """The folders of a part that hold metrics."""
    if not key.startswith(f"{run.models.name}/"):
        return []
    name = ModelFolder(run.folder).metrics.name
    return sorted(path.parent for path in (run.folder / key).rglob(name))


def _named(folder: Path) -> list[Path]:
    return [ModelFolder(folder).metrics, ModelFolder(folder).evaluation]


def _moment(path: Path) -> str:
    try:
        about = path.stat()
    except OSError:
        return ""
    return f"{about.st_mtime_ns:x}.{about.st_size:x}"


def _is_there(state: RunState, key: str) -> bool:
    """Whether the run has what a part is drawn from."""
    places = [stage.place for stage in state.stages]
    if key == state.run.leagues.name:
        return sum(place.startswith(f"{key}/") for place in places) > 1
    return "/" not in key or key in places
