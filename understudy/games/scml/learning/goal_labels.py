"""What a factory was after on a day, derived from what it did: the labels of L2.

Two tellings, each 16 numbers: for four buckets of delivery days the units and the unit price,
buying and selling. `from_deeds` is the seed's second version: deals, part of what was left open, a
little of what was offered in vain, spread softly over neighbouring buckets, and steady prices.
`from_intent` takes the first offer in each negotiation, before anybody else had a say.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.scml.domain import BUCKETS, BUY_SHARE, NUM_GOALS, SELL_SHARE
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.from_recording import NONE, DayStarts, Recording, offers_of


@dataclass(frozen=True)
class GoalSettings:
    """How deeds are weighed. The shares and weights are the seed's."""

    buckets: tuple[tuple[int, int], ...] = BUCKETS
    softness: float = 0.5
    """How far a delivery reaches into the buckets beside its own, in days; our buckets are narrower
    than the seed's, so with its 1.0 a third of all that is for today would be for tomorrow."""
    gap_share: float = 0.6
    """Of the units needed today that no deal covered."""
    vain_share: float = 0.15
    """Of the units last offered in negotiations without a deal."""
    deal_weight: float = 0.65
    vain_weight: float = 0.25
    spot_weight: float = 0.1
    """Of the three prices, as far as there are any; the last one is L1's baseline."""


class Deeds(NamedTuple):
    """Offers or deals."""

    day_start: Ints
    """Which row of the day starts."""
    side: Ints
    """0 buying, 1 selling."""
    ahead: Ints
    quantity: Ints
    price: Ints

    def where(self, kept: Bools) -> "Deeds":
        """Only some."""
        return Deeds(*(column[kept] for column in self))


class Days:
    """What was done on each of these days."""

    def __init__(
        self,
        recording: Recording,
        day_starts: DayStarts,
        decisions: pa.Table,
        settings: GoalSettings,
    ) -> None:
        self._settings = settings
        self._facts = day_starts.states.facts
        number = np.full(recording.day_row.shape, NONE)
        number[day_starts.owner, self._facts[:, p.DAY].astype(np.int64)] = np.arange(
            len(self._facts)
        )
        self._read_deals(recording, number)
        self._read_offers(recording, number, decisions)
        days = np.minimum(
            self._facts[:, p.WORLD_HORIZON], self._facts[:, p.STEPS] - 1 - self._facts[:, p.DAY]
        )
        first = np.array([first for first, _ in settings.buckets])
        self.reachable: Bools = days[:, None] >= first
        """[day starts, buckets]: a delivery can be agreed for one of its days."""
        level = self._facts[:, p.LEVEL]
        self.can: Bools = np.stack([level > 0, level < self._facts[:, p.LEVELS] - 1], axis=1)
        """[day starts, 2]: buying, selling."""
        shares = BUY_SHARE, SELL_SHARE
        self._spot = self._facts[:, [p.PRICE_IN, p.PRICE_OUT]] * np.array(shares)

    def _read_deals(self, recording: Recording, number: Ints) -> None:
        owner, concluded = recording.contract_owner, recording.contract_concluded
        known = concluded < number.shape[1]
        day_start = np.where(known, number[owner, np.where(known, concluded, 0)], NONE)
        quantity = np.maximum(recording.contract_quantity, 1)
        self._deals = Deeds(
            day_start,
            1 - recording.contract_buys,
            recording.contract_day - concluded,
            recording.contract_quantity,
            recording.contract_money // quantity,
        ).where(day_start != NONE)
        factories = len(recording.names)
        self._dealt = (day_start * factories + recording.contract_other)[day_start != NONE]

    def _read_offers(self, recording: Recording, number: Ints, decisions: pa.Table) -> None:
        owner, partner = recording.owner(decisions), recording.owner(decisions, "partner")
        day = decisions["day"].to_numpy().astype(np.int64)
        known = day < number.shape[1]
        day_start = np.where(known, number[owner, np.where(known, day, 0)], NONE)
        row = np.flatnonzero(day_start != NONE)
        row = row[np.lexsort((decisions["moment"].to_numpy()[row], day_start[row]))]
        decisions, day_start, owner, partner, day = (
            decisions.take(row),
            *(column[row] for column in (day_start, owner, partner, day)),
        )
        self._needs = np.zeros((len(self._facts), 2))
        asked, first = np.unique(day_start, return_index=True)
        for side, name in enumerate(("needed_supplies", "needed_sales")):
            self._needs[asked, side] = decisions[name].to_numpy()[first]
        offered = offers_of(decisions, "offered")
        made = np.flatnonzero(offered[:, 0] != NONE)
        negotiation = (day_start * len(recording.names) + partner)[made]
        _, first = np.unique(negotiation, return_index=True)
        # The first in the reversed order is the last.
        _, last = np.unique(negotiation[::-1], return_index=True)
        sells: Ints = (recording.level[partner] > recording.level[owner]).astype(np.int64)
        ahead = offered[:, 1] - day
        every = Deeds(day_start, sells, ahead, offered[:, 0], offered[:, 2])
        self._first_offers = Deeds(*(column[made][first] for column in every))
        last = len(made) - 1 - last
        in_vain = ~np.isin(negotiation[last], self._dealt)
        self._vain_offers = Deeds(*(column[made][last][in_vain] for column in every))

    def _totals(self, deeds: Deeds, softness: float) -> tuple[Floats, Floats]:
        """Units and money, [day starts, 2, buckets]."""
        shares = _shares(deeds.ahead, self._settings.buckets, softness)
        # Nothing goes to buckets past the end of the world; the rest takes its share.
        shares = shares * self.reachable[deeds.day_start]
        shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
        units = np.zeros((len(self._facts), 2, shares.shape[1]))
        money = np.zeros_like(units)
        places = deeds.day_start, deeds.side
        np.add.at(units, places, shares * deeds.quantity[:, None])
        np.add.at(money, places, shares * (deeds.quantity * deeds.price)[:, None])
        return units, money

    def from_intent(self) -> Floats:
        """[day starts, 16], from the first offer in each negotiation."""
        units, money = self._totals(self._first_offers, 0.0)
        spot = self._spot[:, :, None]
        price = np.where(units > 0, money / np.maximum(units, 1e-9), spot)
        return self._goals(units, price)

    def from_deeds(self) -> Floats:
        """[day starts, 16], from what came of the day."""
        chosen = self._settings
        dealt, paid = self._totals(self._deals, chosen.softness)
        vain, asked = self._totals(self._vain_offers, chosen.softness)
        units = dealt + chosen.vain_share * vain + chosen.gap_share * self._gaps()
        weights = np.stack(
            [
                chosen.deal_weight * (dealt > 0),
                chosen.vain_weight * (vain > 0),
                np.full(dealt.shape, chosen.spot_weight),
            ]
        )
        prices = np.stack(
            [
                paid / np.maximum(dealt, 1e-9),
                asked / np.maximum(vain, 1e-9),
                np.broadcast_to(self._spot[:, :, None], dealt.shape),
            ]
        )
        return self._goals(units, (weights * prices).sum(axis=0) / weights.sum(axis=0))

    def _gaps(self) -> Floats:
        """What was needed for today and not agreed, spread over the buckets, most to the near."""
        today = self._deals.where(self._deals.ahead == 0)
        agreed = np.zeros_like(self._needs)
        np.add.at(agreed, (today.day_start, today.side), today.quantity)
        # The simulator may ask for more than a day's work, or for less than nothing.
        needed = np.minimum(np.maximum(self._needs, 0), self._facts[:, p.LINES, None])
        gap = np.maximum(needed - agreed, 0)
        centre = np.array([(first + last) / 2 for first, last in self._settings.buckets])
        urgency = self.reachable / (1 + centre)
        urgency = urgency / urgency.sum(axis=1, keepdims=True)
        return gap[:, :, None] * urgency[:, None, :]

    def _goals(self, units: Floats, price: Floats) -> Floats:
        both: Any = np.stack([units, price], axis=3) * self.can[:, :, None, None]
        return both.transpose(0, 2, 1, 3).reshape(-1, NUM_GOALS)


def _shares(ahead: Ints, buckets: tuple[tuple[int, int], ...], softness: float) -> Floats:
    """How much of a delivery belongs to each bucket, [deeds, buckets]; nothing far from it."""
    first, last = np.array(buckets).T
    distance = np.maximum(np.maximum(first - ahead[:, None], ahead[:, None] - last), 0)
    return np.maximum(0.0, 1.0 - distance / (1.0 + softness))
