"""From states to what the networks read. Live play and `encode.py` both call this.

Nothing here can tell whether a state came from a running world or from a recording, nor how many
others it is computed with. `features.py` says what each number means.
"""

from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Bools, Float32s, Floats, Int32s
from understudy.games.scml.domain import DAYS, SafetySettings
from understudy.games.scml.view import features as f
from understudy.games.scml.view.columns import Packed, packed
from understudy.games.scml.view.commitments import empty_book
from understudy.games.scml.view.day_features import fill_states
from understudy.games.scml.view.negotiation_features import fill_histories, fill_negotiations
from understudy.games.scml.view.state import State


class Observed(NamedTuple):
    """Features of states and their negotiations, and what L1 says before any capacity is taken."""

    static: Float32s
    """[states, STATIC]."""
    temporal: Float32s
    """[states, DAYS, TEMPORAL]."""
    days: Bools
    """[states, DAYS]: for which a delivery can be agreed; of the others nothing is known."""
    can: Float32s
    """[states, 2]: whether this factory buys from others, sells to others."""
    situation: Float32s
    """[states, SITUATION]."""
    bounds: Int32s
    """[states, 2, DAYS]: Q_safe buying and selling."""
    money: Floats
    """[states]: B_free."""
    thread: Float32s
    """[negotiations, THREAD]."""
    history: Float32s
    """[negotiations, HISTORY, PAST_OFFER]: the offers made, oldest first, then nothing."""
    length: Int32s
    """[negotiations]: how much of it there is."""
    role: Float32s
    """[negotiations, 2]: buying, selling."""
    baseline: Int32s
    """[negotiations, 3]: L1's own offer: units (0: it has none), days ahead, unit price."""
    safe: Bools
    """[negotiations]: L1 allows to accept what lies on the table."""


def observed(columns: Packed, settings: SafetySettings | None = None) -> Observed:
    """All features of many states."""
    settings = settings or SafetySettings()
    states, negotiations = len(columns.facts), len(columns.negotiations)
    features = Observed(
        static=np.empty((states, len(f.STATIC)), np.float32),
        temporal=np.zeros((states, DAYS, len(f.TEMPORAL)), np.float32),
        days=np.zeros((states, DAYS), np.bool_),
        can=np.empty((states, 2), np.float32),
        situation=np.empty((states, len(f.SITUATION)), np.float32),
        bounds=np.zeros((states, 2, DAYS), np.int32),
        money=np.empty(states),
        thread=np.zeros((negotiations, len(f.THREAD)), np.float32),
        history=np.zeros((negotiations, f.HISTORY, len(f.PAST_OFFER)), np.float32),
        length=np.empty(negotiations, np.int32),
        role=np.empty((negotiations, 2), np.float32),
        baseline=np.zeros((negotiations, 3), np.int32),
        safe=np.zeros(negotiations, np.bool_),
    )
    book, offers = empty_book(), np.zeros((4, DAYS))
    fill_states(columns, settings.numbers, book, offers, features)
    fill_negotiations(columns, features)
    fill_histories(columns, features)
    return features


def observe(state: State, settings: SafetySettings | None = None) -> Observed:
    """All features of one state."""
    return observed(packed([state]), settings)


def static(state: State) -> Float32s:
    """What holds for the day, [STATIC]."""
    return observe(state).static[0]


def temporal(state: State) -> Float32s:
    """What is known of the days ahead, [DAYS, TEMPORAL]."""
    return observe(state).temporal[0]


def can(state: State) -> Float32s:
    """Whether this factory buys from others, sells to others, [2]."""
    return observe(state).can[0]


def threads(state: State, settings: SafetySettings | None = None) -> Float32s:
    """Every negotiation beside the others, [negotiations, THREAD]."""
    return observe(state, settings).thread


def overall(state: State, settings: SafetySettings | None = None) -> Float32s:
    """The day and all negotiations together, [OVERALL]."""
    found = observe(state, settings)
    return np.concatenate([found.static[0], found.situation[0]])
