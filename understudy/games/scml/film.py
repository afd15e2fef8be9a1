"""Film the decisions of agents: what each was asked, and what it answered.

The camera is in the agents' classes, so the same film is taken in our engine and in scml. An agent
that decides about all its talks at once is filmed where it does, with a row per talk; any other is
filmed talk by talk, and its offer goes into the row of the rejection that led to it.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from negmas import ResponseType
from scml.oneshot.agent import OneShotAgent

from understudy.games.scml.engine.voices import decides_jointly
from understudy.games.scml.record import DECISIONS
from understudy.games.scml.wrapping import subclass

CALLS = ("first_proposals", "counter_all", "propose", "respond")
FIRST_PROPOSALS, COUNTER_ALL, PROPOSE, RESPOND = range(4)
ANSWERS = ("accept", "reject", "end")
ACCEPT, REJECT, END, NOTHING = range(4)

Offer = tuple[int, int, int]
"""Quantity, delivery day, unit price."""
Call = tuple[int, int, int, int, int, int, int]
"""Day, factory, which call, needed supplies, needed sales, contracts made, rows."""
Row = tuple[str, int, Offer | None, int, bool, Any]
"""Partner, round, offer heard, answer, whether by omission, offer made as the agent gave it."""


class Film:
    """The decisions of one world, in order."""

    def __init__(self, num_factories: int) -> None:
        self.inside = False
        """Whether an agent is at work; what it asks of itself is no decision of its own."""
        self.contracts = [0] * num_factories
        """How many contracts each factory has made so far."""
        self._calls: list[Call] = []
        self._rows: list[Row] = []
        self._rejection: tuple[int, str, int] | None = None
        """Factory, partner and round, if the last row is a rejection that may yet get an offer."""

    def count_contracts(self, awi: Any, place: int) -> None:
        """Both simulators tell an agent's window on the world of its contracts, one by one."""

        def counted(register: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                register(*arguments, **named)
                self.contracts[place] += 1

            return call

        awi._register_sale = counted(awi._register_sale)
        awi._register_supply = counted(awi._register_supply)

    def _add(self, agent: Any, place: int, call: int, rows: Sequence[Row]) -> None:
        awi = agent._awi
        self._calls.append(
            (
                awi.current_step,
                place,
                call,
                awi.needed_supplies,
                awi.needed_sales,
                self.contracts[place],
                len(rows),
            )
        )
        self._rows += rows
        self._rejection = None

    def add_first_proposals(self, agent: Any, place: int, offers: Any) -> None:
        """An agent has said what it would open its talks with."""
        if not isinstance(offers, Mapping):
            offers = {}
        self._add(
            agent,
            place,
            FIRST_PROPOSALS,
            [
                (partner, step, None, NOTHING, False, offers.get(partner))
                for partner, step in _open_talks(agent)
            ],
        )

    def add_counter_all(
        self,
        agent: Any,
        place: int,
        heard: Mapping[str, tuple[Offer | None, int]],
        responses: Any,
    ) -> None:
        """An agent has answered all its partners, of whom those in `heard` have made an offer."""
        if not isinstance(responses, Mapping):
            return  # the simulator will fail on it
        rows: list[Row] = []
        for partner, step in _open_talks(agent):
            offer, step = heard.get(partner, (None, step))
            answer, omitted, counter = _joint_answer(responses, partner)
            rows.append((partner, step, offer, answer, omitted, counter))
        self._add(agent, place, COUNTER_ALL, rows)

    def add_propose(self, agent: Any, place: int, partner: str, state: Any, offer: Any) -> None:
        """An agent has made one offer."""
        if self._rejection == (place, partner, state.step):
            self._rows[-1] = (*self._rows[-1][:-1], offer)
            self._rejection = None
        else:
            row = partner, state.step, state.current_offer, NOTHING, False, offer
            self._add(agent, place, PROPOSE, [row])

    def add_respond(self, agent: Any, place: int, partner: str, state: Any, answer: Any) -> None:
        """An agent has answered one offer."""
        moment = place, partner, state.step
        if self._rejection == moment:  # asked again, because it failed to follow with an offer
            self._rows.pop()
            self._calls.pop()
        code = _code(answer)
        row = partner, state.step, state.current_offer, code, False, None
        self._add(agent, place, RESPOND, [row])
        if code == REJECT:
            self._rejection = moment

    def table(
        self,
        match: str,
        names: Sequence[str],
        admit: Callable[[int, int, int, Any], Offer | None],
    ) -> pa.Table:
        """The film as DECISIONS.

        `admit(day, factory, partner, offer)` is what the simulator makes of an offer that an agent
        gave, which need not be an allowed one.
        """
        place = {name: index for index, name in enumerate(names)}
        calls = np.array(self._calls, np.int64).reshape(len(self._calls), 7)
        lengths = calls[:, 6]
        moments = np.repeat(np.arange(len(calls)), lengths)
        day, factory, call, supplies, sales, made, _ = calls[moments].T
        columns = list(zip(*self._rows, strict=True)) or [()] * 6
        partner = [place[name] for name in columns[0]]
        answer = np.array(columns[3], np.int8)
        offered = [
            None if offer is None else admit(today, one, other, offer)
            for today, one, other, offer in zip(
                day.tolist(), factory.tolist(), partner, columns[5], strict=True
            )
        ]
        return DECISIONS.build(
            {
                "match": pa.repeat(match, len(moments)),
                "moment": moments,
                "day": day,
                "factory": factory,
                "call": _words(call, CALLS),
                "partner": partner,
                "round": columns[1],
                **_offer_columns("heard", columns[2]),
                "answer": _words(answer, ANSWERS),
                "omitted": columns[4],
                **_offer_columns("offered", offered),
                "needed_supplies": supplies,
                "needed_sales": sales,
                "contracts": made,
            }
        )


def _open_talks(agent: Any) -> list[tuple[str, int]]:
    """Partners with whom a talk has not ended, and its round."""
    return [
        (partner, nmi.state.step)
        for partner, entry in agent._negotiators.items()
        if (nmi := entry.negotiator.nmi) is not None
    ]


def _code(answer: Any) -> int:
    if answer is ResponseType.REJECT_OFFER:
        return REJECT
    if answer is ResponseType.ACCEPT_OFFER:
        return ACCEPT
    if answer is ResponseType.END_NEGOTIATION or answer is ResponseType.LEAVE:
        return END
    return NOTHING


def _joint_answer(responses: Mapping[str, Any], partner: str) -> tuple[int, bool, Any]:
    """What negmas' controller makes of an agent's answers: silence ends a talk."""
    if partner not in responses:
        return END, True, None
    response = responses[partner]
    if response is None:
        return REJECT, False, None
    code = _code(getattr(response, "response", None))
    return code, False, getattr(response, "outcome", None) if code == REJECT else None


def _words(codes: "np.ndarray[Any, Any]", words: Sequence[str]) -> pa.Array:
    """Words for their places; none for a place past the last."""
    indices = pa.array(codes.astype(np.int8), mask=codes >= len(words))
    return pa.DictionaryArray.from_arrays(indices, list(words)).cast(pa.string())


def _offer_columns(prefix: str, offers: Sequence[Offer | None]) -> dict[str, pa.Array]:
    missing = np.array([offer is None for offer in offers], bool)
    values = np.array([offer or (0, 0, 0) for offer in offers], np.int64).reshape(len(offers), 3)
    parts = f"{prefix}_quantity", f"{prefix}_day", f"{prefix}_price"
    return {name: pa.array(values[:, k], mask=missing) for k, name in enumerate(parts)}


# --- the camera ----------------------------------------------------------------------------------


def filmed(
    kinds: Sequence[type[OneShotAgent]], film: Film, watched: Collection[int] | None = None
) -> list[type[OneShotAgent]]:
    """Subclasses that are filmed, at the watched places; None: everywhere.

    What an agent raises passes on, and that call is not on the film.
    """
    return [
        _filmed(kind, place, film) if watched is None or place in watched else kind
        for place, kind in enumerate(kinds)
    ]


def _filmed(kind: type[OneShotAgent], place: int, film: Film) -> type[OneShotAgent]:
    init = kind.init

    def begin(self: Any) -> Any:
        film.count_contracts(self.awi, place)
        return init(self)

    joint = decides_jointly(kind)
    cameras = _joint_calls(kind, place, film) if joint else _plain_calls(kind, place, film)
    cameras["init"] = begin
    return subclass(
        kind,
        {name: functools.wraps(getattr(kind, name))(camera) for name, camera in cameras.items()},
    )


def _joint_calls(kind: Any, place: int, film: Film) -> dict[str, Callable[..., Any]]:
    first, counter = kind.first_proposals, kind.counter_all

    def first_proposals(self: Any) -> Any:
        if film.inside:
            return first(self)
        film.inside = True
        try:
            offers = first(self)
        finally:
            film.inside = False
        film.add_first_proposals(self, place, offers)
        return offers

    def counter_all(self: Any, offers: Any, states: Any) -> Any:
        if film.inside:
            return counter(self, offers, states)
        # Before the call: the agent may do what it likes with what it is given.
        heard = {
            partner: (offer, states[partner].step)
            for partner, offer in offers.items()
            if partner in states
        }
        film.inside = True
        try:
            responses = counter(self, offers, states)
        finally:
            film.inside = False
        film.add_counter_all(self, place, heard, responses)
        return responses

    return {"first_proposals": first_proposals, "counter_all": counter_all}


def _plain_calls(kind: Any, place: int, film: Film) -> dict[str, Callable[..., Any]]:
    make_offer, answer_offer = kind.propose, kind.respond

    def propose(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if film.inside:
            return make_offer(self, negotiator_id, state, *rest, **named)
        film.inside = True
        try:
            offer = make_offer(self, negotiator_id, state, *rest, **named)
        finally:
            film.inside = False
        film.add_propose(self, place, negotiator_id, state, offer)
        return offer

    def respond(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if film.inside:
            return answer_offer(self, negotiator_id, state, *rest, **named)
        film.inside = True
        try:
            answer = answer_offer(self, negotiator_id, state, *rest, **named)
        finally:
            film.inside = False
        if answer is not ResponseType.WAIT:
            film.add_respond(self, place, negotiator_id, state, answer)
        return answer

    return {"propose": propose, "respond": respond}
