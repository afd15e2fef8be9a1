"""One talk between two factories: alternating offers in rounds, as negmas' SAOMechanism runs them.

In each round both sides act, the opener first: accept what lies on the table, end the talk, answer
with an offer, or wait (an agent that decides about all its talks at once waits until it has heard
from everyone). Mirrors `SAOMechanism.__call__`, `Mechanism.step` and `SAONegotiator.__call__`.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Protocol

from negmas import ResponseType
from negmas.outcomes import make_issue, make_os
from negmas.outcomes.outcome_ops import cast_value_types, outcome_types_are_ok
from negmas.sao import SAOState

from understudy.games.scml.engine.faults import CallTimeout, Failure

ROUNDS = 20

Offer = tuple[int, int, int]
"""Quantity, delivery day, unit price."""

ACCEPT, REJECT = ResponseType.ACCEPT_OFFER, ResponseType.REJECT_OFFER
END, WAIT = ResponseType.END_NEGOTIATION, ResponseType.WAIT
LEAVE = ResponseType.LEAVE


class Voice(Protocol):
    """How an agent speaks in its talks; `voices.py` has the two kinds."""

    def propose(self, partner: str, state: SAOState) -> Offer | None:
        """An offer to this partner."""

    def respond(self, partner: str, state: SAOState) -> ResponseType:
        """An answer to the offer on the table."""

    def give_up(self, error: Failure) -> None:
        """The agent failed to act: write it down, or raise it."""


@lru_cache(maxsize=4096)
def _issue(low: int, high: int, name: str) -> Any:
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
        return make_os(self.issues)

    def admit(self, offer: Any) -> Offer | None:
        """The offer in whole numbers; None if it is not allowed (SAOMechanism._safe_counter)."""
        if type(offer) is tuple and len(offer) == 3:
            for value, (low, high) in zip(offer, self.ranges, strict=True):
                if type(value) is not int or not low <= value <= high:
                    break
            else:
                return offer
        if offer is None or not self.outcome_space.is_valid(offer):
            return None
        if outcome_types_are_ok(offer, self.outcome_space.issues):
            return offer
        return cast_value_types(offer, self.outcome_space.issues)


class TalkState(SAOState):
    """negmas' state of a talk. Its many fields start as the class's, which takes no time."""

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
    new_offers: Any = ()
    new_offerer_agents: Any = ()
    new_data: Any = ()
    threads: Any = MappingProxyType({})
    left_negotiators: Any = frozenset()

    def __init__(self) -> None:
        """Nothing has happened yet."""


class TalkView:
    """What the two sides may know of their talk: negmas' negotiator-mechanism interface."""

    __slots__ = ("_talk",)
    n_steps = ROUNDS
    n_negotiators = 2
    time_limit = step_time_limit = negotiator_time_limit = float("inf")
    dynamic_entry = False
    one_offer_per_step = atomic_steps = False
    end_on_no_response = offering_is_accepting = True

    def __init__(self, talk: "Talk") -> None:
        self._talk = talk

    @property
    def id(self) -> str:
        """Who talks, when."""
        return "-".join(str(part) for part in self._talk.annotation.values())

    mechanism_id = id

    @property
    def state(self) -> SAOState:
        """Where the talk stands."""
        return self._talk.state

    @property
    def annotation(self) -> dict[str, Any]:
        """Product, buyer, seller, who opened, and the day."""
        return self._talk.annotation

    @property
    def issues(self) -> list[Any]:
        """Quantity, time, unit price."""
        return self._talk.agenda.issues

    @property
    def outcome_space(self) -> Any:
        """All possible offers."""
        return self._talk.agenda.outcome_space

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
        return [side.partner for side in self._talk.sides]

    @property
    def agent_ids(self) -> list[str]:
        """The opener first."""
        return self.negotiator_ids[::-1]

    @property
    def trace(self) -> list[tuple[str, Offer]]:
        """All offers so far and whose negotiator made them."""
        return [(self._talk.sides[index].partner, offer) for index, offer in self._talk.offers]

    def outcome_index(self, outcome: Offer) -> int | None:
        """Offers are too many to be numbered."""
        return None


@dataclass(slots=True)
class Side:
    """One of the two in a talk."""

    voice: Voice
    partner: str
    offer: Any = None
    offered_at: int = -1
    """The round of `offer`."""


class Talk:
    """A talk that has been called for; `step` moves it on."""

    __slots__ = (
        "_frozen",
        "_last",
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
        self.state = TalkState()
        self.view = TalkView(self)
        self.offers: list[tuple[int, Offer]] = []
        """Which side offered what, in order."""
        self._patience = patience
        self._waits = 0
        self._last = -1
        self._frozen: list[int] | None = None
        """Who still has to act in this round, while somebody waits."""

    def step(self) -> bool:
        """Go on for one round, or until somebody waits; whether the talk is still running."""
        state = self.state
        if state.step >= ROUNDS:
            state.timedout, state.running = True, False
            return False
        if not state.running:
            state.running = state.started = True
            state.relative_time = 1 / (ROUNDS + 1)
        state.waiting = False
        try:
            self._round()
        except TypeError:  # Mechanism.step tries again on exactly this
            self._round()
        if not state.waiting:
            state.step += 1
            state.relative_time = min(1.0, (state.step + 1) / (ROUNDS + 1))
        if state.agreement is not None or state.broken or state.timedout:
            state.running = False
        return state.running

    def _round(self) -> None:
        state = self.state
        if self._frozen is None:
            state.new_offers, state.new_data = [], []
            order = [(self._last + 1) % 2, (self._last + 2) % 2]
        else:
            order = self._frozen
        for index in order:
            self._last = index
            if not self._act(index):
                return

    def _act(self, index: int) -> bool:
        """Let one side act; whether the round goes on."""
        state, side = self.state, self.sides[index]
        try:
            response, offer = self._answer(side)
        except CallTimeout as timeout:
            side.voice.give_up(timeout)
            state.timedout = True
            return False
        if response is WAIT:
            self._wait(index)
            return False
        self._waits, self._frozen = 0, None
        if response is ACCEPT and state.current_offer is not None:
            state.n_acceptances = 2
            state.agreement = state.current_offer
            return False
        if response is END or response is LEAVE or response is ACCEPT:
            state.broken = True
            return False
        if response is not REJECT:
            return True  # an answer that means nothing is no answer
        return self._put_on_table(index, side.partner, offer)

    def _put_on_table(self, index: int, negotiator: str, offer: Any) -> bool:
        state = self.state
        offer = self.agenda.admit(offer)
        if offer is None:
            state.broken = True
            return False
        state.n_acceptances = 1
        state.current_offer = offer
        state.current_proposer = state.last_negotiator = negotiator
        state.new_offers.append((negotiator, offer))
        state.new_data.append((negotiator, None))
        # A negotiator bears its partner's name, so the other side's partner is who offered.
        offerer = self.sides[1 - index].partner
        state.new_offerer_agents = (
            [offerer] if len(state.new_offers) == 1 else [*state.new_offerer_agents, offerer]
        )
        self.offers.append((index, offer))
        return True

    def _wait(self, index: int) -> None:
        """The round stops here and goes on with the same side."""
        state = self.state
        self._last = (index - 1) % 2
        offered = {negotiator for negotiator, _ in state.new_offers}
        missing = [k for k, side in enumerate(self.sides) if side.partner not in offered]
        place = missing.index(index)
        self._frozen = missing[place:] + missing[:place]
        self._waits += 1
        if self._waits > self._patience:
            self._waits, self._frozen = 0, None
            state.timedout = True
        else:
            state.waiting = True

    def _answer(self, side: Side) -> tuple[ResponseType, Any]:
        try:
            try:
                return self._ask(side)
            except Exception:  # whatever an agent raises, SAOMechanism._safe_counter asks once more
                return self._ask(side)
        except (Exception, SystemExit) as error:
            side.voice.give_up(error)
            return END, None

    def _ask(self, side: Side) -> tuple[ResponseType, Any]:
        state = self.state
        if state.current_offer is not None:
            response = side.voice.respond(side.partner, state)
            if response is not REJECT:
                return response, None
        if side.offered_at != state.step or side.offer is None:
            side.offer = side.voice.propose(side.partner, state)
            side.offered_at = state.step
        return REJECT, side.offer
