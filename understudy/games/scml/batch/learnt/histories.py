"""L3's view of many negotiations' offers at once: `agent/numpy_transformer.py` in matrix products.

The offers of all negotiations lie one after the other, without gaps: most histories are short.
Between two products one pass over the rows does all the rest.
"""

import math

import numpy as np

from understudy.data.arrays import Float32s, Int32s, Ints
from understudy.games.scml.agent.numpy_transformer import HEADS, HistoryWeights
from understudy.games.scml.batch.kernels import network_kernel
from understudy.games.scml.batch.learnt.room import Room, product

_SMALL = 1e-5


class Histories:
    """The transformer of L3."""

    def __init__(self, weights: HistoryWeights) -> None:
        self._w = weights
        width = weights.offer.shape[1]
        self._ago = weights.ago + weights.ago_bias + weights.offer_bias
        # Of the last layer only the last offer's query is needed.
        self._query = np.ascontiguousarray(weights.mix[-1][:, :width])
        self._others = np.ascontiguousarray(weights.mix[-1][:, width:])
        self._shares = np.empty(len(weights.ago), np.float32)
        self._keys = np.empty((width, len(weights.ago)), np.float32)

    def __call__(self, history: Float32s, length: Int32s, room: Room) -> tuple[Float32s, Ints]:
        """The last offer's view of each negotiation that has any, and which these are."""
        w, width = self._w, self._w.offer.shape[1]
        spoken = np.flatnonzero(length)
        start = np.concatenate([[0], np.cumsum(length[spoken])])
        x, even = room("x", start[-1], width), room("even", start[-1], width)
        embed(history, spoken, start, w.offer, self._ago, x, even)
        for layer in range(len(w.mix) - 1):
            mixed = product(even, w.mix[layer], room("mixed", len(x), 3 * width))
            look_all(mixed, w.mix_bias[layer], start, self._keys, self._shares, even)
            self._step(x, even, layer, room)
        last = start[1:] - 1
        ends, asks = room("ends", len(spoken), width), room("asks", len(spoken), width)
        query = product(even[last], self._query, asks)
        mixed = product(even, self._others, room("mixed", len(x), 2 * width))
        ends[:] = x[last]
        seen = room("seen", len(spoken), width)
        room_to_look = self._keys, self._shares
        look_last(query, mixed, w.mix_bias[-1], start, *room_to_look, seen)
        self._step(ends, seen, len(w.mix) - 1, room)
        return seen, spoken

    def _step(self, x: Float32s, even: Float32s, layer: int, room: Room) -> None:
        """Rows through one layer, from what they have seen; then also in `even`."""
        w = self._w
        some = product(even, w.out[layer], room("some", *x.shape))
        add_and_even(x, some, w.out_bias[layer], even)
        wide = product(even, w.up[layer], room("wide", len(x), w.up.shape[2]))
        bend(wide, w.up_bias[layer])
        some = product(wide, w.down[layer], some)
        add_and_even(x, some, w.down_bias[layer], even)


# --- compiled ------------------------------------------------------------------------------------


@network_kernel
def embed(history, spoken, start, weight, ago, x, even):  # type: ignore[no-untyped-def]
    """Offers as rows, and evened out."""
    width = x.shape[1]
    for k in range(len(spoken)):
        count = start[k + 1] - start[k]
        for index in range(count):
            offer, row = history[spoken[k], index], x[start[k] + index]
            # Positions count back from the last offer: recent ones look alike in any negotiation.
            for j in range(width):
                row[j] = ago[count - 1 - index, j]
            for i in range(len(offer)):
                value = offer[i]
                for j in range(width):
                    row[j] += value * weight[i, j]
            _even(row, even[start[k] + index])


@network_kernel
def _even(x, out):  # type: ignore[no-untyped-def]
    """Mean 0, standard deviation 1."""
    width, total, square = np.float32(len(x)), np.float32(0.0), np.float32(0.0)
    for j in range(len(x)):
        total += x[j]
    mean = total / width
    for j in range(len(x)):
        square += (x[j] - mean) * (x[j] - mean)
    scale = np.float32(1.0) / np.float32(math.sqrt(square / width + np.float32(_SMALL)))
    for j in range(len(x)):
        out[j] = (x[j] - mean) * scale


@network_kernel
def add_and_even(x, more, bias, even):  # type: ignore[no-untyped-def]
    """More is added to each row; then it is evened out."""
    for row in range(len(x)):
        for j in range(x.shape[1]):
            x[row, j] += more[row, j] + bias[j]
        _even(x[row], even[row])


@network_kernel
def bend(x, bias):  # type: ignore[no-untyped-def]
    """A bias and a ReLU."""
    zero = np.float32(0.0)
    for row in range(len(x)):
        for j in range(x.shape[1]):
            x[row, j] = max(x[row, j] + bias[j], zero)


@network_kernel
def _turn_keys(mixed, at, bias, first, stop, keys):  # type: ignore[no-untyped-def]
    """Keys of a negotiation, offers side by side."""
    for j in range(len(keys)):
        for other in range(first, stop):
            keys[j, other - first] = mixed[other, at + j] + bias[j]


@network_kernel
def _look(query, query_bias, keys, mixed, at, value_bias, first, count, shares, out):  # type: ignore[no-untyped-def]
    """What one offer sees of the first `count` of its negotiation."""
    size = len(out) // HEADS
    scale = np.float32(1.0 / math.sqrt(size))
    for head in range(HEADS):
        start, highest, total = head * size, np.float32(-math.inf), np.float32(0.0)
        for other in range(count):
            shares[other] = 0.0
        for j in range(start, start + size):
            asked = (query[j] + query_bias[j]) * scale
            for other in range(count):
                shares[other] += asked * keys[j, other]
        for other in range(count):
            highest = max(highest, shares[other])
        for other in range(count):
            shares[other] = math.exp(shares[other] - highest)
            total += shares[other]
        for j in range(start, start + size):
            out[j] = value_bias[j]
        for other in range(count):
            share, value = shares[other] / total, mixed[first + other]
            for j in range(start, start + size):
                out[j] += share * value[at + j]


@network_kernel
def look_all(mixed, bias, start, keys, shares, out):  # type: ignore[no-untyped-def]
    """Every offer; causal: each sees itself and earlier ones. `mixed`: query, key, value."""
    width = out.shape[1]
    of_key, of_value = bias[width : 2 * width], bias[2 * width :]
    for k in range(len(start) - 1):
        first, stop = start[k], start[k + 1]
        _turn_keys(mixed, width, of_key, first, stop, keys)
        for index in range(first, stop):
            what = mixed[index], bias, keys, mixed, 2 * width, of_value, first, index + 1 - first
            _look(*what, shares, out[index])


@network_kernel
def look_last(query, mixed, bias, start, keys, shares, out):  # type: ignore[no-untyped-def]
    """The last offer of each negotiation; `mixed`: key, value."""
    width = out.shape[1]
    of_key, of_value = bias[width : 2 * width], bias[2 * width :]
    for k in range(len(start) - 1):
        first, stop = start[k], start[k + 1]
        _turn_keys(mixed, 0, of_key, first, stop, keys)
        what = query[k], bias, keys, mixed, width, of_value, first, stop - first
        _look(*what, shares, out[k])
