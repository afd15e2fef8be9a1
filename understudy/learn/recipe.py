"""What `understudy train` and a recipe know of each other, whatever is trained and however.

A recipe takes the options that apply to it, says which files of a run it reads, and gets one job.
Needs no torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from understudy.data.players import PlayerRef
from understudy.data.runs import Run
from understudy.errors import InputError

Progress = Callable[[int, int, Mapping[str, float]], None]
"""Told after each step: the step, how many there will be, the latest measurements."""

Inputs = Mapping[str, Sequence[Path]]
"""The files a recipe reads, by their role: samples, weights, goals, recordings, splits."""

START_OVER = "Start over: the same command with --fresh"
"""The cure where a checkpoint cannot be gone on from."""

_NO_PLAY = "learns from samples, not by playing"
_NO_WEIGHTS = "begins anew and takes no weights"
_NEVER = {
    "memory": "trains nothing that remembers a match",
    "plans": "makes no plans of recorded matches",
}


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """What a person asked for beside the recipe's name. None: as the recipe says."""

    init: Path | None = None
    """The model, its folder or file, whose weights to begin with."""
    start: str | None = None
    """The model to learn on from: one of the run, or a folder."""
    iterations: int | None = None
    rollouts: int | None = None
    updates: int | None = None
    pseudo_reward: float | None = None
    memory: int | None = None
    """Units of a recurrent core, for a policy that has none."""
    plans: int | None = None
    """Plans, for a policy that has none."""
    opponents: tuple[tuple[str | PlayerRef, float], ...] | None = None
    """Whom to meet how often, where a recipe plays."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """What only this game's recipes can be told, by name."""

    def taken_by(self, recipe: str, *names: str) -> dict[str, Any]:
        """What was asked for; InputError if that is more than the `names` this recipe takes."""
        shared = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "own"}
        given = {name: value for name, value in shared.items() if value is not None}
        for name in given:
            if name not in names:
                option = "from" if name == "start" else name.replace("_", "-")
                reason = _NEVER.get(name, _NO_WEIGHTS if name == "init" else _NO_PLAY)
                raise InputError(f"'{recipe}' {reason}; leave out --{option}")
        for name in self.own:
            if name not in names:
                raise InputError(f"'{recipe}' takes no option '{name}'")
        return given | dict(self.own)


def started(told: Mapping[str, Any]) -> dict[str, Any]:
    """The same options for a recipe that knows its first weights as `start`: `init` is one."""
    rest = {name: value for name, value in told.items() if name != "init"}
    if (init := told.get("init")) is None:
        return rest
    if "start" in rest:
        raise InputError(f"--from {rest['start']} and --init {init}: give one of them")
    return {**rest, "start": str(init.parent if init.is_file() else init)}


def start_weights(run: Run, start: str) -> list[Path]:
    """The files of the model to begin with, for a manifest; InputError where there are none."""
    folder = run.find_model(start)
    if weights := sorted(folder.glob("weights.*")):
        return weights
    raise InputError(
        f"{folder} holds no weights yet. Finish its training: run the same command again"
    )


@dataclass(frozen=True, kw_only=True)
class TrainingJob:
    """One training: whose files it reads, where it writes, how it computes."""

    run: Run
    out: Path
    """The model's folder; a job that was stopped goes on in it."""
    seed: int = 0
    device: str = "cpu"
    workers: str | int | None = None
    """Who plays, where a recipe lets play. Changes nothing but the time it takes."""
    progress: Progress | None = None


@runtime_checkable
class Recipe(Protocol):
    """One way to train something, as one value."""

    @property
    def description(self) -> str:
        """One line for a person who chooses."""
        ...

    def settings(self) -> dict[str, Any]:
        """All that decides what comes out beside the inputs, as plain values, for the manifest."""
        ...

    def with_options(self, name: str, options: TrainOptions) -> "Recipe":
        """The same recipe, as asked for; InputError, by its `name`, for what does not apply."""
        ...

    def inputs(self, run: Run) -> Inputs:
        """Every file it will read; InputError where one is missing or cannot be used."""
        ...

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train into the job's folder, or go on there; returns the evaluation."""
        ...


@runtime_checkable
class Judged(Protocol):
    """A recipe whose models are worth something on samples, apart from play."""

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """What the model in the job's folder is worth on a split, as its evaluation says it."""
        ...
