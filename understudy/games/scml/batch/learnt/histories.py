"""L3's view of many negotiations' offers at once: `agent/numpy_transformer.py` in matrix products.

The offers of all negotiations lie one after the other, without gaps: most histories are short.
"""

import math

import numpy as np

from understudy.data.arrays import Float32s, Int32s
from understudy.games.scml.agent.numpy_transformer import HEADS, HistoryWeights, affine
from understudy.games.scml.batch.kernels import kernel

_SMALL = 1e-5


def ends_of(history: Float32s, length: Int32s, w: HistoryWeights) -> Float32s:
    """The last offer's view of each negotiation, [negotiations, width]; 0 where there is none."""
    width, layers = w.offer.shape[1], len(w.mix)
    found = np.zeros((len(history), width), np.float32)
    spoken = np.flatnonzero(length)
    if not len(spoken):
        return found
    start = np.concatenate([[0], np.cumsum(length)])
    shares = np.empty(history.shape[1])
    x = np.empty((start[-1], width), np.float32)
    _embed(history, length, start, w, x)
    for layer in range(layers - 1):
        mixed = normal(x) @ w.mix[layer] + w.mix_bias[layer]
        seen = np.empty_like(x)
        _look_all(mixed, start, shares, seen)
        x = _step(x, seen, w, layer)
    # Only the last offer's view is read, so the last layer need not compute the others.
    mixed = normal(x) @ w.mix[-1] + w.mix_bias[-1]
    seen = np.empty((len(spoken), width), np.float32)
    _look_last(mixed, start, spoken, shares, seen)
    found[spoken] = normal(_step(x[start[spoken + 1] - 1], seen, w, layers - 1))
    return found


def _step(x: Float32s, seen: Float32s, w: HistoryWeights, layer: int) -> Float32s:
    """Offers through one layer, from what they have seen of each other."""
    x = x + (seen @ w.out[layer] + w.out_bias[layer])
    wide = np.maximum(normal(x) @ w.up[layer] + w.up_bias[layer], 0)
    return np.asarray(x + (wide @ w.down[layer] + w.down_bias[layer]))


def normal(x: Float32s) -> Float32s:
    """Mean 0, standard deviation 1, by row."""
    found = np.empty_like(x)
    _normal_all(x, found)
    return found


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _embed(history, length, start, w, x):  # type: ignore[no-untyped-def]
    for negotiation in range(len(length)):
        last = length[negotiation] - 1
        for index in range(last + 1):
            row = x[start[negotiation] + index]
            affine(history[negotiation, index], w.offer, w.offer_bias, row)
            # Positions count back from the last offer: recent ones look alike in any negotiation.
            for j in range(len(row)):
                row[j] += w.ago[last - index, j] + w.ago_bias[j]


@kernel
def _normal_all(x, out):  # type: ignore[no-untyped-def]
    width = x.shape[1]
    for row in range(len(x)):
        mean, square = 0.0, 0.0
        for j in range(width):
            mean += x[row, j]
        mean /= width
        for j in range(width):
            square += (x[row, j] - mean) ** 2
        scale = 1.0 / math.sqrt(square / width + _SMALL)
        for j in range(width):
            out[row, j] = (x[row, j] - mean) * scale


@kernel
def _look(mixed, first, index, out, shares):  # type: ignore[no-untyped-def]
    """What one offer sees of itself and those before it, back to `first`."""
    width = len(out)
    size = width // HEADS
    for head in range(HEADS):
        start, highest, total = head * size, -math.inf, 0.0
        for other in range(first, index + 1):
            score = 0.0
            for j in range(size):
                score += mixed[index, start + j] * mixed[other, width + start + j]
            shares[other - first] = score / math.sqrt(size)
            highest = max(highest, shares[other - first])
        for other in range(index + 1 - first):
            shares[other] = math.exp(shares[other] - highest)
            total += shares[other]
        for j in range(size):
            out[start + j] = 0.0
        for other in range(first, index + 1):
            share = np.float32(shares[other - first] / total)
            for j in range(size):
                out[start + j] += share * mixed[other, 2 * width + start + j]


@kernel
def _look_all(mixed, start, shares, out):  # type: ignore[no-untyped-def]
    """Every offer; causal: each sees itself and earlier ones. `mixed`: query, key, value."""
    for negotiation in range(len(start) - 1):
        for index in range(start[negotiation], start[negotiation + 1]):
            _look(mixed, start[negotiation], index, out[index], shares)


@kernel
def _look_last(mixed, start, spoken, shares, out):  # type: ignore[no-untyped-def]
    """The last offer of each negotiation."""
    for k in range(len(spoken)):
        first, stop = start[spoken[k]], start[spoken[k] + 1]
        _look(mixed, first, stop - 1, out[k], shares)
