"""How any agent decided, from a recording: the lines that HRL-XF writes of itself (`trace.py`).

An agent that is not ours says nothing of its reasons; what it knew, what L1's book had left for it,
L1's own offer and what it answered are there all the same. Its negotiations stand in the order of
L4's teacher, and nothing in them is clipped. Offers that partners still thought about from earlier
decisions are not in the book here, so that the mask may be wider than in a trace of HRL-XF.
"""

from collections import Counter
from collections.abc import Iterator

from understudy.games.scml.agent.hrl import Decision, Deliberation
from understudy.games.scml.agent.l1_safety import Safety
from understudy.games.scml.agent.l4_priorities import priorities, teacher_scores
from understudy.games.scml.agent.trace import TO_ACCEPT, TO_REJECT, Decided, turn_of
from understudy.games.scml.domain import CALLS, FIRST_PROPOSALS, PROPOSE, SafetySettings
from understudy.games.scml.engine.responses import ACCEPT_OFFER, END_NEGOTIATION, REJECT_OFFER
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.from_recording import Answer, Recalled, Recordings, decisions_of
from understudy.games.scml.view.observe import observed
from understudy.games.scml.view.turns import LiveTurns

_OPENING = {CALLS[FIRST_PROPOSALS], CALLS[PROPOSE]}


def retraced(recordings: Recordings, players: frozenset[str]) -> Iterator[Decided]:
    """The decisions of these players, by factory and moment."""
    numbers = Counter[tuple[str, str]]()
    for recalled in decisions_of(recordings, players):
        agent = f"{recalled.factory:02}@{recalled.state.profile.level}"
        decided = _decided(recalled, agent, numbers[recalled.match, agent])
        if decided.turns:
            numbers[recalled.match, agent] += 1
            yield decided


def _decided(recalled: Recalled, agent: str, number: int) -> Decided:
    state, settings = recalled.state, SafetySettings()
    columns = packed([state])
    seen = observed(columns, settings)
    ranked = priorities(teacher_scores(seen.thread), columns.first)
    turns = LiveTurns(columns, ranked.weight, settings)
    safety = Safety.of(state, settings, columns)
    now = Deliberation(state, safety, columns, seen, ranked, turns, None)
    told = []
    for index in ranked.order.tolist():
        negotiation = state.negotiations[index]
        decision = _decision(recalled.answers[index], recalled.call in _OPENING)
        turns.come(index)
        told.append(turn_of(now, index, decision, decision))
        heard = None if negotiation.heard is None else negotiation.heard[1:]
        binding = heard if decision.response is ACCEPT_OFFER else decision.offer
        if binding is None:
            turns.take(negotiation.buys, 0, 0, 0)
            continue
        quantity, day, price = binding
        turns.take(negotiation.buys, quantity, day - state.day_start.day, price)
        safety.remaining.take(negotiation.buys, binding)
    names = recalled.match, recalled.player, agent
    return Decided(*names, recalled.day, number, recalled.call, None, tuple(told))


def _decision(answer: Answer, opens: bool) -> Decision:
    """What was answered; an offer made first rejects nothing, but is written as HRL-XF's are."""
    if answer.response == TO_ACCEPT:
        return Decision(ACCEPT_OFFER)
    if answer.offer is not None and (opens or answer.response == TO_REJECT):
        return Decision(REJECT_OFFER, answer.offer)
    return Decision(END_NEGOTIATION)
