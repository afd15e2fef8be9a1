"""AlphaStar's objective: V-trace policy gradient, TD(lambda) value, UPGO, a teacher, entropy.

Vinyals et al. 2019 (doi:10.1038/s41586-019-1724-z). Five parts, each with its own weight, each
logged. The published pseudocode takes the divergence and the entropy of the logits that *played*,
which have no gradient, and adds objectives to a loss with the wrong sign; here both are of the
policy as it is now, and all signs are those of a loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from understudy.learn.base import Loss
from understudy.learn.rl.actor_critic import ActorCritic, ActorCriticOutput
from understudy.learn.rl.losses.common import (
    effective_samples,
    mean_of,
    require_not_negative,
    sum_of_heads,
    value_error,
)
from understudy.learn.rl.returns import lambda_returns, upgo, vtrace
from understudy.learn.rl.trajectories import Trajectories


@dataclass(frozen=True)
class OffPolicy:
    """Learn from play of slightly older policies."""

    groups: tuple[tuple[str, ...], ...] = ()
    """Heads that are weighed together. None given: each head by itself. Finer groups: ratios
    nearer to 1, so less is clipped away, but heads that hang together are judged apart."""
    lambda_: float = 1.0
    """Lambda of V-trace. Down: advantages lean on the value, less noise, more error."""
    rho_max: float = 1.0
    """Where the ratio of one decision is clipped. Up: less error, more noise."""
    c_max: float = 1.0
    """Where ratios that are handed back in time are clipped. Up: less error, more noise from what
    is rarely done."""
    policy_weight: float = 1.0
    """Of the policy gradient beside the other parts."""
    upgo_weight: float = 1.0
    """Up: repeats what once went better than foreseen."""
    value_weight: float = 10.0
    """Of the value's error. Up: the value learns faster than the policy."""
    value_lambda: float = 0.8
    """Lambda of the value's targets; these are not corrected for who played."""
    kl_weight: float = 2e-3
    """Up: stays nearer to the teacher."""
    entropy_weight: float = 1e-4
    """Up: keeps trying other options."""
    entropy_by_head: Mapping[str, float] = field(default_factory=dict)
    """Heads whose entropy counts per decision they take, not per step, so many times: for a choice
    that is made once a match, and would else settle on one option. Up: stays mixed."""
    kl_by_head: Mapping[str, float] = field(default_factory=dict)
    """The same of the divergence from the teacher, or from the magnet of a league."""

    def __post_init__(self) -> None:
        weights = ("policy_weight", "upgo_weight", "value_weight", "kl_weight", "entropy_weight")
        require_not_negative(self, *weights, "rho_max", "c_max")
        for name in ("lambda_", "value_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {getattr(self, name)}")

    def __call__(self, actor_critic: ActorCritic, play: Trajectories) -> Loss:
        """The weighted sum of the five parts."""
        output = actor_critic.evaluate_actions(play, ask_teacher=self.kl_weight > 0)
        counts, policy, heads = play.counts, actor_critic.policy, play.action.shape[2]
        parts, metrics = self._policy_parts(actor_critic, play, output)
        target = lambda_returns(
            *_scene(play, output), lambda_=self.value_lambda, truncated=play.truncated
        )
        parts |= {
            "value": mean_of(value_error(output, target), counts),
            "entropy": sum_of_heads(output.entropy, play, policy, self.entropy_by_head) / heads,
        }
        loss = (
            self.policy_weight * parts["policy"]
            + self.upgo_weight * parts["upgo"]
            + self.value_weight * parts["value"]
            - self.entropy_weight * parts["entropy"]
        )
        if output.kl is not None:
            parts["kl"] = sum_of_heads(output.kl, play, policy, self.kl_by_head)
            loss = loss + self.kl_weight * parts["kl"]
        return Loss(loss, parts | metrics)

    def _policy_parts(
        self, actor_critic: ActorCritic, play: Trajectories, output: ActorCriticOutput
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """V-trace and UPGO, summed over groups; and what to log of them."""
        heads, log_prob = tuple(actor_critic.policy.shape.heads), output.log_prob
        member = _membership(self.groups, heads, log_prob.dtype, log_prob.device)
        log_prob = log_prob @ member
        log_ratio = log_prob.detach() - play.log_prob @ member
        reward, discount, value, bootstrap = _scene(play, output)
        shape = log_ratio.shape

        def widened(x: Tensor) -> Tensor:
            """Once per group, groups side by side."""
            return x[..., None].expand(*x.shape, shape[2]).flatten(-2)

        advantage = vtrace(
            log_ratio.flatten(1),
            *(widened(x) for x in (reward, discount, value, bootstrap)),
            lambda_=self.lambda_,
            rho_max=self.rho_max,
            c_max=self.c_max,
            truncated=widened(play.truncated),
        ).advantage.view(shape)
        upgoing = upgo(reward, discount, value, bootstrap, truncated=play.truncated) - value
        ratio = log_ratio.exp()
        weighted = ratio.clamp(max=self.rho_max) * upgoing[..., None]
        parts = {
            "policy": mean_of(-(advantage * log_prob).sum(2), play.counts),
            "upgo": mean_of(-(weighted * log_prob).sum(2), play.counts),
        }
        return parts, {
            "effective_samples": effective_samples(log_ratio.sum(2), play.counts),
            "advantage_size": mean_of(advantage.abs().mean(2), play.counts),
        }


@cache  # made once: a recorded update may not bring anything from main memory
def _membership(
    groups: tuple[tuple[str, ...], ...],
    heads: tuple[str, ...],
    dtype: torch.dtype,
    device: torch.device,
) -> Float[Tensor, "H G"]:
    """1 where a head belongs to a group; without groups each head is one."""
    groups = groups or tuple((head,) for head in heads)
    if sorted(head for group in groups for head in group) != sorted(heads):
        raise ValueError(f"groups must hold each of {', '.join(heads)} once, got {groups}")
    member = [[float(head in group) for group in groups] for head in heads]
    return torch.tensor(member, dtype=dtype, device=device)


def _scene(
    play: Trajectories, output: ActorCriticOutput
) -> tuple[Float[Tensor, "T B"], Float[Tensor, "T B"], Float[Tensor, "T B"], Float[Tensor, " B"]]:
    """What every kind of return is made from."""
    return play.reward, play.discount, output.value.detach(), output.bootstrap
