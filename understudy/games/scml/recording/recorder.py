"""Record the decisions of agents: what each was asked, and what it answered.

The agents' classes are wrapped, so the same is recorded in our engine and in scml. An agent that
decides about all its negotiations at once is recorded where it does, with a row per negotiation;
any other negotiation by negotiation, and its offer goes into the row of the rejection that led to
it.

Agents are asked some 70,000 times in a world, so a wrapper does as little as it can: it appends to
a flat list, which the garbage collector need not search, and `Recorder.table` makes columns of it
when the world is over.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
from scml.oneshot.agent import OneShotAgent

from understudy.data.arrays import Array
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
from understudy.games.scml.engine.responses import (
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


class Recorder:
    """The decisions of one world."""

    def __init__(self, num_factories: int) -> None:
        self.inside = False
        """Whether an agent is at work; what it asks of itself is no decision of its own."""
        self.moments = count()
        """Numbers the calls."""
        self.rejection: tuple[DecisionBuffer, str, int] | None = None
        """Who rejected whose offer in which round, if that was the last call: an offer may follow,
        or the same question again where making one failed."""
        self.buffers = [DecisionBuffer() for _ in range(num_factories)]
        self.advice: list[tuple[Any, ...]] = []
        """Moment, factory, day, partner, answer, offer: what an expert would have done."""

    def add_advice(self, agent: Any, moment: int, buffer: "DecisionBuffer", call: int) -> None:
        """What the expert says of a joint decision, if the agent has one look over its shoulder."""
        advice = getattr(agent, "advice", None)
        if advice is None:
            return
        factory, day = self.buffers.index(buffer), agent._awi.current_step
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
        allowed = allowed_offers(config, ranges, np.array(day), np.array(factory), partner)
        return ADVICE.build(
            {
                "match": pa.repeat(match, len(moment)),
                "moment": list(moment),
                "partner": partner,
                "answer": words_of([_response_code(one) for one in answer], RESPONSES),
                **_offers("offered", offered, allowed),
            }
        )

    def table(
        self, match: str, config: WorldConfig, ranges: Sequence[Sequence[Ranges]]
    ) -> pa.Table:
        """The decisions as DECISIONS; `ranges` by day and product say what could be offered."""
        lengths = [len(buffer.flat) // FIELDS for buffer in self.buffers]
        factory = np.repeat(np.arange(len(lengths)), lengths)
        moment, standing, call, names, step, heard, answer, offered = (
            list(chain.from_iterable(buffer.flat[field::FIELDS] for buffer in self.buffers))
            for field in range(FIELDS)
        )
        starts = np.cumsum([0, *(len(buffer.standings) for buffer in self.buffers)])[:-1]
        standings = [standing for buffer in self.buffers for standing in buffer.standings]
        at = np.array(standing, np.int64) + starts[factory]
        day, supplies, sales, contracts = np.array(standings, np.int64).reshape(-1, 4)[at].T
        index_of = {name: index for index, name in enumerate(config.names)}
        partner = np.array([index_of[name] for name in names], np.int64)
        allowed = allowed_offers(config, ranges, day, factory, partner)
        return DECISIONS.build(
            {
                "match": pa.repeat(match, len(moment)),
                "moment": moment,
                "day": day,
                "factory": factory,
                "call": words_of(call, CALLS),
                "partner": partner,
                "round": step,
                **_offers("heard", heard, allowed),
                "answer": words_of([_response_code(one) for one in answer], RESPONSES),
                "omitted": [one is OMITTED for one in answer],
                **_offers("offered", offered, allowed),
                "needed_supplies": supplies,
                "needed_sales": sales,
                "contracts": contracts,
            }
        )


class DecisionBuffer:
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
        """A joint decision: `decided` by partner, about all whose negotiations have not ended."""
        if not isinstance(decided, Mapping):
            return  # nothing was answered, or the simulator will fail on it
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
    """Answer and offer as negmas' controller takes them: silence ends a negotiation."""
    if partner not in responses:
        return OMITTED, None
    response = responses[partner]
    if response is None:
        return REJECT_OFFER, None
    answer = getattr(response, "response", None)
    return answer, getattr(response, "outcome", None) if answer is REJECT_OFFER else None


def allowed_offers(
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


def words_of(codes: Sequence[int] | Array, words: Sequence[str]) -> pa.Array:
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


# --- the wrappers --------------------------------------------------------------------------------


def recorded(
    kinds: Sequence[type[OneShotAgent]], recorder: Recorder, watched: Collection[int] | None = None
) -> list[type[OneShotAgent]]:
    """Subclasses whose decisions are recorded, of the watched factories; None: of all.

    What an agent raises passes on, and that call is not recorded.
    """
    return [
        _recorded(kind, recorder, recorder.buffers[factory])
        if watched is None or factory in watched
        else kind
        for factory, kind in enumerate(kinds)
    ]


def _recorded(
    kind: type[OneShotAgent], recorder: Recorder, buffer: DecisionBuffer
) -> type[OneShotAgent]:
    init = kind.init

    def begin(self: Any) -> Any:
        buffer.count_contracts(self.awi)
        return init(self)

    calls = _joint_calls if decides_jointly(kind) else _plain_calls
    wrapped = {"init": begin, **calls(kind, recorder, buffer)}
    return subclass(
        kind,
        {name: functools.wraps(getattr(kind, name))(method) for name, method in wrapped.items()},
    )


def _joint_calls(
    kind: Any, recorder: Recorder, buffer: DecisionBuffer
) -> dict[str, Callable[..., Any]]:
    first, counter = kind.first_proposals, kind.counter_all

    def first_proposals(self: Any) -> Any:
        if recorder.inside:
            return first(self)
        recorder.inside = True
        try:
            offers = first(self)
        finally:
            recorder.inside = False
        recorder.rejection = None
        moment = next(recorder.moments)
        buffer.add_negotiations(self, moment, FIRST_PROPOSALS, {}, offers or {})
        recorder.add_advice(self, moment, buffer, FIRST_PROPOSALS)
        return offers

    def counter_all(self: Any, offers: Any, states: Any) -> Any:
        if recorder.inside:
            return counter(self, offers, states)
        heard = dict(offers)  # the agent may do what it likes with what it is given
        recorder.inside = True
        try:
            responses = counter(self, offers, states)
        finally:
            recorder.inside = False
        recorder.rejection = None
        moment = next(recorder.moments)
        buffer.add_negotiations(self, moment, COUNTER_ALL, heard, responses)
        recorder.add_advice(self, moment, buffer, COUNTER_ALL)
        return responses

    return {"first_proposals": first_proposals, "counter_all": counter_all}


def _plain_calls(
    kind: Any, recorder: Recorder, buffer: DecisionBuffer
) -> dict[str, Callable[..., Any]]:
    return {
        "propose": _propose(kind.propose, recorder, buffer),
        "respond": _respond(kind.respond, recorder, buffer),
    }


def _propose(method: Any, recorder: Recorder, buffer: DecisionBuffer) -> Callable[..., Any]:
    flat, standings = buffer.flat, buffer.standings

    def propose(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if recorder.inside:
            return method(self, negotiator_id, state, *rest, **named)
        recorder.inside = True
        try:
            offer = method(self, negotiator_id, state, *rest, **named)
        finally:
            recorder.inside = False
        step = state.step
        if recorder.rejection == (buffer, negotiator_id, step):
            flat[-1] = offer
        else:
            if buffer.day != self._awi.current_step:
                buffer.look(self._awi)
            moment, standing, heard = (
                next(recorder.moments),
                len(standings) - 1,
                state.current_offer,
            )
            flat.extend((moment, standing, PROPOSE, negotiator_id, step, heard, None, offer))
        recorder.rejection = None
        return offer

    return propose


def _respond(method: Any, recorder: Recorder, buffer: DecisionBuffer) -> Callable[..., Any]:
    flat, standings = buffer.flat, buffer.standings

    def respond(self: Any, negotiator_id: Any, state: Any, *rest: Any, **named: Any) -> Any:
        if recorder.inside:
            return method(self, negotiator_id, state, *rest, **named)
        recorder.inside = True
        try:
            answer = method(self, negotiator_id, state, *rest, **named)
        finally:
            recorder.inside = False
        if answer is WAIT:
            return answer
        if buffer.day != self._awi.current_step:
            buffer.look(self._awi)
        this = buffer, negotiator_id, state.step
        if recorder.rejection == this:  # asked again, because it failed to follow with an offer
            del flat[-FIELDS:]
        moment, standing, heard = next(recorder.moments), len(standings) - 1, state.current_offer
        flat.extend((moment, standing, RESPOND, negotiator_id, state.step, heard, answer, None))
        recorder.rejection = this if answer is REJECT_OFFER else None
        return answer

    return respond
