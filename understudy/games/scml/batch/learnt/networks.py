"""The networks of HRL-XF for the negotiations of many decisions: `agent/numpy_networks.py` in rows.

What is the same for several rows is multiplied once: a linear layer's sum over its inputs is taken
in parts, those of the decision, of the negotiation and of its turn.
"""

import numpy as np

from understudy.data.arrays import Array, Float32s, Ints
from understudy.games.scml.agent.numpy_networks import Offers, Scores
from understudy.games.scml.batch.learnt.histories import Histories, bend
from understudy.games.scml.batch.learnt.kernels import kernel
from understudy.games.scml.batch.learnt.room import Room, product
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.view import features as f
from understudy.games.scml.view.observe import Observed

STATE = len(f.STATIC) + DAYS * len(f.TEMPORAL) + len(f.SITUATION) + NUM_GOALS
THREAD = STATE + len(f.THREAD)
TURN = THREAD + len(f.TURN)
"""Where the parts of L3's input end; after them come the histories."""


_NONE: Ints = np.empty(0, np.int64)


class ManyScores:
    """L4 of many decisions."""

    def __init__(self, layer: Scores) -> None:
        weights = layer.weights
        self._mean, self._inverse = weights["standard.mean"], layer.inverse
        self._own, self._shared = np.split(layer.turned["each.0.weight"], [len(f.THREAD)])
        self._weights, self._turned, self._room = weights, layer.turned, Room()

    def __call__(self, seen: Observed, goals: Float32s, state_of: Ints, first: Ints) -> Float32s:
        """A score for each negotiation."""
        own, weights, turned, room = len(f.THREAD), self._weights, self._turned, self._room
        decisions, negotiations, width = len(first) - 1, len(state_of), len(self._own[0])
        x = room("overall", decisions, len(f.OVERALL) + NUM_GOALS)
        how = self._mean[own:], self._inverse[own:]
        put_standard([seen.static, seen.situation, goals], *how, x)
        shared = product(x, self._shared, room("shared", decisions, width))
        x = room("threads", negotiations, own)
        put_standard([seen.thread], self._mean[:own], self._inverse[:own], x)
        each = product(x, self._own, room("each", negotiations, width))
        add_and_bend(each, shared, state_of, weights["each.0.bias"])
        each = product(each, turned["each.2.weight"], room("again", negotiations, width))
        bend(each, weights["each.2.bias"])
        mean = room("mean", decisions, width)
        means_of(each, first, mean)
        together = product(mean, turned["all.weight"], room("together", decisions, width))
        add_and_bend(each, together, state_of, weights["all.bias"])
        scores = product(each, turned["score.weight"], room("scores", negotiations, 1))[:, 0]
        return np.asarray(scores + weights["score.bias"])


class ManyOffers:
    """L3 of many decisions."""

    def __init__(self, layer: Offers) -> None:
        weights, turned = layer.weights, layer.turned
        self._room, self.history = Room(), layer.history
        self._histories = Histories(layer.history)
        self.mean, self.inverse = weights["standard.mean"], layer.inverse
        parts = np.split(turned["torso.0.weight"], [STATE, THREAD, TURN])
        self.of_state, self.of_thread, self.of_turn, self.of_history = parts
        self.bias = weights["torso.0.bias"]
        self.second, self.second_bias = turned["torso.2.weight"], weights["torso.2.bias"]
        self.heads_weight, self.heads_bias = _together(layer, "response", "day", "offer")
        self.offer_weight, self.offer_bias = _together(layer, "units", "price")
        self.on_day, self.on_day_bias = turned["on_day.weight"], weights["on_day.bias"]
        self.turn_mean, self.turn_inverse = self.mean[THREAD:TURN], self.inverse[THREAD:TURN]
        self.views: tuple[Float32s, Ints] = np.empty((0, len(self.of_history)), np.float32), _NONE
        """Of the histories read last, and of which negotiations they are; until the next ones."""

    def before_turns(self, seen: Observed, goals: Float32s, state_of: Ints) -> Float32s:
        """The first layer's sum of all that is known before the first turn, [negotiations, ...]."""
        width, room = len(self.bias), self._room
        x = room("state", len(seen.static), STATE)
        temporal = seen.temporal.reshape(len(seen.temporal), -1)
        parts = [seen.static, temporal, seen.situation, goals]
        put_standard(parts, self.mean[:STATE], self.inverse[:STATE], x)
        of_state = product(x, self.of_state, room("of_state", len(x), width))
        x = room("threads", len(seen.thread), THREAD - STATE)
        put_standard([seen.thread], self.mean[STATE:THREAD], self.inverse[STATE:THREAD], x)
        known = product(x, self.of_thread, room("known", len(x), width))
        self.views = self.views[0][:0], _NONE
        if seen.length.any():
            ends, spoken = self.views = self._histories(seen.history, seen.length, room)
            more = product(ends, self.of_history, room("of_history", len(ends), width))
            add_rows(known, spoken, more)
        add_each(known, of_state, state_of)
        return known

    def heads(self, known: Float32s, rows: Ints, turn: Float32s) -> Float32s:
        """Scores of responses and days, and what an offer is made of, of negotiations whose turn
        has come, [rows, ...]."""
        count, width, room = len(rows), len(self.bias), self._room
        x = product(turn, self.of_turn, room("first", count, width))
        add_and_bend(x, known, rows, self.bias)
        x = product(x, self.second, room("second", count, width))
        bend(x, self.second_bias)
        found = product(x, self.heads_weight, room("heads", count, len(self.heads_bias)))
        found += self.heads_bias
        return found

    def offer_heads(self, on_day: Float32s) -> Float32s:
        """Scores of units and prices, [rows, ...]."""
        space = self._room("offers", len(on_day), len(self.offer_bias))
        found = product(on_day, self.offer_weight, space)
        found += self.offer_bias
        return found


def _together(layer: Offers, *heads: str) -> tuple[Float32s, Float32s]:
    """Several heads as one product: weights and bias."""
    return (
        np.concatenate([layer.turned[f"{head}.weight"] for head in heads], axis=1),
        np.concatenate([layer.weights[f"{head}.bias"] for head in heads]),
    )


def put_standard(parts: list[Array], mean: Array, inverse: Array, out: Float32s) -> None:
    """Inputs side by side, as in training."""
    at = 0
    for part in parts:
        _standard(part, mean, inverse, at, out)
        at += part.shape[1]


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _standard(part, mean, inverse, at, out):  # type: ignore[no-untyped-def]
    most = np.float32(10.0)
    for row in range(len(part)):
        for k in range(part.shape[1]):
            value = (part[row, k] - mean[at + k]) * inverse[at + k]
            out[row, at + k] = min(max(value, -most), most)


@kernel
def add_and_bend(x, more, rows, bias):  # type: ignore[no-untyped-def]
    """To each row of x its row of `more` and a bias; then a ReLU."""
    zero = np.float32(0.0)
    for row in range(len(x)):
        added = more[rows[row]]
        for k in range(x.shape[1]):
            x[row, k] = max(x[row, k] + added[k] + bias[k], zero)


@kernel
def add_each(x, more, rows):  # type: ignore[no-untyped-def]
    """To each row of x its row of `more`."""
    for row in range(len(x)):
        for k in range(x.shape[1]):
            x[row, k] += more[rows[row], k]


@kernel
def add_rows(x, rows, more):  # type: ignore[no-untyped-def]
    """To some rows of x those of `more`."""
    for index in range(len(rows)):
        for k in range(x.shape[1]):
            x[rows[index], k] += more[index, k]


@kernel
def means_of(x, first, out):  # type: ignore[no-untyped-def]
    """The mean row of each decision; a decision has at least one."""
    for decision in range(len(first) - 1):
        start, stop = first[decision], first[decision + 1]
        for k in range(x.shape[1]):
            out[decision, k] = 0.0
        for row in range(start, stop):
            for k in range(x.shape[1]):
                out[decision, k] += x[row, k]
        count = np.float32(stop - start)
        for k in range(x.shape[1]):
            out[decision, k] /= count
