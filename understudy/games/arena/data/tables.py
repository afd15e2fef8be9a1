"""Recordings of arena matches: both players' views, what they did, what happened, how it ended.

A view's clock is not written down: the column `step` tells it. So recordings made before players
saw the clock are as good as new ones; each says by which version of the rules it was made.
"""

from typing import Any, Final

import numpy as np
import pyarrow as pa

from understudy.data.results import both_sides, pair_results
from understudy.data.schema import Column, Table
from understudy.errors import InputError
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.state import VIEW

_MADE_BY = "understudy record arena"
RECORDED_VIEW: Final = tuple(name for name in VIEW if name != "time_left")
RULES: Final = {"rules": str(r.VERSION)}
"""Note in the metadata of recordings. Those without are of version 1."""

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
        Column("origin", pa.string(), "played, human, or the kind of log it was read from"),
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
        *(Column(name, pa.float32(), VIEW[name]) for name in RECORDED_VIEW),
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
    time_left = np.maximum(r.MAX_STEPS - steps["step"].to_numpy(), 0).astype(np.float32)
    return np.stack([*(steps[name].to_numpy() for name in RECORDED_VIEW), time_left], axis=1)


def actions_of(steps: pa.Table) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """The actions recorded in STEPS rows, [rows, 7]."""
    return np.stack([steps[name].to_numpy() for name in r.ACTION], axis=1)


def rules_of(recording: pa.Table) -> int:
    """The version of the rules by which these rows were made."""
    return int((recording.schema.metadata or {}).get(b"rules", b"1"))


def check_rules(recording: pa.Table) -> None:
    """Raise InputError where the rows were made by rules that are newer than ours."""
    if (made := rules_of(recording)) > r.VERSION:
        raise InputError(
            f"recordings of version {made} of the arena's rules; this program knows {r.VERSION}. "
            f"Update it, or make them again: {_MADE_BY} --fresh"
        )
