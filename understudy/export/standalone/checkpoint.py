"""Stands in for `agent/checkpoint.py`: weights in numpy's own format, already for today's features.

weights.npz   about: JSON   l2.goals.weight, l3.day.bias, ...: the layers by name
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from understudy.data.arrays import Array
from understudy.games.scml.agent.layers import About, Checkpoint

WEIGHTS = "weights.npz"
_ABOUT = "about"


def weights_file(path: Path) -> Path:
    """The file of weights: itself, or that in a folder."""
    return path / WEIGHTS if path.is_dir() else path


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the weights in a file or folder; loading them runs no code."""
    layers: dict[str, dict[str, Array]] = {}
    with np.load(weights_file(path), allow_pickle=False) as file:
        about = json.loads(str(file[_ABOUT]))
        for key in file.files:
            layer, _, name = key.partition(".")
            if name:
                layers.setdefault(layer, {})[name] = file[key]
    return Checkpoint(layers, About(**{**about, "horizons": tuple(about["horizons"])}))


def write_checkpoint(file: BinaryIO, checkpoint: Checkpoint) -> None:
    """What `read_checkpoint` reads."""
    arrays: dict[str, Any] = {
        f"{layer}.{name}": values
        for layer, weights in checkpoint.layers.items()
        for name, values in weights.items()
    }
    arrays[_ABOUT] = np.array(json.dumps(asdict(checkpoint.about)))
    np.savez(file, **arrays)
