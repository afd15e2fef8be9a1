"""HRL-XF as one agent for scml's worlds and ours.

    from understudy.games.scml.agent import HRLAgent

At the start of a day L2 says what to be after. In a decision L4 says which negotiation is served
first, L3 what to do in it, and L1 what of that may be promised.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
from negmas import ResponseType, SAOResponse
from scml.std import StdSyncAgent

from understudy.games.scml.agent.by_field import are_thrifty
from understudy.games.scml.agent.l1_safety import Safety
from understudy.games.scml.agent.l4_priorities import Priorities, priorities, teacher_scores
from understudy.games.scml.agent.policy import (
    Choice,
    HRLPolicy,
    Thought,
    policy_of,
    shipped_for,
)
from understudy.games.scml.agent.trace import Notes, Trace, Turn, turn_of
from understudy.games.scml.domain import LINES, NUM_GOALS, RISK, Offer, SafetySettings
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.view.columns import Packed, packed
from understudy.games.scml.view.commitments import count_supply
from understudy.games.scml.view.memory import Memory
from understudy.games.scml.view.observe import Observed, observed
from understudy.games.scml.view.state import State, commitments_of, day_start_of, profile_of
from understudy.games.scml.view.turns import LiveTurns

_RESPONSES = (ACCEPT_OFFER, REJECT_OFFER, END_NEGOTIATION)


@dataclass(frozen=True)
class Decision:
    """What to do in one negotiation."""

    response: ResponseType
    offer: Offer | None = None


@dataclass(frozen=True)
class Deliberation:
    """One joint decision while it is being made."""

    state: State
    safety: Safety
    """With the capacity that remains."""
    columns: Packed
    seen: Observed
    ranked: Priorities
    turns: LiveTurns
    """Beside `safety`, without the offers that others still think about: as in training."""
    thought: Thought | None


class HRLAgent(StdSyncAgent):
    """Plays Standard and OneShot worlds, with the weights that come with the package or others.

    `checkpoint` is a file of weights or the folder of a trained model; None: L1's baseline and
    L4's teacher alone; left out: the class's own, or those shipped for the world's track. Weights
    that were trained for another track are refused when the world is there. `reserve` is the share
    of the initial balance that purchases never touch. `risk` says how far to count on supplies to
    come (`SafetySettings`); left out: the class's own, or what the weights were trained with.
    `trace` is a file to which every decision is added with its reasons (`trace.py`).
    """

    checkpoint: Path | EllipsisType | None = ...
    risk: float | None = None
    trace: Trace | Path | None = None

    def __init__(
        self,
        *arguments: Any,
        checkpoint: Path | str | EllipsisType | None = ...,
        reserve: float = 0.1,
        risk: float | None = None,
        trace: Path | str | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*arguments, **named)
        chosen = self.checkpoint if checkpoint is ... else checkpoint
        self._as_shipped = chosen is ...
        self._weights: HRLPolicy | None = None
        if chosen is not None and chosen is not ...:
            self._weights = policy_of(Path(chosen))
        self._policy = self._weights
        """Today's."""
        self._settings = SafetySettings(reserve)
        if risk is not None:
            self.risk = risk
        if trace is not None:
            self.trace = Path(trace)
        self._memory = Memory()
        self._offered: dict[str, Offer] = {}
        """What lies on the table of each partner, or was accepted and not yet signed."""
        self._stock_falls = False
        self._stock_before = 0
        self._supply_counts = np.zeros(LINES, np.int64)

    def init(self) -> None:
        """The world is there."""
        self._profile = profile_of(self.awi)
        if self._as_shipped:
            self._weights = policy_of(shipped_for(self._profile.horizon))
        if self._weights is not None:
            self._weights.require(self._profile.horizon)
        learnt = 0.0 if self._weights is None else self._weights.about.risk
        taken = learnt if self.risk is None else self.risk
        self._settings = replace(self._settings, risk=taken)
        # The same wherever the same world is played; the old name of the class is part of the seed.
        named = repr((self.id, self._profile)).replace("FactoryProfile(", "Place(")
        self._rng = random.Random(named)
        own = self.id, type(self).__name__
        self._notes = None if self.trace is None else Notes(self.trace, *own)
        super().init()

    def before_step(self) -> None:
        """A new day."""
        super().before_step()
        stock = self.awi.current_inventory_input
        # In scml stock never falls. Where it does, production takes from it.
        self._stock_falls = self._stock_falls or stock < self._stock_before
        self._stock_before = stock
        count_supply(self._supply_counts, self.awi.current_exogenous_input_quantity)
        supplied = tuple(self._supply_counts.tolist())
        self._day_start = day_start_of(self.awi, self._stock_falls, supplied)
        self._memory.open_day(self._day_start, self.awi.my_suppliers)
        self._policy = self._todays_policy()
        self._set_goals()
        self._offered = {}

    def on_negotiation_success(self, contract: Any, mechanism: Any) -> None:
        """A partner has taken our offer, or we have taken its."""
        super().on_negotiation_success(contract, mechanism)
        for name in contract.partners:
            if name != self.id:
                self._memory.agree(name)

    def _todays_policy(self) -> HRLPolicy | None:
        """At the first level there may be weights for a field whose buyers are thrifty."""
        weights, place = self._weights, self._profile
        if weights is None or weights.thrifty is None or place.level > 0:
            return weights
        asked = np.array([self._memory.most_asked(name) for name in self.awi.my_consumers])
        return weights.thrifty if are_thrifty(asked, place.consumers) else weights

    def _set_goals(self) -> None:
        """L2: what to be after today, raw and as the layers above read it."""
        self._goals = self._goal_input = np.zeros((1, NUM_GOALS), np.float32)
        if self._policy is not None:
            columns = packed([State(self._profile, self._day_start, commitments_of(self.awi), ())])
            seen = observed(columns, self._settings)
            self._goals = self._policy.goals(columns, seen)
            self._goal_input = self._policy.goal_input(columns, self._goals)

    def first_proposals(self) -> dict[str, Offer | None]:
        """A first offer to everybody, made at once, by a factory that opens its negotiations."""
        if not self._profile.opens:
            return {}
        state = self._state(name for name in self.negotiators if self.get_nmi(name) is not None)
        decided = self._decide(state, "first_proposals")
        for partner, decision in decided.items():
            self._memory.say(partner, decision.offer)
        return {partner: decision.offer for partner, decision in decided.items()}

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, Any]
    ) -> dict[str, SAOResponse]:
        """An answer to everybody who made an offer, decided at once."""
        for partner, offer in offers.items():
            self._memory.hear(partner, states[partner].step, offer)
        decided = self._decide(self._state(offers), "counter_all")
        for partner, decision in decided.items():
            if decision.response is REJECT_OFFER:
                self._memory.say(partner, decision.offer)
        return {
            partner: SAOResponse(decision.response, self._outcome(offers, partner, decision))
            for partner, decision in decided.items()
        }

    @staticmethod
    def _outcome(
        offers: Mapping[str, Offer | None], partner: str, decision: Decision
    ) -> Offer | None:
        return offers[partner] if decision.response is ACCEPT_OFFER else decision.offer

    def _state(self, partners: Iterable[str]) -> State:
        """With the negotiations by name, because simulators differ in whom they ask about first."""
        suppliers = set(self.awi.my_suppliers)
        negotiations = tuple(
            self._memory.negotiation(name, name in suppliers) for name in sorted(partners)
        )
        return State(self._profile, self._day_start, commitments_of(self.awi), negotiations)

    def _decide(self, state: State, call: str) -> dict[str, Decision]:
        """In order of priority, each with what those before it have left."""
        now = self._deliberate(state)
        decided: dict[str, Decision] = {}
        turns: list[Turn] = []
        # One after the other: what one negotiation promises is gone for those after it.
        for index in now.ranked.order.tolist():
            negotiation = state.negotiations[index]
            now.turns.come(index)
            wish = self.decide(now, index)
            decision = self.guard(now, index, wish)
            if self._notes is not None:
                turns.append(turn_of(now, index, wish, decision))
            decided[negotiation.partner] = decision
            # What may become a contract without our being asked again.
            binding = negotiation.heard[1:] if decision.response is ACCEPT_OFFER else decision.offer
            self._offered.pop(negotiation.partner, None)
            if binding is None:
                now.turns.take(negotiation.buys, 0, 0, 0)
            else:
                quantity, day, price = binding
                now.turns.take(negotiation.buys, quantity, day - state.day_start.day, price)
                now.safety.remaining.take(negotiation.buys, binding)
                self._offered[negotiation.partner] = binding
        if self._notes is not None:
            has_goals = self._policy is not None and self._policy.about.goals
            self._notes.write(state.day_start.day, call, self._goals if has_goals else None, turns)
        return decided

    def _deliberate(self, state: State) -> Deliberation:
        settings, columns = self._settings, packed([state])
        safety = Safety.of(state, settings, columns)
        decided_about = {negotiation.partner for negotiation in state.negotiations}
        for partner, offer in list(self._offered.items()):
            if self.get_nmi(partner) is None:
                del self._offered[partner]  # that negotiation is over: signed, or never will be
            elif partner not in decided_about:
                safety.remaining.take(partner in self.awi.my_suppliers, offer)
        seen = observed(columns, settings)
        ranked, thought = self._rank(columns, seen), None
        if self._policy is not None:
            thought = self._policy.think(seen, self._goal_input)
        turns = LiveTurns(columns, ranked.weight, settings)
        return Deliberation(state, safety, columns, seen, ranked, turns, thought)

    def _rank(self, columns: Packed, seen: Observed) -> Priorities:
        """L4: who is served first."""
        if self._policy is None:
            return priorities(teacher_scores(seen.thread), columns.first)
        return self._policy.rank(columns, seen, self._goal_input)

    def decide(self, now: Deliberation, index: int) -> Decision:
        """L3, of one negotiation. Without weights: accept what is safe, else offer the baseline."""
        if self._policy is not None and now.thought is not None:
            turns = now.turns.values
            chosen = self._policy.choose(
                now.thought, now.columns, now.seen, turns, index, self._rng
            )
            return _decision(chosen, now.state.day_start.day)
        negotiation = now.state.negotiations[index]
        most = now.safety.of_use(negotiation.buys)
        heard = negotiation.heard
        if now.turns.values.safe[index] and heard is not None and heard.quantity <= most:
            return Decision(ACCEPT_OFFER)
        quantity, ahead, price = now.turns.values.baseline[index].tolist()
        quantity = min(quantity, most)
        if quantity <= 0:
            return Decision(END_NEGOTIATION)
        return Decision(REJECT_OFFER, (quantity, now.state.day_start.day + ahead, price))

    def guard(self, now: Deliberation, index: int, wish: Decision) -> Decision:
        """L1: an unsafe acceptance becomes the nearest safe offer; an unsafe offer is cut."""
        negotiation, safety = now.state.negotiations[index], now.safety
        if wish.response is ACCEPT_OFFER and negotiation.heard is not None:
            if safety.allows(negotiation.buys, negotiation.heard[1:]):
                return wish
            # Too much to accept: offer back as much of it as is safe.
            wish = Decision(REJECT_OFFER, negotiation.heard[1:])
        offer = safety.clip(negotiation.buys, wish.offer) if wish.response is REJECT_OFFER else None
        return Decision(REJECT_OFFER, offer) if offer is not None else Decision(END_NEGOTIATION)


def _decision(choice: Choice, today: int) -> Decision:
    if choice.offer is None:
        return Decision(_RESPONSES[choice.response])
    units, ahead, price = choice.offer
    return Decision(REJECT_OFFER, (units, today + ahead, price))


class L1Agent(HRLAgent):
    """L1's baseline in the order of L4's teacher; nothing in it is learnt."""

    checkpoint = None


class L1RiskAgent(L1Agent):
    """The same, counting on supplies to come."""

    risk = RISK
