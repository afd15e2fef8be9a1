"""HRL-XF from samples to a playing agent: L2, its goals into the samples, L3 with them, L4."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from understudy.data.integrity.json_files import write_json
from understudy.data.runs import WEIGHTS, ModelFolder, Run
from understudy.data.shards import whole_shards
from understudy.games.scml.agent.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from understudy.games.scml.learning.backfill import fill_goals
from understudy.games.scml.learning.l2 import GoalRecipe
from understudy.games.scml.learning.l3 import OfferRecipe
from understudy.games.scml.learning.l4 import PriorityRecipe
from understudy.games.scml.learning.layer_recipe import first_weights
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_SAMPLES
from understudy.learn.base import read_evaluation
from understudy.learn.recipe import Inputs, Progress, TrainingJob, TrainOptions


@dataclass(frozen=True, kw_only=True)
class WholeRecipe:
    """Train all layers, one after the other; each goes on where it was."""

    description: str
    l2: GoalRecipe
    l3: OfferRecipe
    l4: PriorityRecipe
    init: Path | None = None
    """The model, its folder or file, whose layers to begin with as far as it has them."""

    def settings(self) -> dict[str, Any]:
        """Those of the layers."""
        return {name: getattr(self, name).settings() for name in ("l2", "l3", "l4")}

    def with_options(self, name: str, options: TrainOptions) -> "WholeRecipe":
        """It may begin with given weights."""
        return replace(self, **options.taken_by(name, "init"))

    def inputs(self, run: Run) -> Inputs:
        """All samples, and the weights to begin with."""
        first = first_weights(run, None, self.init)
        samples = whole_shards(run.samples, (DAY_START_SAMPLES, ROUND_SAMPLES))
        return {"samples": samples, "weights": [] if first is None else [first]}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train into folders below the job's, then put the weights of all layers into one file."""
        out, samples = job.out, job.run.samples
        if (evaluation := read_evaluation(out)) is not None:
            return evaluation
        steps = [self.l2.steps, self.l3.steps, self.l4.steps]
        results = {}
        done = 0
        filled = ModelFolder(out).samples
        first = first_weights(job.run, None, self.init)
        begun = {} if first is None else read_checkpoint(first).layers
        for name, recipe, source in (
            ("l2", self.l2, samples),
            ("l3", self.l3, filled),
            ("l4", self.l4, filled),
        ):
            if name == "l3":
                fill_goals(samples, filled, out / "l2")
            progress = _shifted(job.progress, done, sum(steps))
            results[name] = recipe.train(
                source,
                first if name in begun else None,
                replace(job, out=out / name, progress=progress),
            )
            done += recipe.steps
        return _together(out, results)

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """What each layer is worth on a split of the samples it learnt from; L3's stands first."""
        filled = ModelFolder(job.out).samples
        found = {
            name: recipe.judged(samples, replace(job, out=job.out / name), split)
            for name, recipe, samples in (
                ("l2", self.l2, job.run.samples),
                ("l3", self.l3, filled),
                ("l4", self.l4, filled),
            )
        }
        return {**found["l3"], "layers": found}


def _shifted(progress: Progress | None, done: int, total: int) -> Progress | None:
    """Progress of one layer as progress of all."""
    if progress is None:
        return None
    tell: Callable[[int, int, Mapping[str, float]], None] = progress
    return lambda step, steps, metrics: tell(done + step, total, metrics)


def _together(out: Path, found: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """One file that plays, and one that says what it is worth; the latter is written last."""
    playing = read_checkpoint(out / "l3")
    l4 = read_checkpoint(out / "l4").needs("l4").layers["l4"]
    write_checkpoint(out / WEIGHTS, Checkpoint({**playing.layers, "l4": l4}, playing.about))
    evaluation = {
        "steps": sum(each["steps"] for each in found.values()),
        "seconds": round(sum(each["seconds"] for each in found.values()), 3),
        "val": found["l3"]["val"],
        "test": found["l3"]["test"],
        "layers": dict(found),
    }
    write_json(ModelFolder(out).evaluation, evaluation)
    return evaluation
