"""Samples: one row per decision, as every policy learner reads them, whatever the game.

A decision is a vector of features, one chosen option for each of several heads, which options
were legal, and what came of it. A game names its features and heads; the rest is the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.schema import Column, Table

_KEYS = (
    Column("match", pa.string(), "which match"),
    Column("step", pa.int32(), "when in the match"),
    Column("slot", pa.int8(), "which of the match's players decided"),
    Column("player", pa.string(), "its name"),
    Column("split", pa.string(), "train, val or test; the same for a whole match"),
)
_CONSEQUENCES = (
    Column("reward", pa.float32(), "gain of this step"),
    Column(
        "outcome",
        pa.float32(),
        "final score of the match for this player, not a number if unknown; a target only",
    ),
    Column("extras", pa.string(), "further measurements as JSON, untouched", optional=True),
)


@dataclass(frozen=True)
class Decisions:
    """A table of decisions and which of its columns are what."""

    table: Table
    features: tuple[str, ...]
    heads: dict[str, int]
    """The number of options of each head, in order."""

    @property
    def options(self) -> int:
        """Options of all heads together: the width of `legal`."""
        return sum(self.heads.values())


def decisions(
    game: str, name: str, version: int, features: Mapping[str, str], heads: Mapping[str, int]
) -> Decisions:
    """Declare a table of decisions; `features` maps each name to its meaning."""
    width = -(-sum(heads.values()) // 8)
    columns = (
        *_KEYS,
        *(Column(feature, pa.float32(), meaning) for feature, meaning in features.items()),
        *(
            Column(head, pa.int16(), f"option chosen of {options}")
            for head, options in heads.items()
        ),
        Column("legal", pa.binary(width), "one bit per option of every head: allowed or not"),
        Column("forbidden", pa.int16(), "heads whose option the rules forbid; `legal` admits it"),
        *_CONSEQUENCES,
    )
    table = Table(game, name, version, f"understudy encode {game}", columns)
    return Decisions(table, tuple(features), dict(heads))


def pack_legal(legal: "np.ndarray[Any, Any]") -> pa.Array:
    """bool [rows, options] -> one fixed-width binary per row."""
    packed = np.packbits(legal, axis=1, bitorder="little")
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(packed.shape[1]), len(packed), [None, pa.py_buffer(packed.tobytes())]
    )


def unpack_legal(packed: pa.ChunkedArray, options: int) -> "np.ndarray[Any, Any]":
    """The inverse of `pack_legal`."""
    array = packed.combine_chunks() if isinstance(packed, pa.ChunkedArray) else packed
    width = array.type.byte_width
    flat = np.frombuffer(array.buffers()[1], np.uint8, len(array) * width, array.offset * width)
    bits = np.unpackbits(flat.reshape(-1, width), axis=1, count=options, bitorder="little")
    return bits.astype(bool)


def admitting(
    decisions: Decisions, legal: "np.ndarray[Any, Any]", choices: "np.ndarray[Any, Any]"
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """`legal` with what was chosen, and in how many heads of each row the rules forbid that.

    What was done was possible, whatever our rules say of it.
    """
    chosen = choices + np.cumsum([0, *decisions.heads.values()])[:-1]
    forbidden = (~np.take_along_axis(legal, chosen, axis=1)).sum(axis=1).astype(np.int16)
    admitted = legal.copy()
    np.put_along_axis(admitted, chosen, True, axis=1)
    return admitted, forbidden
