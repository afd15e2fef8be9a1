"""Checkpoints as data: tensors and plain values, written whole, read without running code."""

import contextlib
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from understudy.data.files import require_file, writing
from understudy.data.integrity.seals import BLANK, is_broken_file, seal_file
from understudy.errors import InputError

# What torch.load, and taking its result apart, raise for a file that is cut short or not ours.
_UNREADABLE: tuple[type[Exception], ...] = (
    *(RuntimeError, ValueError, TypeError, LookupError, AttributeError),
    *(EOFError, OSError, pickle.UnpicklingError),
)

_NETWORKS = {"network", "learner", "player", "critic"}
"""Entries that hold a network's tensors, in whatever checkpoint."""


def no_number(tensors: Mapping[Any, Any]) -> str:
    """The first tensor that holds NaN or infinity, in words; "" if none does."""
    for key, values in sorted(tensors.items()):
        if isinstance(values, Mapping) and (wrong := no_number(values)):
            return wrong
        if isinstance(values, Tensor) and not torch.isfinite(values).all():
            return f"'{key}' holds what is no number"
    return ""


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write tensors, numbers, texts, and lists and dicts of them."""
    with writing(path) as aside:
        try:
            torch.save(_apart(dict(content)), aside)
        except RuntimeError as failure:
            if not any(words in str(failure) for words in _UNWRITTEN):
                raise
            raise OSError("not all of it could be written; the disk may be full") from failure
        with aside.open("ab") as file:  # after the archive's end: torch reads it as before
            file.write(BLANK.encode())
        seal_file(aside)


_UNWRITTEN = ("StreamWriter", "unexpected pos", "iostream error")
"""How torch tells of a full disk."""


def _apart(tree: Any) -> Any:
    """The same with empty tensors that lie nowhere.

    One that came from another process may lie at the address of the next, of another type, and
    torch refuses to save both.
    """
    if isinstance(tree, Tensor):
        return tree if tree.numel() else tree.clone()
    if isinstance(tree, Mapping):
        parts = {name: _apart(part) for name, part in tree.items()}
        return parts if any(parts[name] is not tree[name] for name in parts) else tree
    if isinstance(tree, list | tuple):
        return type(tree)(_apart(part) for part in tree)
    return tree


@contextlib.contextmanager
def reading_checkpoint(path: Path, device: torch.device, cure: str) -> Iterator[Any]:
    """Yield what a checkpoint holds; what fails in reading or in the block is the file's fault."""
    require_file(path)
    try:
        if is_broken_file(path):
            raise ValueError("it does not match its seal")
        content = torch.load(path, map_location=device, weights_only=True)
        for name in _NETWORKS & content.keys():
            if wrong := no_number(content[name] or {}):
                raise ValueError(wrong)
        yield content
    except InputError:
        raise
    except _UNREADABLE as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")[:80]
        raise InputError(
            f"{path}: not a whole checkpoint ({type(failure).__name__}: {reason}). {cure}"
        ) from failure


@contextlib.contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch for the block alone; afterwards the caller's random state is back."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def random_state(device: torch.device) -> dict[str, Tensor]:
    """Of torch, on the processor and on `device`."""
    state = {"cpu": torch.get_rng_state()}
    return state | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """The inverse of `random_state`."""
    torch.set_rng_state(state["cpu"].cpu())
    if device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"].cpu(), device)


def as_tensors(tree: Any) -> Any:
    """Arrays to tensors, in dicts and lists of them: what a checkpoint may hold."""
    if isinstance(tree, dict):
        return {name: as_tensors(part) for name, part in tree.items()}
    if isinstance(tree, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(tree))
    return tree


def as_arrays(tree: Any) -> Any:
    """The inverse of `as_tensors`."""
    if isinstance(tree, dict):
        return {name: as_arrays(part) for name, part in tree.items()}
    return tree.cpu().numpy() if isinstance(tree, Tensor) else tree
