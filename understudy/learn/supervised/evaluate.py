"""How well a policy predicts recorded choices, beside what needs no network at all."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from understudy.learn.policy import FactoredPolicy
from understudy.learn.supervised.dataset import Batch, Batches
from understudy.learn.supervised.objective import Objective

_ROWS = 4096  # at a time


@dataclass(frozen=True)
class HeadScore:
    """How one head fares on one split."""

    accuracy: float
    """Share of rows whose recorded option is the policy's most likely one."""
    majority: float
    """The same for always choosing the option most frequent in the training split."""
    majority_legal: float
    """The same for choosing the most frequent of the options legal in the row."""
    log_loss: float
    """Mean negative log-probability of the recorded option, in nats."""


@dataclass(frozen=True)
class Score:
    """How a policy fares on one split."""

    rows: int
    forbidden: int
    """Recorded choices that the rules forbid: many of them cast doubt on the encoder."""
    loss: float
    heads: dict[str, HeadScore]

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def metrics(self, split: str) -> dict[str, float]:
        """Flat, as they are logged: `SPLIT/loss`, `SPLIT/accuracy/HEAD`, ..."""
        flat = {f"{split}/loss": self.loss}
        for head, score in self.heads.items():
            flat |= {f"{split}/{name}/{head}": value for name, value in asdict(score).items()}
        return flat


@torch.no_grad()
def evaluate(
    policy: FactoredPolicy,
    objective: Objective,
    batches: Batches,
    counts: Int[np.ndarray, " O"],
) -> Score:
    """Score a policy on a split; `counts` says how often each option was chosen in training."""
    share = torch.from_numpy(counts / counts.sum()).to(policy.mean)
    loss, totals = 0.0, torch.zeros(4, len(policy.shape.heads), dtype=torch.float64)
    for batch in batches.in_order(_ROWS):
        loss += objective(policy, batch).value.item() * len(batch.action)
        totals += torch.stack([*_by_head(policy, batch, share)]).cpu()
    means = (totals / batches.rows).T.tolist()
    heads = {head: HeadScore(*row) for head, row in zip(policy.shape.heads, means, strict=True)}
    return Score(batches.rows, batches.forbidden, loss / batches.rows, heads)


def _by_head(
    policy: FactoredPolicy, batch: Batch, share: Float[Tensor, " O"]
) -> Iterator[Float[Tensor, " H"]]:
    """Sums over the batch, in the order of `HeadScore`'s fields."""
    distribution = policy.distribution(batch.observation, batch.legal)
    anything: Bool[Tensor, "B O"] = torch.ones_like(batch.legal)
    shares = share.expand_as(batch.legal)
    for guess in (
        distribution.best(),
        policy.layout.distribution(shares, anything).best(),
        policy.layout.distribution(shares, batch.legal).best(),
    ):
        yield (guess == batch.action).sum(0).double()
    yield -distribution.log_prob_by_head(batch.action).sum(0).double()
