"""Learning rates that fall in stages, in whatever training."""

import math


def stage(rate_stages: tuple[float, ...], done: float) -> float:
    """The factor of the stage in which such a part of the training, of 1, is done."""
    return rate_stages[min(len(rate_stages) - 1, int(done * len(rate_stages)))]


def require_stages(rate_stages: tuple[float, ...], keep_every: int) -> None:
    """ValueError for stages that are none, or for weights that cannot be kept so often."""
    if any(not 0 < one < math.inf for one in rate_stages):
        raise ValueError(f"rate_stages must be above 0, got {rate_stages}")
    if keep_every < 0:
        raise ValueError(f"keep_every must be at least 0, got {keep_every}")
