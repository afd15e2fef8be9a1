"""What each network reads, as one row of numbers: live play and training put it together here."""

from typing import Final

import numpy as np

from understudy.data.arrays import Float32s
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.view import features as f

GROUPS: Final = {
    "static": tuple(f.STATIC),
    "temporal": tuple(f.TEMPORAL),
    "situation": tuple(f.SITUATION),
    "thread": tuple(f.THREAD),
    "past_offer": tuple(f.PAST_OFFER),
    "turn": tuple(f.TURN),
}
"""The names of all features."""


def _named(*parts: str) -> tuple[str, ...]:
    """`static.balance` and so on, of groups that lie side by side."""
    others = {"role": ("buys", "sells"), "goals": tuple(map(str, range(NUM_GOALS)))}
    return tuple(f"{part}.{name}" for part in parts for name in (GROUPS | others)[part])


READ: Final = {
    "l2": _named("static", *["temporal"] * DAYS, "role"),
    "l3": _named("static", *["temporal"] * DAYS, "situation", "goals", "thread", "turn"),
    "l4": _named("thread", "static", "situation", "goals"),
}
"""What each layer reads, in order; L3 also reads the histories, after it."""
DAY_START_INPUTS: Final = len(READ["l2"])
ROUND_INPUTS: Final = len(READ["l3"])
THREAD_INPUTS: Final = len(f.THREAD)
OVERALL_INPUTS: Final = len(READ["l4"]) - THREAD_INPUTS


def day_start_input(static: Float32s, temporal: Float32s, role: Float32s) -> Float32s:
    """L2's, [rows, MORNING_INPUTS]."""
    return np.concatenate([static, _flat(temporal), role], axis=1)


def state_input(
    static: Float32s, temporal: Float32s, situation: Float32s, goals: Float32s
) -> Float32s:
    """The part of L3's that all negotiations of a decision share, [rows, ...]."""
    return np.concatenate([static, _flat(temporal), situation, goals], axis=1)


def negotiation_input(thread: Float32s, turn: Float32s) -> Float32s:
    """The part of L3's that is of one negotiation, [rows, ...]."""
    return np.concatenate([thread, turn], axis=1)


def overall_input(static: Float32s, situation: Float32s, goals: Float32s) -> Float32s:
    """L4's, beside the features of each negotiation, [rows, OVERALL_INPUTS]."""
    return np.concatenate([static, situation, goals], axis=1)


def goal_input(goals: Float32s, scales: Float32s) -> Float32s:
    """L2's goals as the layers above read them, [rows, NUM_GOALS]; 0 for no goals at all.

    Units in days of work, prices in tenths over the trading price. `scales`: lines, trading prices
    in and out, initial balance.
    """
    parts = goals.reshape(len(goals), -1, 2, 2)
    units = parts[..., 0] / np.maximum(scales[:, None, None, 0], 1)
    market = np.maximum(scales[:, None, 1:3], 1e-9)
    premium = np.where(parts[..., 1] > 0, 10 * (parts[..., 1] / market - 1), 0.0)
    both = np.stack([np.clip(units, 0, f.MOST), np.clip(premium, -f.MOST, f.MOST)], axis=3)
    return both.reshape(len(goals), NUM_GOALS).astype(np.float32)


def _flat(values: Float32s) -> Float32s:
    return values.reshape(len(values), -1)
