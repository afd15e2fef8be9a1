"""An expert behind L1: it says what it wants, and gets as much of it as is safe."""

from collections.abc import Mapping
from typing import Any

from negmas import SAOResponse
from scml_agents.scml2024.standard.team_penguin import PenguinAgent

from understudy.games.scml.agent import ACCEPT, END, REJECT, Decision, HRLAgent
from understudy.games.scml.layers.l1_safety import Offer, Safety
from understudy.games.scml.state import State


class Guarded(HRLAgent):
    """To be mixed into an agent class: `class Safe(Guarded, Expert)`."""

    def first_proposals(self) -> dict[str, Offer | None]:
        """What the expert would offer, made safe."""
        wishes = super(HRLAgent, self).first_proposals()
        self._wishes = {partner: Decision(REJECT, offer) for partner, offer in wishes.items()}
        return super().first_proposals()

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, Any]
    ) -> dict[str, SAOResponse]:
        """What the expert would answer, made safe."""
        wishes = super(HRLAgent, self).counter_all(offers, states)
        self._wishes = {
            partner: Decision(wish.response, wish.outcome)
            for partner, wish in wishes.items()
            if wish is not None
        }
        return super().counter_all(offers, states)

    def decide(self, state: State, safety: Safety, place: int, weight: float) -> Decision:
        """An unsafe acceptance becomes the nearest safe offer; an unsafe offer is cut."""
        talk = state.talks[place]
        wish = self._wishes.get(talk.partner, Decision(END))
        if wish.response is ACCEPT and talk.heard is not None:
            if safety.allows(talk.buys, talk.heard[1:]):
                return wish
            wish = Decision(REJECT, talk.heard[1:])
        offer = safety.clip(talk.buys, _whole(wish.offer)) if wish.response is REJECT else None
        return Decision(REJECT, offer) if offer is not None else Decision(END)


def _whole(offer: Any) -> Offer | None:
    """In whole numbers; a fractional price would end the talk."""
    if offer is None:
        return None
    quantity, day, price = (int(part) for part in offer)
    return quantity, day, price


class SafePenguin(Guarded, PenguinAgent):
    """The champion of 2024 behind L1."""
