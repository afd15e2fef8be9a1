"""Measurements of a training run: one line of JSON per evaluation, and the same for TensorBoard."""

import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.data.files import write_text
from understudy.data.integrity.json_files import json_line, read_lines
from understudy.data.integrity.shapes import MetricsLine
from understudy.data.runs import ModelFolder
from understudy.errors import InputError

_log = logging.getLogger(__name__)


class MetricsLogger:
    """Appends measurements; begins by dropping those made after `step`, which will come again."""

    def __init__(self, folder: Path, step: int) -> None:
        self._path = ModelFolder(folder).metrics
        kept = [line for line in read_metrics(folder) if line["step"] <= step]
        write_text(self._path, "".join(json_line(metrics) for metrics in kept))
        self._tensorboard = tensorboard(ModelFolder(folder).tensorboard, step)

    def __enter__(self) -> "MetricsLogger":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._tensorboard is not None:
            self._tensorboard.close()

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Add the measurements of one step."""
        try:
            with self._path.open("ab", buffering=0) as file:  # one write: the line is whole
                file.write(json_line({"step": step, **metrics}).encode())
        except OSError as failure:
            raise InputError(
                f"cannot write {self._path}: {failure.strerror or failure}. "
                "Free some space, then run the same command again: it goes on where it stopped"
            ) from failure
        if self._tensorboard is not None:
            for name, value in metrics.items():
                self._tensorboard.add_scalar(name, value, step)
            self._tensorboard.flush()


def read_metrics(folder: Path) -> list[MetricsLine]:
    """The lines written so far; one that a killed process left unfinished is not among them."""
    return read_lines(ModelFolder(folder).metrics, MetricsLine, "Start over with --fresh")


def tensorboard(folder: Path, step: int) -> Any:
    """A TensorBoard writer that hides events after `step`; None where TensorBoard is missing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as missing:
        _log.info("no TensorBoard events (%s); the same numbers are in metrics.jsonl", missing)
        return None
    if threading.excepthook is not _without_writers:
        _hooks.append(threading.excepthook)
        threading.excepthook = _without_writers
    return SummaryWriter(str(folder), purge_step=step + 1)


_hooks = [threading.__excepthook__]
"""The last of them heard of threads that fail, before we did."""


def _without_writers(failure: threading.ExceptHookArgs) -> None:
    """What a thread of TensorBoard's fails with, it also tells whoever next writes or closes it."""
    if type(failure.thread).__name__ != "_AsyncWriterThread":
        _hooks[-1](failure)
