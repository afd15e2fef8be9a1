"""Negotiations between two sides that say what they are told to."""

import pytest

from understudy.games.scml.domain import ROUNDS
from understudy.games.scml.engine.negotiation import Agenda, Negotiation, Side
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER, WAIT

OFFER, COUNTER = (3, 5, 12), (4, 5, 11)


class Script:
    """Answers from lists, the last one again and again."""

    def __init__(self, offers=(OFFER,), responses=(REJECT_OFFER,)):
        self.offers, self.responses = list(offers), list(responses)
        self.failures = []

    def propose(self, partner, state):
        return self.offers.pop(0) if len(self.offers) > 1 else self.offers[0]

    def respond(self, partner, state):
        return self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]

    def give_up(self, error):
        self.failures.append(error)


def negotiation(opener, other, patience=4):
    agenda = Agenda(quantity=(1, 30), day=(4, 9), price=(10, 13))
    return Negotiation(Side(opener, "other"), Side(other, "opener"), agenda, {}, patience)


def run(opener, other, patience=4):
    held, steps = negotiation(opener, other, patience), 1
    while held.step():
        steps += 1
    return held.state, steps


def test_the_other_accepts_what_the_opener_offers():
    state, steps = run(Script([OFFER]), Script(responses=[ACCEPT_OFFER]))
    assert (state.agreement, state.ended, steps) == (OFFER, True, 1)


def test_the_opener_accepts_a_counter_offer_in_the_next_round():
    state, steps = run(Script([OFFER], [ACCEPT_OFFER]), Script([COUNTER]))
    assert (state.agreement, steps) == (COUNTER, 2)


@pytest.mark.parametrize(
    ("opener", "other"),
    [
        (Script([None]), Script()),
        (Script(), Script(responses=[END_NEGOTIATION])),
        (Script([(3, 5, 14)]), Script(responses=[ACCEPT_OFFER])),  # above the range
        (Script([(3, 5, 11.5)]), Script(responses=[ACCEPT_OFFER])),  # no whole number
        (Script([(31, 5, 11)]), Script(responses=[ACCEPT_OFFER])),
    ],
)
def test_a_negotiation_breaks(opener, other):
    state, _ = run(opener, other)
    assert state.broken and state.agreement is None


def test_whole_numbers_of_other_types_are_cast():
    state, _ = run(Script([(3.0, 5, 12)]), Script(responses=[ACCEPT_OFFER]))
    assert state.agreement == OFFER
    assert [type(value) for value in state.agreement] == [int] * 3


def test_negotiations_end_after_so_many_rounds():
    state, steps = run(Script(), Script([COUNTER]))
    assert state.timedout and not state.broken
    assert (state.step, steps) == (ROUNDS, ROUNDS + 1)


def test_waiting_costs_no_round_but_patience():
    state, steps = run(Script(), Script(responses=[WAIT, WAIT, WAIT, ACCEPT_OFFER]))
    assert (state.agreement, state.step, steps) == (OFFER, 1, 4)
    state, steps = run(Script(), Script(responses=[WAIT]), patience=4)
    assert state.timedout
    assert steps == 5


def test_who_fails_twice_leaves():
    class Failing(Script):
        def respond(self, partner, state):
            raise ValueError("no idea")

    failing = Failing()
    state, _ = run(Script(), failing)
    assert state.broken
    assert [str(error) for error in failing.failures] == ["no idea"]
