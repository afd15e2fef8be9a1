"""What every way of learning shares: a loss, the files of a model, the device."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from understudy.data.integrity.evaluations import Evaluation
from understudy.data.integrity.json_files import read_json
from understudy.data.runs import ModelFolder
from understudy.errors import InputError


class Loss(NamedTuple):
    """The scalar to minimise, and what to log beside it."""

    value: Float[Tensor, ""]
    metrics: dict[str, Float[Tensor, ""]]


def usable_device(name: str) -> torch.device:
    """The torch device of that name; InputError where it cannot be used."""
    # Before the card is first used: only with a workspace of its own does cuBLAS add in one order.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")
        raise InputError(
            f"cannot train on '{name}' here ({reason}). Train on the processor: --device cpu"
        ) from failure
    return device


def read_evaluation(out: Path) -> dict[str, Any] | None:
    """What a finished training wrote about its policy; None while it is not finished."""
    cure = "Delete it and run the same command again"
    found = read_json(ModelFolder(out).evaluation, Evaluation, cure)
    return None if found is None else {**found}
