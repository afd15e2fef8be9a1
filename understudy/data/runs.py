"""Where everything of a run lies; `manifests.py` says how it was made.

    runs/NAME/recordings/  samples/  models/RECIPE/  results/  leagues/RECIPE/  tuning/RECIPE/
              splits/  downloads/  trace.jsonl  record.log  notes.json  report.html

Each of these folders has a `manifest.json`. Only this module knows the paths.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from understudy.data.manifests import MANIFEST as MANIFEST
from understudy.data.manifests import PART as PART
from understudy.data.manifests import begin as begin
from understudy.data.manifests import finish as finish
from understudy.data.manifests import read_manifest as read_manifest
from understudy.errors import InputError
from understudy.names import fault_of, plain_name

RUNS = Path("runs")
"""Where runs lie unless somebody says otherwise."""
EVALUATION = "evaluation.json"
WEIGHTS = "weights.safetensors"
STRENGTH = "strength.json"
"""Beside the results of one compete: how strong each player is."""
CSV = "csv"
"""Beside recordings: the same for other programs."""
RECORD, COMPETE = 0, 1
"""What a match is for; no match of one purpose shares its seed with one of the other."""


def tasks_file(folder: Path) -> Path:
    """How many tasks a stage that works in this folder has, and why some of them failed."""
    return folder / "tasks.json"


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

    @property
    def followed(self) -> Path:
        """Copies of logs that grow, and how far they were read."""
        return self.folder / "followed"

    @property
    def notes(self) -> Path:
        """What a person says of it: tags and a note."""
        return self.folder / "notes.json"

    def model(self, recipe: str) -> Path:
        """What one recipe yielded."""
        return self.models / plain_name(recipe, "a model's name")

    def result(self, name: str) -> Path:
        """What came of one compete."""
        return self.results / plain_name(name, "the name of results")

    def league(self, name: str) -> Path:
        """One league."""
        return self.leagues / plain_name(name, "--name")

    def tuning(self, name: str) -> Path:
        """One search for better settings."""
        return self.folder / "tuning" / plain_name(name, "--name")

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

    def kept(self, moment: int) -> Path:
        """The weights of an earlier moment, as a player of its own."""
        return self.folder / "kept" / f"{self.folder.name}-{moment:06d}"

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
class TuningFolder:
    """The folder of one search for better settings."""

    folder: Path

    @property
    def trials(self) -> Path:
        """What was tried and what came of it, a line each."""
        return self.folder / "trials.jsonl"

    @property
    def summary(self) -> Path:
        """The best of them; written last."""
        return self.folder / "summary.json"

    def trial(self, number: int) -> Path:
        """The model of one."""
        return self.folder / "trials" / f"{number:03d}"

    @staticmethod
    def run_of(model: Path) -> Run | None:
        """The run a tried model is of; None where it is no trial's."""
        folder = model.resolve()
        tried = len(folder.parts) > 5 and (folder.parts[-2], folder.parts[-4]) == (
            "trials",
            "tuning",
        )
        return Run(folder.parents[3]) if tried else None


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
    def tensorboard(self) -> Path:
        """Ratings and training by round, for TensorBoard."""
        return self.folder / "tensorboard"

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
