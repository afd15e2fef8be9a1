"""Spaces as numbers: what is observed as features, what can be done as heads of options."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from gymnasium import spaces

from understudy.data.arrays import Array

Write = Callable[[Any, Array], None]
"""Writes an observation into a row of numbers."""
MASK = "action_mask"
"""What a Dict space, or an agent's info, calls the options that are legal."""


def size(space: "spaces.Space[Any]") -> int:
    """How many numbers an observation becomes; ValueError for a space that is none we read."""
    match space:
        case spaces.Box() | spaces.MultiBinary():
            return prod(space.shape)
        case spaces.Discrete():
            return int(space.n)
        case spaces.MultiDiscrete():
            return int(space.nvec.sum())
        case spaces.Dict():
            return sum(size(part) for name, part in space.spaces.items() if name != MASK)
        case spaces.Tuple():
            return sum(map(size, space.spaces))
    raise ValueError(f"observes {space}, which is not made of Box, Discrete or MultiDiscrete")


def writer(space: "spaces.Space[Any]") -> Write:
    """Box as it is, an option out of several as a 1 among zeros, Dict and Tuple part by part."""
    match space:
        case spaces.Discrete():
            return _one_hot(np.array([0]), np.array([space.start]))
        case spaces.MultiDiscrete():
            sizes = space.nvec.ravel()
            return _one_hot(np.cumsum([0, *sizes[:-1]]), np.ravel(space.start))
        case spaces.Dict():
            named = {name: part for name, part in space.spaces.items() if name != MASK}
            if len(named) == 1:
                ((only, part),) = named.items()
                inner = writer(part)
                return lambda seen, row: inner(seen[only], row)
            return _parts(list(named), list(named.values()))
        case spaces.Tuple():
            return _parts(list(range(len(space.spaces))), list(space.spaces))
    return _as_it_is


def _as_it_is(seen: Any, row: Array) -> None:
    row[:] = np.ravel(seen)


def _one_hot(first: Array, start: Array) -> Write:
    def write(seen: Any, row: Array) -> None:
        row[:] = 0.0
        row[first + np.ravel(seen) - start] = 1.0

    return write


def _parts(keys: list[Any], parts: "list[spaces.Space[Any]]") -> Write:
    ends = np.cumsum([size(part) for part in parts]).tolist()
    pieces = list(zip(keys, map(writer, parts), [0, *ends[:-1]], ends, strict=True))

    def write(seen: Any, row: Array) -> None:
        for key, inner, first, end in pieces:
            inner(seen[key], row[first:end])

    return write


def heads_of(space: "spaces.Space[Any]") -> tuple[int, ...]:
    """The options of each head; ValueError for actions that are not so many options."""
    match space:
        case spaces.Discrete():
            return (int(space.n),)
        case spaces.MultiDiscrete():
            return tuple(map(int, space.nvec.ravel()))
        case spaces.MultiBinary():
            return (2,) * prod(space.shape)
    raise ValueError(f"acts by {space}, which is neither Discrete nor MultiDiscrete")


def action_of(space: "spaces.Space[Any]") -> Callable[[Array], Any]:
    """From an option per head to what the environment takes."""
    start = np.asarray(getattr(space, "start", 0))
    if isinstance(space, spaces.Discrete):
        return lambda options: int(options[0]) + int(start)
    return lambda options: (options.reshape(space.shape) + start).astype(space.dtype)
