"""Whom a learner meets, and policies as values that can be sent to other processes."""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.env import SELF, Array, BatchedEnv, Observation


class Weights(NamedTuple):
    """A policy as plain values, fit to be sent to other processes."""

    shape: PolicyShape
    tensors: dict[str, Array]


def packed(policy: FactoredPolicy) -> Weights:
    """A copy of a policy's weights."""
    state = policy.state_dict().items()
    return Weights(policy.shape, {name: tensor.cpu().numpy().copy() for name, tensor in state})


def unpacked(weights: Weights) -> FactoredPolicy:
    """The inverse of `packed`."""
    policy = FactoredPolicy(weights.shape, seed=None)
    policy.load_state_dict({name: torch.from_numpy(x) for name, x in weights.tensors.items()})
    return policy.eval()


@dataclass(frozen=True)
class Opponent:
    """Somebody to meet: SELF, a frozen policy with its weights, or a scripted player by name."""

    name: str
    probability: float
    """Share of the matches; those of all opponents need not sum to 1."""
    weights: Weights | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.probability < float("inf"):
            raise ValueError(f"'{self.name}' cannot be met with probability {self.probability}")
        if self.name == SELF and self.weights is not None:
            raise ValueError(f"'{SELF}' is the learner itself and brings no weights")


def act_for(
    policy: FactoredPolicy,
    game: BatchedEnv,
    seen: Observation,
    which: Array,
    slot: Array,
    uniform: Array,
) -> None:
    """Let a policy choose in these matches, each from its slot; all chance lies in `uniform`."""
    observation, legal = (torch.from_numpy(part[which, slot]) for part in seen)
    options = policy.sample(observation, legal, torch.from_numpy(uniform))
    game.set_actions(which, slot, options.numpy())
