"""What rides in the `extras` of recorded decisions, as further features of a policy.

A name is a path into the JSON by dots (`fps`, `ocr.health`). Numbers count as they are, true as 1,
numbers written as text as those. Where nothing is told, as in play in our own simulators, a policy
takes the mean of what was told in training. Needs no torch.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from understudy.data.arrays import Array
from understudy.data.samples import Decisions
from understudy.errors import InputError, did_you_mean

PREFIX = "extras."
"""What the names of such features begin with."""


def with_extras(decisions: Decisions, names: Sequence[str]) -> Decisions:
    """The same decisions with these features after the others."""
    told = (f"{PREFIX}{name}" for name in names)
    return replace(decisions, features=(*decisions.features, *told))


def split(features: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the columns, and of what is looked up in the extras, without the prefix."""
    known = tuple(features)
    extras = tuple(name.removeprefix(PREFIX) for name in known if name.startswith(PREFIX))
    return tuple(name for name in known if not name.startswith(PREFIX)), extras


def extras_of(column: Iterable[str | None], names: Sequence[str]) -> Array:
    """The values of every row [rows, names]; NaN where nothing is told."""
    told = [_values(text, tuple(names)) for text in column]
    return np.array(told, np.float32).reshape(-1, len(names))


@lru_cache(maxsize=65_536)
def _values(text: str | None, names: tuple[str, ...]) -> tuple[float, ...]:
    found = _parsed(text)
    return tuple(number_at(found, name) for name in names)


def _parsed(text: str | None) -> Any:
    try:
        return json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}


def number_at(found: Any, name: str) -> float:
    """The number at a path by dots; NaN where there is none."""
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, bool | int | float | str):
        return math.nan
    try:
        number = float(found)
    except (ValueError, OverflowError):
        return math.nan
    return number if abs(number) < 1e30 else math.nan


def usual(columns: Iterable[Iterable[str | None]], names: Sequence[str]) -> Array:
    """The mean of what is told under each name; InputError for one that nothing is told under."""
    total, count = np.zeros(len(names)), np.zeros(len(names), np.int64)
    some = dict[str, None]()
    for column in columns:
        rows = list(column)
        values = extras_of(rows, names)
        total += np.nansum(values, 0, dtype=np.float64)
        count += np.isfinite(values).sum(0)
        some |= dict.fromkeys(_names(_parsed(next(filter(None, rows), None))))
    for name, told in zip(names, count.tolist(), strict=True):
        if not told:
            known = f"they hold {', '.join(list(some)[:8])}" if some else "there are none"
            raise InputError(
                f"no decision to learn from has a number '{name}' in its extras; {known}"
                f"{did_you_mean(name, some)}"
            )
    return (total / count).astype(np.float32)


def _names(found: Any, before: str = "") -> list[str]:
    if not isinstance(found, dict):
        return [before[:-1]] if before else []
    return [name for key, value in found.items() for name in _names(value, f"{before}{key}.")]


def told_or_usual(observation: Array, mean: Array) -> Array:
    """Features of which those at the end, or single ones, are not told: what is usual there."""
    lacking = len(mean) - observation.shape[-1]
    if lacking > 0:
        rest = np.broadcast_to(mean[-lacking:], (*observation.shape[:-1], lacking))
        observation = np.concatenate([observation, rest], -1)
    return np.where(np.isnan(observation), mean, observation)
