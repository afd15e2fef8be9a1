"""What objectives of reinforcement learning have in common: their interface, and two restraints."""

from collections.abc import Mapping
from dataclasses import Field
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from understudy.learn.base import Loss
from understudy.learn.distributions import MaskedCategorical
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


def value_error(output: ActorCriticOutput, target: Float[Tensor, "T B"]) -> Float[Tensor, "T B"]:
    """Half the squared error; beside a critic, the policy's own guess learns the same."""
    error = 0.5 * (output.value - target).square()
    if output.forecast is None:
        return error
    return error + 0.5 * (output.forecast - target).square()


def kl_from_teacher(teacher: MaskedCategorical, student: MaskedCategorical) -> Float[Tensor, " N"]:
    """Forward divergence KL(teacher || student), summed over heads.

    Forward: the student may add what the teacher never does, but is kept from giving up what the
    teacher does often.
    """
    return teacher.kl(student)


def normalised_entropy(
    distribution: MaskedCategorical, heads: Mapping[str, int]
) -> Float[Tensor, " N"]:
    """Mean over heads of the entropy as a share of the largest possible; 1 is pure chance."""
    sizes = torch.tensor(list(heads.values()), device=distribution.log_probabilities.device)
    largest = sizes.clamp(min=2).to(distribution.log_probabilities.dtype).log()
    return (distribution.entropy_by_head() / largest).mean(1)


def require_not_negative(objective: Any, *names: str) -> None:
    """ValueError for a weight below 0."""
    for name in names:
        if getattr(objective, name) < 0:
            raise ValueError(f"{name} must not be negative, got {getattr(objective, name)}")
