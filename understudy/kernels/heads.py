"""All heads of many decisions in one pass: sampling, log-probability, entropy, divergence.

Axes: N decisions, H heads, O options of all heads side by side; head h has the options from
borders[h] to borders[h + 1]. Logits lie options first, [O N]. LANES decisions are worked on side by
side: every loop over `lane` becomes vector instructions, as long as it names few arrays (with many
of them the compiler would have to check too often that they do not overlap).
"""

import numpy as np
from numba import njit

LANES = 256
_ILLEGAL = np.float32(-1e9)
_LEAST = np.float32(-80.0)  # a share below e^-80 is exactly 0

_settings = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_kernel = njit(cache=True, **_settings)
_inlined_kernel = njit(forceinline=True, **_settings)


@_inlined_kernel
def _load(logits, legal, start, count, x):  # type: ignore[no-untyped-def]
    """A block of logits, illegal ones far down; lanes beyond `count` hold no decision."""
    for option in range(x.shape[0]):
        for lane in range(count):  # as sums and products: a branch would often be guessed wrong
            allowed = np.float32(legal[start + lane, option])
            x[option, lane] = logits[option, start + lane] * allowed
            x[option, lane] += (allowed - np.float32(1.0)) * -_ILLEGAL
        for lane in range(count, LANES):
            x[option, lane] = np.float32(0.0)


@_inlined_kernel
def _exp(x, raised, bits, result):  # type: ignore[no-untyped-def]
    """e to each of x, all at most 0; exactly 0 below e^-80. Cephes' polynomial, error 1e-7."""
    for lane in range(LANES):
        y = max(x[lane], _LEAST)
        # Adding 1.5 * 2^23 rounds to a whole number, which then lies in the lowest bits.
        raised[lane] = y * np.float32(1.4426950408889634) + np.float32(12582912.0)
        n = raised[lane] - np.float32(12582912.0)
        r = y - n * np.float32(0.693359375)
        r = r + n * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4) * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        result[lane] = p * (r * r) + r + np.float32(1.0)
    for lane in range(LANES):
        bits[1, lane] += bits[0, lane] << 23
    for lane in range(LANES):
        result[lane] = result[lane] if x[lane] > _LEAST else np.float32(0.0)


@_inlined_kernel
def _log(x, scratch, bits):  # type: ignore[no-untyped-def]
    """The logarithm of each of x, all at least 1, into scratch[1]. Cephes' polynomial."""
    for lane in range(LANES):
        # Halfway between powers of two on a logarithmic scale, so that m lies around 1.
        scratch[0, lane] = x[lane] * np.float32(1.41421356237)
    for lane in range(LANES):
        bits[0, lane] = (bits[0, lane] >> 23) - 127
    for lane in range(LANES):
        power = bits[0, lane]
        bits[1, lane] = (127 - power) << 23
        scratch[0, lane] = np.float32(power)
    for lane in range(LANES):
        m = x[lane] * scratch[1, lane] - np.float32(1.0)
        p = np.float32(7.0376836292e-2) * m - np.float32(1.1514610310e-1)
        p = p * m + np.float32(1.1676998740e-1)
        p = p * m - np.float32(1.2420140846e-1)
        p = p * m + np.float32(1.4249322787e-1)
        p = p * m - np.float32(1.6668057665e-1)
        p = p * m + np.float32(2.0000714765e-1)
        p = p * m - np.float32(2.4999993993e-1)
        p = p * m + np.float32(3.3333331174e-1)
        rest = m * m * m * p + scratch[0, lane] * np.float32(-2.12194440e-4)
        rest = rest - np.float32(0.5) * m * m
        scratch[1, lane] = m + rest + scratch[0, lane] * np.float32(0.693359375)


@_inlined_kernel
def _fill(x, value):  # type: ignore[no-untyped-def]
    for lane in range(LANES):
        x[lane] = value


@_inlined_kernel
def _below_largest(x, first, last, largest):  # type: ignore[no-untyped-def]
    """One head's logits less the largest of them, in place."""
    _fill(largest, _ILLEGAL)
    for option in range(first, last):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], x[option, lane])
    for option in range(first, last):
        for lane in range(LANES):
            x[option, lane] -= largest[lane]


@_inlined_kernel
def _raise(x, first, last, scratch, bits, total, e):  # type: ignore[no-untyped-def]
    """One head: x less its largest in place, e to that, and the sum of these."""
    _below_largest(x, first, last, total)
    _fill(total, np.float32(0.0))
    for option in range(first, last):
        _exp(x[option], scratch[0], bits, scratch[1])
        for lane in range(LANES):
            e[option, lane] = scratch[1, lane]
            total[lane] += scratch[1, lane]


@_inlined_kernel
def _normalise(x, first, last, scratch, bits, total, e):  # type: ignore[no-untyped-def]
    """One head in place: x become log-probabilities, e probabilities."""
    _raise(x, first, last, scratch, bits, total, e)
    _log(total, scratch, bits)
    for lane in range(LANES):
        total[lane] = np.float32(1.0) / total[lane]
    for option in range(first, last):
        for lane in range(LANES):
            x[option, lane] -= scratch[1, lane]
        for lane in range(LANES):
            e[option, lane] *= total[lane]


@_inlined_kernel
def _choose(e, first, last, goal, passed, chosen):  # type: ignore[no-untyped-def]
    """The number in its head of the option in whose share each goal lies.

    An option is passed over while the shares up to it do not exceed the goal; a goal that rounding
    leaves above their sum means the last option with a share.
    """
    _fill(passed, np.float32(0.0))
    _fill(chosen, np.float32(0.0))
    for option in range(first, last):
        number = np.float32(option - first)
        for lane in range(LANES):
            share = e[option, lane]
            here = (share > np.float32(0.0)) & (passed[lane] <= goal[lane])
            chosen[lane] = number if here else chosen[lane]
            passed[lane] += share


@_kernel
def sample(logits, legal, uniform, borders, action, log_prob):  # type: ignore[no-untyped-def]
    """Writes the option drawn by each of `uniform` [N H] and its log-probability, both [N H]."""
    options, rows = logits.shape
    x, e = np.empty((options, LANES), np.float32), np.empty((options, LANES), np.float32)
    scratch, total = np.empty((2, LANES), np.float32), np.empty(LANES, np.float32)
    bits = scratch.view(np.int32)
    goal, passed = np.zeros(LANES, np.float32), np.empty(LANES, np.float32)
    chosen = np.empty(LANES, np.float32)
    for start in range(0, rows, LANES):
        count = min(LANES, rows - start)
        _load(logits, legal, start, count, x)
        for head in range(len(borders) - 1):
            first, last = borders[head], borders[head + 1]
            _raise(x, first, last, scratch, bits, total, e)
            for lane in range(count):
                goal[lane] = uniform[start + lane, head] * total[lane]
            _choose(e, first, last, goal, passed, chosen)
            _log(total, scratch, bits)
            for lane in range(count):
                number = int(chosen[lane])
                action[start + lane, head] = number
                log_prob[start + lane, head] = x[first + number, lane] - scratch[1, lane]


@_inlined_kernel
def _add_entropy(x, e, first, last, total):  # type: ignore[no-untyped-def]
    for option in range(first, last):
        for lane in range(LANES):
            total[lane] -= e[option, lane] * x[option, lane]


@_inlined_kernel
def _add_divergence(y, f, x, first, last, total):  # type: ignore[no-untyped-def]
    for option in range(first, last):
        for lane in range(LANES):
            total[lane] += f[option, lane] * (y[option, lane] - x[option, lane])


@_inlined_kernel
def _store_shares(e, legal, start, count, shares):  # type: ignore[no-untyped-def]
    """An illegal option has a share only where a head has no say: there no gradient comes from."""
    for option in range(e.shape[0]):
        for lane in range(count):
            allowed = np.float32(legal[start + lane, option])
            shares[option, start + lane] = e[option, lane] * allowed


@_inlined_kernel
def _store(x, start, count, result):  # type: ignore[no-untyped-def]
    for option in range(x.shape[0]):
        for lane in range(count):
            result[option, start + lane] = x[option, lane]


@_kernel
def judge(  # type: ignore[no-untyped-def]
    logits, teacher, legal, action, borders, log_prob, entropy, kl, shares, logs, taught
):
    """Writes log_prob [N H] of `action`, entropy and kl [H N]; the rest is for the gradient.

    `teacher` and `taught` have no columns where there is no teacher.
    """
    options, rows = logits.shape
    x, e = np.empty((options, LANES), np.float32), np.empty((options, LANES), np.float32)
    y, f = np.empty((options, LANES), np.float32), np.empty((options, LANES), np.float32)
    scratch, total = np.empty((2, LANES), np.float32), np.empty(LANES, np.float32)
    bits = scratch.view(np.int32)
    has_teacher = teacher.shape[1] > 0
    for start in range(0, rows, LANES):
        count = min(LANES, rows - start)
        _load(logits, legal, start, count, x)
        for head in range(len(borders) - 1):
            first, last = borders[head], borders[head + 1]
            _normalise(x, first, last, scratch, bits, total, e)
            _fill(total, np.float32(0.0))
            _add_entropy(x, e, first, last, total)
            for lane in range(count):
                entropy[head, start + lane] = total[lane]
            for lane in range(count):
                log_prob[start + lane, head] = x[first + action[start + lane, head], lane]
        _store_shares(e, legal, start, count, shares)
        _store(x, start, count, logs)
        if has_teacher:
            _load(teacher, legal, start, count, y)
            for head in range(len(borders) - 1):
                first, last = borders[head], borders[head + 1]
                _normalise(y, first, last, scratch, bits, total, f)
                _fill(total, np.float32(0.0))
                _add_divergence(y, f, x, first, last, total)
                for lane in range(count):
                    kl[head, start + lane] = total[lane]
            _store_shares(f, legal, start, count, taught)


@_kernel
def gradient(  # type: ignore[no-untyped-def]
    of_log_prob, of_entropy, of_kl, legal, action, borders, entropy, shares, logs, taught, result
):
    """Writes the gradient by the logits [O N], given those by what `judge` wrote."""
    rows, has_teacher = shares.shape[1], taught.shape[1] > 0
    for head in range(len(borders) - 1):
        first, last = borders[head], borders[head + 1]
        for option in range(first, last):
            for row in range(rows):
                pull = of_entropy[head, row] * (logs[option, row] + entropy[head, row])
                push = of_log_prob[row, head] + pull - of_kl[head, row]
                result[option, row] = -shares[option, row] * push
            if has_teacher:
                for row in range(rows):
                    result[option, row] -= of_kl[head, row] * taught[option, row]
        for row in range(rows):
            taken = first + action[row, head]
            if legal[row, taken]:
                result[taken, row] += of_log_prob[row, head]
