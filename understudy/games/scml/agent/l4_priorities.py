"""L4: which negotiation comes first when all want the same remaining capacity.

All open negotiations are weighed at once and served in order of weight, each clipped against what
those before it have left. So it does not matter in which order a simulator asks.
"""

import math
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Float32s, Ints
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import features as f

SOON, GAIN, FIT, LATE = 1.0, 2.0, 1.5, 0.5
"""How much each counts for the teacher: soon, at a good price, of a useful size, near the end."""

CLOSE = 1e-5
"""Scores closer than this are equal: a product of BLAS gives equal rows other last bits by where
they lie and on which processor, and the order of turns must depend on neither."""


class Priorities(NamedTuple):
    """Of the negotiations of many decisions."""

    weight: Float32s
    """[negotiations]: those of a decision add up to 1."""
    order: Ints
    """[negotiations]: the negotiations of each decision by falling weight; equals as they lie, by
    name."""


def teacher_scores(thread: Float32s) -> Float32s:
    """The heuristic that the network learns from: a score per negotiation, from its features."""
    at = f.THREAD_AT
    soon, good, fits = 1 - thread[:, at.ahead], thread[:, at.gain], thread[:, at.safe_share]
    heard, late = thread[:, at.is_heard], thread[:, at.round]
    return np.asarray(heard * (SOON * soon + GAIN * good + FIT * fits) + LATE * late)


def priorities(scores: Float32s, first: Ints) -> Priorities:
    """Scores to weights; the negotiations of decision d are first[d] to first[d + 1]."""
    found = Priorities(np.empty(len(scores), np.float32), np.empty(len(scores), np.int64))
    _weigh(scores.astype(np.float64), first, found.weight, found.order)
    return found


@kernel
def _weigh(scores, first, weight, order):  # type: ignore[no-untyped-def]
    """A softmax and a stable sort within each decision."""
    for d in range(len(first) - 1):
        start, stop = first[d], first[d + 1]
        highest, total = -math.inf, 0.0
        for k in range(start, stop):
            highest = max(highest, scores[k])
        for k in range(start, stop):
            # The highest is taken off so that the exponential cannot overflow.
            total += math.exp(scores[k] - highest)
        for k in range(start, stop):
            weight[k] = math.exp(scores[k] - highest) / total
            index = k
            # Insertion sort: stable, and there are few negotiations in a decision.
            while index > start and scores[order[index - 1]] < scores[k] - CLOSE:
                order[index] = order[index - 1]
                index -= 1
            order[index] = k
