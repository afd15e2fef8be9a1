"""The weights of HRL-XF on disk: the layers there are, and what they were made for.

One safetensors file, which holds numbers and text only: loading it runs no code. Needs no torch.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from understudy.data.arrays import Array
from understudy.data.files import writing
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.games.scml.domain import BUCKETS, DAYS
from understudy.games.scml.view import features as f

_KEY = "understudy.hrl-xf"
LAYERS = ("l2", "l3", "l4")
_RENAMED = {  # tensors and settings of weights written under another name before
    "standard.spread": "standard.std",
    "response_heat": "response_temperature",
    "offer_heat": "offer_temperature",
}


@dataclass(frozen=True)
class About:
    """What the layers were made for."""

    features: str = ""
    """Stands for the names and order of all features."""
    scheme: str = "residual"
    goals: bool = False
    """L3 was trained with L2's goals; otherwise it saw none, and must see none in play."""
    horizons: tuple[int, ...] = (DAYS - 1,)
    """Of the worlds that were learnt from: Standard has 10, OneShot 0."""
    response_temperature: float = 0.0
    """How freely L3's responses are drawn: 0, the likeliest; 1, as likely as it thinks."""
    offer_temperature: float = 1.0
    """Likewise the day, units and price of an offer."""


@dataclass(frozen=True)
class Checkpoint:
    """Weights by layer and name."""

    layers: Mapping[str, Mapping[str, Array]]
    about: About

    def needs(self, *names: str) -> "Checkpoint":
        """Itself, if it has these layers."""
        for name in names:
            if name not in self.layers:
                there = ", ".join(self.layers) or "none"
                raise InputError(f"the weights lack layer {name}; they have {there}")
        return self


def feature_names() -> str:
    """Stands for what the networks read."""
    groups = (f.STATIC, f.TEMPORAL, f.SITUATION, f.THREAD, f.PAST_OFFER, f.TURN)
    named = json.dumps([*(list(group) for group in groups), BUCKETS, f.HISTORY])
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write weights whole. One key of metadata: several would come in random order."""
    tensors = {
        f"{layer}.{name}": np.ascontiguousarray(values)
        for layer, weights in checkpoint.layers.items()
        for name, values in weights.items()
    }
    with writing(path) as aside:
        aside.write_bytes(save(tensors, {_KEY: json.dumps(asdict(checkpoint.about))}))


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the weights in a file or in a model's folder; InputError where they cannot be used."""
    path = path / WEIGHTS if path.is_dir() else path
    again = "Train again: understudy train scml hrl-xf --fresh"
    if not path.is_file():
        raise InputError(f"{path}: there are no weights. {again}")
    try:
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(_KEY, "null"))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        named = {_RENAMED.get(name, name): value for name, value in about.items()}
        known = About(**{**named, "horizons": tuple(about["horizons"])})
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError) as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")
        raise InputError(f"{path}: not the weights of HRL-XF ({reason}). {again}") from failure
    if known.features != feature_names():
        raise InputError(f"{path}: made for other features than there are now. {again}")
    layers: dict[str, dict[str, Array]] = {}
    for key, values in tensors.items():
        layer, _, name = key.partition(".")
        if layer not in LAYERS or not np.isfinite(values).all():
            raise InputError(f"{path}: '{key}' does not belong there or is no number. {again}")
        layers.setdefault(layer, {})[_RENAMED.get(name, name)] = values
    return Checkpoint(layers, known)
