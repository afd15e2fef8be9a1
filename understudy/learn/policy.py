"""A policy of several heads, and its weights on disk.

Axes: B decisions, F features, H heads, O options of all heads side by side. Weights lie in a
safetensors file, which holds numbers and text only: loading it runs no code.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from understudy.data.files import writing
from understudy.data.runs import WEIGHTS
from understudy.data.samples import Decisions
from understudy.errors import InputError
from understudy.learn.distributions import Layout, MaskedCategorical
from understudy.learn.networks import linear, mlp

SHAPE_KEY = "understudy.policy"
_NOW = {"spread": "std"}  # tensors of weights written under another name before


@dataclass(frozen=True)
class PolicyShape:
    """All that decides which weights fit a policy."""

    features: tuple[str, ...]
    heads: dict[str, int]
    """The number of options of each head, in order."""
    hidden: tuple[int, ...]
    """Widths of the hidden layers. More or wider: finer play, slower to train and to run."""

    def to_json(self) -> str:
        """As it is written into files."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> "PolicyShape":
        """The inverse of `to_json`; ValueError if `text` is something else."""
        try:
            found = json.loads(text)
            return PolicyShape(
                tuple(map(str, found["features"])),
                {str(head): int(size) for head, size in found["heads"].items()},
                tuple(map(int, found["hidden"])),
            )
        except (KeyError, TypeError, AttributeError) as failure:
            raise ValueError(f"not the shape of a policy: {text[:60]}") from failure


class Output(NamedTuple):
    """What the network says of B observations."""

    logits: Float[Tensor, "B O"]
    value: Float[Tensor, " B"]
    """The outcome it expects."""


class FactoredPolicy(nn.Module):
    """Chooses one option in each head, independently given the observation."""

    mean: Float[Tensor, " F"]
    std: Float[Tensor, " F"]
    """Of each feature in training; inputs are brought to mean 0 and spread 1: it learns faster."""

    def __init__(self, shape: PolicyShape, seed: int | None = 0) -> None:
        """First weights drawn from `seed`; None leaves them 0, to be loaded."""
        super().__init__()
        self.shape = shape
        self.layout = Layout(tuple(shape.heads.values()))
        self.register_buffer("mean", torch.zeros(len(shape.features)))
        self.register_buffer("std", torch.ones(len(shape.features)))
        drawn = None if seed is None else torch.Generator().manual_seed(seed)
        width = (len(shape.features), *shape.hidden)[-1]
        self.torso = mlp(len(shape.features), shape.hidden, generator=drawn)
        # Small first logits: an untrained policy tries every legal option about equally often.
        self.options = linear(width, sum(shape.heads.values()), gain=0.01, generator=drawn)
        self.outcome = linear(width, 1, gain=1.0, generator=drawn)

    def forward(self, observation: Float[Tensor, "B F"]) -> Output:
        """Logits of every option, and the expected outcome."""
        hidden = self.torso((observation - self.mean) / self.std)
        return Output(self.options(hidden), self.outcome(hidden)[:, 0])

    def standardise(self, mean: Float[Tensor, " F"], std: Float[Tensor, " F"]) -> None:
        """Set what inputs are measured against; a feature that never varies is only shifted."""
        self.mean.copy_(mean)
        self.std.copy_(torch.where(std > 1e-6, std, 1.0))

    def distribution(
        self, observation: Float[Tensor, "B F"], legal: Bool[Tensor, "B O"]
    ) -> MaskedCategorical:
        """The distribution over the legal options of each head."""
        output: Output = self(observation)
        return self.layout.distribution(output.logits, legal)

    def log_prob(
        self,
        observation: Float[Tensor, "B F"],
        action: Int[Tensor, "B H"],
        legal: Bool[Tensor, "B O"],
    ) -> Float[Tensor, " B"]:
        """Log-probability of each whole choice, all heads together."""
        return self.distribution(observation, legal).log_prob(action)

    @torch.no_grad()
    def probabilities(
        self, observation: Float[Tensor, "B F"], legal: Bool[Tensor, "B O"]
    ) -> Float[Tensor, "B O"]:
        """Of every option; those of each head sum to one, illegal ones are exactly 0."""
        return self.distribution(observation, legal).probabilities()

    @torch.no_grad()
    def sample(
        self,
        observation: Float[Tensor, "B F"],
        legal: Bool[Tensor, "B O"],
        uniform: Float[Tensor, "B H"],
    ) -> Int[Tensor, "B H"]:
        """Draw legal options; all chance lies in `uniform`, numbers from [0, 1]."""
        return self.distribution(observation, legal).sample(uniform)


def save_policy(folder: Path, policy: FactoredPolicy, *, name: str = WEIGHTS) -> None:
    """Write a policy's weights whole, with its shape inside.

    One key of metadata only: safetensors writes several in random order, and the same weights
    should be the same bytes.
    """
    tensors = {key: value.cpu().contiguous() for key, value in policy.state_dict().items()}
    with writing(folder / name) as aside:
        aside.write_bytes(save(tensors, {SHAPE_KEY: policy.shape.to_json()}))


def load_policy(
    folder: Path, expected: Decisions | None = None, *, name: str = WEIGHTS
) -> FactoredPolicy:
    """Read a policy; InputError unless it decides as `expected` needs, where that is given."""
    path = folder / name
    again = _train_again(folder, expected)
    if not path.is_file():
        raise InputError(f"{folder} holds no trained policy: there is no {name}. {again}")
    try:
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


def difference(shape: PolicyShape, expected: Decisions) -> str:
    """Why a policy of this shape cannot decide as `expected`, in words; "" if it can."""
    game = expected.table.game
    old, new = shape.features, expected.features
    if len(old) != len(new):
        changed = [f"without {name}" for name in old if name not in new]
        changed += [f"with {name}" for name in new if name not in old]
        few = ", ".join([*changed[:3], *(["..."] if len(changed) > 3 else [])])
        return f"made for {len(old)} features, the {game} now has {len(new)} ({few})"
    for number, (was, now) in enumerate(zip(old, new, strict=True)):
        if was != now:
            return f"made for '{was}' as feature {number}, the {game} now has '{now}' there"
    if list(shape.heads.items()) != list(expected.heads.items()):
        return f"made for {_listed(shape.heads)}, the {game} now has {_listed(expected.heads)}"
    return ""


def misfits(network: nn.Module, tensors: Mapping[str, Tensor]) -> str:
    """The first tensor that is not what the network needs, in words; "" if all fit."""
    needed = {key: tuple(value.shape) for key, value in network.state_dict().items()}
    found = {key: tuple(value.shape) for key, value in tensors.items()}
    for key in sorted(needed.keys() | found.keys()):
        if needed.get(key) != found.get(key):
            return f"'{key}' is {found.get(key, 'missing')}, not {needed.get(key, 'known')}"
    return ""


def _listed(heads: Mapping[str, int]) -> str:
    return "heads " + ", ".join(f"{head} ({size})" for head, size in heads.items())


def _train_again(folder: Path, expected: Decisions | None) -> str:
    game = expected.table.game if expected is not None else "GAME"
    return f"Train again: understudy train {game} {folder.name} --fresh"
