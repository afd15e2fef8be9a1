"""L3's view of many negotiations' offers at once: `agent/numpy_transformer.py` in matrix products.

The offers of all negotiations lie one after the other, without gaps: most histories are short.
Between two products one pass over the rows does all the rest.
"""

import math

import numpy as np

from understudy.data.arrays import Float32s, Int32s, Ints
from understudy.games.scml.agent.numpy_transformer import HEADS, HistoryWeights
from understudy.games.scml.batch.learnt.kernels import network_kernel
from understudy.games.scml.batch.learnt.room import Room, product

_SMALL = 1e-5
_LOG2_E, _LOWEST = np.float32(1.4426950408889634), np.float32(-120.0)
_P0, _P1, _P2 = np.float32(9.9999994e-1), np.float32(6.9315308e-1), np.float32(2.4015361e-1)
_P3, _P4, _P5 = np.float32(5.5826318e-2), np.float32(8.9893397e-3), np.float32(1.8775767e-3)


class Histories:
    """The transformer of L3."""

    def __init__(self, weights: HistoryWeights) -> None:
        self._w = weights
        width, longest = weights.offer.shape[1], len(weights.ago)
        self._ago = weights.ago + weights.ago_bias + weights.offer_bias
        # Of the last layer only the last offer's query is needed.
        self._query = np.ascontiguousarray(weights.mix[-1][:, :width])
        self._others = np.ascontiguousarray(weights.mix[-1][:, width:])
        # Compiled code knows the length of a tuple: loops over a head become single instructions.
        self._size = (0,) * (width // HEADS)
        shares, powers = np.empty((2, longest), np.float32)
        self._space = shares, powers, powers.view(np.int32)

    def __call__(self, history: Float32s, length: Int32s, room: Room) -> tuple[Float32s, Ints]:
        """The last offer's view of each negotiation that has any, and which these are."""
        w, width = self._w, self._w.offer.shape[1]
        heads = HEADS, width // HEADS
        spoken = np.flatnonzero(length)
        start = np.concatenate([[0], np.cumsum(length[spoken])])
        x, even = room("x", start[-1], width), room("even", start[-1], width)
        embed(history, spoken, start, w.offer, self._ago, x, even)
        for layer in range(len(w.mix) - 1):
            mixed = product(even, w.mix[layer], room("mixed", len(x), 3 * width))
            add_bias(mixed, w.mix_bias[layer])
            parts = mixed.reshape(-1, 3, *heads)
            look_all(parts, start, self._size, *self._space, even.reshape(-1, *heads))
            self._step(x, even, layer, room)
        last = start[1:] - 1
        query = product(even[last], self._query, room("query", len(last), width))
        add_bias(query, w.mix_bias[-1][:width])
        mixed = product(even, self._others, room("mixed", len(x), 2 * width))
        add_bias(mixed, w.mix_bias[-1][width:])
        ends, seen = room("ends", len(last), width), room("seen", len(last), width)
        ends[:] = x[last]
        asks, parts = query.reshape(-1, *heads), mixed.reshape(-1, 2, *heads)
        look_last(asks, parts, start, self._size, *self._space, seen.reshape(-1, *heads))
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
def add_bias(x, bias):  # type: ignore[no-untyped-def]
    """To each row."""
    for row in range(len(x)):
        for j in range(x.shape[1]):
            x[row, j] += bias[j]


@network_kernel
def _exponentials(x, count, powers, bits):  # type: ignore[no-untyped-def]
    """e to the power of numbers up to 0, in place; unlike the library's, in vectors.

    `bits` is the same memory as `powers`: the whole powers of 2 are written as a float's exponent.
    """
    for k in range(count):
        power = max(x[k] * _LOG2_E, _LOWEST)
        whole = np.floor(power)
        rest = power - whole
        # 2 to the power of what is left, by a polynomial that is right to the last bit but one.
        value = _P5 * rest + _P4
        value = value * rest + _P3
        value = value * rest + _P2
        value = value * rest + _P1
        x[k] = value * rest + _P0
        bits[k] = (np.int32(whole) + np.int32(127)) << np.int32(23)
    for k in range(count):
        x[k] *= powers[k]


@network_kernel
def _share(query, keys, which, first, count, head, size, shares, powers, bits):  # type: ignore[no-untyped-def]
    """How much one offer looks at each of the first `count` of its negotiation, times the sum."""
    scale = np.float32(1.0 / math.sqrt(len(size)))
    highest, total = np.float32(-math.inf), np.float32(0.0)
    for other in range(count):
        score = np.float32(0.0)
        for j in range(len(size)):
            score += query[j] * keys[first + other, which, head, j]
        shares[other] = score * scale
        highest = max(highest, shares[other])
    for other in range(count):
        shares[other] -= highest
    _exponentials(shares, count, powers, bits)
    for other in range(count):
        total += shares[other]
    return total


@network_kernel
def _gather(values, which, first, count, head, size, shares, total, out):  # type: ignore[no-untyped-def]
    """What it sees of them."""
    for j in range(len(size)):
        out[j] = 0.0
    fours = count - count % 4
    for other in range(0, fours, 4):  # sums stay in registers for longer
        at = first + other
        a, b, c, d = shares[other], shares[other + 1], shares[other + 2], shares[other + 3]
        for j in range(len(size)):
            left = a * values[at, which, head, j] + b * values[at + 1, which, head, j]
            out[j] += left + c * values[at + 2, which, head, j] + d * values[at + 3, which, head, j]
    for other in range(fours, count):
        for j in range(len(size)):
            out[j] += shares[other] * values[first + other, which, head, j]
    for j in range(len(size)):
        out[j] *= np.float32(1.0) / total


@network_kernel
def look_all(mixed, start, size, shares, powers, bits, out):  # type: ignore[no-untyped-def]
    """Every offer; causal: each sees itself and earlier ones. `mixed`: query, key, value."""
    room = shares, powers, bits
    for k in range(len(start) - 1):
        first = start[k]
        for index in range(first, start[k + 1]):
            count = index + 1 - first
            for head in range(HEADS):
                total = _share(mixed[index, 0, head], mixed, 1, first, count, head, size, *room)
                where = first, count, head, size
                _gather(mixed, 2, *where, shares, total, out[index, head])


@network_kernel
def look_last(query, mixed, start, size, shares, powers, bits, out):  # type: ignore[no-untyped-def]
    """The last offer of each negotiation; `mixed`: key, value."""
    for k in range(len(start) - 1):
        first, count = start[k], start[k + 1] - start[k]
        for head in range(HEADS):
            where = first, count, head, size
            total = _share(query[k, head], mixed, 0, *where, shares, powers, bits)
            _gather(mixed, 1, *where, shares, total, out[k, head])
