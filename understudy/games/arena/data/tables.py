"""Recordings of arena matches: both players' views, what they did, what happened, how it ended."""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from understudy.data.results import both_sides, pair_results
from understudy.data.schema import Column, Table
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.state import VIEW

_MADE_BY = "understudy record arena"

MATCHES: Final = Table(
    "arena",
    "matches",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which match"),
        Column("seed", pa.int64(), "what it was drawn from; none in logs of other origin", True),
        Column("player_0", pa.string(), "who began in the west"),
        Column("player_1", pa.string(), "who began in the east"),
        Column("score", pa.float32(), "player 0's score, +1 won to -1 lost; none: unknown", True),
        Column("steps", pa.int32(), "how long it took"),
        Column("ending", pa.string(), "kill, double kill, timeout or unknown"),
        Column("layout", pa.string(), "which cover stood where"),
        Column("origin", pa.string(), "played here, or the kind of log it was read from"),
    ),
)
STEPS: Final = Table(
    "arena",
    "steps",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which match"),
        Column("step", pa.int32(), "when; the view is from before the action"),
        Column("slot", pa.int8(), "which player"),
        *(Column(name, pa.float32(), meaning) for name, meaning in VIEW.items()),
        *(Column(name, pa.float32(), "what the player did, in its own frame") for name in r.ACTION),
        Column("reward", pa.float32(), "gain of this step"),
        Column("events", pa.int32(), f"bits, from the lowest: {', '.join(r.EVENTS)}"),
        Column("extras", pa.string(), "further measurements as JSON, untouched", True),
    ),
)
RESULTS: Final = pair_results("arena")


def results(matches: pa.Table) -> pa.Table:
    """Two rows per match, one from each player's side."""
    return both_sides(RESULTS, matches)


def views_of(steps: pa.Table) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """The views recorded in STEPS rows, [rows, V]: exactly what the players saw."""
    return np.stack([steps[name].to_numpy() for name in VIEW], axis=1)


def actions_of(steps: pa.Table) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """The actions recorded in STEPS rows, [rows, 7]."""
    return np.stack([steps[name].to_numpy() for name in r.ACTION], axis=1)
