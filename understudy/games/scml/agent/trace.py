"""What HRL-XF thought: a line of JSON for every joint decision, written only where asked for.

A line says who decided, when, L2's goals of the day, and of each negotiation, in the order served:
what was heard, L4's weight, what was left, L3's wish, L1's mask, and the answer. `units_left`,
`money_left` and `baseline` are what L3 saw. The mask is L1's in the clip, which also keeps capacity
for offers that partners of other negotiations still think about, so it may be narrower.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from understudy.data.files import append_line, cannot_write, require_file
from understudy.data.integrity.json_files import json_line, parsed_line
from understudy.data.integrity.shapes import Named
from understudy.errors import InputError
from understudy.games.scml.domain import BUCKETS, GOALS, RESPONSES, Offer
from understudy.games.scml.engine.responses import ACCEPT_OFFER, REJECT_OFFER

if TYPE_CHECKING:  # agent.py imports this module
    from understudy.games.scml.agent.hrl import Decision, Deliberation

TO_ACCEPT, TO_REJECT, TO_END = RESPONSES
REFUSED, NOTHING_LEFT, UNITS, PRICE = (
    "acceptance refused",
    "nothing left",
    "units cut",
    "price moved",
)
NO_OFFER = "no offer to clip"
"""A wish to reject without an offer ends the negotiation: hosted experts do so
(`safety_wrapper.py`)."""
CUTS: Final = (REFUSED, NOTHING_LEFT, UNITS, PRICE, NO_OFFER)
GOAL_NAMES: Final = tuple(f"{goal}_{first}_{last}" for first, last in BUCKETS for goal in GOALS)
"""In the order of L2's numbers: buy_quantity_0_0 is units to buy for today."""
_WORDS = {ACCEPT_OFFER: TO_ACCEPT, REJECT_OFFER: TO_REJECT}
_NO_DECISION = (ValueError, TypeError, KeyError, AttributeError, OverflowError)
_AGAIN = "Delete that line, or make the trace again: understudy record scml --trace --fresh"


class Turn(NamedTuple):
    """One negotiation in a decision, when its turn came."""

    partner: str
    buys: bool
    round: int
    heard: Offer | None
    weight: float
    """L4's; those of a decision add up to 1."""
    units_left: tuple[int, ...]
    """Q_safe for today and each day ahead."""
    money_left: float
    """B_free."""
    baseline: Offer | None
    wish: str
    """L3's: accept, reject or end."""
    wish_offer: Offer | None
    may_accept: bool | None
    """None: nothing was heard."""
    may_days: tuple[int, ...]
    """Days ahead on which anything may be promised."""
    said: str
    said_offer: Offer | None
    clipped: bool
    cuts: tuple[str, ...]
    """What the clip did, in the words of CUTS."""


class Decided(NamedTuple):
    """One joint decision: a line of a trace."""

    match: str
    player: str
    agent: str
    day: int
    number: int
    """Of this agent's decisions in its world, from 0."""
    call: str
    """first_proposals or counter_all."""
    goals: dict[str, float] | None
    """L2's, raw, by GOAL_NAMES; None: nobody sets any."""
    turns: tuple[Turn, ...]


# --- written -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """Where to write, and what the world and its player are called there; agents are not told."""

    path: Path
    match: str = ""
    player: str = ""


class Notes:
    """One agent's lines of a trace."""

    def __init__(self, trace: Trace | Path | str, agent: str, kind: str) -> None:
        self._trace = trace if isinstance(trace, Trace) else Trace(Path(trace))
        self._player = self._trace.player or kind
        self._agent = agent
        self._number = 0
        try:
            self._trace.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise cannot_write(self._trace.path, failure) from failure

    def write(
        self, day: int, call: str, goals: np.ndarray[Any, Any] | None, turns: Sequence[Turn]
    ) -> None:
        """A decision about `turns`; one about nobody is none."""
        if not turns:
            return
        named = None
        if goals is not None:
            named = dict(zip(GOAL_NAMES, _short(goals.ravel().tolist()), strict=True))
        who = self._trace.match, self._player, self._agent
        append(self._trace.path, Decided(*who, day, self._number, call, named, tuple(turns)))
        self._number += 1


def append(path: Path, decided: Decided) -> None:
    """Add a line; where that fails the world ends with an InputError, and is no agent's fault."""
    plain = decided._asdict() | {"turns": [turn._asdict() for turn in decided.turns]}
    append_line(path, json_line(plain).removesuffix("\n"))


def turn_of(now: "Deliberation", index: int, wish: "Decision", answer: "Decision") -> Turn:
    """One negotiation of a trace, before what it promises is taken from the remaining capacity."""
    negotiation, turns, today = (
        now.state.negotiations[index],
        now.turns.values,
        now.state.day_start.day,
    )
    heard = None if negotiation.heard is None else _offer(negotiation.heard[1:])
    units, ahead, price = turns.baseline[index].tolist()
    wished, spoken = _words(wish), _words(answer)
    cuts = cuts_of(heard, wished, spoken)
    return Turn(
        partner=negotiation.partner,
        buys=negotiation.buys,
        round=negotiation.round,
        heard=heard,
        weight=round(float(now.ranked.weight[index]), 6),
        units_left=tuple(turns.left[index, : now.state.days_ahead + 1].tolist()),
        money_left=round(float(turns.money[index]), 2),
        baseline=(units, today + ahead, price) if units > 0 else None,
        wish=wished[0],
        wish_offer=wished[1],
        may_accept=None if heard is None else now.safety.allows(negotiation.buys, heard),
        may_days=tuple(np.flatnonzero(now.safety.days(negotiation.buys)).tolist()),
        said=spoken[0],
        said_offer=spoken[1],
        clipped=bool(cuts),
        cuts=cuts,
    )


def _words(decision: "Decision") -> tuple[str, Offer | None]:
    """A response in words, and the offer if it makes one."""
    response = _WORDS.get(decision.response, TO_END)
    offer = decision.offer if response == TO_REJECT else None
    return response, None if offer is None else _offer(offer)


def cuts_of(
    heard: Offer | None, wish: tuple[str, Offer | None], answer: tuple[str, Offer | None]
) -> tuple[str, ...]:
    """All that lies between a wish and the answer; nothing if they are the same."""
    if wish == answer:
        return ()
    wanted = heard if wish[0] == TO_ACCEPT else wish[1]
    if wanted is None:
        return (NO_OFFER,)
    cuts = [REFUSED] if wish[0] == TO_ACCEPT else []
    if answer[1] is None:
        return (*cuts, NOTHING_LEFT)
    cuts += [UNITS] if answer[1][0] != wanted[0] else []
    cuts += [PRICE] if answer[1][2] != wanted[2] else []
    return tuple(cuts)


def _short(values: Iterable[float]) -> list[float]:
    return [round(float(value), 4) for value in values]


# --- read ----------------------------------------------------------------------------------------


def read_trace(path: Path, most: int | None = None) -> list[Decided]:
    """The first so many decisions; none where there is no trace.

    A world that was begun again, because it had been killed, counts from its last beginning. A
    last line that was not finished is left out; any other that cannot be read is an InputError.
    """
    by_agent: dict[tuple[str, str], list[Decided]] = {}
    for count, decided in enumerate(_lines(path)):
        if count == most:
            break
        mine = by_agent.setdefault((decided.match, decided.agent), [])
        if mine and decided.number <= mine[-1].number:
            mine.clear()
        mine.append(decided)
    return [decided for mine in by_agent.values() for decided in mine]


def _lines(path: Path) -> Iterator[Decided]:
    if not require_file(path):
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return  # the last one, still being written or cut off
            entry = parsed_line(line, Named, path, number, _AGAIN)
            try:
                yield parsed(entry)
            except _NO_DECISION as failure:
                reason = str(failure).split("\n", 1)[0]
                raise InputError(
                    f"{path}, line {number}, is no decision ({type(failure).__name__}: {reason}). "
                    f"{_AGAIN}"
                ) from failure


def parsed(entry: Mapping[str, Any]) -> Decided:
    """A line of a trace; one of `_NO_DECISION` where it is none."""
    goals = entry["goals"]
    if not entry["turns"]:
        raise ValueError("it is about no negotiation")
    return Decided(
        match=str(entry["match"]),
        player=str(entry["player"]),
        agent=str(entry["agent"]),
        day=int(entry["day"]),
        number=int(entry["number"]),
        call=str(entry["call"]),
        goals=None if goals is None else {name: float(goals[name]) for name in GOAL_NAMES},
        turns=tuple(_turn(turn) for turn in entry["turns"]),
    )


def _turn(entry: Mapping[str, Any]) -> Turn:
    if not {entry["wish"], entry["said"]} <= set(RESPONSES):
        raise ValueError(f"'{entry['wish']}' or '{entry['said']}' is no response")
    return Turn(
        partner=str(entry["partner"]),
        buys=bool(entry["buys"]),
        round=int(entry["round"]),
        heard=_offer(entry["heard"]),
        weight=float(entry["weight"]),
        units_left=tuple(int(units) for units in entry["units_left"]),
        money_left=float(entry["money_left"]),
        baseline=_offer(entry["baseline"]),
        wish=entry["wish"],
        wish_offer=_offer(entry["wish_offer"]),
        may_accept=None if entry["may_accept"] is None else bool(entry["may_accept"]),
        may_days=tuple(int(day) for day in entry["may_days"]),
        said=entry["said"],
        said_offer=_offer(entry["said_offer"]),
        clipped=bool(entry["clipped"]),
        cuts=tuple(str(cut) for cut in entry["cuts"]),
    )


def _offer(entry: Iterable[Any] | None) -> Offer | None:
    if entry is None:
        return None
    quantity, day, price = (int(part) for part in entry)
    return quantity, day, price
