"""Where everything of a run lies, and the manifests that say how it was made.

    runs/NAME/recordings/  samples/  models/RECIPE/  results/  leagues/RECIPE/  report.html
              splits/  downloads/  trace.jsonl  record.log

Each of these folders has a `manifest.json`. Only this module knows the paths.
"""

import json
import platform
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

from understudy.data.files import digest, sweep, write_text
from understudy.errors import InputError

RUNS = Path("runs")
"""Where runs lie unless somebody says otherwise."""
MANIFEST = "manifest.json"
EVALUATION = "evaluation.json"
WEIGHTS = "weights.safetensors"
STRENGTH = "strength.json"
"""Beside the results of one compete: how strong each player is."""
CSV = "csv"
"""Beside recordings: the same for other programs."""
RECORD, COMPETE = 0, 1
"""What a match is for; no match of one purpose shares its seed with one of the other."""
_KEYS = {"stage", "settings", "inputs", "command", "versions", "begun", "finished"}


@dataclass(frozen=True)
class Run:
    """The folder of one run."""

    folder: Path

    @property
    def recordings(self) -> Path:
        """What happened in the matches."""
        return self.folder / "recordings"

    @property
    def samples(self) -> Path:
        """One row per decision."""
        return self.folder / "samples"

    @property
    def results(self) -> Path:
        """Who won against whom."""
        return self.folder / "results"

    @property
    def leagues(self) -> Path:
        """One folder per league."""
        return self.folder / "leagues"

    @property
    def report(self) -> Path:
        """The page a person reads."""
        return self.folder / "report.html"

    @property
    def trace(self) -> Path:
        """How a player decided, line by line; few games write it, and only where asked."""
        return self.folder / "trace.jsonl"

    @property
    def splits(self) -> Path:
        """Which matches to train and test on, where a person said so."""
        return self.folder / "splits"

    @property
    def models(self) -> Path:
        """One folder per trained recipe."""
        return self.folder / "models"

    @property
    def downloads(self) -> Path:
        """Matches as a server gave them."""
        return self.folder / "downloads"

    @property
    def log(self) -> Path:
        """What recording says when it goes on in the background."""
        return self.folder / "record.log"

    def model(self, recipe: str) -> Path:
        """What one recipe yielded."""
        return self.models / recipe

    def find_model(self, name: str) -> Path:
        """The folder of a model: one of this run by its name, or one elsewhere."""
        for folder in (self.model(name), Path(name)):
            if folder.is_dir():
                return folder
        trained = ", ".join(sorted(path.name for path in self.models.glob("*/"))) or "none yet"
        raise InputError(
            f"there is no model '{name}'. Trained in {self.folder}: {trained}. "
            "Train it first, or name another"
        )

    def place(self, path: Path) -> str:
        """A name for a file in a manifest: where it lies in the run, or that it lies elsewhere."""
        path, here = path.resolve(), self.folder.resolve()
        if path.is_relative_to(here):
            return path.relative_to(here).as_posix()
        return f"elsewhere/{path.parent.name}/{path.name}"

    @staticmethod
    def of(game: str, folder: str | Path | None = None) -> "Run":
        """The run in a folder, or where none is given the game's own."""
        return Run(Path(folder) if folder is not None else RUNS / game)

    @staticmethod
    def existing(folder: Path) -> "Run":
        """A run that must be there already."""
        if not folder.is_dir():
            raise InputError(
                f"there is no run at {folder}. Begin one: understudy record GAME --out {folder}"
            )
        return Run(folder)


@dataclass(frozen=True)
class ModelFolder:
    """The folder of one trained recipe, beside whose files lie its weights."""

    folder: Path

    @property
    def checkpoint(self) -> Path:
        """All that is needed to go on training."""
        return self.folder / "checkpoint.pt"

    @property
    def metrics(self) -> Path:
        """How training went, a line per measurement."""
        return self.folder / "metrics.jsonl"

    @property
    def tensorboard(self) -> Path:
        """The same for TensorBoard."""
        return self.folder / "tensorboard"

    @property
    def evaluation(self) -> Path:
        """How good it is; written last."""
        return self.folder / EVALUATION

    @property
    def splits(self) -> Path:
        """Which matches it was trained on, where these were chosen by date or patch."""
        return self.folder / "splits"

    @property
    def samples(self) -> Path:
        """Samples that its recipe makes for itself; few do."""
        return self.folder / "samples"


@dataclass(frozen=True)
class LeagueFolder:
    """The folder of one league."""

    folder: Path

    @property
    def state(self) -> Path:
        """Everything the league knows, replaced whole after every round."""
        return self.folder / "league_state.json"

    @property
    def summary(self) -> Path:
        """Ratings, mixture, weaknesses."""
        return self.folder / "summary.json"

    @property
    def players(self) -> Path:
        """One folder of weights per player."""
        return self.folder / "players"

    def exploiter(self, name: str) -> Path:
        """An approximate best response of some target: its matches."""
        return self.folder / "exploiters" / name.replace(" ", "-")

    @staticmethod
    def exploiter_weights(folder: Path) -> Path:
        """And its weights, in that folder."""
        return folder / "weights"

    @property
    def watched(self) -> Run:
        """Matches that were played again to be recorded in full."""
        return Run(self.folder / "watched")

    def replay(self, match: str) -> Path:
        """The page that shows one of them."""
        return self.folder / "replays" / f"{match}.html"


def begin(
    folder: Path,
    stage: str,
    settings: Mapping[str, Any],
    *,
    inputs: Mapping[str, Path] = MappingProxyType({}),
    resume: bool = True,
) -> None:
    """Claim a folder for one piece of work, or go on with the same work begun earlier.

    Work is the same when stage, settings, and names and content of the inputs are. Other work in
    the folder is an error with `resume`, and is deleted without it; but never its own inputs.
    """
    if not resume:
        _require_outside(folder, inputs.values())
        shutil.rmtree(folder, ignore_errors=True)
    sweep(folder)
    wanted = {
        "stage": stage,
        "settings": json.loads(json.dumps(settings)),
        "inputs": {name: digest(path) for name, path in inputs.items()},
    }
    found = read_manifest(folder)
    if found is None and folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} holds files but no {MANIFEST} that says how they were made. "
            "Choose another --out, or --fresh to delete them"
        )
    if found is not None:
        if differs := _difference(found, wanted):
            raise InputError(
                f"{folder} holds other work: {differs}. "
                "Choose another --out, or --fresh to delete it and start over"
            )
        return
    _write_manifest(
        folder,
        wanted | {"command": sys.argv, "versions": _versions(), "begun": _now(), "finished": None},
    )


def finish(folder: Path, **facts: Any) -> None:
    """Note in the manifest that the work is complete, with what is worth knowing about it."""
    manifest = read_manifest(folder)
    assert manifest is not None, f"{folder} was never begun"
    _write_manifest(folder, manifest | {"finished": manifest["finished"] or _now(), "facts": facts})


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """A folder's manifest; None where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest: Any = json.loads(path.read_text())
        if not isinstance(manifest, dict) or not manifest.keys() >= _KEYS:
            raise ValueError("not what was written there")
    except ValueError as failure:
        raise InputError(
            f"{path} is damaged ({failure}). Start this stage over with --fresh"
        ) from failure
    return dict(manifest)


def _require_outside(folder: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"--fresh would delete {folder}, and with it {path}, which is to be read. "
                "Copy that elsewhere and name the copy, or leave out --fresh"
            )


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first thing in which two manifests describe different work, in words; "" if none."""
    if found.get("stage") != wanted["stage"]:
        return f"it was made by '{found.get('stage')}', not '{wanted['stage']}'"
    old, new = found.get("settings", {}), wanted["settings"]
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            return f"{name} was {_short(old.get(name))}, now {_short(new.get(name))}"
    if found.get("inputs", {}) != wanted["inputs"]:
        return "its inputs have changed since"
    return ""


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_text(folder / MANIFEST, json.dumps(manifest, indent=2) + "\n")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _versions() -> dict[str, str]:
    packages = (
        *("understudy", "numpy", "scipy", "numba", "pyarrow", "torch", "xgboost", "xgboost-cpu"),
        *("scml", "negmas", "scml-agents"),
    )
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # a machine that only trains may lack some
            continue
    return found
