"""What the recipes of L2 and L3 have in common."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import nn

from understudy.data.files import digest
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import WEIGHTS, About, Bundle, read_bundle, write_bundle
from understudy.games.scml.arrays import Array
from understudy.games.scml.learning.dataset import Reader, streams
from understudy.learn.base import Progress
from understudy.learn.policy import misfits
from understudy.learn.supervised.recipe import Descent

N = TypeVar("N", bound=nn.Module)
GOALS_FILE = "goals.safetensors"
"""In a folder of samples: the L2 whose goals were filled in."""


@dataclass(frozen=True, kw_only=True)
class LayerRecipe(Descent):
    """Train one layer."""

    description: str
    init: Path | None = None
    """Begin with these weights instead of new ones."""

    layer = ""

    def settings(self) -> dict[str, Any]:
        """Everything but the description, which changes nothing."""
        chosen = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del chosen["description"]
        chosen["init"] = None if self.init is None else digest(_file(self.init))
        return chosen

    def fit(
        self,
        samples: Path,
        out: Path,
        seed: int,
        *,
        device: str = "cpu",
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Train into the folder `out`, or go on there; returns what `evaluation.json` holds."""
        from understudy.learn.supervised.loop import fit

        return fit(self, samples, out, seed, device=device, progress=progress)  # type: ignore[arg-type]

    # --- for the loop ----------------------------------------------------------------------------

    @property
    def descent(self) -> Descent:
        """The settings of the loop."""
        return self

    @property
    def game(self) -> str:
        """Whose samples it learns from."""
        return "scml"

    def reader(self) -> Reader:
        """The rows it learns from."""
        raise NotImplementedError

    def splits(self, samples: Path, seed: int, device: torch.device) -> dict[str, Any]:
        """The rows of each split."""
        return streams(self.reader(), samples, self, seed, device)

    def facts(self, splits: Mapping[str, Any]) -> dict[str, Any]:
        """What there was to learn from."""
        return {"rows": splits["train"].rows}

    def started(self, network: N) -> N:
        """The network with the weights to begin with, if there are any."""
        if self.init is None:
            return network
        bundle = read_bundle(self.init).needs(self.layer)
        return loaded(network, bundle.layers[self.layer], str(self.init))


def loaded(network: N, weights: Mapping[str, Array], where: str) -> N:
    """A network with these weights; InputError if they are for another."""
    tensors = {name: torch.from_numpy(np.array(values)) for name, values in weights.items()}
    if misfit := misfits(network, tensors):
        raise InputError(f"{where}: {misfit}. Train again, or leave out --init")
    network.load_state_dict(tensors)
    return network


def weights_of(network: nn.Module) -> dict[str, Array]:
    """As they go into a bundle."""
    return {name: value.cpu().numpy() for name, value in network.state_dict().items()}


def save_layer(path: Path, layer: str, network: nn.Module, about: About) -> None:
    """A bundle of one layer."""
    write_bundle(path, Bundle({layer: weights_of(network)}, about))


def _file(path: Path) -> Path:
    found = path / WEIGHTS if path.is_dir() else path
    if not found.is_file():
        raise InputError(f"--init {path}: there are no weights")
    return found
