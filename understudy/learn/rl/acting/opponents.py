"""Whom a learner meets, and policies as values that can be sent to other processes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from understudy.data.own_code import OwnCode
from understudy.learn.cuda_graphs import sent
from understudy.learn.policy import Acted, FactoredPolicy, PolicyShape
from understudy.learn.rl.env import SELF, Array


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
    """Somebody to meet: SELF, a frozen policy with its weights, one that somebody brought with its
    code, or a scripted player by name."""

    name: str
    probability: float
    """Share of the matches; those of all opponents need not sum to 1."""
    weights: Weights | None = None
    code: OwnCode | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.probability < float("inf"):
            raise ValueError(f"'{self.name}' cannot be met with probability {self.probability}")
        if self.name == SELF and self.weights is not None:
            raise ValueError(f"'{SELF}' is the learner itself and brings no weights")


class PolicyPlayer:
    """A policy at play in N matches side by side, and what it remembers of each, slot by slot.

    A policy with neither memory nor plans needs no `begin`.
    """

    def __init__(
        self,
        policy: FactoredPolicy,
        matches: int,
        num_players: int,
        choose: "Choose | None" = None,
    ) -> None:
        """`choose`: how it acts, if not as the policy itself does."""
        self.device = policy.mean.device
        self.policy, self.choose = policy, choose or policy.act
        self.remembers = bool(policy.shape.memory or policy.shape.plans)
        self.memory = torch.zeros(matches, num_players, policy.shape.memory, device=self.device)
        self.plan = np.zeros((matches, num_players), np.int16)

    def begin(self, which: Array, slot: int, lot: Array) -> None:
        """Forget the matches in these places; the plans there are drawn by `lot`, of [0, 1)."""
        self.memory[torch.from_numpy(which).to(self.device), slot] = 0.0
        self.plan[which, slot] = plans_of(lot, self.policy.shape)

    def act(
        self, seen: Iterable[Array], uniform: Tensor, which: Array, slot: Array
    ) -> Int64[np.ndarray, "n H"]:
        """Choose in these matches, each from its slot, by what it is shown and what is legal there.

        All chance lies in `uniform`.
        """
        observation, legal = (sent(torch.from_numpy(x), self.device) for x in seen)
        if not self.remembers:
            blank = self.memory.new_zeros(len(which), 0)
            told = self.policy.with_usual(observation)
            return self.choose(told, legal, uniform, blank).action.cpu().numpy()
        places = tuple(torch.from_numpy(x).to(self.device) for x in (which, slot))
        plan = torch.from_numpy(self.plan[which, slot]).to(self.device)
        inputs = self.policy.with_plan(observation, plan)
        acted = self.choose(inputs, legal, uniform, self.memory[places])
        self.memory[places] = acted.memory
        return acted.action.cpu().numpy()

    def state(self) -> dict[str, Array]:
        """All it remembers."""
        return {"memory": self.memory.cpu().numpy().copy(), "plan": self.plan.copy()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Remember that; nothing, if it is another policy's by its shape."""
        if state["memory"].shape == tuple(self.memory.shape):
            self.memory.copy_(torch.from_numpy(state["memory"]))
            self.plan[:] = np.minimum(state["plan"], max(self.policy.shape.plans - 1, 0))


Choose = Callable[[Tensor, Tensor, Tensor, Tensor], Acted]
"""As `FactoredPolicy.act`."""


def plans_of(lot: Array, shape: PolicyShape) -> Array:
    """The number of the plan that each lot of [0, 1) draws."""
    return np.minimum(lot * shape.plans, max(shape.plans - 1, 0)).astype(np.int16)
