"""The numbers that native players are told: their own, unless others are given."""

import numpy as np

from understudy.data.arrays import Array
from understudy.games.scml.batch.state import NUMBERS
from understudy.games.scml.domain import RISK
from understudy.games.scml.players.steward_numbers import ORIGINAL, Plans, place_in_chain, tuned

OWN = {"Steward": ORIGINAL, "TunedSteward": tuned()}
"""Plans by player."""
RISKS = {"L1Risk": RISK}
"""That L1 takes, by name."""


def numbers_of(player: str, plans: Plans | None, level: int, levels: int) -> Array:
    """A player's numbers at a level in the order it looks them up, [NUMBERS]."""
    found, chosen = np.zeros(NUMBERS), plans or OWN.get(player)
    found[0] = RISKS.get(player, 0.0)
    if chosen is not None:
        told = chosen[place_in_chain(level, levels)].flat()
        found[: len(told)] = told
    return found
