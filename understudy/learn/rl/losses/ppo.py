"""Proximal policy optimisation (Schulman et al. 2017, arXiv:1707.06347), clipped, with GAE."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from understudy.learn.base import Loss
from understudy.learn.rl.actor_critic import ActorCritic
from understudy.learn.rl.losses.common import (
    effective_samples,
    mean_of,
    require_not_negative,
    sum_of_heads,
    value_error,
)
from understudy.learn.rl.returns import gae
from understudy.learn.rl.trajectories import Trajectories


@dataclass(frozen=True)
class PPO:
    """Do more of what went better than foreseen, but not much more at once."""

    clip: float = 0.2
    """How far the ratio to the policy that played may move. Up: larger steps, less steady."""
    lambda_: float = 0.95
    """Lambda of the advantages. Down: less noise, more error from the value."""
    normalise: bool = True
    """Bring the advantages of a batch to mean 0 and spread 1."""
    value_weight: float = 0.5
    """Of the value's error. Up: the value learns faster than the policy."""
    kl_weight: float = 0.0
    """Up: stays nearer to the teacher."""
    entropy_weight: float = 0.0
    """Up: keeps trying other options."""
    entropy_by_head: Mapping[str, float] = field(default_factory=dict)
    """Heads whose entropy counts per decision they take, not per step, so many times: for a choice
    that is made once a match, and would else settle on one option. Up: stays mixed."""
    kl_by_head: Mapping[str, float] = field(default_factory=dict)
    """The same of the divergence from the teacher, or from the magnet of a league."""

    def __post_init__(self) -> None:
        require_not_negative(self, "value_weight", "kl_weight", "entropy_weight")
        if self.clip <= 0:
            raise ValueError(f"clip must be above 0, got {self.clip}")
        if not 0 <= self.lambda_ <= 1:
            raise ValueError(f"lambda_ must lie in [0, 1], got {self.lambda_}")

    def __call__(self, actor_critic: ActorCritic, play: Trajectories) -> Loss:
        """The clipped surrogate, the error of the value, and the restraints."""
        output = actor_critic.evaluate_actions(play, ask_teacher=self.kl_weight > 0)
        counts, value = play.counts, output.value.detach()
        policy, heads = actor_critic.policy, play.action.shape[2]
        advantage = gae(
            play.reward,
            play.discount,
            value,
            output.bootstrap,
            lambda_=self.lambda_,
            truncated=play.truncated,
        )
        target = advantage + value
        if self.normalise:
            advantage = normalised(advantage, counts)
        log_ratio = (output.log_prob - play.log_prob).sum(2)
        ratio = log_ratio.exp()
        bounded = ratio.clamp(1 - self.clip, 1 + self.clip)
        surrogate = torch.minimum(ratio * advantage, bounded * advantage)
        parts = {
            "policy": -mean_of(surrogate, counts),
            "value": mean_of(value_error(output, target), counts),
            "entropy": sum_of_heads(output.entropy, play, policy, self.entropy_by_head) / heads,
        }
        loss = parts["policy"] + self.value_weight * parts["value"]
        loss = loss - self.entropy_weight * parts["entropy"]
        if output.kl is not None:
            parts["kl"] = sum_of_heads(output.kl, play, policy, self.kl_by_head)
            loss = loss + self.kl_weight * parts["kl"]
        size = effective_samples(log_ratio.detach(), counts)
        return Loss(loss, parts | {"effective_samples": size})


def normalised(
    advantage: Float[Tensor, "T B"], counts: Bool[Tensor, "T B"]
) -> Float[Tensor, "T B"]:
    """With mean 0 and spread 1 over the steps that count."""
    centred = advantage - mean_of(advantage, counts)
    return centred / (mean_of(centred.square(), counts).sqrt() + 1e-8)
