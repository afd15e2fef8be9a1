"""The training loop: samples to a network, exactly the same however often it is stopped.

    out/checkpoint.pt         all that is needed to go on; the only file read when resuming
    out/weights.safetensors   the network, as it was when it did best on the validation split
    out/last.safetensors      the network at the end
    out/metrics.jsonl         one line per evaluation; out/tensorboard/ has the same
    out/evaluation.json       the best network on the validation and test splits; written last
    out/kept/NAME-STEP/       weights of earlier steps, where asked for

Every step is a function of the checkpoint before it: batches depend on (seed, step), and so does
the learning rate; weights, optimiser, random state and running means are in the checkpoint.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from understudy.data.integrity.json_files import write_json
from understudy.data.runs import WEIGHTS, ModelFolder
from understudy.errors import InputError
from understudy.learn.base import read_evaluation, usable_device
from understudy.learn.checkpoint import (
    own_randomness,
    random_state,
    reading_checkpoint,
    set_random_state,
    write_checkpoint,
)
from understudy.learn.metrics_log import MetricsLogger
from understudy.learn.policy import misfits
from understudy.learn.rates import stage
from understudy.learn.recipe import START_OVER, Progress, TrainingJob
from understudy.learn.supervised.task import B, N, OptimizerSettings, TrainingTask

LAST = "last.safetensors"


def train(
    prepare: Callable[[torch.device], TrainingTask[N, B]], job: TrainingJob
) -> dict[str, Any]:
    """Train, or go on training, and evaluate; what is finished is only read.

    `prepare` makes the task, which may take long: it is not called for what is finished.
    """
    if (evaluation := read_evaluation(job.out)) is not None:
        return evaluation
    place = usable_device(job.device)
    with own_randomness(job.seed, place):
        training = Training(prepare(place), job.out, job.seed, place)
        training.resume()
        with MetricsLogger(job.out, training.at.step) as logger:
            training.run(logger, job.progress)
    with own_randomness(job.seed, place):
        return _conclude(training)


def judge(
    prepare: Callable[[torch.device], TrainingTask[N, B]], job: TrainingJob, split: str
) -> dict[str, Any]:
    """What the best weights in the job's folder are worth on a split, as in `evaluation.json`."""
    place = usable_device(job.device)
    with own_randomness(job.seed, place):
        task = prepare(place)
        return {split: task.score(task.load(job.out).to(place), split).to_json()}


@dataclass
class Position:
    """Where training stands."""

    step: int = 0
    best_step: int = 0
    best_loss: float = math.inf
    """The lowest validation loss so far."""
    stale: int = 0
    """Evaluations since then."""
    seconds: float = 0.0
    """Spent in all, stops not counted."""


@dataclass
class RunningMeans:
    """Means over the steps since they were last read."""

    count: int = 0
    totals: dict[str, Tensor] = field(default_factory=dict)

    def add(self, values: Mapping[str, Tensor]) -> None:
        """Count one step in."""
        self.count += 1
        for name, value in values.items():
            self.totals[name] = self.totals.get(name, 0.0) + value.detach().double()

    def read(self) -> dict[str, float]:
        """The means; starts over."""
        means = {name: total.item() / self.count for name, total in self.totals.items()}
        self.count, self.totals = 0, {}
        return means


class Training(Generic[N, B]):
    """A network being fitted: steps, evaluations, checkpoints."""

    def __init__(
        self, task: TrainingTask[N, B], out: Path, seed: int, device: torch.device
    ) -> None:
        self.task, self.out, self.seed, self.device = task, out, seed, device
        self.settings = task.optimizer
        self.network = task.network.to(device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), weight_decay=self.settings.weight_decay, fused=True
        )
        self.at = Position()
        self.means = RunningMeans()

    def run(self, logger: MetricsLogger, progress: Progress | None) -> None:
        """Step until the recipe's last step, or until patience ends."""
        settings, at = self.settings, self.at
        metrics: dict[str, float] = {}
        clock = Clock(at.seconds)
        batches = self.task.splits["train"].from_step(at.step)
        while at.step < settings.steps and not self._is_stale():
            self.step(next(batches))
            clock.rows += settings.batch_size
            is_last = at.step == settings.steps
            if is_last or at.step % settings.evaluate_every == 0:
                rate = clock.rate()
                metrics = self.evaluate() | {"samples_per_second": rate, "seconds": clock.seconds()}
                logger.write(at.step, metrics)
                clock.restart()
            if settings.keep_every and at.step % settings.keep_every == 0:
                self.task.save(ModelFolder(self.out).kept(at.step), self.network, WEIGHTS)
            if is_last or self._is_stale() or at.step % settings.checkpoint_every == 0:
                at.seconds = clock.seconds()
                self.save()
            if progress is not None:
                progress(at.step, settings.steps, metrics)

    def step(self, batch: B) -> None:
        """One step of gradient descent."""
        self._set_learning_rate()
        loss, metrics = self.task.loss(self.network, batch)
        self._require_finite("loss", loss.item())
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_grad_norm_(self.network.parameters(), self.settings.gradient_norm_max)
        self._require_finite("gradient", norm.item())
        self.optimizer.step()
        self.at.step += 1
        self.means.add({"loss": loss, "gradient_norm": norm, **metrics})

    def evaluate(self) -> dict[str, float]:
        """Look at the validation split; keep the weights if they are the best so far."""
        at = self.at
        score = self.task.score(self.network, "val")
        self._require_finite("validation loss", score.loss)
        if score.loss < at.best_loss:
            at.best_loss, at.best_step, at.stale = score.loss, at.step, 0
            self.task.save(self.out, self.network, WEIGHTS)
        else:
            at.stale += 1
        train = {f"train/{name}": mean for name, mean in self.means.read().items()}
        used = learning_rate(self.settings, at.step - 1)
        return train | score.metrics("val") | {"learning_rate": used}

    def save(self) -> None:
        """Write the checkpoint whole."""
        content = {
            "shape": self.task.identity,
            "seed": self.seed,
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "random": random_state(self.device),
            "position": asdict(self.at),
            "means": asdict(self.means),
        }
        write_checkpoint(ModelFolder(self.out).checkpoint, content)

    def resume(self) -> None:
        """Go back to the checkpoint, if there is one."""
        path = ModelFolder(self.out).checkpoint
        if not path.is_file():
            return
        with reading_checkpoint(path, self.device, START_OVER) as content:
            if content["shape"] != self.task.identity:
                raise InputError(f"{path}: of a network of another shape. {START_OVER}")
            if content["seed"] != self.seed:
                raise InputError(
                    f"{path}: begun with seed {content['seed']}, now {self.seed}. {START_OVER}"
                )
            if misfit := misfits(self.network, content["network"]):
                raise InputError(f"{path}: {misfit}. {START_OVER}")
            self.network.load_state_dict(content["network"])
            self.optimizer.load_state_dict(content["optimizer"])
            set_random_state(content["random"], self.device)
            self.at = Position(**content["position"])
            self.means = RunningMeans(**content["means"])

    def _is_stale(self) -> bool:
        return self.settings.patience is not None and self.at.stale >= self.settings.patience

    def _set_learning_rate(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.settings, self.at.step)

    def _require_finite(self, what: str, value: float) -> None:
        if not math.isfinite(value):
            raise InputError(
                f"{self.out}: the {what} is {value} after step {self.at.step}, so training ends. "
                "Lower the recipe's learning_rate or gradient_norm_max, or look for extreme "
                f"features. {START_OVER}"
            )


@dataclass
class Clock:
    """Seconds since training first began, and rows per second since the last evaluation."""

    before: float
    """Seconds spent by earlier runs of the same training."""
    rows: int = 0

    def __post_init__(self) -> None:
        self.begun = self.since = time.perf_counter()

    def seconds(self) -> float:
        """Of training so far."""
        return self.before + time.perf_counter() - self.begun

    def rate(self) -> float:
        """Rows per second."""
        return self.rows / (time.perf_counter() - self.since)

    def restart(self) -> None:
        """Measure the rate anew."""
        self.rows, self.since = 0, time.perf_counter()


def learning_rate(settings: OptimizerSettings, step: int) -> float:
    """A straight rise over `warmup` steps, then half a cosine down to 0, by stages, or flat."""
    rate = settings.learning_rate * min(1.0, (step + 1) / max(1, settings.warmup))
    if settings.rate_stages:
        return rate * stage(settings.rate_stages, step / settings.steps)
    if settings.cosine:
        rate *= (1 + math.cos(math.pi * min(1.0, step / settings.steps))) / 2
    return rate


def _conclude(training: Training[N, B]) -> dict[str, Any]:
    """Write the last weights, and what the best ones are worth."""
    task, out, at = training.task, training.out, training.at
    task.save(out, training.network, LAST)
    best = task.load(out).to(training.device)
    evaluation = {
        "steps": at.step,
        "best_step": at.best_step,
        "seconds": round(at.seconds, 3),
        "parameters": sum(weight.numel() for weight in best.parameters()),
        "train": dict(task.facts),
        "val": task.score(best, "val").to_json(),
        "test": task.score(best, "test").to_json(),
    }
    write_json(ModelFolder(out).evaluation, evaluation)
    return evaluation
