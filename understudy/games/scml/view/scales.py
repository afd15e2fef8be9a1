"""How numbers are brought to the scale of the networks, compiled: see `features.py`."""

from typing import Final

from understudy.games.scml.domain import HORIZON
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view.features import MOST

CROWD: Final = 6.0
"""The most factories of a level in the league."""
AHEAD: Final = float(HORIZON)
"""Days ahead in the Standard track."""


@kernel
def cut(value):  # type: ignore[no-untyped-def]
    """Within what a network can take."""
    return min(max(value, -MOST), MOST)


@kernel
def position_in(price, low, high):  # type: ignore[no-untyped-def]
    """0 lowest, 1 highest; the middle where there is no choice."""
    if high <= low:
        return 0.5
    return min(max((price - low) / (high - low), 0.0), 1.0)
