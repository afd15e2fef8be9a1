"""How well a policy predicts recorded choices, beside what needs no network at all."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from understudy.learn.policy import FactoredPolicy
from understudy.learn.supervised.dataset import Batches
from understudy.learn.supervised.objective import Considered, Objective, consider
from understudy.learn.supervised.sequences import SequenceBatches

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
    rows: Batches,
    counts: Int[np.ndarray, " O"],
    matches: SequenceBatches | None = None,
) -> Score:
    """Score a policy on a split; `counts` says how often each option was chosen in training.

    One that remembers is shown the same rows as whole `matches`, so it knows what it would in play.
    """
    share = torch.from_numpy(counts / counts.sum()).to(policy.mean)
    loss, totals = 0.0, torch.zeros(4, len(policy.shape.heads), dtype=torch.float64)
    for batch in rows.in_order(_ROWS) if matches is None else matches.in_order(matches.batch_size):
        seen = consider(policy, batch)
        loss += objective(policy, batch).value.item() * len(seen.action)
        totals += torch.stack([*_by_head(policy, seen, share)]).cpu()
    means = (totals / rows.rows).T.tolist()
    heads = {head: HeadScore(*row) for head, row in zip(policy.shape.heads, means, strict=True)}
    return Score(rows.rows, rows.forbidden, loss / rows.rows, heads)


def _by_head(
    policy: FactoredPolicy, seen: Considered, share: Float[Tensor, " O"]
) -> Iterator[Float[Tensor, " H"]]:
    """Sums over decisions, in the order of `HeadScore`'s fields."""
    anything: Bool[Tensor, "N O"] = torch.ones_like(seen.legal)
    shares = share.expand_as(seen.legal)
    for guess in (
        seen.distribution.best(),
        policy.layout.distribution(shares, anything).best(),
        policy.layout.distribution(shares, seen.legal).best(),
    ):
        yield (guess == seen.action).sum(0).double()
    yield -seen.distribution.log_prob_by_head(seen.action).sum(0).double()
