"""The agent through whom a person plays: it asks, and L1 sees to it that the answer is safe."""

from collections.abc import Mapping
from queue import Queue
from typing import Any, NamedTuple

from negmas import ResponseType

from understudy.errors import InputError
from understudy.games.scml.agent.hrl import Decision, Deliberation, HRLAgent
from understudy.games.scml.domain import BUCKETS, GOALS, Offer
from understudy.games.scml.engine.hosting.faults import nobody_is_late
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.view.state import OpenNegotiation, State

ADVICE = "advice"
WORDS: Mapping[str, ResponseType] = {
    "accept": ACCEPT_OFFER,
    "offer": REJECT_OFFER,
    "end": END_NEGOTIATION,
}
REST = ("", "day", "world")
"""For how long HRL's advice is taken without asking again."""


class Wishes(NamedTuple):
    """What a person wants, by partner; who is not named is answered as HRL advises."""

    by_partner: Mapping[str, Decision]
    rest: str = ""


class Desk:
    """Where the world waits for a person, and the person for the world."""

    def __init__(self) -> None:
        self.questions: Queue[dict[str, Any] | None] = Queue()
        """None: there will be no more."""
        self.answers: Queue[Wishes] = Queue()

    def ask(self, question: dict[str, Any]) -> Wishes:
        """Wait for the person."""
        self.questions.put(question)
        with nobody_is_late():
            return self.answers.get()


class PersonAgent(HRLAgent):
    """HRL-XF with a person in the place of L3: L2 and L4 go on as they do, L1 has the last word."""

    desk: Desk

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._wishes: Mapping[str, Decision] | None = None
        self._rest_day: int | None = None
        self._cuts: list[str] = []

    def _decide(self, state: State, call: str) -> dict[str, Decision]:
        """HRL's own decisions first, as advice; then the person's."""
        offered, dice = dict(self._offered), self._rng.getstate()
        advice = super()._decide(state, call)
        if not state.negotiations or self._rest_day in (state.day_start.day, -1):
            return advice
        self._offered = offered
        self._rng.setstate(dice)
        now = self._deliberate(state)
        question = _question(now, call, advice, list(self._cuts)) | {"goals": self._told_goals()}
        wishes = self.desk.ask(question)
        if wishes.rest:
            self._rest_day = -1 if wishes.rest == "world" else state.day_start.day
        self._wishes, self._cuts = wishes.by_partner, []
        try:
            return super()._decide(state, call)
        finally:
            self._wishes = None

    def decide(self, now: Deliberation, index: int) -> Decision:
        """The person's wish; where there is none, what HRL would do."""
        chosen = super().decide(now, index)  # drawn in any case: chance stays that of the advice
        wishes = self._wishes or {}
        return wishes.get(now.state.negotiations[index].partner, chosen)

    def guard(self, now: Deliberation, index: int, wish: Decision) -> Decision:
        """L1, who says what was changed."""
        decision = super().guard(now, index, wish)
        partner = now.state.negotiations[index].partner
        if self._wishes is not None and partner in self._wishes and decision != wish:
            self._cuts.append(f"{partner}: {told(wish)['do']} became {_words(decision)}")
        return decision

    def _told_goals(self) -> list[dict[str, Any]]:
        """L2's goals, a line for each stretch of days ahead; none without weights that know any."""
        if self._policy is None or not self._policy.about.goals:
            return []
        rows = self._goals.reshape(len(BUCKETS), len(GOALS)).astype(float).round(1).tolist()
        return [
            {"days": list(bucket), **dict(zip(GOALS, row, strict=True))}
            for bucket, row in zip(BUCKETS, rows, strict=True)
        ]


def told(decision: Decision) -> dict[str, Any]:
    """A decision as a page reads it."""
    word = next(word for word, response in WORDS.items() if response is decision.response)
    return {"do": word, "offer": None if decision.offer is None else list(decision.offer)}


def _words(decision: Decision) -> str:
    if decision.offer is None or decision.response is not REJECT_OFFER:
        return str(told(decision)["do"])
    quantity, day, price = decision.offer
    return f"an offer of {quantity} for day {day} at {price}"


def _question(
    now: Deliberation, call: str, advice: Mapping[str, Decision], cuts: list[str]
) -> dict[str, Any]:
    state, start = now.state, now.state.day_start
    return {
        "day": start.day,
        "call": call,
        "cuts": cuts,
        "stock": start.stock,
        "balance": round(start.balance, 1),
        "supply": [start.supply_quantity, start.supply_price],
        "sale": [start.sale_quantity, start.sale_price],
        "money": round(now.safety.remaining.money, 1),
        "talks": [_talk(now, one, advice[one.partner]) for one in state.negotiations],
    }


def _talk(now: Deliberation, talk: OpenNegotiation, advice: Decision) -> dict[str, Any]:
    safety, start = now.safety, now.state.day_start
    left = safety.remaining.by_day(talk.buys).tolist()
    heard = None if talk.heard is None else talk.heard[1:]
    mine = [list(offer[1:]) for offer in talk.offers if offer.mine]
    return {
        "partner": talk.partner,
        "buys": talk.buys,
        "round": talk.round,
        "heard": None if heard is None else list(heard),
        "said": mine[-1] if mine else None,
        "prices": list(start.prices_in if talk.buys else start.prices_out),
        "mask": [[start.day + ahead, units] for ahead, units in enumerate(left) if units > 0],
        "may_accept": heard is not None and safety.allows(talk.buys, heard),
        "advice": told(advice),
    }


def wishes_of(done: Any, question: Mapping[str, Any]) -> Wishes:
    """What a page sent, read against what was asked; InputError where it is none."""
    if done is None:
        return Wishes({})
    if not isinstance(done, dict) or not isinstance(done.get("talks", {}), dict):
        raise InputError("that is no decision")
    if done.get("rest", "") not in REST:
        raise InputError("advice is taken for this time, the day or the world")
    talks = {talk["partner"]: talk for talk in question["talks"]}
    found = dict[str, Decision]()
    for partner, wish in done.get("talks", {}).items():
        if partner not in talks or not isinstance(wish, dict):
            raise InputError("there is no such negotiation now")
        if wish.get("do") != ADVICE:
            found[partner] = _wish(wish, talks[partner])
    return Wishes(found, str(done.get("rest", "")))


def _wish(wish: Mapping[str, Any], talk: Mapping[str, Any]) -> Decision:
    word = str(wish.get("do"))
    if word not in WORDS or (word == "accept" and talk["heard"] is None):
        raise InputError(f"{talk['partner']}: accept what lies on the table, offer, or end")
    if word != "offer":
        return Decision(WORDS[word])
    return Decision(REJECT_OFFER, _offer(wish.get("offer"), talk))


def _offer(given: Any, talk: Mapping[str, Any]) -> Offer:
    whole = isinstance(given, list) and len(given) == 3 and all(type(one) is int for one in given)
    days = [day for day, _ in talk["mask"]]
    if not whole or given[0] < 1 or given[1] not in days or not 0 <= given[2] < 10**6:
        raise InputError(f"{talk['partner']}: an offer is units, one of the days left, and a price")
    quantity, day, price = given
    return min(quantity, 10**4), day, price
