"""Which runs there are below the folders that were named, and how each stands.

`look` goes through the folders and is quick where little has changed: a stage that is done is read
once. It runs in a thread; whoever asks gets what the last look found, all of one moment.
"""

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from understudy.data.runs import MANIFEST, Run
from understudy.errors import InputError
from understudy.names import fault_of, plain_name, shown
from understudy.studio.live.notes import Notes, read_notes
from understudy.studio.live.stages import Stage, State, stage_folders, stage_of

_WORST: tuple[State, ...] = ("damaged", "stalled", "running", "stopped", "done")
"""What is said of a run: the first of these that one of its stages is."""


@dataclass(frozen=True)
class RunState:
    """One run as it stands."""

    name: str
    run: Run
    stages: tuple[Stage, ...]
    notes: Notes = field(default_factory=Notes)

    @property
    def game(self) -> str:
        """The game it is about; "" where no stage says so."""
        return next((stage.game for stage in self.stages if stage.game), "")

    @property
    def state(self) -> State:
        """That of the stage most worth knowing of."""
        states = {stage.state for stage in self.stages}
        return next(state for state in _WORST if state in states)

    @property
    def written(self) -> float:
        """When something was last written."""
        return max(stage.written for stage in self.stages)

    @property
    def current(self) -> Stage:
        """The stage to show: one at work or in trouble, else the last."""
        order = sorted(self.stages, key=lambda stage: -stage.written)
        return min(order, key=lambda stage: _WORST.index(stage.state) // 3)

    def stage(self, place: str) -> Stage:
        """The stage at a place of the run."""
        found = next((stage for stage in self.stages if stage.place == place), None)
        if found is None:
            raise InputError(f"{self.name} has no {shown(place)}")
        return found


class Catalogue:
    """The runs below some folders."""

    def __init__(self, places: Sequence[Path]) -> None:
        self.places = tuple(place.resolve() for place in places)
        self.runs: Mapping[str, RunState] = MappingProxyType({})
        self.left_out: tuple[str, ...] = ()
        """Folders whose names cannot stand in an address."""
        self._done = dict[Path, tuple[tuple[int, int, int], Stage]]()

    @property
    def home(self) -> Path:
        """Where new runs are put, and what the studio keeps."""
        return self.places[0].parent if _is_run(self.places[0]) else self.places[0]

    def __getitem__(self, name: str) -> RunState:
        """A run by the name it has here; it may have been deleted meanwhile."""
        plain_name(name, "the name of a run")
        if name not in self.runs:
            raise InputError(f"there is no run {shown(name)} here; it may have been deleted")
        return self.runs[name]

    def name_of(self, folder: Path) -> str | None:
        """The name that a run has here, by its folder."""
        wanted = folder.resolve()
        return next((one.name for one in self.runs.values() if one.run.folder == wanted), None)

    def new(self, name: str) -> Run:
        """A run that is to be begun here, or gone on with."""
        if name in self.runs:
            return self.runs[name].run
        return Run(self.home / plain_name(name, "the name of a run"))

    def look(self) -> None:
        """See how everything stands now."""
        found, left_out = dict[str, RunState](), list[str]()
        for folder in dict.fromkeys(folder for place in self.places for folder in _runs_in(place)):
            if fault_of(folder.name):
                left_out.append(shown(folder.name))
                continue
            taken = folder.name in found
            name = f"{folder.parent.name}~{folder.name}" if taken else folder.name
            stages = self._stages(Run(folder))
            if stages:
                found[name] = RunState(name, Run(folder), stages, read_notes(Run(folder)))
        self.runs, self.left_out = MappingProxyType(found), tuple(left_out)

    def _stages(self, run: Run) -> tuple[Stage, ...]:
        now = time.time()
        found = (self._stage(run, folder, now) for folder in stage_folders(run))
        return tuple(stage for stage in found if stage is not None)

    def _stage(self, run: Run, folder: Path, now: float) -> Stage | None:
        try:
            about = (folder / MANIFEST).stat()
        except OSError:
            self._done.pop(folder, None)
            return None
        stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
        known = self._done.get(folder)
        if known is not None and known[0] == stamp:
            return known[1]
        stage = stage_of(run, folder, now)
        if stage is not None and stage.state == "done":
            self._done[folder] = stamp, stage
        return stage

    def unfinished(self) -> bool:
        """Whether any stage may change without writing: by dying, or by silence."""
        return any(stage.state == "running" for one in self.runs.values() for stage in one.stages)

    def free_bytes(self) -> int:
        """Of the disk that runs are written to."""
        try:
            return shutil.disk_usage(self.home).free
        except OSError:
            return 0


def typed(folder: Path) -> Path:
    """A folder as a person would type it who is where this studio was started."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _runs_in(place: Path) -> Iterator[Path]:
    """The runs in a folder, or the folder itself where it is one."""
    if _is_run(place):
        yield place
        return
    try:
        inner = sorted(one for one in place.iterdir() if not one.name.startswith("."))
    except OSError:
        return
    yield from (one for one in inner if one.is_dir() and _is_run(one))


def _is_run(folder: Path) -> bool:
    try:
        return any((one / MANIFEST).is_file() for one in stage_folders(Run(folder)))
    except OSError:
        return False
