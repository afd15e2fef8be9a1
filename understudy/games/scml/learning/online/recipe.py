"""The recipe of learning by play: which weights to begin with, and its stages."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from understudy.data.runs import WEIGHTS, Run
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import read_checkpoint
from understudy.games.scml.agent.policy import (
    CLONE,
    CLONE_ONESHOT,
    CLONES,
    SHIPPED,
    SHIPPED_ONESHOT,
    HRLPolicy,
)
from understudy.games.scml.domain import RULES
from understudy.games.scml.learning.online.train import OnlineSettings, OnlineTraining
from understudy.learn.base import read_evaluation
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions, started

PACKAGED: Final = {
    "shipped": SHIPPED,
    "clone": CLONE,
    "shipped-oneshot": SHIPPED_ONESHOT,
    "clone-oneshot": CLONE_ONESHOT,
    **CLONES,
}
"""Weights that come with the package: those that play, the clone they began with, and clones of
champions."""


@dataclass(frozen=True, kw_only=True)
class OnlineRecipe:
    """HRL-XF goes on learning by play in compiled worlds."""

    description: str
    online: OnlineSettings
    start: str = "hrl-xf"
    """The model to begin with: one of the run, a folder, or the package's (see PACKAGED)."""

    def settings(self) -> dict[str, Any]:
        """All but the weights to begin with, which are an input."""
        return {name: one for name, one in asdict(self.online).items() if one is not None}

    def with_options(self, name: str, options: TrainOptions) -> "OnlineRecipe":
        """It may begin with another model, play for longer or shorter, and take another risk."""
        given = started(options.taken_by(name, "start", "init", "iterations", "risk"))
        found = replace(self, start=given.get("start", self.start))
        if "risk" in given:
            found = replace(found, online=replace(found.online, risk=given["risk"]))
        if "iterations" in given:
            found = replace(found, online=found.online.lasting(given["iterations"]))
        return found

    def inputs(self, run: Run) -> Inputs:
        """The weights to begin with."""
        return {"weights": [self._first(run)]}

    def _first(self, run: Run) -> Path:
        if self.start in PACKAGED:
            return PACKAGED[self.start]
        try:
            found = run.find_model(self.start) / WEIGHTS
        except InputError as failure:
            raise InputError(
                f"{failure}: understudy train scml hrl-xf; or begin with the weights that come "
                f"with the package: --from {' or --from '.join(PACKAGED)}"
            ) from failure
        if not found.is_file():
            raise InputError(f"{found.parent} holds no weights yet. Finish its training first")
        return found

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Play and learn into the job's folder, or go on there."""
        if (evaluation := read_evaluation(job.out)) is not None:
            return evaluation
        start = read_checkpoint(self._first(job.run))
        HRLPolicy(start).require(RULES[self.online.company.track].horizon)
        return OnlineTraining(self.online, start, job).run()
