"""One way to train a policy on samples, as one value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch

from understudy.data.arrays import Array
from understudy.data.extras import usual, with_extras
from understudy.data.runs import Run
from understudy.data.samples import Decisions
from understudy.data.shards import shard_paths, whole_shards
from understudy.data.splits import SPLITS
from understudy.errors import InputError
from understudy.learn.policy import FactoredPolicy, PolicyShape, load_policy, save_policy
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions, start_weights, started
from understudy.learn.supervised.dataset import Batch, Batches, Beside, wanted_rows
from understudy.learn.supervised.evaluate import Score, evaluate
from understudy.learn.supervised.loop import judge, train
from understudy.learn.supervised.objective import Objective
from understudy.learn.supervised.plans import Statistic
from understudy.learn.supervised.sequences import SequenceBatches, Sequences, whole_matches
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
    memory: int = 0
    """Units of a recurrent core; a model to go on from keeps its own. 0: none, each row alone."""
    sequence: int = 32
    """Steps of a match that a policy with a memory learns from at once; `batch_size` still counts
    rows. Up: it learns what to keep for longer, by fewer matches a step."""
    burn_in: int = 32
    """Steps before those, to remember only. Up: a memory nearer to that of play, more time."""
    statistic: Statistic | None = None
    """How the game sums up a recorded match, to make plans of. None: it makes none."""
    plans: int = 0
    """Recorded matches whose statistic is a plan; in play one is drawn for each match. Up: more
    ways to play. 0: none; a model to go on from keeps its own."""

    extras: tuple[str, ...] = ()
    """Numbers that ride in the extras of recorded decisions, as further features: `fps`,
    `ocr.health`. A model to go on from keeps its own; where play tells none, their mean stands."""

    measure: ClassVar = ("objective", "players", "statistic", "plans", "extras")
    """Settings that change what the validation loss measures."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("memory", 0), ("sequence", 1), ("burn_in", 0), ("plans", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.plans and (self.statistic is None or self.start is not None):
            raise ValueError("plans are made anew, of a statistic of recorded matches")

    @property
    def shape(self) -> PolicyShape:
        """Of a new policy, without plans."""
        known = with_extras(self.decisions, self.extras)
        return PolicyShape(known.features, known.heads, self.hidden, self.memory)

    def settings(self) -> dict[str, Any]:
        """Everything but what changes nothing, such as the description."""
        table = self.decisions.table
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if self.statistic is not None:
            chosen["statistic"] = self.statistic.settings()
        told = {name: value for name, value in chosen.items() if name not in self._idle()}
        return told | {
            "decisions": f"{table.full_name} version {table.version}",
            "features": self.decisions.features,
            "heads": self.decisions.heads,
            "objective": {"name": type(self.objective).__name__, **asdict(self.objective)},
        }

    def _idle(self) -> tuple[str, ...]:
        """Settings that decide nothing."""
        always = ("description", "keep_every", "cosine" if self.rate_stages else "rate_stages")
        if self.start is not None:  # the model has hidden layers, and may have memory and plans
            return (*always, "hidden", "extras")
        remembering = () if self.memory else ("memory", "sequence", "burn_in")
        told = () if self.extras else ("extras",)
        return (*always, *remembering, *told, *(() if self.plans else ("plans", "statistic")))

    def with_options(self, name: str, options: TrainOptions) -> "PolicyRecipe":
        """With a memory or plans, with given weights, or on from another model than its own."""
        further = ["start"] if self.start else ["plans"] if self.statistic else []
        told = started(options.taken_by(name, "memory", "init", *further))
        try:
            return replace(self, **told)
        except ValueError as mistake:
            raise InputError(f"'{name}' cannot be changed like that: {mistake}") from mistake

    def inputs(self, run: Run) -> Inputs:
        """The samples, and the weights it begins with, if any."""
        weights = [] if self.start is None else start_weights(run, self.start)
        samples = whole_shards(run.samples, [self.decisions.table])
        return {"samples": samples, "weights": weights}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train into the job's folder, or go on there; returns what `evaluation.json` holds."""
        start = None if self.start is None else job.run.find_model(self.start)
        return train(partial(self.prepare, job.run.samples, start, job.seed), job)

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """What the model in the job's folder is worth on a split of the run's samples."""
        as_it_is = replace(self, start=str(job.out), memory=0, plans=0)
        return judge(partial(as_it_is.prepare, job.run.samples, job.out, job.seed), job, split)

    def prepare(
        self, samples: Path, start: Path | None, seed: int, device: torch.device
    ) -> TrainingTask[FactoredPolicy, Batch | Sequences]:
        """What the loop needs; `start` is the folder of the policy to begin with, or none."""
        begun = None if start is None else load_policy(start, self.decisions)
        beside, riding = self._beside(begun), self._riding(samples, begun)
        rows = {
            split: self._batches(samples, split, seed, device, beside, riding) for split in SPLITS
        }
        train = rows["train"]
        if self.objective.by_outcome:
            train.require_outcomes()
        if begun is None:
            policy = self._new(train, seed)
        else:
            policy = begun.extended(memory=self.memory, seed=seed)
        sequences = self._sequences(rows) if policy.shape.memory else {}

        def score(policy: FactoredPolicy, split: str) -> Score:
            return evaluate(policy, self.objective, rows[split], train.counts, sequences.get(split))

        return TrainingTask(
            game=self.decisions.table.game,
            optimizer=self,
            identity=policy.shape.to_json(),
            network=policy,
            splits={**rows, **sequences},
            loss=self.objective,
            score=score,
            save=lambda folder, policy, name: save_policy(folder, policy, name=name),
            load=lambda folder: load_policy(folder, self.decisions),
            facts={"rows": train.rows, "forbidden": train.forbidden},
        )

    def _new(self, train: Batches, seed: int) -> FactoredPolicy:
        """First weights, and what inputs are measured against."""
        shape, table = self.shape, None
        if self.statistic is not None and self.plans:
            table = self.statistic.table(train, self.plans, seed)
            shape = replace(shape, plans=len(table), plan_width=table.shape[1])
        policy = FactoredPolicy(shape, seed)
        if table is not None:
            policy.set_plans(table)
        mean, std = train.moments()
        policy.standardise(mean.cpu(), std.cpu())
        return policy

    def _riding(self, samples: Path, begun: FactoredPolicy | None) -> "_Riding":
        """Which extras are features, and what stands for them where nothing is told."""
        plain = len(self.decisions.features)
        if begun is not None:
            features = begun.shape.features
            known = replace(self.decisions, features=features)
            return _Riding(known, begun.mean[plain : len(features)].numpy())
        if not self.extras:
            return _Riding(self.decisions, None)
        table = self.decisions.table
        columns = (
            wanted_rows(path, table, "train", self.players, ["extras"])["extras"].to_pylist()
            for path in shard_paths(samples, table)
        )
        return _Riding(with_extras(self.decisions, self.extras), usual(columns, self.extras))

    def _beside(self, begun: FactoredPolicy | None) -> Beside | None:
        """What is observed beside features: the plan of the match, if the policy plays by plans."""
        if not (self.plans or (begun is not None and begun.shape.plans)):
            return None
        names = () if self.statistic is None else self.statistic.names
        if begun is not None and not _planned_by(begun, len(names)):
            raise InputError(
                f"{self.start} plays by plans that are no statistic of recorded matches, so these "
                "cannot teach it. Go on from a model without: --from"
            )
        assert self.statistic is not None
        return self.statistic.beside

    def _batches(
        self,
        samples: Path,
        split: str,
        seed: int,
        device: torch.device,
        beside: Beside | None,
        riding: "_Riding",
    ) -> Batches:
        return Batches(
            samples,
            riding.decisions,
            split,
            batch_size=self.batch_size,
            seed=seed,
            players=self.players,
            window_rows=self.window_rows,
            device=device,
            beside=beside,
            usual=riding.usual,
        )

    def _sequences(self, rows: Mapping[str, Batches]) -> dict[str, SequenceBatches]:
        """To learn from, with about as many rows in a batch, and whole matches to be judged by."""
        found = {split: whole_matches(rows[split]) for split in rows if split != "train"}
        found["train"] = SequenceBatches(
            rows["train"],
            steps=self.sequence,
            batch_size=max(1, self.batch_size // self.sequence),
            burn_in=self.burn_in,
        )
        return found


class _Riding(NamedTuple):
    """Decisions with the extras among their features, and what is usual there."""

    decisions: Decisions
    usual: Array | None


def _planned_by(policy: FactoredPolicy, numbers: int) -> bool:
    """Whether its plans may be statistics of so many numbers; unit vectors are not."""
    shape = policy.shape
    unit = torch.eye(shape.plans, shape.plan_width)
    return shape.plan_width == numbers and not torch.equal(policy.table, unit)
