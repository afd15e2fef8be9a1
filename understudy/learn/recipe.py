"""What `understudy train` and a recipe know of each other, whatever is trained and however.

A recipe takes the options that apply to it, says which files of a run it reads, and gets one job.
Needs no torch.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from understudy.data.runs import Run
from understudy.errors import InputError

Progress = Callable[[int, int, Mapping[str, float]], None]
"""Told after each step: the step, how many there will be, the latest measurements."""

Inputs = Mapping[str, Sequence[Path]]
"""The files a recipe reads, by their role: samples, weights, goals, recordings, splits."""

_NO_PLAY = "learns from samples, not by playing"
_NO_WEIGHTS = "begins anew and takes no weights"
_FROM_INSTEAD = "begins with what --from names"
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
    own: Mapping[str, Any] = field(default_factory=dict)
    """What only this game's recipes can be told, by name."""

    def taken_by(self, recipe: str, *names: str) -> dict[str, Any]:
        """What was asked for; InputError if that is more than the `names` this recipe takes."""
        shared = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "own"}
        given = {name: value for name, value in shared.items() if value is not None}
        for name in given:
            if name not in names:
                no_init = _FROM_INSTEAD if "start" in names else _NO_WEIGHTS
                option = "from" if name == "start" else name.replace("_", "-")
                reason = _NEVER.get(name, no_init if name == "init" else _NO_PLAY)
                raise InputError(f"'{recipe}' {reason}; leave out --{option}")
        for name in self.own:
            if name not in names:
                raise InputError(f"'{recipe}' takes no option '{name}'")
        return given | dict(self.own)


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
