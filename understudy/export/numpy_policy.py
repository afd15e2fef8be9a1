"""A trained policy in numpy: what it says of observations, without torch.

Axes as in `learn/policy.py`: B decisions, F features, O options of all heads side by side, H heads,
M numbers of memory. It says what torch says to about 1e-6, and chooses the same under the same
random numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open

from understudy.data.arrays import Array, Bools, Float32s
from understudy.data.extras import split, told_or_usual
from understudy.data.integrity.seals import is_broken_file
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.learn.policy_shape import SHAPE_KEY, PolicyShape

ILLEGAL = np.float32(-1e9)
LEAST = np.float32(-80)
"""As in `learn/distributions.py`: the logit of an illegal option, and the log-probability below
which a share is exactly 0."""


class Decided(NamedTuple):
    """What a policy says of B observations."""

    action: Array
    """Int64 [B H]: the option chosen in each head."""
    probabilities: Float32s
    """[B O]; those of each head sum to one, illegal ones are 0."""
    value: Float32s
    """[B]: the outcome it expects."""
    memory: Float32s
    """[B M]: what it remembers after this."""


@dataclass(frozen=True)
class NumpyPolicy:
    """Weights by name, and what they fit."""

    shape: PolicyShape
    weights: dict[str, Float32s]

    @property
    def borders(self) -> list[int]:
        """Where the options of each head begin, and the end of the last one's."""
        return [0, *np.cumsum(list(self.shape.heads.values())).tolist()]

    def decide(
        self,
        observation: Float32s,
        legal: Bools,
        uniform: Float32s,
        plan: Array | None = None,
        memory: Float32s | None = None,
    ) -> Decided:
        """Choose for each observation; all chance lies in `uniform` [B H], numbers of [0, 1).

        `plan` is the number of the plan of each match, `memory` what came of the decision before;
        both are nothing for most policies.
        """
        hidden, memory = self._hidden(observation, plan, memory)
        logits = np.where(legal, self._linear("options", hidden), ILLEGAL)
        parts = np.split(logits, self.borders[1:-1], axis=1)
        shares = [_softmax(part) for part in parts]
        masks = np.split(legal, self.borders[1:-1], axis=1)
        action = [
            _drawn(share, mask, uniform[:, head])
            for head, (share, mask) in enumerate(zip(shares, masks, strict=True))
        ]
        value = self._linear("outcome", hidden)[:, 0]
        return Decided(np.stack(action, axis=1), np.concatenate(shares, axis=1), value, memory)

    def _hidden(
        self, observation: Float32s, plan: Array | None, memory: Float32s | None
    ) -> tuple[Float32s, Float32s]:
        if split(self.shape.features)[1]:
            mean = self.weights["mean"][: len(self.shape.features)]
            observation = told_or_usual(observation, mean)
        if self.shape.plans:
            drawn = np.zeros(len(observation), np.int64) if plan is None else plan
            planned = self.weights["table"][drawn]
            observation = np.concatenate([observation, planned], axis=1)
        x = (observation - self.weights["mean"]) / self.weights["std"]
        for number in range(len(self.shape.hidden)):
            x = np.maximum(self._linear(f"torso.{2 * number}", x), np.float32(0))
        if not self.shape.memory:
            return x, np.zeros((len(x), 0), np.float32)
        before = np.zeros((len(x), self.shape.memory), np.float32) if memory is None else memory
        after = self._remembered(x, before)
        return x + self._linear("recalled", after), after

    def _remembered(self, x: Float32s, before: Float32s) -> Float32s:
        """One step of the GRU (`learn/networks.py`)."""
        seen, old = self._linear("core.seen", x), self._linear("core.kept", before)
        units = self.shape.memory
        gates = (1 + np.tanh((seen[:, : 2 * units] + old[:, : 2 * units]) / 2)) / 2  # sigmoid
        reset, update = gates[:, :units], gates[:, units:]
        candidate = np.tanh(seen[:, 2 * units :] + reset * old[:, 2 * units :])
        return np.asarray(candidate + update * (before - candidate), np.float32)

    def _linear(self, name: str, x: Float32s) -> Float32s:
        return np.asarray(x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])


def _softmax(logits: Float32s) -> Float32s:
    below = logits - logits.max(axis=1, keepdims=True)
    below -= np.log(np.exp(below).sum(axis=1, keepdims=True))
    return np.where(below > LEAST, np.exp(below), np.float32(0))


def _drawn(share: Float32s, legal: Bools, uniform: Float32s) -> Array:
    """The option into whose share each number falls: `learn/distributions.py`, `sample`."""
    passed = (np.cumsum(share, axis=1) <= uniform[:, None]).sum(axis=1)
    width = legal.shape[1]
    last = width - 1 - np.argmax(legal[:, ::-1], axis=1)  # where none is legal, the last of all
    return np.asarray(np.minimum(passed, np.where(legal.any(axis=1), last, width - 1)))


def head_without_option(legal: Bools, heads: Mapping[str, int]) -> str | None:
    """The first head of which masks [B O] leave nothing to choose; None where none is such."""
    parts = np.split(legal, np.cumsum(list(heads.values()))[:-1], axis=1)
    named = zip(heads, parts, strict=True)
    return next((name for name, part in named if not part.any(axis=1).all()), None)


def read_policy(folder: Path) -> NumpyPolicy:
    """The policy that training left in a model's folder; InputError where there is none."""
    path = folder / WEIGHTS
    again = f"Train it again: understudy train GAME {folder.name} --fresh"
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}. What was trained lies in RUN/models/NAME")
    if not path.is_file():
        raise InputError(f"{folder} holds no trained policy: there is no {WEIGHTS}. {again}")
    try:
        if is_broken_file(path):
            raise ValueError("it does not match its seal")
        with safe_open(path, framework="numpy") as file:
            shape = PolicyShape.from_json((file.metadata() or {}).get(SHAPE_KEY, "null"))
            weights = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as failure:
        reason = str(failure).split("\n", 1)[0].rstrip(".")
        raise InputError(f"{path}: not the weights of a policy ({reason}). {again}") from failure
    weights["std"] = weights.pop("spread", weights.get("std", np.float32(1)))
    return NumpyPolicy(shape, weights)
