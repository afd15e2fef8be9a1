"""How agents speak in their negotiations: one by one, or about all of them at once.

An agent of the first kind has `propose` and `respond`. One of the second has `first_proposals` and
`counter_all`; negmas' SAOSyncController collects the offers of all partners for it and hands out
its answers. `SyncNegotiator` is that controller's bookkeeping. An agent that changes the controller
itself keeps its inherited one and speaks through `PlainNegotiator`.
"""

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from negmas import ResponseType
from negmas.sao import SAOState, SAOSyncController

from understudy.games.scml.domain import Offer
from understudy.games.scml.engine.hosting.faults import Failure, Watchdog
from understudy.games.scml.engine.negotiation import Negotiation
from understudy.games.scml.engine.responses import END_NEGOTIATION, REJECT_OFFER, WAIT

GiveUp = Callable[[Failure], None]
CONTROLLER_METHODS = (
    "propose",
    "respond",
    "reset",
    "on_negotiation_end",
    "_set_first_proposals",
    "_reset_for",
    "_filter_unexpected_offers",
)


def decides_jointly(kind: type) -> bool:
    """Whether an agent class uses negmas' sync controller unchanged."""
    return issubclass(kind, SAOSyncController) and all(
        getattr(kind, name) is getattr(SAOSyncController, name) for name in CONTROLLER_METHODS
    )


def takes(method: Callable[..., Any], name: str) -> bool:
    """Whether a method can be given this argument by name."""
    parameters = inspect.signature(method).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


class PlainNegotiator:
    """Asks the agent about each negotiation by itself."""

    def __init__(self, agent: Any, watchdog: Watchdog, give_up: GiveUp) -> None:
        self._agent = agent
        self._name = agent.id
        self._watchdog = watchdog
        self._inherited = isinstance(agent, SAOSyncController)
        self._takes_dest = takes(agent.propose, "dest")
        self._takes_source = takes(agent.respond, "source")
        self.give_up = give_up

    def open_day(self, negotiations: dict[str, Negotiation]) -> None:
        """A new day: nothing is left of yesterday's negotiations."""
        if self._inherited:
            negotiators = self._agent._negotiators
            self._agent._negotiators = {}  # there is nobody to be told that they have gone
            try:
                self._agent.reset()
            finally:
                self._agent._negotiators = negotiators

    def close(self, partner: str) -> None:
        """A negotiation has ended."""
        if self._inherited:
            self._agent._reset_for(partner)

    def propose(self, partner: str, state: SAOState) -> Offer | None:
        """An offer to this partner."""
        agent, watchdog = self._agent, self._watchdog
        watchdog.calls += 1
        watchdog.inside = self._name
        try:
            if self._takes_dest:
                with contextlib.suppress(TypeError):
                    return agent.propose(negotiator_id=partner, state=state, dest=self._name)
            return agent.propose(negotiator_id=partner, state=state)
        finally:
            watchdog.inside = None

    def respond(self, partner: str, state: SAOState) -> ResponseType:
        """An answer to the offer on the table."""
        agent, watchdog = self._agent, self._watchdog
        watchdog.calls += 1
        watchdog.inside = self._name
        try:
            if self._takes_source:
                proposer = state.current_proposer
                return agent.respond(negotiator_id=partner, state=state, source=proposer)
            return agent.respond(negotiator_id=partner, state=state)
        except TypeError:
            return self._respond_again(partner, state)
        finally:
            watchdog.inside = None

    def _respond_again(self, partner: str, state: SAOState) -> ResponseType:
        """Call the agent with other arguments in turn while it raises a TypeError.

        That is how negmas finds out what an agent's methods take (SAOPRNegotiator and
        ControlledNegotiator), so an agent with a TypeError of its own is asked again too.
        """
        extras: list[dict[str, None]] = [{}, {"source": None}] if self._takes_source else []
        for extra in extras:
            with contextlib.suppress(TypeError):
                return self._agent.respond(negotiator_id=partner, state=state, **extra)
        return self._agent.respond(negotiator_id=partner, state=state)


class SyncNegotiator:
    """Asks the agent about all its negotiations at once, when every partner has made an offer.

    Partners that were heard wait; a partner can wait only so often, then the agent is asked with
    what there is. Mirrors negmas' SAOSyncController method by method.
    """

    def __init__(self, agent: Any, watchdog: Watchdog, give_up: GiveUp) -> None:
        self._agent = agent
        self._name = agent.id
        self._watchdog = watchdog
        self.give_up = give_up
        self.open_day({})

    def open_day(self, negotiations: dict[str, Negotiation]) -> None:
        """A new day: nothing is left of yesterday's negotiations."""
        self._negotiations = negotiations
        self._num_active = len(negotiations)
        self._heard: dict[str, Any] = {}
        self._states: dict[str, SAOState] = {}
        self._responses: dict[str, ResponseType] = {}
        self._proposals: dict[str, Any] = {}
        self._waits: dict[str, int] = dict.fromkeys(negotiations, 0)
        self._has_opened = False

    def close(self, partner: str) -> None:
        """A negotiation has ended. Nobody will ask again for what else is kept of it."""
        self._num_active -= 1
        self._heard.pop(partner, None)
        self._states.pop(partner, None)
        if isinstance(self._proposals, dict):  # else the agent gave us something useless
            self._proposals.pop(partner, None)

    def _call(self, method: Callable[..., Any], **arguments: Any) -> Any:
        watchdog = self._watchdog
        watchdog.calls += 1
        watchdog.inside = self._name
        try:
            return method(**arguments)
        finally:
            watchdog.inside = None

    def _open(self) -> None:
        self._proposals = self._call(self._agent.first_proposals)
        if not self._proposals:
            self._proposals = dict.fromkeys(self._negotiations)
        self._has_opened = True

    def propose(self, partner: str, state: SAOState) -> Offer | None:
        """What the agent decided to offer; a TypeError is tried again."""
        try:
            return self._propose(partner)
        except TypeError:
            return self._propose(partner)

    def _propose(self, partner: str) -> Offer | None:
        if not self._proposals:
            self._open()
        # Left out of the first answer: the controller asks once more, for all partners.
        if partner not in self._proposals:
            self._open()
        offer = self._proposals.pop(partner, None)
        self._waits[partner] = 0
        self._responses.pop(partner, None)
        self._heard.pop(partner, None)
        self._states.pop(partner, None)
        return offer

    def respond(self, partner: str, state: SAOState) -> ResponseType:
        """What the agent decided to answer; a TypeError is tried as often as negmas does."""
        for _ in range(3):
            try:
                return self._respond(partner, state)
            except TypeError:
                continue
        return self._respond(partner, state)

    def _respond(self, partner: str, state: SAOState) -> ResponseType:
        response = self._responses.pop(partner, WAIT)
        if response is not WAIT:
            self._waits[partner] = 0
            return response
        self._heard[partner] = state.current_offer
        self._states[partner] = state
        # Ask when all open negotiations were heard, or this partner has waited long enough.
        if len(self._heard) < self._num_active and self._waits[partner] < self._num_active:
            self._waits[partner] += 1
            return WAIT
        # SAOSyncController asks for first proposals even of agents that never open.
        if not self._has_opened:
            self._open()
        self._decide()
        return self._responses.pop(partner, REJECT_OFFER)

    def _decide(self) -> None:
        answers = self._call(self._agent.counter_all, offers=self._heard, states=self._states)
        for partner in self._negotiations:
            if partner not in answers:  # left out: that negotiation is over
                self._responses[partner], self._proposals[partner] = END_NEGOTIATION, None
                self._waits[partner] = 0
                continue
            answer = answers[partner]
            # No answer for a partner is a rejection without an offer, which ends the negotiation.
            if answer is None:
                self._responses[partner], self._proposals[partner] = REJECT_OFFER, None
                continue
            self._responses[partner], self._proposals[partner] = answer.response, answer.outcome
            self._waits[partner] = 0
        self._heard, self._states = {}, {}
