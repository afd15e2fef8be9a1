"""Stands in for `agent/numpy_transformer.py` where nothing is compiled: the same sums in numpy.

Numbers are added in the order in which the compiled code adds them, with the same precision at
every step, so that both say the same to the last bit.
"""

import math
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Array, Float32s, Floats

HEADS = 2
_SMALL = 1e-5


class HistoryWeights(NamedTuple):
    """Of the transformer, inputs first; those of its layers stacked."""

    offer: Float32s
    offer_bias: Float32s
    ago: Float32s
    ago_bias: Float32s
    mix: Float32s
    mix_bias: Float32s
    out: Float32s
    out_bias: Float32s
    up: Float32s
    up_bias: Float32s
    down: Float32s
    down_bias: Float32s


def scratch(weights: HistoryWeights) -> None:
    """No room is needed to compute in."""


def ends(
    history: Float32s, length: Array, w: HistoryWeights, _scratch: None, found: Float32s
) -> None:
    """[negotiations, width]: the last offer's view; 0 where nothing was offered."""
    for negotiation, count in enumerate(length.tolist()):
        found[negotiation] = _end(history[negotiation, :count], w) if count > 0 else 0.0


def _end(offers: Float32s, w: HistoryWeights) -> Float32s:
    count, layers = len(offers), len(w.mix)
    # Positions count back from the last offer.
    x = _affine(offers, w.offer, w.offer_bias)
    x += w.ago[count - 1 :: -1][:count] + w.ago_bias
    for layer in range(layers):
        mixed = _affine(_normal(x), w.mix[layer], w.mix_bias[layer])
        # Only the last offer's view is read, so the last layer need not compute the others.
        first = count - 1 if layer == layers - 1 else 0
        seen = np.stack([_look(mixed, index) for index in range(first, count)])
        x[first:] += _affine(seen, w.out[layer], w.out_bias[layer])
        wide = _affine(_normal(x[first:]), w.up[layer], w.up_bias[layer])
        x[first:] += _affine(np.maximum(wide, np.float32(0)), w.down[layer], w.down_bias[layer])
    return _normal(x[-1:])[0]


def _affine(x: Float32s, weight: Float32s, bias: Float32s) -> Float32s:
    """x @ weight + bias for each row, input after input."""
    parts = np.empty((len(weight) + 1, len(x), weight.shape[1]), np.float32)
    parts[0] = bias
    np.multiply(x.T[:, :, None], weight[:, None, :], out=parts[1:])
    return np.asarray(np.add.reduce(parts, axis=0))


def _normal(x: Float32s) -> Float32s:
    """Each row with mean 0 and standard deviation 1."""
    wide = x.astype(np.float64)
    width = wide.shape[1]
    away = wide - (_total(wide) / width)[:, None]
    scale = 1.0 / np.sqrt(_total(away * away) / width + _SMALL)
    return (away * scale[:, None]).astype(np.float32)


def _total(values: Floats) -> Floats:
    """Of each row, from left to right; numpy's own sum adds in another order."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1])


def _look(mixed: Float32s, index: int) -> Float32s:
    """What one offer sees of itself and those before it; `mixed`: query, key, value."""
    width = mixed.shape[1] // 3
    size, there = width // HEADS, mixed[: index + 1]
    found = np.zeros(width, np.float32)
    for start in range(0, width, size):
        asked = mixed[index, start : start + size]
        keys = there[:, width + start : width + start + size]
        shares = (_total((keys * asked).astype(np.float64)) / math.sqrt(size)).astype(np.float32)
        highest = float(shares.max())
        weights = np.array([math.exp(share - highest) for share in shares.tolist()], np.float32)
        share = weights.astype(np.float64) / _total(weights.astype(np.float64)[None])[0]
        values = there[:, 2 * width + start : 2 * width + start + size].astype(np.float64)
        seen = found[start : start + size]
        for one, value in zip(share.tolist(), values, strict=True):
            seen[:] = seen.astype(np.float64) + one * value
    return found
