"""The weights of HRL-XF on disk: the layers there are, and what they were made for.

One safetensors file, which holds numbers and text only: loading it runs no code. Needs no torch.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from itertools import accumulate
from operator import or_
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from understudy.data.arrays import Array, Bools
from understudy.data.files import writing
from understudy.data.integrity.seals import BLANK, KEY, is_broken_file, sealed
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.games.scml.agent.layers import THRIFTY
from understudy.games.scml.agent.layers import About as About
from understudy.games.scml.agent.layers import Checkpoint as Checkpoint
from understudy.games.scml.domain import BUCKETS
from understudy.games.scml.view import features as f
from understudy.games.scml.view.inputs import GROUPS, READ

_KEY = "understudy.hrl-xf"
_LAYERS = ("l2", "l3", "l4", *(f"{THRIFTY}{name}" for name in ("l2", "l3", "l4")))
_RENAMED = {  # tensors and settings of weights written under another name before
    "standard.spread": "standard.std",
    "response_heat": "response_temperature",
    "offer_heat": "offer_temperature",
}
_FIRST = {"l2": "torso.0.weight", "l3": "torso.0.weight", "l4": "each.0.weight"}
"""What is multiplied with a layer's inputs."""
ADDED = (frozenset({"static.stock_log", *(f"thread.{name}" for name in f.MEMORY)}),)
"""Features that networks did not read before, the latest first: older weights know nothing of the
first of these sets, still older ones of the first two, and so on."""


def feature_names(without: Collection[str] = ()) -> str:
    """Stands for what the networks read, or read before they knew of some."""
    groups = [
        [name for name in names if f"{group}.{name}" not in without]
        for group, names in GROUPS.items()
    ]
    named = json.dumps([*groups, BUCKETS, f.HISTORY])
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def widened(checkpoint: Checkpoint) -> Checkpoint | None:
    """The same for the features there are now: weights of before read the newer ones and make
    nothing of them. None: they were made for features that are not known."""
    for missing in accumulate(ADDED, or_, initial=frozenset[str]()):
        if checkpoint.about.features == feature_names(missing):
            layers = {
                layer: _widened_layer(layer, weights, missing)
                for layer, weights in checkpoint.layers.items()
            }
            return Checkpoint(layers, replace(checkpoint.about, features=feature_names()))
    return None


def _widened_layer(
    layer: str, weights: Mapping[str, Array], missing: Collection[str]
) -> dict[str, Array]:
    layer = layer.removeprefix(THRIFTY)
    known = np.array([name not in missing for name in READ[layer]])
    unknown = {"standard.mean": 0.0, "standard.std": 1.0, _FIRST[layer]: 0.0}
    return {
        name: _inserted(values, known, unknown[name]) if name in unknown else values
        for name, values in weights.items()
    }


def _inserted(values: Array, known: Bools, unknown: float) -> Array:
    """The last axis with a number for what was not known; as it is, if it fits nothing."""
    rest = values.shape[-1] - int(known.sum())
    if rest < 0:
        return values
    at = np.append(known, np.ones(rest, bool))
    found = np.full((*values.shape[:-1], len(at)), unknown, values.dtype)
    found[..., at] = values
    return found


def joined(l2: Checkpoint, l3: Checkpoint, l4: Checkpoint) -> Checkpoint:
    """One agent of layers trained apart; InputError where they were not made for each other."""
    layers = {
        name: one.needs(name).layers[name] for name, one in (("l2", l2), ("l3", l3), ("l4", l4))
    }
    if len({one.about.horizons for one in (l2, l3, l4)}) > 1:
        raise InputError("the layers learnt from worlds of different horizons: of other tracks")
    if len({one.about.risk for one in (l2, l3, l4)}) > 1:
        raise InputError("the layers learnt with different risks. Encode their samples with one")
    if not l3.about.goals:
        raise InputError(
            "L3 learnt without goals, so it would take no notice of L2. Fill them in and train it "
            "again: understudy encode scml --goals L2 && understudy train scml l3 --fresh"
        )
    known = l3.layers.get("l2")
    if known is not None and not _same(known, layers["l2"]):
        raise InputError(
            "L3 learnt with the goals of another L2. Join it with that one, or train it again on "
            "samples with these goals: understudy encode scml --goals L2"
        )
    return Checkpoint(layers, l3.about)


def _same(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[n], other[n]) for n in one)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write weights whole. One key of metadata: several would come in random order."""
    tensors = {
        f"{layer}.{name}": np.ascontiguousarray(values)
        for layer, weights in checkpoint.layers.items()
        for name, values in weights.items()
    }
    with writing(path) as aside:
        about = json.dumps({**asdict(checkpoint.about), KEY: BLANK})
        aside.write_bytes(sealed(save(tensors, {_KEY: about})))


def weights_file(path: Path) -> Path:
    """The file of weights: itself, or that of a model's folder."""
    return path / WEIGHTS if path.is_dir() else path


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the weights in a file or in a model's folder; InputError where they cannot be used."""
    path = weights_file(path)
    again = "Train again: understudy train scml hrl-xf --fresh"
    if not path.is_file():
        raise InputError(f"{path}: there are no weights. {again}")
    try:
        if is_broken_file(path):
            raise ValueError("it does not match its seal")
        with safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {}).get(_KEY, "null"))
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        about.pop(KEY, None)
        named = {_RENAMED.get(name, name): value for name, value in about.items()}
        known = About(**{**named, "horizons": tuple(about["horizons"])})
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, AttributeError) as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")
        raise InputError(f"{path}: not the weights of HRL-XF ({reason}). {again}") from failure
    layers: dict[str, dict[str, Array]] = {}
    for key, values in tensors.items():
        layer, _, name = key.partition(".")
        if layer not in _LAYERS or not np.isfinite(values).all():
            raise InputError(f"{path}: '{key}' does not belong there or is no number. {again}")
        layers.setdefault(layer, {})[_RENAMED.get(name, name)] = values
    checkpoint = widened(Checkpoint(layers, known))
    if checkpoint is None:
        raise InputError(f"{path}: made for other features than there are now. {again}")
    return checkpoint
