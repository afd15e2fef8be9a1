"""L1 in live play: the book of `commitments.py`, asked about one offer after the other.

It says how much may still be promised, and clips what is not safe; nothing else gets through.
"""

from dataclasses import dataclass

import numpy as np

from understudy.data.arrays import Ints
from understudy.games.scml.domain import BUYING, Offer, SafetySettings
from understudy.games.scml.view import commitments
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.columns import Packed, most_units, packed
from understudy.games.scml.view.state import State


class RemainingCapacity:
    """What is left to promise. Whoever promises takes capacity; nobody gets it twice."""

    def __init__(
        self, state: State, settings: SafetySettings | None = None, columns: Packed | None = None
    ) -> None:
        """Of a state; `columns` where it lies in columns already."""
        settings, columns = settings or SafetySettings(), columns or packed([state])
        self.today = state.day_start.day
        self.book = commitments.empty_book()
        how = settings.numbers
        commitments.open_book(columns.facts[0], columns.commitments[0], how, self.book)

    @property
    def money(self) -> float:
        """B_free: what may be spent on input."""
        return float(self.book.money[commitments.FREE])

    @property
    def days(self) -> int:
        """For how many days, today included, a delivery can be agreed."""
        return int(self.book.limits[commitments.DAYS_OPEN])

    def to_buy(self, ahead: int) -> int:
        """Q_safe of a purchase: the most units that could ever be worked on; 0 on no open day."""
        return int(commitments.remaining_on(self.book, True, ahead))

    def to_sell(self, ahead: int) -> int:
        """Q_safe of a sale: the most units that can be promised and all still be met; likewise."""
        return int(commitments.remaining_on(self.book, False, ahead))

    def lacking(self) -> int:
        """Units of input that today's orders lack, beside those asked for already."""
        book = self.book
        have = book.limits[commitments.IN_STOCK] + book.arriving[0] + book.committed[BUYING]
        return int(min(book.ordered[0], book.limits[commitments.CAPACITY]) - have)

    def by_day(self, buys: bool) -> Ints:
        """Q_safe of each day on which a delivery can be agreed."""
        units = np.zeros(self.days, np.int64)
        commitments.remaining_by_day(self.book, buys, units)
        return units

    def affordable(self, price: int) -> int:
        """Units that B_free pays for."""
        return int(rules.affordable(self.money, price))

    def take(self, buys: bool, offer: Offer) -> None:
        """Keep capacity for an offer that was made or accepted."""
        quantity, day, price = offer
        commitments.commit(self.book, buys, quantity, day - self.today, price)


@dataclass(frozen=True)
class Safety:
    """L1 for one state: the agenda of today, and the capacity that remains."""

    state: State
    remaining: RemainingCapacity
    most_quantity: int

    @staticmethod
    def of(
        state: State, settings: SafetySettings | None = None, columns: Packed | None = None
    ) -> "Safety":
        """With all capacity still free; `columns` where the state lies in some already."""
        columns = columns or packed([state])
        return Safety(
            state, RemainingCapacity(state, settings, columns), most_units(columns.facts[0])
        )

    def days(self, buys: bool) -> list[bool]:
        """The time mask: for which days from now anything may be agreed."""
        return [quantity > 0 for quantity in self.remaining.by_day(buys).tolist()]

    def most(self, buys: bool, ahead: int, price: int) -> int:
        """The largest safe quantity for a day and price."""
        remaining = self.remaining
        units = (
            min(remaining.to_buy(ahead), remaining.affordable(price))
            if buys
            else remaining.to_sell(ahead)
        )
        return min(units, self.most_quantity)

    def of_use(self, buys: bool) -> int:
        """The most units that serve a purpose: what today's orders lack, if all will be thrown away
        that they do not take; else no fewer than are safe. Beyond it, buying is a gamble that L3
        may take, not L1."""
        profile = self.state.profile
        if not buys or not profile.perishable or profile.can_sell:
            return self.most_quantity
        return self.remaining.lacking()

    def clip_price(self, buys: bool, price: int) -> int:
        """Within what may be offered."""
        low, high = self.state.day_start.prices_in if buys else self.state.day_start.prices_out
        return min(max(price, low), high)

    def clip(self, buys: bool, offer: Offer | None) -> Offer | None:
        """The nearest offer for that day that is safe and on the agenda; None: there is none."""
        if offer is None:
            return None
        quantity, day, price = offer
        price = self.clip_price(buys, price)
        quantity = min(quantity, self.most(buys, day - self.remaining.today, price))
        return (quantity, day, price) if quantity > 0 else None

    def allows(self, buys: bool, offer: Offer) -> bool:
        """Whether a partner's offer can be accepted as it is."""
        return self.clip(buys, offer) == tuple(offer)
