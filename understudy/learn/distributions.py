"""One choice per head among the legal options: log-probabilities, samples, entropy, divergence.

Axes: B decisions, H heads, O options of all heads side by side, M options of the largest head.
Inside, heads lie padded as [B H M], so that one torch call serves all of them.

A head in which nothing is legal has no say: all its options are then equally likely, whatever
the network thinks, and no gradient comes from it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from understudy.learn import compiled_heads

ILLEGAL = -1e9
"""Logit of an illegal option: its probability is exactly 0, yet 0 times it is not NaN."""


class MaskedCategorical(NamedTuple):
    """The distributions of B decisions."""

    log_probabilities: Float[Tensor, "B H M"]
    """About ILLEGAL, never minus infinity, for illegal options and for padding."""
    position: Int[Tensor, " O"]
    """Where each option lies in the padded [H M], flattened."""

    def log_prob_by_head(self, action: Int[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        """Log-probability of the option chosen in each head."""
        return self.log_probabilities.gather(2, action.long()[..., None])[..., 0]

    def log_prob(self, action: Int[Tensor, "B H"]) -> Float[Tensor, " B"]:
        """Log-probability of the whole choice."""
        return self.log_prob_by_head(action).sum(1)

    def mean_log_prob(self) -> Float[Tensor, " B"]:
        """Mean of the log-probabilities of a head's legal options, summed over heads."""
        legal = self._legal()
        total = torch.where(legal, self.log_probabilities, 0.0).sum(2)
        return (total / legal.sum(2)).sum(1)

    def probabilities(self) -> Float[Tensor, "B O"]:
        """Of every option; those of each head sum to one."""
        return self._shares().flatten(1).index_select(1, self.position)

    def entropy(self) -> Float[Tensor, " B"]:
        """In nats, summed over heads."""
        return self.entropy_by_head().sum(1)

    def entropy_by_head(self) -> Float[Tensor, "B H"]:
        """In nats."""
        return -(self._shares() * self.log_probabilities).sum(2)

    def kl(self, other: "MaskedCategorical") -> Float[Tensor, " B"]:
        """Divergence of `other` from these, KL(self || other), summed over heads."""
        return self.kl_by_head(other).sum(1)

    def kl_by_head(self, other: "MaskedCategorical") -> Float[Tensor, "B H"]:
        """The same of each head."""
        difference = self.log_probabilities - other.log_probabilities
        return (self._shares() * difference).sum(2)

    def best(self) -> Int[Tensor, "B H"]:
        """The most likely option of each head."""
        return self.log_probabilities.argmax(2)

    def sample(self, uniform: Float[Tensor, "B H"]) -> Int[Tensor, "B H"]:
        """The option into whose share of [0, 1] each of `uniform` falls; always a legal one.

        Rounding can leave a number above the sum of all shares: it means the last legal option.
        """
        passed = self._shares().cumsum(2) <= uniform[..., None]
        number = torch.arange(passed.shape[2], device=uniform.device)
        last = torch.where(self._legal(), number, -1).amax(2)
        return torch.minimum(passed.sum(2), last)

    def _shares(self) -> Float[Tensor, "B H M"]:
        """Probabilities; exactly 0 below e^-80.

        Clamped first, because torch takes ten times as long where the result is 0 or denormal.
        """
        return self.log_probabilities.clamp(min=-80.0).exp() * (self.log_probabilities > -80.0)

    def _legal(self) -> Bool[Tensor, "B H M"]:
        return self.log_probabilities > ILLEGAL / 2


class Judged(NamedTuple):
    """What the heads say of N actions that were taken."""

    log_prob: Float[Tensor, "N H"]
    entropy: Float[Tensor, "N H"]
    """In nats."""
    kl: Float[Tensor, "N H"] | None
    """Forward divergence KL(teacher || these); None without a teacher."""


class Layout(nn.Module):
    """How the options of several heads lie side by side, and padded. Nothing in it is trained."""

    position: Int[Tensor, " O"]
    largest: Float[Tensor, " H"]
    """The largest entropy a head can have."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        if not sizes or min(sizes) < 1:
            raise ValueError(f"every head needs an option, got {list(sizes)}")
        self.heads, self.width = len(sizes), max(sizes)
        real = torch.arange(self.width) < torch.tensor(sizes)[:, None]
        self.register_buffer("position", real.flatten().nonzero()[:, 0], persistent=False)
        # A head of one option has no entropy at all; 2 only keeps it from dividing by 0.
        largest = torch.tensor(sizes).clamp(min=2).to(torch.float64).log()
        self.register_buffer("largest", largest, persistent=False)
        self.borders = np.cumsum([0, *sizes])

    def distribution(
        self, logits: Float[Tensor, "B O"], legal: Bool[Tensor, "B O"]
    ) -> MaskedCategorical:
        """A softmax over the legal options of each head."""
        allowed = logits.masked_fill(~legal, ILLEGAL)
        # Padding lies below even the illegal: it stays at 0 where a head has nothing legal.
        padding = logits.new_full((len(logits), self.heads * self.width), 2 * ILLEGAL)
        padded = padding.scatter(1, self.position.expand_as(logits), allowed)
        by_head = padded.view(len(logits), self.heads, self.width)
        return MaskedCategorical(by_head.log_softmax(2), self.position)

    def as_share(self, entropy: Float[Tensor, "N H"]) -> Float[Tensor, "N H"]:
        """The entropy as a share of the largest a head can have; 1 is pure chance."""
        return entropy / self.largest.to(entropy.dtype)

    def decides(self, legal: Bool[Tensor, "... O"], head: int) -> Bool[Tensor, "..."]:
        """Where a head, counted from 0, has more than one option."""
        return legal[..., self.borders[head] : self.borders[head + 1]].sum(-1) > 1

    def sample(
        self,
        logits: Float[Tensor, "O B"],
        legal: Bool[Tensor, "B O"],
        uniform: Float[Tensor, "B H"],
    ) -> tuple[Int[Tensor, "B H"], Float[Tensor, "B H"]]:
        """As `MaskedCategorical.sample`, with log-probabilities by head; logits options first."""
        if _is_compiled(logits):
            return compiled_heads.sample(logits, legal, uniform, self.borders)
        distribution = self.distribution(logits.T, legal)
        action = distribution.sample(uniform)
        return action, distribution.log_prob_by_head(action)

    def judge(
        self,
        logits: Float[Tensor, "O B"],
        legal: Bool[Tensor, "B O"],
        action: Int[Tensor, "B H"],
        *,
        teacher: Float[Tensor, "O B"] | None = None,
    ) -> Judged:
        """Log-probabilities of what was done, entropies, and the divergence from a teacher.

        Logits lie options first. Gradients flow into `logits` alone.
        """
        if _is_compiled(logits):
            log_prob, entropy, kl = compiled_heads.Judge.apply(  # type: ignore[no-untyped-call]
                logits, teacher, legal, action, self.borders
            )
            return Judged(log_prob, entropy, None if teacher is None else kl)
        own = self.distribution(logits.T, legal)
        kl = (
            None
            if teacher is None
            else self.distribution(teacher.T.detach(), legal).kl_by_head(own)
        )
        return Judged(own.log_prob_by_head(action), own.entropy_by_head(), kl)


def _is_compiled(logits: Tensor) -> bool:
    """Whether the compiled pass serves them; torch does what it does not."""
    return logits.device.type == "cpu" and logits.dtype == torch.float32
