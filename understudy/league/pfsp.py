"""Prioritised fictitious self-play: whom to meet how often, given our win rate against each.

`hard` prefers those who beat us, `variance` those who are our equals (Vinyals et al. 2019). Both
answer for every win rate: where nobody is worth meeting, everybody is alike.
"""

from typing import Literal

import numpy as np
from jaxtyping import Float

Weighting = Literal["hard", "variance", "even"]


def weights(
    win_rate: Float[np.ndarray, " N"], weighting: Weighting, power: float = 2.0
) -> Float[np.ndarray, " N"]:
    """How much each opponent is worth meeting; `power` sharpens `hard`."""
    if not ((win_rate >= 0) & (win_rate <= 1)).all():
        raise ValueError(f"win rates lie between 0 and 1, got {win_rate}")
    if weighting == "hard":
        return (1 - win_rate) ** power
    if weighting == "variance":
        return win_rate * (1 - win_rate)
    return np.ones(len(win_rate))


def probabilities(
    win_rate: Float[np.ndarray, " N"], weighting: Weighting = "hard", power: float = 2.0
) -> Float[np.ndarray, " N"]:
    """How often to meet each of N opponents; they sum to 1, or are none where N is 0."""
    found = weights(win_rate, weighting, power)
    top = found.max(initial=0.0)
    found = found / top if top > 0 else np.ones(len(win_rate))
    return found / max(found.sum(), 1.0)  # the greatest is 1, so the sum is not below
