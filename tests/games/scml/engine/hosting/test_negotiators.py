"""Negotiators: which kind an agent gets, when it is asked about all at once, and with what."""

import pytest
from negmas import SAOResponse
from negmas.sao import SAOSyncController
from scml.std import StdAgent, StdSyncAgent
from scml.std.agents import GreedyStdAgent, RandomStdAgent, SyncRandomStdAgent

from understudy.games.scml.engine.hosting.faults import Watchdog
from understudy.games.scml.engine.hosting.negotiators import (
    PlainNegotiator,
    SyncNegotiator,
    decides_jointly,
    takes,
)
from understudy.games.scml.engine.negotiation import NegotiationState
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER, WAIT

A, B, C = (1, 0, 10), (2, 0, 11), (3, 0, 12)


def state(offer=None, proposer=None):
    found = NegotiationState(("a", "b"), [])
    found.current_offer, found.current_proposer = offer, proposer
    return found


def watchdog():
    return Watchdog(1.0, 1.0, lambda who, error: None)


# --- which kind ----------------------------------------------------------------------------------


class OwnController(SyncRandomStdAgent):
    def respond(self, negotiator_id, state, source=""):
        return super().respond(negotiator_id, state, source)


@pytest.mark.parametrize(
    ("kind", "jointly"),
    [
        (SyncRandomStdAgent, True),
        (StdSyncAgent, True),
        (RandomStdAgent, False),
        (GreedyStdAgent, False),
        (OwnController, False),  # it changes what negmas' controller does
        (object, False),
    ],
)
def test_who_leaves_the_controller_as_it_is_decides_jointly(kind, jointly):
    assert decides_jointly(kind) is jointly


def test_what_a_method_takes_by_name():
    def with_source(self, state, source=None):
        pass

    def with_anything(self, state, **named):
        pass

    def with_places_only(self, *arguments):
        pass

    assert takes(with_source, "source") and takes(with_anything, "source")
    assert not takes(with_source, "dest") and not takes(with_places_only, "source")


# --- all negotiations at once ---------------------------------------------------------------------


class Joint:
    """Decides about all negotiations; what it is asked is kept."""

    id = "me"

    def __init__(self, first=None, answers=None):
        self.first, self.answers = first, answers
        self.asked = []

    def first_proposals(self):
        self.asked.append("first")
        return self.first

    def counter_all(self, offers, states):
        self.asked.append(dict(offers))
        if isinstance(self.answers, Exception):
            raise self.answers
        return self.answers


def sync_negotiator(agent, *partners):
    negotiator = SyncNegotiator(agent, watchdog(), lambda error: None)
    negotiator.open_day(dict.fromkeys(partners))
    return negotiator


def test_first_offers_are_asked_for_once():
    agent = Joint({"a": A, "b": B})
    negotiator = sync_negotiator(agent, "a", "b")
    assert [negotiator.propose(partner, state()) for partner in ("a", "b")] == [A, B]
    assert agent.asked == ["first"]


def test_who_is_left_out_of_the_first_offers_is_asked_for_again():
    agent = Joint({"a": A, "c": C})
    negotiator = sync_negotiator(agent, "a", "b", "c")
    assert negotiator.propose("a", state()) == A
    assert negotiator.propose("b", state()) is None
    assert negotiator.propose("c", state()) == C
    assert agent.asked == ["first", "first"]


def test_it_waits_until_every_partner_has_made_an_offer():
    answers = {"a": SAOResponse(REJECT_OFFER, C), "b": SAOResponse(ACCEPT_OFFER, B)}
    agent = Joint({}, answers)
    negotiator = sync_negotiator(agent, "a", "b")
    assert negotiator.respond("a", state(A)) is WAIT
    assert agent.asked == []
    assert negotiator.respond("b", state(B)) is ACCEPT_OFFER
    assert agent.asked == ["first", {"a": A, "b": B}]
    assert negotiator.respond("a", state(A)) is REJECT_OFFER
    assert negotiator.propose("a", state()) == C
    assert agent.asked == ["first", {"a": A, "b": B}]


def test_it_waits_for_a_silent_partner_only_so_often():
    agent = Joint({}, {"a": SAOResponse(REJECT_OFFER, C)})
    negotiator = sync_negotiator(agent, "a", "b", "c")
    assert [negotiator.respond("a", state(A)) for _ in range(4)] == [WAIT, WAIT, WAIT, REJECT_OFFER]
    assert agent.asked == ["first", {"a": A}]


def test_negotiations_that_have_ended_are_not_waited_for():
    agent = Joint({}, {"a": SAOResponse(REJECT_OFFER, C)})
    negotiator = sync_negotiator(agent, "a", "b")
    negotiator.close("b")
    assert negotiator.respond("a", state(A)) is REJECT_OFFER
    assert agent.asked[-1] == {"a": A}


def test_silence_ends_a_negotiation_and_no_answer_rejects_without_an_offer():
    agent = Joint({}, {"a": None})
    negotiator = sync_negotiator(agent, "a", "b")
    negotiator.respond("a", state(A))
    assert negotiator.respond("b", state(B)) is END_NEGOTIATION
    assert negotiator.respond("a", state(A)) is REJECT_OFFER
    assert negotiator.propose("a", state()) is None


def test_nothing_is_left_of_yesterday():
    agent = Joint({"a": A}, {"a": SAOResponse(END_NEGOTIATION, None)})
    negotiator = sync_negotiator(agent, "a", "b")
    negotiator.respond("a", state(A))
    negotiator.open_day({"a": None})
    assert negotiator.respond("a", state(B)) is END_NEGOTIATION
    assert agent.asked[-1] == {"a": B}


def test_a_type_error_is_tried_as_often_as_negmas_does():
    agent = Joint({}, TypeError("of its own"))
    with pytest.raises(TypeError, match="of its own"):
        sync_negotiator(agent, "a").respond("a", state(A))
    assert agent.asked == ["first", *[{"a": A}] * 4]
    with pytest.raises(KeyError):
        sync_negotiator(Joint({}, KeyError()), "a").respond("a", state(A))


# --- negotiation by negotiation -------------------------------------------------------------------


class Plain:
    """Has methods that take what they are given, and writes it down."""

    id = "me"

    def __init__(self):
        self.told = []

    def propose(self, negotiator_id, state, dest=None):
        self.told.append((negotiator_id, dest))
        return A

    def respond(self, negotiator_id, state, source=None):
        self.told.append((negotiator_id, source))
        return REJECT_OFFER


class Narrow(Plain):
    def propose(self, negotiator_id, state):
        return super().propose(negotiator_id, state, "not told")

    def respond(self, negotiator_id, state):
        return super().respond(negotiator_id, state, "not told")


class Clumsy(Plain):
    """Fails whatever it is asked, as if it took other arguments."""

    def respond(self, negotiator_id, state, source="nobody"):
        self.told.append(source)
        raise TypeError("of its own")


def plain_negotiator(agent):
    return PlainNegotiator(agent, watchdog(), lambda error: None)


def test_an_agent_is_told_what_its_methods_take():
    for agent, told in ((Plain(), ["me", "them"]), (Narrow(), ["not told"] * 2)):
        negotiator = plain_negotiator(agent)
        assert negotiator.propose("a", state()) == A
        assert negotiator.respond("a", state(B, "them")) is REJECT_OFFER
        assert agent.told == [("a", word) for word in told]


def test_a_type_error_of_its_own_is_asked_again_with_other_arguments():
    agent = Clumsy()
    with pytest.raises(TypeError, match="of its own"):
        plain_negotiator(agent).respond("a", state(B, "them"))
    assert agent.told == ["them", "nobody", None, "nobody"]


def test_the_watchdog_knows_whose_code_runs_and_for_how_many_calls():
    seen = []

    class Watched(Plain):
        def propose(self, negotiator_id, state):
            seen.append(dog.inside)
            return A

        def respond(self, negotiator_id, state):
            seen.append(dog.inside)
            raise KeyError

    dog = watchdog()
    negotiator = PlainNegotiator(Watched(), dog, lambda error: None)
    negotiator.propose("a", state())
    with pytest.raises(KeyError):
        negotiator.respond("a", state(A))
    assert seen == ["me", "me"] and dog.inside is None and dog.calls == 2


def test_an_agent_with_a_controller_of_its_own_begins_every_day_anew():
    agent = OwnController()
    agent._negotiators = {"a": "a negotiation of today"}
    agent.reset = lambda: seen.append(dict(agent._negotiators))
    agent._reset_for = seen = []
    negotiator = plain_negotiator(agent)
    negotiator.open_day({})
    assert seen == [{}] and agent._negotiators == {"a": "a negotiation of today"}
    assert isinstance(agent, SAOSyncController) and isinstance(agent, StdAgent)
