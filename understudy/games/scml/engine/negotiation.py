"""One negotiation of two factories: alternating offers in rounds, as in negmas' SAOMechanism.

In each round both sides act, the opener first: accept what lies on the table, end the negotiation,
answer with an offer, or wait (an agent that decides about all its negotiations at once waits until
it has heard from everyone). Mirrors `SAOMechanism.__call__`, `Mechanism.step` and
`SAONegotiator.__call__`.
"""

from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Protocol

from negmas import ResponseType
from negmas.outcomes import make_issue, make_os
from negmas.outcomes.outcome_ops import cast_value_types, outcome_types_are_ok
from negmas.sao import SAOState

from understudy.games.scml.domain import ROUNDS, Offer
from understudy.games.scml.engine.hosting.faults import CallTimeout, Failure
from understudy.games.scml.engine.random_state import random_state_kept
from understudy.games.scml.engine.responses import (
    ACCEPT_OFFER,
    END_NEGOTIATION,
    LEAVE,
    REJECT_OFFER,
    WAIT,
)

Offers = list[tuple[int, Offer]]
"""Those of a negotiation in order, each with the side that made it: 0 is the opener."""


class Negotiator(Protocol):
    """How an agent speaks in its negotiations; `negotiators.py` has the two kinds."""

    def propose(self, partner: str, state: SAOState) -> Offer | None:
        """An offer to this partner."""

    def respond(self, partner: str, state: SAOState) -> ResponseType:
        """An answer to the offer on the table."""

    def give_up(self, error: Failure) -> None:
        """The agent failed to act: write it down, or raise it."""


@lru_cache(maxsize=4096)
def _issue(low: int, high: int, name: str) -> Any:
    with random_state_kept():  # negmas rolls them
        return make_issue((low, high), name=name)


class Agenda:
    """What may be offered for one product on one day."""

    def __init__(
        self, quantity: tuple[int, int], day: tuple[int, int], price: tuple[int, int]
    ) -> None:
        self.ranges = quantity, day, price
        self.issues = [
            _issue(*quantity, "quantity"),
            _issue(*day, "time"),
            _issue(*price, "unit_price"),
        ]

    @cached_property
    def outcome_space(self) -> Any:
        """The same for negmas."""
        with random_state_kept():  # it may be made in the middle of an agent's turn
            return make_os(self.issues)

    def admit(self, offer: Any) -> Offer | None:
        """The offer in whole numbers; None if it is not allowed (SAOMechanism._safe_counter)."""
        if type(offer) is tuple and len(offer) == 3:
            quantity, day, price = offer
            if type(quantity) is int and type(day) is int and type(price) is int:
                (q0, q1), (d0, d1), (p0, p1) = self.ranges
                if q0 <= quantity <= q1 and d0 <= day <= d1 and p0 <= price <= p1:
                    return offer
        if offer is None or not self.outcome_space.is_valid(offer):
            return None
        if outcome_types_are_ok(offer, self.outcome_space.issues):
            return offer
        return cast_value_types(offer, self.outcome_space.issues)


class NegotiationState(SAOState):
    """negmas' state of a negotiation. Its many fields start as the class's, which takes no time."""

    running = waiting = started = broken = timedout = False
    ended_without_starting = has_error = False
    step = n_acceptances = 0
    time = relative_time = 0.0
    n_negotiators = 2
    agreement: Any = None
    current_offer: Any = None
    current_proposer: Any = None
    last_negotiator: Any = None
    results = current_data = current_proposer_agent = last_thread = None
    error_details = erred_negotiator = erred_agent = ""
    threads: Any = MappingProxyType({})
    left_negotiators: Any = frozenset()
    _round_start = _round_before = 0

    def __init__(self, negotiators: tuple[str, str], offers: Offers) -> None:
        """Nothing has happened yet."""
        self._negotiators = negotiators
        self._offers = offers

    def open_round(self) -> None:
        """What is offered from here on is new."""
        if len(self._offers) > self._round_start:
            self._round_before, self._round_start = self._round_start, len(self._offers)

    @property
    def new_offers(self) -> list[tuple[str, Offer]]:
        """This round's, each with the negotiator that made it."""
        return [(self._negotiators[index], o) for index, o in self._offers[self._round_start :]]

    @property
    def new_data(self) -> list[tuple[str, None]]:
        """Offers come without further words."""
        return [(negotiator, None) for negotiator, _ in self.new_offers]

    @property
    def new_offerer_agents(self) -> list[str]:
        """Who made the new offers; until there are any, who made those of the round before."""
        # A negotiator bears its partner's name, so the other side's negotiator is who offered.
        latest = self._offers[self._round_start :] or self._offers[self._round_before :]
        return [self._negotiators[1 - index] for index, _ in latest]


class NegotiationView:
    """What the two sides may know of their negotiation: negmas' negotiator-mechanism interface."""

    __slots__ = ("_agenda", "_negotiators", "_offers", "annotation", "issues", "state")
    n_steps = ROUNDS
    n_negotiators = 2
    time_limit = step_time_limit = negotiator_time_limit = float("inf")
    dynamic_entry = False
    one_offer_per_step = atomic_steps = False
    end_on_no_response = offering_is_accepting = True

    def __init__(self, state: NegotiationState, agenda: Agenda, annotation: dict[str, Any]) -> None:
        self.state = state
        self.annotation = annotation
        """Product, buyer, seller, who opened, and the day."""
        self.issues = agenda.issues
        self._agenda = agenda
        self._negotiators = state._negotiators
        self._offers = state._offers

    @property
    def id(self) -> str:
        """Who negotiates, when."""
        return "-".join(str(part) for part in self.annotation.values())

    mechanism_id = id

    @property
    def outcome_space(self) -> Any:
        """All possible offers."""
        return self._agenda.outcome_space

    cartesian_outcome_space = outcome_space

    @property
    def n_outcomes(self) -> int:
        """How many possible offers there are."""
        return self.outcome_space.cardinality

    def random_outcome(self) -> Offer:
        """One of them."""
        return self.outcome_space.random_outcome()

    def random_outcomes(self, n: int = 1) -> list[Offer]:
        """Some of them."""
        return list(self.outcome_space.sample(n, False, False))

    @property
    def negotiator_ids(self) -> list[str]:
        """negmas names a side's negotiator after the partner."""
        return list(self._negotiators)

    @property
    def agent_ids(self) -> list[str]:
        """The opener first."""
        return self.negotiator_ids[::-1]

    @property
    def trace(self) -> list[tuple[str, Offer]]:
        """All offers so far and whose negotiator made them."""
        return [(self._negotiators[index], offer) for index, offer in self._offers]

    def outcome_index(self, outcome: Offer) -> int | None:
        """Offers are too many to be numbered."""
        return None


class Side:
    """One of the two in a negotiation."""

    __slots__ = ("negotiator", "offer", "offered_at", "partner")

    def __init__(self, negotiator: Negotiator, partner: str) -> None:
        self.negotiator = negotiator
        self.partner = partner
        self.offer: Any = None
        self.offered_at = -1
        """The round of `offer`."""


class Negotiation:
    """A negotiation that has been called for; `step` moves it on."""

    __slots__ = (
        "_last",
        "_order",
        "_patience",
        "_waits",
        "agenda",
        "annotation",
        "offers",
        "sides",
        "state",
        "view",
    )

    def __init__(
        self,
        opener: Side,
        other: Side,
        agenda: Agenda,
        annotation: dict[str, Any],
        patience: int,
    ) -> None:
        self.sides = (opener, other)
        self.agenda = agenda
        self.annotation = annotation
        self.offers: Offers = []
        self.state = NegotiationState((opener.partner, other.partner), self.offers)
        # Neither knows its negotiation: Python frees at once what does not go in a circle.
        self.view = NegotiationView(self.state, agenda, annotation)
        self._patience = patience
        self._waits = 0
        self._last = 1
        self._order: tuple[int, ...] | None = None
        """Who still has to act in this round, while somebody waits."""

    def step(self) -> bool:
        """Go on for one round, or until somebody waits; whether it is still running."""
        state = self.state
        # As in Mechanism.step, the limit is checked before a round begins.
        if state.step >= ROUNDS:
            state.timedout, state.running = True, False
            return False
        if not state.running:
            state.running = state.started = True
            # negmas never lets relative time reach 1 within the rounds.
            state.relative_time = 1 / (ROUNDS + 1)
        state.waiting = False
        try:
            self._round()
        except TypeError:  # Mechanism.step tries again on exactly this
            self._round()
        if not state.waiting:
            state.step += 1
            state.relative_time = (state.step + 1) / (ROUNDS + 1)
        if state.agreement is not None or state.broken or state.timedout:
            state.running = False
        return state.running

    def _round(self) -> None:
        order = self._order
        if order is None:
            self.state.open_round()
            # Both act once a round; who acted last in the round before goes second.
            order = (1, 0) if self._last == 0 else (0, 1)
        for index in order:
            self._last = index
            if not self._act(index):
                return

    def _act(self, index: int) -> bool:
        """Let one side act; whether the round goes on."""
        state, side = self.state, self.sides[index]
        try:
            response = self._answer(side)
        except CallTimeout as timeout:
            side.negotiator.give_up(timeout)
            state.timedout = True
            return False
        if response is WAIT:
            self._wait(index)
            return False
        self._waits, self._order = 0, None
        if response is REJECT_OFFER:
            return self._put_on_table(index, side)
        if response is ACCEPT_OFFER and state.current_offer is not None:
            # Who made the offer counts as having accepted it (`offering_is_accepting`).
            state.n_acceptances = 2
            state.agreement = state.current_offer
            return False
        if response is END_NEGOTIATION or response is LEAVE or response is ACCEPT_OFFER:
            state.broken = True
            return False
        return True  # an answer that means nothing is no answer

    def _put_on_table(self, index: int, side: Side) -> bool:
        state = self.state
        offer = self.agenda.admit(side.offer)
        if offer is None:
            state.broken = True
            return False
        state.n_acceptances = 1
        state.current_offer = offer
        state.current_proposer = state.last_negotiator = side.partner
        self.offers.append((index, offer))
        return True

    def _wait(self, index: int) -> None:
        """The round stops here and goes on with the same side."""
        state = self.state
        other = self._last = 1 - index
        # The other side acts again in this round only if it has not yet offered in it.
        has_offered = any(who == other for who, _ in self.offers[state._round_start :])
        self._order = (index,) if has_offered else (index, other)
        self._waits += 1
        # Two sides that wait for each other would never end: negmas times them out.
        if self._waits > self._patience:
            self._waits, self._order = 0, None
            state.timedout = True
        else:
            state.waiting = True

    def _answer(self, side: Side) -> ResponseType:
        """What a side answers; its offer, if it rejects, is `side.offer`."""
        try:
            try:
                return self._ask(side)
            except Exception:  # whatever an agent raises, SAOMechanism._safe_counter asks once more
                return self._ask(side)
        except (Exception, SystemExit) as error:
            side.negotiator.give_up(error)
            return END_NEGOTIATION

    def _ask(self, side: Side) -> ResponseType:
        state = self.state
        if state.current_offer is not None:
            response = side.negotiator.respond(side.partner, state)
            if response is not REJECT_OFFER:
                return response
        # Asked again after a failure in the same round, a side keeps the offer it had made.
        if side.offered_at != state.step or side.offer is None:
            side.offer = side.negotiator.propose(side.partner, state)
            side.offered_at = state.step
        return REJECT_OFFER
