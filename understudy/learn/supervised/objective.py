"""What learning from samples minimises: settings that can be called, and what they look at."""

from dataclasses import Field
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import mse_loss

from understudy.learn.base import Loss
from understudy.learn.distributions import MaskedCategorical
from understudy.learn.policy import FactoredPolicy, Output
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.sequences import Sequences


class Considered(NamedTuple):
    """N recorded decisions that count, and what a policy says of them. H heads, O options."""

    distribution: MaskedCategorical
    """Over the options that were legal."""
    value: Float[Tensor, " N"]
    """The outcome it expects."""
    action: Int[Tensor, "N H"]
    legal: Bool[Tensor, "N O"]
    outcome: Float[Tensor, " N"]
    """Not a number where nobody knows how the match ended."""

    def value_error(self) -> Tensor:
        """Mean squared error of the value, over the decisions whose outcome is known."""
        known = self.outcome.isfinite()
        target = torch.where(known, self.outcome, self.value.detach())
        # With all known the factor is exactly 1; with none there is no error at all.
        return mse_loss(self.value, target) * (len(known) / known.sum().clamp(min=1))

    def advantage(self) -> Tensor:
        """How much better it ended than expected; 0, neither better nor worse, if unknown."""
        surprise = self.outcome - self.value.detach()
        return torch.where(self.outcome.isfinite(), surprise, torch.zeros_like(surprise))


def consider(policy: FactoredPolicy, batch: Batch | Sequences) -> Considered:
    """What a policy says of single decisions, or of sequences that it follows step by step.

    It comes to a sequence without any memory. Where that is not so in play, in the middle of a
    match, the steps that lead up to it bring the memory near to where it would be, and gradients
    flow through them too; from the match's beginning on it is exactly what play has.
    """
    if isinstance(batch, Batch):
        output: Output = policy(batch.observation)
        distribution = policy.layout.distribution(output.logits, batch.legal)
        return Considered(distribution, output.value, batch.action, batch.legal, batch.outcome)
    nothing = batch.observation.new_zeros(batch.observation.shape[1], policy.shape.memory)
    hidden = policy.unroll(batch.observation, batch.first, nothing)[0][batch.counts]
    action, legal, outcome = (x[batch.counts] for x in (batch.action, batch.legal, batch.outcome))
    distribution = policy.layout.distribution(policy.options(hidden), legal)
    return Considered(distribution, policy.value(hidden), action, legal, outcome)


@runtime_checkable
class Objective(Protocol):
    """A frozen dataclass that turns a policy and a batch into a loss."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    by_outcome: ClassVar[bool]
    """Whether it can learn only where outcomes differ."""

    def __call__(self, policy: FactoredPolicy, batch: Batch | Sequences) -> Loss:
        """The mean loss of what counts in the batch."""
        ...
