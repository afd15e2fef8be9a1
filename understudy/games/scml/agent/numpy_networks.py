"""The networks of HRL-XF in play: no torch, a few negotiations at a time; see `networks.py`."""

from collections.abc import Mapping

import numpy as np

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.scml.agent.l3_offers import HEADS, LEFT_MOST, Scheme
from understudy.games.scml.agent.numpy_transformer import HistoryWeights, ends, scratch
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.view import inputs

Weights = Mapping[str, Array]


def _check(weights: Weights, expected: Mapping[str, tuple[int, ...]], layer: str) -> None:
    for name, shape in expected.items():
        found = weights[name].shape if name in weights else "missing"
        if found != shape:
            raise InputError(
                f"{layer}'s weights do not fit: '{name}' is {found}, not {shape}. Train again: "
                "understudy train scml hrl-xf --fresh"
            )


class _Layer:
    """Weights by name."""

    def __init__(self, weights: Weights) -> None:
        self.weights = {name: np.asarray(values, np.float32) for name, values in weights.items()}
        # x @ W with W as it lies in memory is faster than x @ W.T for single rows
        self.turned = {
            name: np.ascontiguousarray(values.T)
            for name, values in self.weights.items()
            if values.ndim == 2
        }
        self.inverse = np.asarray(1 / self.weights["standard.std"], np.float32)

    def linear(self, name: str, x: Array) -> Array:
        """A linear layer."""
        return np.asarray(x @ self.turned[f"{name}.weight"] + self.weights[f"{name}.bias"])

    def standard(self, x: Array) -> Array:
        """Inputs as in training."""
        return np.clip((x - self.weights["standard.mean"]) * self.inverse, -10, 10)

    def mlp(self, name: str, x: Array) -> Array:
        """Linear layers, each followed by a ReLU."""
        for number in range(0, 99, 2):
            if f"{name}.{number}.weight" not in self.weights:
                return x
            x = np.maximum(self.linear(f"{name}.{number}", x), 0)
        return x


class Goals(_Layer):
    """L2."""

    def __init__(self, weights: Weights) -> None:
        expected = {
            "standard.mean": (inputs.DAY_START_INPUTS,),
            "goals.bias": (NUM_GOALS,),
        }
        _check(weights, expected, "L2")
        super().__init__(weights)

    def __call__(self, x: Array, scales: Array) -> Array:
        """Raw goals of day starts, [rows, NUM_GOALS]."""
        out = self.linear("goals", self.mlp("torso", self.standard(x)))
        return raw_goals(out, scales)


def raw_goals(out: Array, scales: Array) -> Array:
    """What L2 says in raw units: units are log(1 + units), prices shares of the trading price."""
    parts = out.reshape(len(out), -1, 2, 2)
    units = np.maximum(np.expm1(np.clip(parts[..., 0], -2, 6)), 0)
    price = np.maximum(1 + 0.1 * parts[..., 1], 0) * scales[:, None, 1:3]
    return np.stack([units, price], axis=3).reshape(len(out), NUM_GOALS).astype(np.float32)


class Offers(_Layer):
    """L3."""

    def __init__(self, weights: Weights, scheme: Scheme) -> None:
        sizes = HEADS[scheme]
        expected = {
            "standard.mean": (inputs.ROUND_INPUTS,),
            "day.bias": (DAYS,),
            **{f"{head}.bias": (sizes[head],) for head in ("response", "units", "price")},
        }
        _check(weights, expected, "L3")
        super().__init__(weights)
        self.scheme = scheme
        self.history = _history_weights(self.turned, self.weights)
        self._scratch = scratch(self.history)

    def histories(self, history: Array, length: Array) -> Array:
        """The offers of each negotiation, [negotiations, width]."""
        found = np.empty((len(history), self.history.offer.shape[1]), np.float32)
        ends(history, length, self.history, self._scratch, found)
        return found

    def hidden(self, x: Array, history: Array) -> Array:
        """What the heads read, [rows, ...]."""
        return self.mlp("torso", np.concatenate([self.standard(x), history], axis=1))

    def on(self, hidden: Array, day: int, left: int) -> Array:
        """What the heads of units and price read, for an offer on a day."""
        chosen = self.turned["on_day.weight"]
        some = chosen[day] + chosen[DAYS + min(max(left, 0), LEFT_MOST)]
        return np.maximum(self.linear("offer", hidden) + some + self.weights["on_day.bias"], 0)


def _history_weights(turned: Weights, weights: Weights) -> HistoryWeights:
    depth = len({name.split(".")[2] for name in weights if name.startswith("history.layers.")})

    def stacked(name: str) -> tuple[Array, Array]:
        layers = [f"history.layers.{number}.{name}" for number in range(depth)]
        return (
            np.stack([turned[f"{layer}.weight"] for layer in layers]),
            np.stack([weights[f"{layer}.bias"] for layer in layers]),
        )

    return HistoryWeights(
        turned["history.offer.weight"],
        weights["history.offer.bias"],
        turned["history.ago.weight"],
        weights["history.ago.bias"],
        *(part for name in ("mix", "out", "up", "down") for part in stacked(name)),
    )


class Scores(_Layer):
    """L4."""

    def __init__(self, weights: Weights) -> None:
        expected = {
            "standard.mean": (inputs.THREAD_INPUTS + inputs.OVERALL_INPUTS,),
            "score.bias": (1,),
        }
        _check(weights, expected, "L4")
        super().__init__(weights)

    def __call__(self, thread: Array, overall: Array) -> Array:
        """A score for each negotiation of one decision, [negotiations]."""
        shared = np.broadcast_to(overall, (len(thread), overall.shape[1]))
        own = self.mlp("each", self.standard(np.concatenate([thread, shared], axis=1)))
        together = self.linear("all", own.mean(axis=0, keepdims=True))
        return self.linear("score", np.maximum(own + together, 0))[:, 0]
