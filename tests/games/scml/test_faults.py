"""Agents that fail: the fault is written down and the world goes on, or ends as in scml."""

import pytest
from negmas import ResponseType, SAOResponse
from scml.std import StdSyncAgent
from scml.std.agents import RandomStdAgent

from understudy.games.scml import verify
from understudy.games.scml.engine.config import draw
from understudy.games.scml.engine.world import World
from understudy.games.scml.stock import quiet

CONFIG = draw((2, 2), 6, seed=3)


class Failing(RandomStdAgent):
    day = 2

    def propose(self, negotiator_id, state):
        if self.awi.current_step == self.day:
            raise KeyError("lost")
        return super().propose(negotiator_id, state)


class FailingAtNight(RandomStdAgent):
    def step(self):
        raise ZeroDivisionError("at night")


class Endless(StdSyncAgent):
    def first_proposals(self):
        if self.awi.current_step == 1:
            while True:
                pass
        return {}

    def counter_all(self, offers, states):
        return {k: SAOResponse(ResponseType.END_NEGOTIATION, None) for k in offers}


class Forgiven(RandomStdAgent):
    """Fails every other time: negmas asks twice."""

    asked = 0

    def respond(self, negotiator_id, state, source=None):
        self.asked += 1
        if self.asked % 2:
            raise ValueError("not yet")
        return super().respond(negotiator_id, state, source)


def play(kind, **options):
    world = World(CONFIG, [(kind, {}), *[(RandomStdAgent, {})] * 3], **options)
    return world.run()


def test_an_exception_is_written_down_and_the_world_goes_on():
    world = play(FailingAtNight)
    assert [fault.day for fault in world.faults] == list(range(6))
    assert world.faults[0].factory == "00@0"
    assert world.faults[0].error == "ZeroDivisionError: at night"
    assert len(world.factories[0].profits) == 6


def test_who_fails_in_a_talk_leaves_it():
    world = play(Failing)
    assert {fault.day for fault in world.faults} <= {2}


def test_an_endless_call_is_cut_off():
    config = draw((1, 1), 3, seed=3)
    world = World(config, [(RandomStdAgent, {}), (Endless, {})], call_seconds=1.0).run()
    assert {fault.day for fault in world.faults} == {1}
    assert "no answer after 1 s" in world.faults[0].error


@pytest.mark.parametrize("kind", [Failing, FailingAtNight, Forgiven])
def test_when_strict_a_failing_agent_ends_the_world_as_in_scml(kind):
    kinds = [RandomStdAgent, RandomStdAgent, kind, RandomStdAgent]
    with quiet():
        theirs = verify.play_in_scml(CONFIG, kinds, seed=3)
        ours = verify.play_in_engine(CONFIG, kinds, seed=3)
    assert (theirs.ended is None) == (kind is Forgiven)
    assert verify.differences(theirs, ours) == []
