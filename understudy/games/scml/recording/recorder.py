"""Film the decisions of agents: what each was asked, and what it answered.

The camera is in the agents' classes, so the same film is taken in our engine and in scml. An agent
that decides about all its talks at once is filmed where it does, with a row per talk; any other is
filmed talk by talk, and its offer goes into the row of the rejection that led to it.

Agents are asked some 70,000 times in a world, so a camera does as little as it can: it appends to a
flat list, which the garbage collector need not search, and `Film.table` makes columns of it when
the world is over.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
from scml.oneshot.agent import OneShotAgent

from understudy.games.scml.arrays import Array
from understudy.games.scml.domain import (
    CALLS,
    COUNTER_ALL,
    FIRST_PROPOSALS,
    PROPOSE,
    RESPOND,
    RESPONSES,
)
from understudy.games.scml.engine.config import WorldConfig
from understudy.games.scml.engine.economy import Ranges
from understudy.games.scml.engine.hosting.negotiators import decides_jointly
from understudy.games.scml.engine.hosting.wrapping import subclass
from understudy.games.scml.engine.negotiation import (
    ACCEPT_OFFER,
    END_NEGOTIATION,
    LEAVE,
    REJECT_OFFER,
    WAIT,
)
from understudy.games.scml.recording.tables import ADVICE, DECISIONS

OMITTED = "omitted"

FIELDS = 8
"""Of a decision: moment, how its factory stands, which call, partner, round, offer heard, answer (a
ResponseType, OMITTED, or something that is no answer), offer made. Offers are as the agent got or
gave them."""


class Film:
    """The decisions of one world."""

    def __init__(self, num_factories: int) -> None:
        self.inside = False
        """Whether an agent is at work; what it asks of itself is no decision of its own."""
        self.moments = count()
        """Numbers the calls."""
        self.rejection: tuple[Reel, str, int] | None = None
        """Who rejected whose offer in which round, if that was the last call: an offer may follow,
        or the same question again where making one failed."""
        self.reels = [Reel() for _ in range(num_factories)]
        self.advice: list[tuple[Any, ...]] = []
        """Moment, factory, day, partner, answer, offer: what an expert would have done."""

    def add_advice(self, agent: Any, moment: int, reel: "Reel", call: int) -> None:
        """What the expert says of a joint decision, if the agent has one look over its shoulder."""
        advice = getattr(agent, "advice", None)
        if advice is None:
            return
        factory, day = self.reels.index(reel), agent._awi.current_step
        for partner, entry in agent._negotiators.items():
            if entry.negotiator.nmi is None:
                continue
            if call == FIRST_PROPOSALS:
                answer, offer = None, advice.get(partner)
            else:
                answer, offer = _joint_answer(advice, partner)
            self.advice.append((moment, factory, day, partner, answer, offer))

    def advice_table(
        self, match: str, config: WorldConfig, ranges: Sequence[Sequence[Ranges]]
    ) -> pa.Table:
        """The expert's answers as ADVICE."""
        moment, factory, day, names, answer, offered = zip(*self.advice, strict=True)
        index_of = {name: index for index, name in enumerate(config.names)}
        partner = np.array([index_of[name] for name in names], np.int64)
        allowed = _allowed(config, ranges, np.array(day), np.array(factory), partner)
        return ADVICE.build(
            {
                "match": pa.repeat(match, len(moment)),
                "moment": list(moment),
                "partner": partner,
                "answer": _words([_response_code(one) for one in answer], RESPONSES),
                **_offers("offered", offered, allowed),
            }
        )

    def table(
        self, match: str, config: WorldConfig, ranges: Sequence[Sequence[Ranges]]
    ) -> pa.Table:
        """The film as DECISIONS; `ranges` by day and product say what could be offered."""
        lengths = [len(reel.flat) // FIELDS for reel in self.reels]
        factory = np.repeat(np.arange(len(lengths)), lengths)
        moment, standing, call, names, step, heard, answer, offered = (
            list(chain.from_iterable(reel.flat[field::FIELDS] for reel in self.reels))
            for field in range(FIELDS)
        )
        starts = np.cumsum([0, *(len(reel.standings) for reel in self.reels)])[:-1]
        standings = [standing for reel in self.reels for standing in reel.standings]
        at = np.array(standing, np.int64) + starts[factory]
        day, supplies, sales, contracts = np.array(standings, np.int64).reshape(-1, 4)[at].T
        index_of = {name: index for index, name in enumerate(config.names)}
        partner = np.array([index_of[name] for name in names], np.int64)
        allowed = _allowed(config, ranges, day, factory, partner)
        return DECISIONS.build(
            {
                "match": pa.repeat(match, len(moment)),
                "moment": moment,
                "day": day,
                "factory": factory,
                "call": _words(call, CALLS),
                "partner": partner,
                "round": step,
                **_offers("heard", heard, allowed),
                "answer": _words([_response_code(one) for one in answer], RESPONSES),
                "omitted": [one is OMITTED for one in answer],
                **_offers("offered", offered, allowed),
                "needed_supplies": supplies,
                "needed_sales": sales,
                "contracts": contracts,
            }
        )


class Reel:
    """What one agent was asked and answered, in order."""

    def __init__(self) -> None:
        self.flat: list[Any] = []
        """FIELDS entries per decision."""
        self.standings: list[tuple[int, int, int, int]] = []
        """Day, needed supplies, needed sales, contracts made: whenever they had changed."""
        self.day = -1
        """Of the last standing; -1: it no longer holds."""
        self._contracts = 0

    def count_contracts(self, awi: Any) -> None:
        """Both simulators tell an agent's window on the world of its contracts, one by one."""

        def counted(register: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> None:
                register(*arguments, **named)
                self._contracts += 1
                self.day = -1

            return call

        awi._register_sale = counted(awi._register_sale)
        awi._register_supply = counted(awi._register_supply)

    def look(self, awi: Any) -> None:
        """Note the present standing. It changes with contracts and days, not in between."""
        self.day = awi.current_step
        needs = awi.needed_supplies, awi.needed_sales
        self.standings.append((self.day, *needs, self._contracts))

    def add_negotiations(
        self, agent: Any, moment: int, call: int, heard: Mapping[str, Any], decided: Any
    ) -> None:
        """A joint decision: `decided` by partner, about all whose talks have not ended."""
        if not isinstance(decided, Mapping):
            return  # nothing was said, or the simulator will fail on it
        if self.day != agent._awi.current_step:
            self.look(agent._awi)
        standing = len(self.standings) - 1
        for partner, entry in agent._negotiators.items():
            nmi = entry.negotiator.nmi
            if nmi is None:
                continue
            step, offer = nmi.state.step, heard.get(partner)
            if call == FIRST_PROPOSALS:
                answer, counter = None, decided.get(partner)
            else:
                answer, counter = _joint_answer(decided, partner)
            self.flat += (moment, standing, call, partner, step, offer, answer, counter)


def _joint_answer(responses: Mapping[str, Any], partner: str) -> tuple[Any, Any]:
    """Answer and offer as negmas' controller takes them: silence ends a talk."""
    if partner not in responses:
        return OMITTED, None
    response = responses[partner]
    if response is None:
        return REJECT_OFFER, None
    answer = getattr(response, "response", None)
    return answer, getattr(response, "outcome", None) if answer is REJECT_OFFER else None


def _allowed(
    config: WorldConfig,
    ranges: Sequence[Sequence[Ranges]],
    day: Array,
    factory: Array,
    partner: Array,
) -> Array:
    """[rows, 3, 2]: lowest and highest units, day and price of an offer between two factories."""
    level = np.array([one.level for one in config.factories], np.int64)
    product = np.maximum(level[factory], level[partner])
    return np.array(ranges, np.int64).reshape(-1, config.num_products, 3, 2)[day, product]


# --- columns -------------------------------------------------------------------------------------


def _response_code(answer: Any) -> int:
    """In RESPONSES; past its end for what is none of them."""
    if answer is REJECT_OFFER:
        return 1
    if answer is ACCEPT_OFFER:
        return 0
    return 2 if answer is END_NEGOTIATION or answer is LEAVE or answer is OMITTED else 3


def _words(codes: Sequence[int], words: Sequence[str]) -> pa.Array:
    """Words for their indices; none for an index past the last."""
    values = np.array(codes, np.int8)
    indices = pa.array(values, mask=values >= len(words))
    return pa.DictionaryArray.from_arrays(indices, list(words)).cast(pa.string())


def _offers(prefix: str, offers: Sequence[Any], allowed: Array) -> dict[str, pa.Array]:
    """Three columns. An offer that the simulator would not let pass is as none.

    `allowed` is [rows, 3, 2]: lowest and highest. Whole numbers between them pass, whatever their
    type (negmas' ContiguousIssue.is_valid).
    """
    nothing = (0, 0, 0)  # days begin at 0, units do not
    given = [nothing if offer is None else offer for offer in offers]
    try:
        is_plain = set(map(len, given)) <= {3}
        values = np.fromiter(chain.from_iterable(given), np.float64) if is_plain else None
    except (TypeError, ValueError):
        values = None
    if values is None:
        tidied = [_three_numbers(offer) or nothing for offer in given]
        values = np.array(tidied, np.float64)
    values = values.reshape(len(given), 3)
    passes = (allowed[:, :, 0] <= values) & (values <= allowed[:, :, 1]) & (values % 1 == 0)
    missing = ~passes.all(axis=1)
    whole = np.where(missing[:, None], 0, values).astype(np.int64)
    parts = f"{prefix}_quantity", f"{prefix}_day", f"{prefix}_price"
    return {name: pa.array(whole[:, k], mask=missing) for k, name in enumerate(parts)}


def _three_numbers(offer: Any) -> tuple[float, ...] | None:
    try:
        numbers = tuple(float(value) for value in offer)
    except (TypeError, ValueError):
        return None
    return numbers if len(numbers) == 3 else None


# --- the camera ----------------------------------------------------------------------------------


def filmed(
    kinds: Sequence[type[OneShotAgent]], film: Film, watched: Collection[int] | None = None
) -> list[type[OneShotAgent]]:
    """Subclasses that are filmed, at the watched places; None: everywhere.

    What an agent raises passes on, and that call is not on the film.
    """
    return [
        _filmed(kind, film, film.reels[factory]) if watched is None or factory in watched else kind
        for factory, kind in enumerate(kinds)
    ]


def _filmed(kind: type[OneShotAgent], film: Film, reel: Reel) -> type[OneShotAgent]:
    init = kind.init

    def begin(self: Any) -> Any:
        reel.count_contracts(self.awi)
        return init(self)

    calls = _joint_calls if decides_jointly(kind) else _plain_calls
    cameras = {"init": begin, **calls(kind, film, reel)}
    return subclass(
        kind,
        {name: functools.wraps(getattr(kind, name))(camera) for name, camera in cameras.items()},
    )


def _joint_calls(kind: Any, film: Film, reel: Reel) -> dict[str, Callable[..., Any]]:
    first, counter = kind.first_proposals, kind.counter_all

    def first_proposals(self: Any) -> Any:
        if film.inside:
            return first(self)
        film.inside = True
        try:
            offers = first(self)
        finally:
            film.inside = False
        film.rejection = None
        moment = next(film.moments)
        reel.add_negotiations(self, moment, FIRST_PROPOSALS, {}, offers or {})
        film.add_advice(self, moment, reel, FIRST_PROPOSALS)
        return offers

    def counter_all(self: Any, offers: Any, states: Any) -> Any:
        if film.inside:
            return counter(self, offers, states)
        heard = dict(offers)  # the agent may do what it likes with what it is given
        film.inside = True
        try:
            responses = counter(self, offers, states)
        finally:
            film.inside = False
        film.rejection = None
        moment = next(film.moments)
        reel.add_negotiations(self, moment, COUNTER_ALL, heard, responses)
        film.add_advice(self, moment, reel, COUNTER_ALL)
        return responses

    return {"first_proposals": first_proposals, "counter_all": counter_all}


def _plain_calls(kind: Any, film: Film, reel: Reel) -> dict[str, Callable[..., Any]]:
    return {
        "propose": _propose(kind.propose, film, reel),
        "respond": _respond(kind.respond, film, reel),
    }


def _propose(method: Any, film: Film, reel: Reel) -> Callable[..., Any]:
    flat, standings = reel.flat, reel.standings

    def propose(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if film.inside:
            return method(self, negotiator_id, state, *rest, **named)
        film.inside = True
        try:
            offer = method(self, negotiator_id, state, *rest, **named)
        finally:
            film.inside = False
        step = state.step
        if film.rejection == (reel, negotiator_id, step):
            flat[-1] = offer
        else:
            if reel.day != self._awi.current_step:
                reel.look(self._awi)
            moment, standing, heard = next(film.moments), len(standings) - 1, state.current_offer
            flat.extend((moment, standing, PROPOSE, negotiator_id, step, heard, None, offer))
        film.rejection = None
        return offer

    return propose


def _respond(method: Any, film: Film, reel: Reel) -> Callable[..., Any]:
    flat, standings = reel.flat, reel.standings

    def respond(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if film.inside:
            return method(self, negotiator_id, state, *rest, **named)
        film.inside = True
        try:
            answer = method(self, negotiator_id, state, *rest, **named)
        finally:
            film.inside = False
        if answer is WAIT:
            return answer
        if reel.day != self._awi.current_step:
            reel.look(self._awi)
        this = reel, negotiator_id, state.step
        if film.rejection == this:  # asked again, because it failed to follow with an offer
            del flat[-FIELDS:]
        moment, standing, heard = next(film.moments), len(standings) - 1, state.current_offer
        flat.extend((moment, standing, RESPOND, negotiator_id, state.step, heard, answer, None))
        film.rejection = this if answer is REJECT_OFFER else None
        return answer

    return respond
