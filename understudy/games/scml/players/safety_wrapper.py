"""An expert behind L1: it says what it wants, and gets as much of it as is safe."""

from collections.abc import Mapping
from typing import Any

from negmas import SAOResponse
from scml_agents.scml2024.standard.team_penguin import PenguinAgent

from understudy.games.scml.agent.hrl import Decision, Deliberation, HRLAgent
from understudy.games.scml.domain import Offer
from understudy.games.scml.engine.responses import END_NEGOTIATION, REJECT_OFFER


class SafetyWrapper(HRLAgent):
    """To be mixed into an agent class: `class Safe(SafetyWrapper, Expert)`."""

    checkpoint = None

    def first_proposals(self) -> dict[str, Offer | None]:
        """What the expert would offer, made safe."""
        wishes = super(HRLAgent, self).first_proposals()
        self._wishes = {p: Decision(REJECT_OFFER, _whole(offer)) for p, offer in wishes.items()}
        return super().first_proposals()

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, Any]
    ) -> dict[str, SAOResponse]:
        """What the expert would answer, made safe."""
        wishes = super(HRLAgent, self).counter_all(offers, states)
        self._wishes = {
            partner: Decision(wish.response, _whole(wish.outcome))
            for partner, wish in wishes.items()
            if wish is not None
        }
        return super().counter_all(offers, states)

    def decide(self, now: Deliberation, index: int) -> Decision:
        """What the expert wishes; L1 has the last word."""
        return self._wishes.get(now.state.negotiations[index].partner, Decision(END_NEGOTIATION))


def _whole(offer: Any) -> Offer | None:
    """In whole numbers; a fractional price would end the negotiation."""
    if offer is None:
        return None
    quantity, day, price = (int(part) for part in offer)
    return quantity, day, price


class SafePenguin(SafetyWrapper, PenguinAgent):
    """The champion of 2024 behind L1."""


Guarded = SafetyWrapper  # its name before; agents may be built on it
