"""States told from a recording are those that the agents saw."""

from dataclasses import replace

import numpy as np
import pyarrow.compute as pc
import pytest
from scml_memories import PLAN, SHORT, played

from understudy.games.scml.packed import packed, unpacked
from understudy.games.scml.recalled import Recording, decisions_of

LIVE = frozenset({"Live"})
PLANS = {
    "engine": PLAN,
    "scml": replace(PLAN, simulator="scml", steps=8),
    "conserved": replace(PLAN, conserve_stock=True, seed=12),
    "oneshot": SHORT,
    "oneshot in scml": replace(SHORT, simulator="scml", steps=8),
}


@pytest.fixture(scope="module", params=PLANS)
def world(request):
    return played(PLANS[request.param])


def names_of(recording):
    return dict(enumerate(recording.names))


def test_a_recalled_state_is_the_one_the_agent_saw(world):
    recordings, decided, _ = world
    names = Recording(recordings).names
    found = {}
    for one in decisions_of(recordings, LIVE):
        assert one.player == "Live" and one.day == one.state.morning.day
        assert len(one.answers) == len(one.state.talks)
        found.setdefault(names[one.factory], []).append(one.state)
    assert sum(map(len, found.values())) > 100
    assert found == decided


def test_a_recalled_morning_is_the_one_the_agent_saw(world):
    recordings, _, seen = world
    recording = Recording(recordings, LIVE)
    mornings = recording.mornings()
    found = {}
    for owner, state in zip(mornings.owner.tolist(), unpacked(mornings.states, ()), strict=True):
        found.setdefault(recording.names[owner], []).append(state)
    solvent = {
        name: [state for state in states if state.morning.day < recording.bankrupt_from[k]]
        for k, name in enumerate(recording.names)
        if (states := seen.get(name))
    }
    assert found == solvent


def test_the_worlds_have_what_is_hard_to_tell():
    """Contracts of days to come, partners gone bankrupt, stock that falls, long talks."""
    states = [s for plan in ("engine", "conserved") for s in sum(played(PLANS[plan])[1].values(), [])]
    assert any(sum(state.promises.bought[1:]) for state in states)
    assert any(sum(state.promises.sold[1:]) for state in states)
    assert any(state.morning.stock_falls for state in states)
    assert max(len(talk.said) for state in states for talk in state.talks) > 10
