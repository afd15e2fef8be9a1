"""L4: which talk comes first when all want the same room.

All open talks are weighed at once and served in order of weight, each clipped against what those
before it have left. So it does not matter in which order a simulator asks.
"""

import math
from collections.abc import Sequence

from understudy.games.scml.engine.talks import ROUNDS
from understudy.games.scml.layers.l1_safety import Safety
from understudy.games.scml.state import State, TalkSoFar

URGENCY, GAIN, FIT, LATE = 1.0, 2.0, 1.5, 0.5
"""How much each counts for the teacher: soon, at a good price, of a useful size, near the end."""


def teacher_weights(state: State, safety: Safety) -> list[float]:
    """A weight per open talk, adding up to 1: the heuristic that the network learns from."""
    return softmax([_score(state, safety, talk) for talk in state.talks])


def in_order(weights: Sequence[float], talks: Sequence[TalkSoFar]) -> list[int]:
    """The talks by falling weight; equals by the partner's name, never by who asked first."""
    return sorted(range(len(talks)), key=lambda place: (-weights[place], talks[place].partner))


def softmax(scores: Sequence[float]) -> list[float]:
    """Shares that add up to 1."""
    if not scores:
        return []
    highest = max(scores)
    raised = [math.exp(score - highest) for score in scores]
    total = sum(raised)
    return [value / total for value in raised]


def _score(state: State, safety: Safety, talk: TalkSoFar) -> float:
    heard = talk.heard
    late = LATE * talk.round / ROUNDS
    if heard is None:
        return late
    ahead = heard.day - state.morning.day
    low, high = state.morning.prices_in if talk.buys else state.morning.prices_out
    above = (heard.price - low) / max(1, high - low)
    gain = 1 - above if talk.buys else above
    room = safety.most(talk.buys, ahead, heard.price)
    fit = min(heard.quantity, room) / max(heard.quantity, 1)
    soon = 1 - ahead / max(1, state.place.horizon)
    return URGENCY * soon + GAIN * gain + FIT * fit + late
