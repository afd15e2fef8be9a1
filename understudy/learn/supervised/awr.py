"""Advantage-weighted regression: copy recordings, the more firmly the better they turned out."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from jaxtyping import Float
from torch import Tensor

from understudy.learn.base import Loss
from understudy.learn.policy import FactoredPolicy
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.objective import consider
from understudy.learn.supervised.sequences import Sequences


class Weights(NamedTuple):
    """How much each of B decisions counts; 1 on average."""

    weight: Float[Tensor, " B"]
    clipped: Float[Tensor, ""]
    """The share of decisions held down by the cap."""


def advantage_weights(
    advantage: Float[Tensor, " B"], temperature: float, weight_max: float
) -> Weights:
    """exp(advantage / temperature), capped, then brought to mean 1 (Peng et al. 2019)."""
    weight = (advantage / temperature).exp().clamp(max=weight_max)
    return Weights(weight / weight.mean(), (weight >= weight_max).float().mean())


@dataclass(frozen=True)
class AdvantageWeighted:
    """Clone by advantage (AWR: Peng et al. 2019, arXiv:1910.00177).

    The advantage of a decision is the outcome of its match less the outcome that the policy's own
    value head expected there. That head learns from the same rows: once it knows them by heart,
    every advantage is 0 and this is cloning again. So begin with a clone, whose value has learnt
    already, and take few, small steps. Where the outcome is unknown it is plain cloning.
    """

    temperature: float = 0.5
    """In units of the outcome. Down: only what went better than expected is copied; up: cloning."""
    weight_max: float = 20.0
    """Cap of a weight before they are brought to mean 1. Down: one lucky match counts for less."""
    value_weight: float = 0.1
    """Up: the hidden layers serve the forecast of the outcome more and the copying less."""

    by_outcome: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        if self.weight_max <= 0:
            raise ValueError(f"weight_max must be above 0, got {self.weight_max}")
        if self.value_weight < 0:
            raise ValueError(f"value_weight must not be negative, got {self.value_weight}")

    def __call__(self, policy: FactoredPolicy, batch: Batch | Sequences) -> Loss:
        """Mean weighted negative log-likelihood, plus the weighted error of the value."""
        seen = consider(policy, batch)
        log_prob = seen.distribution.log_prob(seen.action)
        # The value learns by its own error alone, never by making weights small.
        weight, clipped = advantage_weights(seen.advantage(), self.temperature, self.weight_max)
        imitation = -(weight * log_prob).mean()
        value_error = seen.value_error()
        return Loss(
            imitation + self.value_weight * value_error,
            {
                "log_loss": -log_prob.mean(),
                "weighted_log_loss": imitation,
                "value_error": value_error,
                "clipped": clipped,
                # Of how many equally weighted rows a batch is worth (Kish), as a share.
                "effective": weight.mean().square() / weight.square().mean(),
            },
        )
