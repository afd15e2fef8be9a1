"""The numbers that native players are told: their own, unless others are given."""

from collections.abc import Mapping

import numpy as np

from understudy.data.arrays import Array
from understudy.games.scml.batch.players import steward as native_steward
from understudy.games.scml.batch.state import NUMBERS

STEWARD_NUMBERS = {
    "FILLING_DAYS": 8,
    "TRIAL_DAYS": 3,
    "LARGEST_DEAL": 7,
    "FIRM": 5,
    "GREEDY_DISCOUNT": 0.9,
    "CHOOSY": 10,
    "LAST_ROUND": 18,
    "BIDS_RISE": 5,
    "ASK_FOLD": 3,
    "EXTRA_UNITS": 3,
    "ORDER_MARGIN": 2,
    "EXPECTED_USE": 0.5,
    "FRACTION": 99,
    "SUPPLY_SHARE": 0,
    "SMALL_FROM": 99,
    "SMALL_UNITS": 3,
    "SOONEST": 0,
    "TARGET": 10,
    "SPENDABLE": 0.5,
    "FLOOR": 99,
    "UNKNOWN_ASK": 99,
}
TELLING = {"LARGE": 5, "EAGER_SHARE": 0, "WATCH_DAYS": 0, "FIRST_WAY": 0}


def numbers_of(player: str, others: Mapping[str, float]) -> Array:
    """A player's numbers in the order it looks them up, [NUMBERS].

    A name stands for both ways, NAME+ for the one among eager buyers alone.
    """
    found = np.zeros(NUMBERS)
    if player != "Steward":
        return found
    for name, value in STEWARD_NUMBERS.items():
        place = getattr(native_steward, name)
        found[place] = others.get(name, value)
        found[place + native_steward.WAYS] = others.get(name + "+", found[place])
    for name, value in TELLING.items():
        found[getattr(native_steward, name)] = others.get(name, value)
    return found
