"""L3's view of a negotiation's offers, compiled: `networks.HistoryNetwork` for a few of them.

Only the last offer's view is needed, so the last layer is computed for that one alone.
"""

import math
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Float32s
from understudy.games.scml.kernels import kernel

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


class Scratch(NamedTuple):
    """Room to compute in; compiled code cannot make any."""

    x: Float32s
    mixed: Float32s
    some: Float32s
    seen: Float32s
    wide: Float32s
    shares: Float32s


def scratch(weights: HistoryWeights) -> Scratch:
    """Enough for negotiations of any length."""
    longest, width = weights.ago.shape
    wide = weights.up.shape[2]
    shapes = (longest, width), (longest, 3 * width), (width,), (width,), (wide,), (longest,)
    return Scratch(*(np.zeros(shape, np.float32) for shape in shapes))


@kernel
def affine(x, weight, bias, out):  # type: ignore[no-untyped-def]
    """x @ weight + bias."""
    for j in range(len(out)):
        out[j] = bias[j]
    for i in range(len(x)):
        value = x[i]
        if value != 0.0:
            for j in range(len(out)):
                out[j] += value * weight[i, j]


@kernel
def _normal(x, out):  # type: ignore[no-untyped-def]
    """Mean 0, standard deviation 1."""
    width, mean, square = len(x), 0.0, 0.0
    for j in range(width):
        mean += x[j]
    mean /= width
    for j in range(width):
        square += (x[j] - mean) ** 2
    scale = 1.0 / math.sqrt(square / width + _SMALL)
    for j in range(width):
        out[j] = (x[j] - mean) * scale


@kernel
def _look(mixed, index, shares, out):  # type: ignore[no-untyped-def]
    """What one offer sees of itself and those before it."""
    width = len(out)
    size = width // HEADS
    for head in range(HEADS):
        start, highest, total = head * size, -math.inf, 0.0
        # Causal: an offer attends to itself and to earlier ones. `mixed`: query, key, value.
        for other in range(index + 1):
            score = 0.0
            for j in range(size):
                score += mixed[index, start + j] * mixed[other, width + start + j]
            shares[other] = score / math.sqrt(size)
            highest = max(highest, shares[other])
        for other in range(index + 1):
            shares[other] = math.exp(shares[other] - highest)
            total += shares[other]
        for j in range(size):
            out[start + j] = 0.0
        for other in range(index + 1):
            share = shares[other] / total
            for j in range(size):
                out[start + j] += share * mixed[other, 2 * width + start + j]


@kernel
def _step(w, layer, index, s):  # type: ignore[no-untyped-def]
    """One offer through one layer."""
    width = s.x.shape[1]
    _look(s.mixed, index, s.shares, s.seen)
    affine(s.seen, w.out[layer], w.out_bias[layer], s.some)
    for j in range(width):
        s.x[index, j] += s.some[j]
    _normal(s.x[index], s.some)
    affine(s.some, w.up[layer], w.up_bias[layer], s.wide)
    for j in range(len(s.wide)):
        s.wide[j] = max(s.wide[j], np.float32(0.0))
    affine(s.wide, w.down[layer], w.down_bias[layer], s.some)
    for j in range(width):
        s.x[index, j] += s.some[j]


@kernel
def _end(history, last, w, s, found):  # type: ignore[no-untyped-def]
    """The last offer's view of a negotiation."""
    width, layers = w.offer.shape[1], len(w.mix)
    for index in range(last + 1):
        affine(history[index], w.offer, w.offer_bias, s.x[index])
        # Positions count back from the last offer: recent ones look alike in any negotiation.
        for j in range(width):
            s.x[index, j] += w.ago[last - index, j] + w.ago_bias[j]
    for layer in range(layers):
        for index in range(last + 1):
            _normal(s.x[index], s.some)
            affine(s.some, w.mix[layer], w.mix_bias[layer], s.mixed[index])
        # Only the last offer's view is read, so the last layer need not compute the others.
        for index in range(last if layer == layers - 1 else 0, last + 1):
            _step(w, layer, index, s)
    _normal(s.x[last], found)


@kernel
def ends(history, length, w, s, found):  # type: ignore[no-untyped-def]
    """[negotiations, width]: 0 where nothing was offered."""
    for negotiation in range(len(history)):
        if length[negotiation] > 0:
            _end(history[negotiation], length[negotiation] - 1, w, s, found[negotiation])
        else:
            found[negotiation] = 0.0
