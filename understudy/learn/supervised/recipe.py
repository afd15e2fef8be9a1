"""One way to train a policy on samples, as one value."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from understudy.data.runs import Run
from understudy.data.samples import Decisions
from understudy.data.shards import whole_shards
from understudy.data.splits import SPLITS
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy, save_policy
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions, start_weights
from understudy.learn.supervised.dataset import Batch, Batches
from understudy.learn.supervised.evaluate import Score, evaluate
from understudy.learn.supervised.loop import train
from understudy.learn.supervised.objective import Objective
from understudy.learn.supervised.task import OptimizerSettings, TrainingTask


@dataclass(frozen=True, kw_only=True)
class PolicyRecipe(OptimizerSettings):
    """Train a policy by gradient descent. Derive a variant with `dataclasses.replace`."""

    description: str
    decisions: Decisions
    """The sample table it learns from."""
    objective: Objective
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""
    start: str | None = None
    """The model to go on from, unless another is named; `hidden` is then its own. None: anew."""

    @property
    def shape(self) -> PolicyShape:
        """Of a new policy."""
        return PolicyShape(self.decisions.features, self.decisions.heads, self.hidden)

    def settings(self) -> dict[str, Any]:
        """Everything but the description, which changes nothing."""
        table = self.decisions.table
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del chosen["description"]
        if self.start is not None:
            del chosen["hidden"]  # the model it begins with has its own
        return chosen | {
            "decisions": f"{table.full_name} version {table.version}",
            "features": self.decisions.features,
            "heads": self.decisions.heads,
            "objective": {"name": type(self.objective).__name__, **asdict(self.objective)},
        }

    def with_options(self, name: str, options: TrainOptions) -> "PolicyRecipe":
        """One that goes on from a model may go on from another."""
        return replace(self, **options.taken_by(name, *(["start"] if self.start else [])))

    def inputs(self, run: Run) -> Inputs:
        """The samples, and the weights it begins with, if any."""
        weights = [] if self.start is None else start_weights(run, self.start)
        samples = whole_shards(run.samples, [self.decisions.table])
        return {"samples": samples, "weights": weights}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train into the job's folder, or go on there; returns what `evaluation.json` holds."""
        start = None if self.start is None else job.run.find_model(self.start)
        return train(partial(self.prepare, job.run.samples, start, job.seed), job)

    def prepare(
        self, samples: Path, start: Path | None, seed: int, device: torch.device
    ) -> TrainingTask[FactoredPolicy, Batch]:
        """What the loop needs; `start` is the folder of the policy to begin with, or none."""
        splits = {split: self._batches(samples, split, seed, device) for split in SPLITS}
        if self.objective.by_outcome:
            splits["train"].require_outcomes()
        if start is None:
            policy = self._new(splits["train"], seed)
        else:
            policy = load_policy(start, self.decisions)

        def score(policy: FactoredPolicy, split: str) -> Score:
            return evaluate(policy, self.objective, splits[split], splits["train"].counts)

        return TrainingTask(
            game=self.decisions.table.game,
            optimizer=self,
            identity=policy.shape.to_json(),
            network=policy,
            splits=splits,
            loss=self.objective,
            score=score,
            save=lambda folder, policy, name: save_policy(folder, policy, name=name),
            load=lambda folder: load_policy(folder, self.decisions),
            facts={"rows": splits["train"].rows, "forbidden": splits["train"].forbidden},
        )

    def _new(self, train: Batches, seed: int) -> FactoredPolicy:
        """First weights, and what inputs are measured against."""
        policy = FactoredPolicy(self.shape, seed)
        mean, std = train.moments()
        policy.standardise(mean.cpu(), std.cpu())
        return policy

    def _batches(self, samples: Path, split: str, seed: int, device: torch.device) -> Batches:
        return Batches(
            samples,
            self.decisions,
            split,
            batch_size=self.batch_size,
            seed=seed,
            players=self.players,
            window_rows=self.window_rows,
            device=device,
        )
