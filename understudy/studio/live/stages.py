"""How one stage of a run stands, by what lies in its folder: read, never touched.

A stage is done when its manifest says so. Otherwise somebody is at work in its folder, or was: the
lock beside it names the process. One that is gone without a word has been killed; one that lives
but writes nothing for long is stalled.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from understudy.data.integrity.json_files import read_json
from understudy.data.integrity.locks import Writer, writer_of
from understudy.data.integrity.shapes import LeagueShown, Tasks
from understudy.data.runs import LeagueFolder, ModelFolder, Run, read_manifest, tasks_file
from understudy.errors import InputError
from understudy.studio.live.curves import last_line

State = Literal["done", "running", "stalled", "stopped", "damaged"]

SILENT_SECONDS = 120.0
"""Without a word before a living process counts as stalled, at the least,"""
SILENT_TIMES = 8.0
"""and so many times its usual pause."""
MOST_FIGURES = 3
_TELLING = ("val/loss", "train/loss", "score", "train/entropy", "train/kl")
_RATES = ("samples_per_second", "agent_steps_per_second")


@dataclass(frozen=True)
class Progress:
    """How much is done, of how much, in what."""

    done: float
    total: float | None
    unit: str

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where the end is not known."""
        return min(1.0, self.done / self.total) if self.total else None


@dataclass(frozen=True)
class Stage:
    """One stage of a run as it stands."""

    place: str
    """Where it lies in the run."""
    folder: Path
    kind: str = ""
    """The stage that made it."""
    game: str = ""
    state: State = "stopped"
    said: str = ""
    """What is the matter, where something is."""
    command: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    begun: float = 0.0
    """Seconds since 1970."""
    ended: float | None = None
    written: float = 0.0
    """When something was last written."""
    progress: Progress | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    writer: Writer | None = None

    @property
    def seconds_left(self) -> float | None:
        """By how long it took so far."""
        share = self.progress.share if self.progress and self.state == "running" else None
        if not share or share >= 1:
            return None
        return (self.written - self.begun) * (1 - share) / share


def stage_folders(run: Run) -> list[Path]:
    """Every folder of a run that a stage may have claimed."""
    many = (run.models, run.results, run.leagues, run.tuning("x").parent)
    return [run.recordings, run.samples, *(one for kind in many for one in sorted(_within(kind)))]


def _within(folder: Path) -> list[Path]:
    try:
        return [one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")]
    except OSError:
        return []


def stage_of(run: Run, folder: Path, now: float | None = None) -> Stage | None:
    """How the stage in a folder stands; None where there is none."""
    place = folder.relative_to(run.folder).as_posix()
    try:
        manifest = read_manifest(folder)
    except InputError as damage:
        return Stage(place, folder, state="damaged", said=str(damage))
    except OSError:
        return None
    if manifest is None:
        return None
    try:
        return _stage(place, folder, manifest, time.time() if now is None else now)
    except (InputError, ValueError, TypeError, OSError) as damage:
        return Stage(place, folder, state="damaged", said=str(damage))


def _stage(place: str, folder: Path, manifest: Mapping[str, Any], now: float) -> Stage:
    settings = manifest["settings"]
    begun = datetime.fromisoformat(manifest["begun"]).timestamp()
    ended = manifest["finished"] and datetime.fromisoformat(manifest["finished"]).timestamp()
    written = max([begun, *(_changed(path) for path in _telling_files(folder))])
    progress, steps = _progress(folder, manifest)
    writer = None if ended else writer_of(folder)
    state, said = _state(ended, writer, now - written, (written - begun) / max(1, steps))
    tasks = _tasks(folder)
    failed = {} if tasks is None or ended else tasks["failed"]
    if failed and not said:
        said = f"{len(failed)} tasks failed"
    return Stage(
        place=place,
        folder=folder,
        kind=manifest["stage"],
        game=str(settings.get("game", "")),
        state=state,
        said=said,
        command=tuple(manifest["command"]),
        settings=settings,
        begun=begun,
        ended=ended,
        written=written,
        progress=progress,
        figures=_figures(folder, manifest),
        failed=failed,
        writer=writer,
    )


def _state(
    ended: float | None, writer: Writer | None, silent: float, pause: float
) -> tuple[State, str]:
    """What it is, and what is the matter."""
    if ended:
        return "done", ""
    if writer is None:
        return "stopped", "not finished; the same command goes on"
    if not writer.alive:
        return "stalled", f"process {writer.pid} is gone without a word: it was killed"
    if silent > max(SILENT_SECONDS, SILENT_TIMES * pause):
        return "stalled", f"process {writer.pid} has written nothing for {silent:,.0f} s"
    return "running", ""


def _telling_files(folder: Path) -> list[Path]:
    """Files that change as a stage goes on."""
    league = LeagueFolder(folder)
    named = [folder, tasks_file(folder), league.state, league.summary]
    return [*named, *(path for path in folder.rglob(ModelFolder(folder).metrics.name))]


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _progress(folder: Path, manifest: Mapping[str, Any]) -> tuple[Progress | None, int]:
    """How far it is, and in how many steps it came there."""
    kind, settings = manifest["stage"], manifest["settings"]
    if kind == "league":
        state = read_json(LeagueFolder(folder).state, LeagueShown, "Run the same league again")
        rounds = 0 if state is None else len(state["history"])
        return Progress(rounds, settings.get("rounds"), "rounds"), rounds
    tasks = _tasks(folder)
    if tasks is not None:
        done = sum(1 for _ in folder.glob(f"{tasks['table']}-*.parquet"))
        return Progress(done, tasks["total"], "tasks"), done
    if kind == "train":
        line = last_line(folder)
        total = settings.get("iterations", settings.get("steps"))
        if not line or not isinstance(total, int):
            return None, 1
        return Progress(line.get("step", 0), total, "steps"), max(1, round(line.get("step", 0)))
    return None, 1


def _tasks(folder: Path) -> Tasks | None:
    return read_json(tasks_file(folder), Tasks, "Run the same command again")


def _figures(folder: Path, manifest: Mapping[str, Any]) -> dict[str, float]:
    """A few numbers that say how it goes."""
    if manifest["stage"] != "train":
        facts = manifest.get("facts", {})
        known = {name: facts.get(name) for name in ("matches", "rounds")}
        return {name: value for name, value in known.items() if isinstance(value, int)}
    line = last_line(folder)
    points = [name for name in line if name.startswith("points/") and name != "points/self"]
    names = [name for name in (*points, *_TELLING) if name in line][:MOST_FIGURES]
    rates = [name for name in _RATES if name in line]
    return {name: line[name] for name in [*names, *rates]}
