"""What objectives of reinforcement learning have in common: their interface, and two restraints."""

from collections.abc import Mapping
from dataclasses import Field
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from understudy.learn.base import Loss
from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.actor_critic import ActorCritic, ActorCriticOutput
from understudy.learn.rl.trajectories import Trajectories


@runtime_checkable
class OnlineObjective(Protocol):
    """A frozen dataclass that turns a learner and some sequences of play into a loss."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def kl_weight(self) -> float:
        """Of the divergence from the teacher."""
        ...

    def __call__(self, actor_critic: ActorCritic, play: Trajectories) -> Loss:
        """The mean loss of the steps that count."""
        ...


def mean_of(
    values: Float[Tensor, "T B"], counts: Bool[Tensor, "T B"] | Float[Tensor, "T B"]
) -> Float[Tensor, ""]:
    """Over the steps that count; 0 where none does."""
    weight = counts.to(values.dtype)
    return (values * weight).sum() / weight.sum().clamp(min=1)


def sum_of_heads(
    by_head: Float[Tensor, "T B H"],
    play: Trajectories,
    policy: FactoredPolicy,
    own: Mapping[str, float],
) -> Float[Tensor, ""]:
    """The sum over heads of their means over the steps that count.

    The mean of a head in `own` is over its decisions alone, the steps in which it has more than one
    option, times its factor. Else a restraint on a choice that is made once in a hundred steps
    would be a hundredth of that on others, though far more of the match may depend on it.
    """
    heads, rest = tuple(policy.shape.heads), by_head.sum(2)
    parts = list[Tensor]()
    for name, factor in own.items():
        if name not in heads:
            raise ValueError(f"there is no head '{name}'; there is {', '.join(heads)}")
        place = heads.index(name)
        decided = play.counts & policy.layout.decides(play.legal, place)
        parts.append(factor * mean_of(by_head[..., place], decided))
        rest = rest - by_head[..., place]
    return mean_of(rest, play.counts) + sum(parts)


def value_error(output: ActorCriticOutput, target: Float[Tensor, "T B"]) -> Float[Tensor, "T B"]:
    """Half the squared error; beside a critic, the policy's own guess learns the same."""
    error = 0.5 * (output.value - target).square()
    if output.forecast is None:
        return error
    return error + 0.5 * (output.forecast - target).square()


def effective_samples(
    log_ratio: Float[Tensor, "T B"], counts: Bool[Tensor, "T B"]
) -> Float[Tensor, ""]:
    """The effective sample size of weighted play, as a share of the steps that count.

    1: the policy that played is the one that learns. Near 0: a few steps outweigh all others (Kong
    1992), and neither clipping nor patience helps: the play is too old or the steps too large.
    """
    weight = torch.where(counts, log_ratio, -torch.inf)
    weight = (weight - weight.max()).exp()  # a common factor changes nothing
    return weight.sum().square() / weight.square().sum() / counts.sum().clamp(min=1)


def require_not_negative(objective: Any, *names: str) -> None:
    """ValueError for a weight below 0, or a head's factor."""
    for name in names:
        if getattr(objective, name) < 0:
            raise ValueError(f"{name} must not be negative, got {getattr(objective, name)}")
    for name in ("entropy_by_head", "kl_by_head"):
        if any(factor < 0 for factor in getattr(objective, name).values()):
            raise ValueError(f"{name} must not be negative, got {getattr(objective, name)}")
