"""Negotiations put together again from decisions.

A decision tells one side's part: what lay on the table, what was answered, what was offered. In a
negotiation the two sides take turns, the opener first, so an offer is what one side `offered` and
what the other `heard` on its next turn. Where only one side was recorded, the negotiation is
reconstructed from that side.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from understudy.games.scml.domain import ROUNDS, Offer

ENDINGS: Final = ("agreed", "ended", "left out", "no offer", "out of rounds", "not recorded")
AGREED, ENDED, LEFT_OUT, NO_OFFER, OUT_OF_ROUNDS, NOT_RECORDED = range(len(ENDINGS))
"""How negotiations end. The one who ends it is the one whose turn it is after the last offer."""


class RecordedNegotiation(NamedTuple):
    """What two factories offered each other on one day."""

    opener: int
    other: int
    ending: int
    offers: list[Offer]
    """The opener's, the other's, the opener's, ..."""


class DecisionRow(NamedTuple):
    """What a row of `decisions` holds of a negotiation."""

    heard: Offer | None
    answer: str | None
    omitted: bool
    offered: Offer | None


class _Script:
    """The parts of one negotiation, by factory and round."""

    def __init__(self) -> None:
        self.proposals: dict[tuple[int, int], DecisionRow] = {}
        """Offers made without an answer: to open a negotiation, or after an answer recorded by
        itself."""
        self.answers: dict[tuple[int, int], DecisionRow] = {}

    def add(self, factory: int, call: str, number: int, row: DecisionRow) -> None:
        at = factory, number
        if call == "propose":
            self.proposals[at] = row
        # An agent may answer partners before they have offered anything; what it heard counts.
        elif row.heard is not None or at not in self.answers:
            self.answers[at] = row


def opens(level: int, num_levels: int) -> bool:
    """Whether a level opens its negotiations: the last does, and every second before it."""
    return (num_levels - 1 - level) % 2 == 0


def negotiations_by_day(
    decisions: pa.Table, levels: Sequence[int], agreements: Mapping[tuple[int, int, int], Offer]
) -> dict[int, list[RecordedNegotiation]]:
    """The negotiations of a world by day; `agreements` are by day, opener and other."""
    num_levels = max(levels) + 1
    scripts: dict[tuple[int, int, int], _Script] = defaultdict(_Script)
    openings: dict[tuple[int, int], dict[int, dict[int, DecisionRow]]] = defaultdict(dict)
    for moment, day, factory, partner, call, number, row in _rows(decisions):
        first = opens(levels[factory], num_levels)
        pair = (factory, partner) if first else (partner, factory)
        script = scripts[day, *pair]
        if call != "first_proposals":
            script.add(factory, call, number, row)
        elif first:  # what the others would open with is never asked for
            openings[day, factory].setdefault(moment, {})[partner] = row
    for (day, opener), calls in openings.items():
        for other, row in _first_offers(list(calls.values())).items():
            scripts[day, opener, other].add(opener, "propose", 0, row)
    by_day: dict[int, list[RecordedNegotiation]] = defaultdict(list)
    for key in sorted(scripts):
        by_day[key[0]].append(_reconstructed(key[1], key[2], scripts[key], agreements.get(key)))
    return by_day


def _first_offers(calls: Sequence[Mapping[int, DecisionRow]]) -> dict[int, DecisionRow]:
    """Which of an opener's first offers were made, by partner.

    An agent is asked for all of them at once, when the first negotiation begins, and again for a
    partner that it has left out; from then on the new ones count.
    """
    found: dict[int, DecisionRow] = {}
    current = 0
    for partner in sorted({partner for call in calls for partner in call}):
        row = calls[current].get(partner)
        while (row is None or row.offered is None) and partner in _after(calls, current):
            current += 1
            row = calls[current][partner]
        if row is not None:
            found[partner] = row
    return found


def _after(calls: Sequence[Mapping[int, DecisionRow]], at: int) -> Mapping[int, DecisionRow]:
    """The call after this one, which has no row for those whose negotiation has ended by then."""
    return calls[at + 1] if at + 1 < len(calls) else {}


def _rows(decisions: pa.Table) -> Iterator[tuple[int, int, int, int, str, int, DecisionRow]]:
    """Column by column: there are hundreds of thousands in a long world."""

    def offers(prefix: str) -> list[Offer | None]:
        names = f"{prefix}_quantity", f"{prefix}_day", f"{prefix}_price"
        columns = (decisions[name].to_pylist() for name in names)
        return [None if offer[0] is None else offer for offer in zip(*columns, strict=True)]

    plain = ("moment", "day", "factory", "partner", "call", "round")
    answered = map(
        DecisionRow,
        offers("heard"),
        decisions["answer"].to_pylist(),
        decisions["omitted"].to_pylist(),
        offers("offered"),
    )
    return zip(*(decisions[name].to_pylist() for name in plain), answered, strict=True)


def _reconstructed(
    opener: int, other: int, script: _Script, agreed: Offer | None
) -> RecordedNegotiation:
    offers: list[Offer] = []
    ending = OUT_OF_ROUNDS
    sides = opener, other
    for turn in range(2 * ROUNDS):
        speaker, listener = sides[turn % 2], sides[1 - turn % 2]
        own = _own(script, speaker, turn)
        # The listener answers in the same round if it speaks second, else in the next.
        reply = script.answers.get((listener, (turn + 1) // 2))
        if own is not None and own.answer in ("accept", "end"):
            ending = LEFT_OUT if own.omitted else ENDED
            break
        # What arrived counts more than what was meant: an agent may change its mind in between.
        offer = (reply and reply.heard) or (own and own.offered)
        if not offer:
            ending = NOT_RECORDED if own is None else NO_OFFER
            break
        offers.append(offer)
    if agreed is None:
        return RecordedNegotiation(opener, other, ending, offers)
    return RecordedNegotiation(opener, other, AGREED, [*offers[:-1], agreed])


def _own(script: _Script, speaker: int, turn: int) -> DecisionRow | None:
    """What the speaker did on its turn; None where it was not recorded."""
    at = speaker, turn // 2
    if turn == 0:
        return script.proposals.get(at)
    answer, later = script.answers.get(at), script.proposals.get(at)
    if answer is not None and answer.answer == "reject" and answer.offered is None and later:
        return answer._replace(offered=later.offered if later.heard else None)
    return answer


# --- offers as text ------------------------------------------------------------------------------

_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def written(offers: Sequence[Offer], day: int, lowest: int) -> str:
    """Offers in about three letters each: quantity, days ahead, price above the lowest allowed.

    Base64 digits of five bits, the lowest first; the sixth bit says that another follows.
    """
    letters: list[str] = []
    for quantity, due, price in offers:
        for value in (quantity, due - day, price - lowest):
            if value < 0:
                raise ValueError(f"an offer outside the day's agenda: {quantity, due, price}")
            while value >= 32:
                letters.append(_DIGITS[32 | value & 31])
                value >>= 5
            letters.append(_DIGITS[value])
    return "".join(letters)


def read(text: str, day: int, lowest: int) -> list[Offer]:
    """The offers again; `viewer/story.js` does the same."""
    values, value, shift = [], 0, 0
    for letter in text:
        digit = _DIGITS.index(letter)
        value |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            values.append(value)
            value, shift = 0, 0
    triples = zip(values[::3], values[1::3], values[2::3], strict=True)
    return [(quantity, day + ahead, lowest + over) for quantity, ahead, over in triples]
