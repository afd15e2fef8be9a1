"""L1: what may be promised, a simple safe offer, and the clip that lets nothing else through.

By the simulator's true rules: production is to order and takes a day's input the same day; a
factory makes at most its lines; stock only gains (`conserves`: production takes from it). A sale is
safe if, with it and all that lies on the table, every day to come can still be met from the stock,
what was bought and the lines. `safety_audit.py` counts sales by the same measure.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.games.scml.domain import BUY_SHARE, SELL_SHARE, Offer, SafetySettings
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.state import State

Days = np.ndarray[Any, np.dtype[np.int64]]
"""A number for today and each day ahead."""


class Room:
    """What is left to promise. Whoever promises takes room; nobody gets it twice."""

    def __init__(self, state: State, settings: SafetySettings | None = None) -> None:
        settings = settings or SafetySettings()
        place, morning, promises = state.place, state.morning, state.promises
        self.today = morning.day
        self.days = state.days_ahead + 1
        self._lines = place.lines
        self._cost = place.cost
        self._stock = morning.stock
        self._keeps = not place.perishable
        self._conserves = settings.conserves or morning.stock_falls
        self._arriving = np.array(promises.bought[: self.days], np.int64)
        self._ordered = np.array(promises.sold[: self.days], np.int64)
        self._arriving[0] += morning.supply_quantity
        self._ordered[0] += morning.sale_quantity
        self._wanted = 0
        """Units offered for or accepted on the buying side, on top of what arrives."""
        self.money = (
            morning.balance
            - settings.reserve * place.initial_balance
            - sum(promises.bought_money)
            - morning.supply_price
            - place.cost * int(self._ordered.sum())
        )
        """B_free: what may be spent on input."""

    def input_by_day(self) -> list[int]:
        """Units of input known to be there on each day, if nothing more is agreed."""
        return [int(there) for there in self._inputs()]

    def _inputs(self) -> Days:
        found = np.empty(self.days, np.int64)
        rules.input_by_day(*self._books(), found)
        return found

    def _books(self) -> tuple[Any, ...]:
        known = self._stock, self._arriving, self._ordered, self.days
        return *known, self._lines, self._keeps, self._conserves

    def short(self) -> int:
        """Units that could not be made, over all days."""
        return int(rules.shortfall(*self._books(), rules.NOBODY, 0))

    def to_sell(self, ahead: int) -> int:
        """Q_safe of a sale: the most units that can be promised for a day and still all be met."""
        if not 0 <= ahead < self.days:
            return 0
        return int(rules.most_to_sell(*self._books(), self._inputs(), ahead))

    def to_buy(self, ahead: int) -> int:
        """Q_safe of a purchase: the most units that could ever be worked on, and be paid for."""
        if not 0 <= ahead < self.days:
            return 0
        return int(rules.most_to_buy(*self._books(), self._inputs(), self._wanted, ahead))

    def affordable(self, price: int) -> int:
        """Units that B_free pays for."""
        return int(rules.affordable(self.money, price))

    def take(self, buys: bool, offer: Offer) -> None:
        """Keep room for an offer that was made or accepted."""
        quantity, day, price = offer
        if buys:
            self._wanted += quantity
            self.money -= quantity * price
        elif 0 <= day - self.today < self.days:
            self._ordered[day - self.today] += quantity
            self.money -= quantity * self._cost


@dataclass(frozen=True)
class Safety:
    """L1 for one state: the agenda of today, and the room left in it."""

    state: State
    room: Room
    most_quantity: int

    @staticmethod
    def of(state: State, settings: SafetySettings | None = None) -> "Safety":
        """With all room still to be given away."""
        factor = 1 if state.place.horizon == 0 else 3
        return Safety(state, Room(state, settings), max(1, state.place.lines * factor))

    def days(self, buys: bool) -> list[bool]:
        """The time mask: for which days from now anything may be agreed."""
        room = self.room
        quantity = room.to_buy if buys else room.to_sell
        return [quantity(ahead) > 0 for ahead in range(room.days)]

    def most(self, buys: bool, ahead: int, price: int) -> int:
        """The largest safe quantity for a day and price."""
        room = self.room
        found = min(room.to_buy(ahead), room.affordable(price)) if buys else room.to_sell(ahead)
        return min(found, self.most_quantity)

    def price(self, buys: bool) -> int:
        """The baseline's: a little better than the trading price, within the agenda."""
        morning = self.state.morning
        wish = morning.price_in * BUY_SHARE if buys else morning.price_out * SELL_SHARE
        return self.clip_price(buys, round(wish))

    def clip_price(self, buys: bool, price: int) -> int:
        """Within what may be offered."""
        low, high = self.state.morning.prices_in if buys else self.state.morning.prices_out
        return min(max(price, low), high)

    def baseline(self, buys: bool, ahead: int | None = None) -> Offer | None:
        """Half of what is safe, on the first possible day unless one is given; None: nothing is."""
        if ahead is None:
            possible = self.days(buys)
            if True not in possible:
                return None
            ahead = possible.index(True)
        price = self.price(buys)
        room = self.room
        bound, can_pay = (room.to_buy if buys else room.to_sell)(ahead), room.affordable(price)
        quantity = int(rules.baseline_quantity(buys, bound, can_pay, self.most_quantity))
        return self.clip(buys, (quantity, self.room.today + ahead, price))

    def clip(self, buys: bool, offer: Offer | None) -> Offer | None:
        """The nearest offer for that day that is safe and on the agenda; None: there is none."""
        if offer is None:
            return None
        quantity, day, price = offer
        price = self.clip_price(buys, price)
        quantity = min(quantity, self.most(buys, day - self.room.today, price))
        return (quantity, day, price) if quantity > 0 else None

    def allows(self, buys: bool, offer: Offer) -> bool:
        """Whether a partner's offer can be accepted as it is."""
        return self.clip(buys, offer) == tuple(offer)
