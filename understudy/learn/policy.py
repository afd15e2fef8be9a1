"""A policy of several heads, and its weights on disk.

Axes: B decisions, F features, I inputs (features, and beside them the plan of a match where there
are plans), M numbers of memory, H heads, O options of all heads side by side, T steps of a
sequence. Weights lie in a safetensors file, which holds numbers and text only: loading it runs no
code.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from understudy.data.files import writing
from understudy.data.integrity.seals import BLANK, KEY, is_broken_file, sealed
from understudy.data.runs import WEIGHTS
from understudy.data.samples import Decisions
from understudy.errors import InputError
from understudy.learn.checkpoint import no_number
from understudy.learn.distributions import Layout, MaskedCategorical
from understudy.learn.networks import GRU, linear, mlp
from understudy.learn.policy_shape import SHAPE_KEY as SHAPE_KEY
from understudy.learn.policy_shape import PolicyShape as PolicyShape
from understudy.learn.policy_shape import difference

_NOW = {"spread": "std"}  # tensors of weights written under another name before


class Output(NamedTuple):
    """What the network says of B observations."""

    logits: Float[Tensor, "B O"]
    value: Float[Tensor, " B"]
    """The outcome it expects."""


class Acted(NamedTuple):
    """What a policy chose, and what it remembers after that."""

    action: Int[Tensor, "B H"]
    log_prob: Float[Tensor, "B H"]
    memory: Float[Tensor, "B M"]


class FactoredPolicy(nn.Module):
    """Chooses one option in each head, independently given what it sees and remembers.

    Inputs are the features and, where it plays by plans, the plan of the match (`with_plan`). A
    memory of M = 0 numbers is none: then every decision stands alone.
    """

    mean: Float[Tensor, " I"]
    std: Float[Tensor, " I"]
    """Of each input in training; inputs are brought to mean 0 and spread 1: it learns faster."""
    table: Float[Tensor, "P L"]
    """The plans: at first each a unit vector, or statistics of recorded matches (`set_plans`)."""

    def __init__(self, shape: PolicyShape, seed: int | None = 0) -> None:
        """First weights drawn from `seed`; None leaves them 0, to be loaded."""
        super().__init__()
        self.shape = shape
        self.layout = Layout(tuple(shape.heads.values()))
        inputs = len(shape.features) + shape.plan_width
        self.register_buffer("mean", torch.zeros(inputs))
        self.register_buffer("std", torch.ones(inputs))
        if shape.plans:
            self.register_buffer("table", torch.eye(shape.plans, shape.plan_width))
        drawn = None if seed is None else torch.Generator().manual_seed(seed)
        width = (inputs, *shape.hidden)[-1]
        self.torso = mlp(inputs, shape.hidden, generator=drawn)
        # Small first logits: an untrained policy tries every legal option about equally often.
        self.options = linear(width, sum(shape.heads.values()), gain=0.01, generator=drawn)
        self.outcome = linear(width, 1, gain=1.0, generator=drawn)
        if shape.memory:
            self.core = GRU(width, shape.memory, generator=drawn)
            # Nothing at first: with a memory added, a policy plays on as it did without.
            self.recalled = linear(shape.memory, width, gain=0.0, generator=None)

    def forward(self, observation: Float[Tensor, "B I"]) -> Output:
        """Logits of every option, and the expected outcome, of decisions that stand alone."""
        hidden = self.hidden(observation)
        return Output(self.options(hidden), self.outcome(hidden)[:, 0])

    def hidden(self, observation: Float[Tensor, "B I"]) -> Float[Tensor, "B W"]:
        """What it makes of single observations."""
        if self.shape.memory:
            raise ValueError("this policy has a memory: its decisions hang together, so unroll it")
        return self._torso(observation)

    def unroll(
        self,
        observation: Float[Tensor, "T B I"],
        first: Bool[Tensor, "T B"],
        memory: Float[Tensor, "B M"],
    ) -> tuple[Float[Tensor, "T B W"], Float[Tensor, "B M"]]:
        """What it makes of sequences, and what it remembers after the last step.

        `first` marks where a match begins and the one before is forgotten.
        """
        hidden = self._torso(observation)
        if not self.shape.memory:
            return hidden, memory
        after = self.core(hidden, memory, first)
        return hidden + self.recalled(after), after[-1]

    def _torso(self, observation: Float[Tensor, "*B I"]) -> Float[Tensor, "*B W"]:
        result: Tensor = self.torso((observation - self.mean) / self.std)
        return result

    def logits(self, hidden: Float[Tensor, "N W"]) -> Float[Tensor, "O N"]:
        """Options first: see `distributions.Layout.judge`."""
        return torch.addmm(self.options.bias[:, None], self.options.weight, hidden.T)

    def value(self, hidden: Float[Tensor, "N W"]) -> Float[Tensor, " N"]:
        """The outcome it expects."""
        value: Tensor = self.outcome(hidden)
        return value[:, 0]

    def with_plan(
        self, observation: Float[Tensor, "*B F"], plan: Int[Tensor, "*B"]
    ) -> Float[Tensor, "*B I"]:
        """Inputs: features, those not told as usual, and beside them the plan of that number."""
        told = self.with_usual(observation)
        return torch.cat([told, self.table[plan.long()]], -1) if self.shape.plans else told

    def with_usual(self, observation: Float[Tensor, "*B F"]) -> Float[Tensor, "*B K"]:
        """All features; those that ride in extras, which play does not tell, at their mean."""
        known, told = len(self.shape.features), observation.shape[-1]
        if told >= known:
            return observation
        rest = self.mean[told:known].expand(*observation.shape[:-1], known - told)
        return torch.cat([observation, rest], -1)

    @torch.no_grad()
    def act(
        self,
        inputs: Float[Tensor, "B I"],
        legal: Bool[Tensor, "B O"],
        uniform: Float[Tensor, "B H"],
        memory: Float[Tensor, "B M"],
    ) -> Acted:
        """Draw legal options; all chance lies in `uniform`, numbers from [0, 1]."""
        hidden = self._torso(inputs)
        if self.shape.memory:
            first = torch.zeros(1, len(inputs), dtype=torch.bool, device=inputs.device)
            memory = self.core(hidden[None], memory, first)[0]
            hidden = hidden + self.recalled(memory)
        return Acted(*self.layout.sample(self.logits(hidden), legal, uniform), memory)

    def standardise(self, mean: Float[Tensor, " F"], std: Float[Tensor, " F"]) -> None:
        """Set what features are measured against; one that never varies is only shifted."""
        self.mean[: len(mean)] = mean
        self.std[: len(std)] = torch.where(std > 1e-6, std, 1.0)

    def set_plans(self, table: Float[Tensor, "P L"]) -> None:
        """Draw plans from these rows, such as a statistic of each recorded match."""
        self.table.copy_(table)

    def extended(self, *, memory: int = 0, plans: int = 0, seed: int = 0) -> "FactoredPolicy":
        """A copy with a memory of so many units and as many plans; at first it plays the same.

        What the policy has of either already stays as it is.
        """
        shape = replace(
            self.shape,
            memory=self.shape.memory or memory,
            plans=self.shape.plans or plans,
            plan_width=self.shape.plan_width or plans,
        )
        result, own = FactoredPolicy(shape, seed), self.state_dict()
        for name, tensor in result.state_dict().items():
            if name not in own:
                continue
            if tensor.shape != own[name].shape:  # inputs, to which plans were added
                tensor.fill_(float(name == "std"))
            tensor[tuple(map(slice, own[name].shape))] = own[name]
        return result

    def distribution(
        self, observation: Float[Tensor, "B I"], legal: Bool[Tensor, "B O"]
    ) -> MaskedCategorical:
        """The distribution over the legal options of each head."""
        output: Output = self(observation)
        return self.layout.distribution(output.logits, legal)

    def log_prob(
        self,
        observation: Float[Tensor, "B I"],
        action: Int[Tensor, "B H"],
        legal: Bool[Tensor, "B O"],
    ) -> Float[Tensor, " B"]:
        """Log-probability of each whole choice, all heads together."""
        return self.distribution(observation, legal).log_prob(action)

    @torch.no_grad()
    def probabilities(
        self, observation: Float[Tensor, "B I"], legal: Bool[Tensor, "B O"]
    ) -> Float[Tensor, "B O"]:
        """Of every option; those of each head sum to one, illegal ones are exactly 0."""
        return self.distribution(observation, legal).probabilities()

    @torch.no_grad()
    def sample(
        self,
        observation: Float[Tensor, "B I"],
        legal: Bool[Tensor, "B O"],
        uniform: Float[Tensor, "B H"],
    ) -> Int[Tensor, "B H"]:
        """Draw legal options; all chance lies in `uniform`, numbers from [0, 1]."""
        return self.layout.sample(self.logits(self.hidden(observation)), legal, uniform)[0]


def save_policy(folder: Path, policy: FactoredPolicy, *, name: str = WEIGHTS) -> None:
    """Write a policy's weights whole, with its shape inside.

    One key of metadata only: safetensors writes several in random order, and the same weights
    should be the same bytes.
    """
    tensors = {key: value.cpu().contiguous() for key, value in policy.state_dict().items()}
    with writing(folder / name) as aside:
        about = json.dumps({**json.loads(policy.shape.to_json()), KEY: BLANK})
        aside.write_bytes(sealed(save(tensors, {SHAPE_KEY: about})))


def load_policy(
    folder: Path, expected: Decisions | None = None, *, name: str = WEIGHTS
) -> FactoredPolicy:
    """Read a policy; InputError unless it decides as `expected` needs, where that is given."""
    path = folder / name
    again = _train_again(folder, expected)
    if not path.is_file():
        raise InputError(f"{folder} holds no trained policy: there is no {name}. {again}")
    try:
        if is_broken_file(path):
            raise ValueError("it does not match its seal")
        with safe_open(path, framework="pt") as file:
            shape = PolicyShape.from_json((file.metadata() or {}).get(SHAPE_KEY, "null"))
            tensors = {_NOW.get(key, key): file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")
        raise InputError(f"{path}: not the weights of a policy ({reason}). {again}") from failure
    if expected is not None and (differs := difference(shape, expected)):
        raise InputError(f"{folder}: {differs}. {again}")
    policy = FactoredPolicy(shape, seed=None)
    if misfit := misfits(policy, tensors):
        raise InputError(f"{path}: {misfit}. {again}")
    policy.load_state_dict(tensors)
    return policy.eval()


def misfits(network: nn.Module, tensors: Mapping[str, Tensor]) -> str:
    """The first tensor that is not what the network needs, in words; "" if all fit."""
    needed = {key: tuple(value.shape) for key, value in network.state_dict().items()}
    found = {key: tuple(value.shape) for key, value in tensors.items()}
    for key in sorted(needed.keys() | found.keys()):
        if needed.get(key) != found.get(key):
            return f"'{key}' is {found.get(key, 'missing')}, not {needed.get(key, 'known')}"
    return no_number(tensors)


def _train_again(folder: Path, expected: Decisions | None) -> str:
    game = expected.table.game if expected is not None else "GAME"
    return f"Train again: understudy train {game} {folder.name} --fresh"
