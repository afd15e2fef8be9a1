"""Where everything of a run lies, and the manifests that say how it was made.

    runs/NAME/recordings/  samples/  models/RECIPE/  results/  leagues/RECIPE/  report.html
              splits/  downloads/  trace.jsonl  record.log

Each of these folders has a `manifest.json`. Only this module knows the paths.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from understudy.data.files import digest, sweep
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.locks import claimed, release
from understudy.data.integrity.shapes import Manifest
from understudy.errors import InputError
from understudy.names import fault_of, plain_name
from understudy.redaction import redacted, redacted_command
from understudy.versions import hash_seed, versions

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
PART = "job"
"""The stage of work that is a part of another's, and lies in its folder."""


@dataclass(frozen=True)
class Run:
    """The folder of one run."""

    folder: Path

    @property
    def title(self) -> str:
        """Which run it is, for people: its folder's name and that of the folder it lies in."""
        folder = self.folder.resolve()
        return f"{folder.parent.name}/{folder.name}".removeprefix("/")

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
        return self.models / plain_name(recipe, "a model's name")

    def result(self, name: str) -> Path:
        """What came of one compete."""
        return self.results / plain_name(name, "the name of results")

    def league(self, name: str) -> Path:
        """One league."""
        return self.leagues / plain_name(name, "--name")

    def named_model(self, name: str) -> Path:
        """The folder of a model that a person named; InputError where it cannot be one."""
        if not re.fullmatch(r"\w[\w.+-]*", name):
            raise InputError(f"--name {name}: use letters, digits, dots and hyphens only")
        return self.model(name)

    def find_model(self, name: str) -> Path:
        """The folder of a model: one of this run by its name, or one elsewhere."""
        if (folder := self.model_folder(name)) is not None:
            return folder
        trained = ", ".join(sorted(path.name for path in self.models.glob("*/"))) or "none yet"
        raise InputError(
            f"there is no model '{name}'. Trained in {self.folder}: {trained}. "
            "Train it first, or name another"
        )

    def model_folder(self, name: str) -> Path | None:
        """The same; None where there is none."""
        here = [] if fault_of(name) else [self.model(name)]
        return next((folder for folder in [*here, Path(name)] if folder.is_dir()), None)

    def place(self, path: Path) -> str:
        """A name for a file in a manifest: where it lies in the run, or that it lies elsewhere."""
        path, here = path.resolve(), self.folder.resolve()
        if path.is_relative_to(here):
            return path.relative_to(here).as_posix()
        return f"elsewhere/{path.parent.name}/{path.name}"

    @staticmethod
    def of(game: str, folder: str | Path | None = None) -> "Run":
        """The run in a folder, or where none is given the game's own."""
        if folder is not None:
            return Run(Path(folder))
        plain = re.sub(r"[^\w.-]+", "-", game).strip("-")  # pettingzoo:chess_v6 is no folder
        return Run(RUNS / plain_name(plain, "a game's name"))

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

    def player(self, name: str) -> Path:
        """The weights of one."""
        return self.players / plain_name(name, "a player's name")

    def exploiter(self, name: str) -> Path:
        """An approximate best response of some target: its matches."""
        plain = plain_name(name.replace(" ", "-"), "the name of an exploiter")
        return self.folder / "exploiters" / plain

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
        return self.folder / "replays" / f"{plain_name(match, 'the name of a match')}.html"


def begin(
    folder: Path,
    stage: str,
    settings: Mapping[str, Any],
    *,
    inputs: Mapping[str, Path] = MappingProxyType({}),
    resume: bool = True,
    growing: Sequence[str] = (),
) -> None:
    """Claim a folder for one piece of work, or go on with the same work begun earlier.

    Work is the same when stage, settings, and names and content of the inputs are. Other work in
    the folder is an error with `resume`. Without it, what this stage made there earlier is deleted,
    and nothing else: not its inputs, not what another stage made, not what nobody here made. More
    of the same work is not other work: the first setting of `growing` may have become larger, and
    then the rest of them may differ as well.
    """
    with claimed(folder):  # before anything is deleted: it may be another's half-written file
        if not resume:
            _require_outside(folder, inputs.values())
            _delete(folder, stage)
        sweep(folder)
        wanted = {
            "stage": stage,
            "settings": redacted(json.loads(json.dumps(settings))),
            "inputs": {name: digest(path) for name, path in inputs.items()},
        }
        found, command = read_manifest(folder), redacted_command(sys.argv)
        if found is None and folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                f"{folder} holds files but no {MANIFEST} that says how they were made. "
                "Choose another --out, or take them away yourself"
            )
        if found is not None:
            grew = _grown(found, wanted, growing)
            if differs := _difference(grew or found, wanted):
                raise InputError(
                    f"{folder} holds other work: {differs}. "
                    "Choose another --out, or --fresh to delete it and start over"
                )
            if grew is not None:
                _write_manifest(folder, found | wanted | {"command": command, "finished": None})
            return
        _write_manifest(
            folder,
            wanted
            | {"command": command, "versions": versions(), "hash_seed": hash_seed()}
            | {"begun": _now(), "finished": None},
        )


def _grown(
    found: Mapping[str, Any], wanted: Mapping[str, Any], growing: Sequence[str]
) -> dict[str, Any] | None:
    """The manifest as if the work had been so large from the beginning; None: it is not larger."""
    old, new = found.get("settings", {}), wanted["settings"]
    before, now = (settings.get(growing[0], 0) if growing else None for settings in (old, new))
    if not (isinstance(before, int) and isinstance(now, int) and before < now):
        return None
    larger = {name: new[name] for name in growing if name in new}
    return {**found, "settings": old | larger}


def finish(folder: Path, **facts: Any) -> None:
    """Note in the manifest that the work is complete, with what is worth knowing about it."""
    manifest = read_manifest(folder)
    assert manifest is not None, f"{folder} was never begun"
    _write_manifest(folder, manifest | {"finished": manifest["finished"] or _now(), "facts": facts})
    release(folder)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """A folder's manifest; None where there is none."""
    cure = f"Delete {folder} and run the same command again"
    found = read_json(folder / MANIFEST, Manifest, cure)
    return None if found is None else {**found}


def _require_outside(folder: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if path.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"--fresh would delete {folder}, and with it {path}, which is to be read. "
                "Copy that elsewhere and name the copy, or leave out --fresh"
            )


def _delete(folder: Path, stage: str) -> None:
    """Delete what lies in a folder that a stage claimed, its manifest last: it marks the rest."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    for path in [folder / MANIFEST, *sorted(folder.glob(f"*/**/{MANIFEST}"))]:
        found = read_manifest(path.parent)
        if found is None or found["stage"] not in (stage, PART):
            maker = f"'{found['stage']}' made" if found else "no stage of ours says it made"
            raise InputError(
                f"--fresh deletes only what '{stage}' made, and {maker} {path.parent}. "
                "Choose another --out, or take that away yourself"
            )
    try:
        for path in sorted(folder.iterdir(), key=lambda path: path.name == MANIFEST):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    except OSError as failure:
        raise InputError(
            f"cannot delete {failure.filename}: {failure.strerror}. The same command goes on"
        ) from failure


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
    write_json(folder / MANIFEST, manifest)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
