"""What the recipes of L2, L3 and L4 have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import torch
from torch import nn

from understudy.data.arrays import Array
from understudy.data.runs import WEIGHTS, Run
from understudy.data.schema import Table
from understudy.data.shards import whole_shards
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import (
    About,
    Checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from understudy.learn.policy import misfits
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions
from understudy.learn.supervised.loop import judge, train
from understudy.learn.supervised.task import OptimizerSettings, TrainingTask

N = TypeVar("N", bound=nn.Module)
GOALS_FILE = "goals.safetensors"
"""In a folder of samples: the L2 whose goals were filled in."""


@dataclass(frozen=True, kw_only=True)
class LayerRecipe(OptimizerSettings, ABC):
    """Train one layer."""

    description: str
    start: str | None = None
    """The model of the run to go on from. None: new weights."""
    init: Path | None = None
    """The model to go on from instead, its folder or file."""

    layer: ClassVar[str]
    table: ClassVar[Table]
    """What it learns from."""
    plays: ClassVar[bool] = True
    """Whether what it yields is a player; else it is a part of one."""
    measure: ClassVar[tuple[str, ...]] = ("players",)
    """Settings that change what the validation loss measures."""

    @abstractmethod
    def prepare(
        self, samples: Path, init: Path | None, seed: int, device: torch.device
    ) -> TrainingTask[Any, Any]:
        """What the loop needs, with new weights or with those of `init` to begin with."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description, and the weights to begin with, which are an input."""
        rates = "cosine" if self.rate_stages else "rate_stages"
        left_out = ("description", "start", "init", "keep_every", rates)
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in left_out}

    def with_options(self, name: str, options: TrainOptions) -> Self:
        """It may begin with given weights."""
        return replace(self, **options.taken_by(name, "init"))

    def inputs(self, run: Run) -> Inputs:
        """The samples, and the weights to begin with."""
        weights = first_weights(run, self.start, self.init)
        samples = whole_shards(run.samples, [self.table])
        return {"samples": samples, "weights": [] if weights is None else [weights]}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Train on the run's samples; returns what `evaluation.json` holds."""
        return self.train(job.run.samples, first_weights(job.run, self.start, self.init), job)

    def train(self, samples: Path, init: Path | None, job: TrainingJob) -> dict[str, Any]:
        """Train on these samples, from the weights of `init` if given; what came out."""
        return train(partial(self.prepare, samples, init, job.seed), job)

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """What the layer in the job's folder is worth on a split of the run's samples."""
        return self.judged(job.run.samples, job, split)

    def judged(self, samples: Path, job: TrainingJob, split: str) -> dict[str, Any]:
        """The same on these samples."""
        return judge(partial(self.prepare, samples, None, job.seed), job, split)


def first_weights(run: Run, start: str | None, init: Path | None) -> Path | None:
    """The file of the weights to begin with: `init`'s, or those of a model of the run; or none."""
    if init is not None:
        if not (found := _file(init)).is_file():
            raise InputError(f"--init {init}: there are no weights")
        return found
    if start is None:
        return None
    if not (found := run.model(start) / WEIGHTS).is_file():
        raise InputError(
            f"{found.parent} holds no weights to begin with. Train them: understudy train scml "
            f"{start}; or name others with --init"
        )
    return found


def begun(network: N, layer: str, init: Path | None) -> N:
    """The network with the weights to begin with, if there are any."""
    if init is None:
        return network
    return loaded(network, read_checkpoint(init).needs(layer).layers[layer], str(init))


def loaded(network: N, weights: Mapping[str, Array], where: str) -> N:
    """A network with these weights; InputError if they are for another."""
    tensors = {name: torch.from_numpy(np.array(values)) for name, values in weights.items()}
    if misfit := misfits(network, tensors):
        raise InputError(
            f"{where}: {misfit}. Give the recipe the sizes that those weights were trained with "
            "(hidden, width and depth by --set, as `understudy recipes scml RECIPE` lists them), "
            "train again, or leave out --init"
        )
    network.load_state_dict(tensors)
    return network


def best(network: N, layer: str, folder: Path) -> N:
    """A network with the weights that did best, from a model's folder."""
    checkpoint = read_checkpoint(folder / WEIGHTS).needs(layer)
    return loaded(network, checkpoint.layers[layer], str(folder)).eval()


def weights_of(network: nn.Module) -> dict[str, Array]:
    """As they go into a checkpoint: copies, which stay as they are while the network learns on."""
    return {name: value.cpu().numpy().copy() for name, value in network.state_dict().items()}


def save_layer(path: Path, layer: str, network: nn.Module, about: About) -> None:
    """A checkpoint of one layer."""
    write_checkpoint(path, Checkpoint({layer: weights_of(network)}, about))


def _file(path: Path) -> Path:
    return path / WEIGHTS if path.is_dir() else path
