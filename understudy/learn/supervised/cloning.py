"""Behavioural cloning: do what was recorded, and foresee how it ended."""

from dataclasses import dataclass
from typing import ClassVar

from understudy.learn.base import Loss
from understudy.learn.policy import FactoredPolicy
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.objective import consider
from understudy.learn.supervised.sequences import Sequences


@dataclass(frozen=True)
class Cloning:
    """Copy the recorded choice; predict the outcome of the match on the side."""

    label_smoothing: float = 0.0
    """Share of the target spread evenly over a head's legal options. Up: less sure of itself."""
    value_weight: float = 0.1
    """Up: the hidden layers serve the forecast of the outcome more and the copying less."""

    by_outcome: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing must lie in [0, 1), got {self.label_smoothing}")
        if self.value_weight < 0:
            raise ValueError(f"value_weight must not be negative, got {self.value_weight}")

    def __call__(self, policy: FactoredPolicy, batch: Batch | Sequences) -> Loss:
        """Mean negative log-likelihood, summed over heads, plus the weighted error of the value."""
        seen = consider(policy, batch)
        log_loss = -seen.distribution.log_prob(seen.action).mean()
        imitation = log_loss
        if self.label_smoothing:
            evenly = -seen.distribution.mean_log_prob().mean()
            imitation = (1 - self.label_smoothing) * log_loss + self.label_smoothing * evenly
        value_error = seen.value_error()
        return Loss(
            imitation + self.value_weight * value_error,
            {"log_loss": log_loss, "value_error": value_error},
        )
