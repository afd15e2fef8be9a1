"""The numbers that native players are told: their own, unless others are given."""

from collections.abc import Mapping

import numpy as np

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.scml.batch.players import steward as native_steward
from understudy.games.scml.batch.state import NUMBERS
from understudy.games.scml.players import steward

STEWARD_NUMBERS = (
    "FILLING_DAYS",
    "TRIAL_DAYS",
    "LARGEST_DEAL",
    "FIRM",
    "GREEDY_DISCOUNT",
    "CHOOSY",
    "LAST_ROUND",
    "BIDS_RISE",
    "ASK_FOLD",
    "EXTRA_UNITS",
    "ORDER_MARGIN",
    "EXPECTED_USE",
)
"""By name, where `players/steward.py` keeps them."""


def numbers_of(player: str, others: Mapping[str, float]) -> Array:
    """A player's numbers in the order it looks them up, [NUMBERS]."""
    found = np.zeros(NUMBERS)
    own = {name: getattr(steward, name) for name in STEWARD_NUMBERS} if player == "Steward" else {}
    unknown = sorted(set(others) - set(own))
    if unknown:
        raise InputError(f"{player} has no number {unknown[0]}; it has {', '.join(own) or 'none'}")
    for name, value in {**own, **others}.items():
        found[getattr(native_steward, name)] = value
    return found
