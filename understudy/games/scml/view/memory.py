"""What a factory remembers of each partner: sums over their talks of earlier days.

Live (`Memory`), from a recording (`memories_of`) and in the compiled world (`learner.py`) the same
`remember` adds a talk once it is over. A talk is as this factory lived it: the offers that it made
and those that it was asked about. An offer that came too late to be answered is not among them, and
a talk without any leaves no trace. Of today's talks nothing is in the sums that a decision sees.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.scml.domain import ROUNDS
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view.scales import AHEAD, cut, position_in
from understudy.games.scml.view.state import DayStart, OpenNegotiation, PastOffer

_MANY = 4.0
"""The log of 1 + so many talks is 1: 53, of 50 to 200 days."""


class Memory:
    """Today's offers as an agent hears and makes them, and what came of those before."""

    def __init__(self) -> None:
        self._today: DayStart | None = None
        self._offers: dict[str, list[PastOffer]] = {}
        self._round: dict[str, int] = {}
        self._agreed: set[str] = set()
        self._sums: dict[str, Floats] = {}
        self._known: dict[str, tuple[float, ...]] = {}
        """The same, as states hold it."""

    def open_day(self, today: DayStart, suppliers: Collection[str]) -> None:
        """Negotiations of yesterday are over."""
        if self._today is not None:
            for partner in self._offers:
                self._remember(self._today, partner, partner in suppliers)
        self._today, self._offers, self._round, self._agreed = today, {}, {}, set()

    def _remember(self, day: DayStart, partner: str, buys: bool) -> None:
        sums = self._sums.setdefault(partner, np.zeros(p.NUM_SUMS))
        offers = np.array(self._offers[partner], np.int64)
        low, high = day.prices_in if buys else day.prices_out
        agreed = partner in self._agreed
        remember(sums, offers, 0, len(offers), agreed, day.day, buys, float(low), float(high))
        self._known[partner] = tuple(sums.tolist())

    def hear(self, partner: str, round_: int, offer: Sequence[int] | None) -> None:
        """A partner has made an offer."""
        self._round[partner] = round_
        if offer is not None:
            quantity, day, price = map(int, offer)
            self._offers.setdefault(partner, []).append(PastOffer(False, quantity, day, price))

    def say(self, partner: str, offer: Sequence[int] | None) -> None:
        """We have made an offer."""
        if offer is not None:
            quantity, day, price = map(int, offer)
            self._offers.setdefault(partner, []).append(PastOffer(True, quantity, day, price))

    def agree(self, partner: str) -> None:
        """The last offer has become a contract."""
        self._agreed.add(partner)

    def most_asked(self, partner: str) -> float:
        """The most units that a partner has ever asked for or offered, until yesterday."""
        return self._known.get(partner, p.NOTHING_KNOWN)[p.HEARD_MOST]

    def negotiation(self, partner: str, buys: bool) -> OpenNegotiation:
        """The negotiation with a partner."""
        offers = tuple(self._offers.get(partner, ()))
        known = self._known.get(partner, p.NOTHING_KNOWN)
        return OpenNegotiation(partner, buys, self._round.get(partner, 0), offers, known)


class Talks(NamedTuple):
    """Talks of many factories, in any order, by column."""

    owner: Ints
    partner: Ints
    day: Ints
    buys: Bools
    start: Ints
    stop: Ints
    """Which offers are its own."""
    agreed: Bools
    prices: Floats
    """[talks, 2]: the lowest and highest that day."""


def memories_of(talks: Talks, offers: Ints) -> Floats:
    """What was known of the partner before each talk, [talks, NUM_SUMS]."""
    order = np.lexsort((talks.day, talks.partner, talks.owner))
    found = np.zeros((len(order), p.NUM_SUMS))
    _remember_in_order(talks, order, offers, found)
    return found


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _remember_in_order(talks, order, offers, out):  # type: ignore[no-untyped-def]
    for index in range(1, len(order)):
        before, now = order[index - 1], order[index]
        if talks.owner[now] != talks.owner[before] or talks.partner[now] != talks.partner[before]:
            continue
        for k in range(out.shape[1]):
            out[now, k] = out[before, k]
        start, stop, agreed = talks.start[before], talks.stop[before], talks.agreed[before]
        day, buys = talks.day[before], talks.buys[before]
        low, high = talks.prices[before, 0], talks.prices[before, 1]
        remember(out[now], offers, start, stop, agreed, day, buys, low, high)


@kernel
def remember(sums, offers, start, stop, agreed, day, buys, low, high):  # type: ignore[no-untyped-def]
    """Add a talk that is over: its offers in order of time; the last is what was agreed, if so."""
    if stop <= start:
        return
    sums[p.TALKS_HELD] += 1.0
    for row in range(start, stop):
        if offers[row, p.MINE] != 0:
            sums[p.OWN_OFFERS] += 1.0
            continue
        units = float(offers[row, p.QUANTITY])
        sums[p.NUM_HEARD] += 1.0
        sums[p.HEARD_UNITS] += units
        sums[p.HEARD_AHEAD] += offers[row, p.DELIVERY] - day
        sums[p.HEARD_GAIN] += _gain(offers[row, p.PRICE], buys, low, high)
        sums[p.HEARD_MOST] = max(sums[p.HEARD_MOST], units)
    if agreed:
        last = stop - 1
        sums[p.OWN_TAKEN] += 1.0 if offers[last, p.MINE] != 0 else 0.0
        sums[p.NUM_CONTRACTS] += 1.0
        sums[p.CONTRACT_UNITS] += offers[last, p.QUANTITY]
        sums[p.CONTRACT_AHEAD] += offers[last, p.DELIVERY] - day
        sums[p.CONTRACT_TODAY] += 1.0 if offers[last, p.DELIVERY] == day else 0.0
        sums[p.CONTRACT_GAIN] += _gain(offers[last, p.PRICE], buys, low, high)


@kernel
def _gain(price, buys, low, high):  # type: ignore[no-untyped-def]
    at = position_in(price, low, high)
    return 1.0 - at if buys else at


@kernel
def fill_memory(sums, lines, out):  # type: ignore[no-untyped-def]
    """MEMORY of a negotiation, in its row of THREAD."""
    at = f.THREAD_AT
    talks, contracts, heard = sums[p.TALKS_HELD], sums[p.NUM_CONTRACTS], sums[p.NUM_HEARD]
    out[at.past_talks] = math.log1p(talks) / _MANY
    if talks > 0.0:
        out[at.past_agreed] = contracts / talks
        out[at.past_heard] = heard / talks / ROUNDS
    if sums[p.OWN_OFFERS] > 0.0:
        out[at.past_taken] = sums[p.OWN_TAKEN] / sums[p.OWN_OFFERS]
    if contracts > 0.0:
        out[at.deal_units] = cut(sums[p.CONTRACT_UNITS] / contracts / lines)
        out[at.deal_ahead] = sums[p.CONTRACT_AHEAD] / contracts / AHEAD
        out[at.deal_today] = sums[p.CONTRACT_TODAY] / contracts
        out[at.deal_gain] = sums[p.CONTRACT_GAIN] / contracts
    if heard > 0.0:
        out[at.heard_units] = cut(sums[p.HEARD_UNITS] / heard / lines)
        out[at.heard_ahead] = sums[p.HEARD_AHEAD] / heard / AHEAD
        out[at.heard_gain] = sums[p.HEARD_GAIN] / heard
        out[at.heard_most] = cut(sums[p.HEARD_MOST] / lines)
