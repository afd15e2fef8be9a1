"""Learning by play to files, exactly the same however often it is stopped.

out/checkpoint.pt         all that is needed to go on; the only file read when resuming
out/weights.safetensors   the policy as of the last checkpoint, in the end the result
out/metrics.jsonl         one line per few iterations; out/tensorboard/ has the same
out/evaluation.json       how it fared in its last matches; written last
out/kept/NAME-ITERATION/  weights of earlier iterations, where asked for
"""

import time
from pathlib import Path
from typing import Any

import torch

from understudy import workers
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import ModelFolder
from understudy.errors import InputError
from understudy.learn.base import read_evaluation, usable_device
from understudy.learn.checkpoint import own_randomness, reading_checkpoint, write_checkpoint
from understudy.learn.metrics_log import MetricsLogger
from understudy.learn.policy import load_policy, save_policy
from understudy.learn.recipe import START_OVER, Progress, TrainingJob
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.learner import Learner, Progressed, met_by
from understudy.learn.rl.recipe import RLRecipe


def refine(recipe: RLRecipe, start: Path, job: TrainingJob) -> dict[str, Any]:
    """Refine the policy in the folder `start` into the job's folder, or go on there.

    Where and on how many workers it acts changes nothing but the time it takes.
    """
    if (evaluation := read_evaluation(job.out)) is not None:
        return evaluation
    place = usable_device(job.device)
    policy = load_policy(start, recipe.decisions)
    with own_randomness(job.seed, place), _actors(recipe, place, job) as actors:
        learner = Learner(recipe, policy, met_by(recipe, policy), job.seed, device=place)
        if actors.share_a_card:
            learner.acting_device = place
        training = _Training(learner, job.out)
        training.resume()
        with MetricsLogger(job.out, learner.iteration) as logger:
            training.run(actors, logger, job.progress)
    return training.conclude()


def _actors(recipe: RLRecipe, place: torch.device, job: TrainingJob) -> Actors:
    """Beside a card all matches are played in threads, whose policies think on it."""
    if place.type == "cuda" and not isinstance(workers.parse(job.workers), str):
        return Actors(0, threads=recipe.rollouts)
    return Actors(job.workers)


class _Training:
    """A refiner with a folder and a clock."""

    def __init__(self, learner: Learner, out: Path) -> None:
        self.learner, self.recipe, self.out = learner, learner.recipe, out
        self.seconds = 0.0
        """Spent in all, stops not counted."""
        self.latest: dict[str, Any] = {}
        """The last line of the journal, and the matches it tells of."""

    def run(self, actors: Actors, logger: MetricsLogger, progress: Progress | None) -> None:
        """Iterate until the last iteration."""
        recipe, learner = self.recipe, self.learner
        began, before, metrics = time.perf_counter(), self.seconds, dict[str, float]()
        logged = began
        while learner.iteration < recipe.iterations:
            last = learner.iteration == recipe.iterations - 1
            learner.iterate(actors, last=last)
            now = time.perf_counter()
            self.seconds = before + now - began
            if last or learner.iteration % recipe.log_every == 0:
                metrics = self._measure(now - logged)
                logger.write(learner.iteration, metrics)
                logged = now
            if recipe.keep_every and learner.iteration % recipe.keep_every == 0:
                save_policy(ModelFolder(self.out).kept(learner.iteration), learner.policy)
            if last or learner.iteration % recipe.checkpoint_every == 0:
                self.save()
            if progress is not None:
                progress(learner.iteration, recipe.iterations, metrics)

    def _measure(self, seconds: float) -> dict[str, float]:
        since = self.learner.since
        metrics = since.read() | {
            "agent_steps": float(self.learner.agent_steps),
            "match_steps": float(self.learner.match_steps),
            "agent_steps_per_second": since.agent_steps / seconds,
            "learning_rate": self.learner.learning_rates()[0],
            "seconds": self.seconds,
        }
        self.latest = {"metrics": metrics, "tally": dict(since.tally)}
        self.learner.since = Progressed()
        return metrics

    def save(self) -> None:
        """Write the checkpoint whole, then the weights."""
        content = {
            "shape": self.learner.policy.shape.to_json(),
            "seed": self.learner.seed,
            "seconds": self.seconds,
            "latest": self.latest,
            **self.learner.state(),
        }
        write_checkpoint(ModelFolder(self.out).checkpoint, content)
        save_policy(self.out, self.learner.policy)

    def resume(self) -> None:
        """Go back to the checkpoint, if there is one."""
        path = ModelFolder(self.out).checkpoint
        if not path.is_file():
            return
        with reading_checkpoint(path, self.learner.device, START_OVER) as content:
            if content["shape"] != self.learner.policy.shape.to_json():
                raise InputError(f"{path}: of a policy of another shape. {START_OVER}")
            if content["seed"] != self.learner.seed:
                seeds = f"begun with seed {content['seed']}, now {self.learner.seed}"
                raise InputError(f"{path}: {seeds}. {START_OVER}")
            self.learner.restore(content)
            self.seconds, self.latest = content["seconds"], content["latest"]

    def conclude(self) -> dict[str, Any]:
        """Write what came of it."""
        save_policy(self.out, self.learner.policy)
        evaluation = {
            "steps": self.learner.version,
            "iterations": self.learner.iteration,
            "agent_steps": self.learner.agent_steps,
            "match_steps": self.learner.match_steps,
            "seconds": round(self.seconds, 3),
            "met": {name: _shares(counts) for name, counts in self.latest["tally"].items()},
        }
        write_json(ModelFolder(self.out).evaluation, evaluation)
        return evaluation


def _shares(counts: list[int]) -> dict[str, Any]:
    """Of the last matches against one opponent; while it learned, so not a fair measurement."""
    total = sum(counts)
    won, drawn, lost = (count / total for count in counts)
    return {"matches": total, "won": won, "drawn": drawn, "lost": lost}
