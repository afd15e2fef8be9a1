"""The rules: who wins a match of two styles and two answers, and how often.

First both choose a style, without seeing anything. Then both see the same riddle and answer. A
right answer is skill: it can be learnt, and helps against everybody. Styles stand in a circle: each
beats the one before it, and less surely the one before that, so that none is best. The log odds of
winning are EDGE times the sum of both, `share` of it by style.
"""

from typing import Final

import numpy as np

from understudy.data.arrays import Array

STYLES: Final = 5
ANSWERS: Final = 4
RIDDLES: Final = 8
EDGE: Final = 2.5
RIGHT: Final = np.array([(5 * riddle + riddle // 3) % ANSWERS for riddle in range(RIDDLES)])
"""The answer to each riddle."""
CIRCLE: Final = np.sin(2 * np.pi * (np.arange(STYLES)[:, None] - np.arange(STYLES)) / STYLES)
"""How much the row's style has over the column's, -1 to 1."""


def win_rate(share: float, style: Array, right: Array) -> Array:
    """Of the first player, where styles [... 2] meet, and whether answers [... 2] are right."""
    lead = share * CIRCLE[style[..., 0], style[..., 1]]
    lead = lead + (1 - share) * (right[..., 0].astype(float) - right[..., 1])
    rate: Array = 1 / (1 + np.exp(-EDGE * lead))
    return rate
