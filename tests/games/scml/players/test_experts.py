"""Experts behind L1, and experts that look on: what they wish, and who decides."""

import pytest
from negmas import SAOResponse
from scml.std import StdSyncAgent
from scml.std.agents import GreedyStdAgent, SyncRandomStdAgent

from tests.games.scml.chains import chain, demand, supply
from understudy.errors import InputError
from understudy.games.scml.agent.hrl import HRLAgent, L1Agent
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.engine.world import World
from understudy.games.scml.players.dagger_labeller import DaggerLabeller, labelled_by
from understudy.games.scml.players.safety_wrapper import SafetyWrapper, _whole

LEVELS = (0, 1, 1)
OUTSIDE = [supply(6, day=day) for day in range(6)]
OUTSIDE += [demand(3, 30, day=day, factory=factory) for day in range(6) for factory in (1, 2)]


class Expert(StdSyncAgent):
    """Always wants the same number of units today, at the highest price."""

    units = 4
    answer = REJECT_OFFER

    def wish(self, partner):
        price = self.get_nmi(partner).issues[2].max_value
        return self.units, self.awi.current_step, float(price)

    def first_proposals(self):
        return {partner: self.wish(partner) for partner in self.negotiators}

    def counter_all(self, offers, states):
        return {partner: SAOResponse(self.answer, self.wish(partner)) for partner in offers}


def seller(kind):
    """A world where the first level sells to L1 twice; `kind` is the seller."""
    players = [(kind, {}), (L1Agent, {}), (L1Agent, {})]
    return World(chain(LEVELS, OUTSIDE), players, strict=True).run()


# --- behind L1 -----------------------------------------------------------------------------------


def watched(expert=Expert, **members):
    """The guarded expert, and what it was let say: wish and decision, one after the other."""
    seen = []

    def guard(self, now, place, wish):
        found = SafetyWrapper.guard(self, now, place, wish)
        seen.append((wish, found))
        return found

    return type("Safe", (SafetyWrapper, expert), {"guard": guard, **members}), seen


def test_a_safe_wish_passes_as_it_is():
    kind, seen = watched(units=1)
    seller(kind)
    assert len(seen) > 5
    assert all(wish == found for wish, found in seen)
    assert all(found.offer[0] == 1 for _, found in seen if found.response is REJECT_OFFER)


def test_of_an_unsafe_wish_as_much_as_is_safe_is_said():
    kind, seen = watched(units=30)
    world = seller(kind)
    offered = [found.offer for _, found in seen if found.offer]
    assert offered and all(0 < quantity <= 10 for quantity, _, _ in offered)
    assert world.factories[0].results[0].shortfall == 0
    assert any(found.response is END_NEGOTIATION for _, found in seen)  # nothing is left


def test_who_is_left_out_is_left():
    class Mute(Expert):
        def counter_all(self, offers, states):
            return {}

    kind, seen = watched(Mute)
    assert seller(kind).ledger.contracts == []
    assert seen and all(found.response is END_NEGOTIATION for _, found in seen)


@pytest.mark.parametrize(
    ("offer", "whole"), [((2.0, 3, 4.9), (2, 3, 4)), (None, None), ([1, 2, 3], (1, 2, 3))]
)
def test_wishes_are_for_whole_units_and_prices(offer, whole):
    assert _whole(offer) == whole


# --- looking on ----------------------------------------------------------------------------------


def test_the_expert_is_asked_and_the_player_plays():
    advice = []

    class Looking(labelled_by(Expert)):
        checkpoint = None

        def counter_all(self, offers, states):
            found = super().counter_all(offers, states)
            advice.append((dict(offers), dict(self.advice), found))
            return found

    with_expert, alone = seller(Looking), seller(L1Agent)
    assert [f.profits for f in with_expert.factories] == [f.profits for f in alone.factories]
    assert len(advice) > 5
    for offers, advised, found in advice:
        assert advised.keys() == offers.keys() == found.keys()
        assert all(answer.outcome[0] == Expert.units for answer in advised.values())
    assert any(found[k].response is ACCEPT_OFFER for _, _, found in advice for k in found)


def test_a_labelled_class_names_its_expert():
    kind = labelled_by(SyncRandomStdAgent)
    assert kind.__name__ == "LabelledBySyncRandomStdAgent"
    assert issubclass(kind, DaggerLabeller) and issubclass(kind, SyncRandomStdAgent)
    assert kind.__mro__.index(HRLAgent) < kind.__mro__.index(SyncRandomStdAgent)


def test_only_who_decides_about_all_negotiations_at_once_can_look_on():
    with pytest.raises(
        InputError, match=r"GreedyStdAgent decides one negotiation at a time .* such as Steward"
    ):
        labelled_by(GreedyStdAgent)
