"""Steward: a scripted player that plays SCML Standard by the simulator's true rules.

Three facts decide the game (`engine/factory.py`). Production is to order: a line that is not sold
for a day is lost that evening. Stock is not used up: who holds as many units as it has lines has
free input for the rest of the game. And stock only grows by what arrives beyond a day's orders. So
the Steward first fills its stock and sells little meanwhile, then sells its lines as far ahead as
negotiations reach, and buys no more. It never promises what it could not make if all its offers
were accepted at once. Until it has seen production leave stock alone it counts every unit once;
should stock be used up after all, it goes on counting so, and buys what it sells.

It tosses no coins and knows nobody by name: what it does follows from what it sees today, from the
state of its stock and, at the last level, from the largest order so far.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from negmas import ResponseType, SAOResponse, SAOState
from scml.std import StdSyncAgent

from understudy.games.scml.domain import Offer

FILLING_DAYS = 8
"""How long filling the stock goes before selling; by then suppliers have given what they will."""
TRIAL_DAYS = 3
"""How far ahead it sells while it does not know whether stock lasts: a use of it soon tells."""
LARGEST_DEAL = 7
"""What Greedy, the best customer, takes for a day to come; only others take more."""
FIRM = 5
"""Rounds at the best price. Then days ahead go at the discount that Greedy asks for."""
GREEDY_DISCOUNT = 0.9
CHOOSY = 10
"""Rounds in which it turns down small orders: a negotiation ends with one deal, most ask again for
more. Then the price for today starts to fall too, to the lowest in the last round but one."""
LAST_ROUND = 18
BIDS_RISE = 5
"""Rounds until it pays the highest price for input: a missing unit costs a sale every day."""
ASK_FOLD = 3
"""Asks its suppliers for so many times what it needs, together: most say no."""
EXTRA_UNITS = 3
"""A supplier's offer may exceed the need by so much: storing is cheaper than waiting."""
ORDER_MARGIN = 2
"""Last level: stock above the largest order seen so far."""
EXPECTED_USE = 0.5
"""Share of days on which another unit of stock is taken to earn its keep; cautious."""


@dataclass
class FreeCapacity:
    """What can still be agreed to: shrinks as offers are made and taken."""

    free: dict[int, int]
    """Units that can be sold, by delivery day."""
    need: int
    """Units to buy for today."""
    pooled: bool
    """A unit sold for one day is gone for the others, because stock may not last."""

    def sell(self, day: int, quantity: int) -> None:
        """Set units aside."""
        for other in self.free if self.pooled else (day,):
            self.free[other] -= quantity

    def open_days(self) -> list[int]:
        """The days with something left to sell, soonest first."""
        return [day for day in sorted(self.free) if self.free[day] > 0]

    def total(self) -> int:
        """All that is left to sell."""
        left = [units for units in self.free.values() if units > 0]
        return max(left, default=0) if self.pooled else sum(left)


class Steward(StdSyncAgent):
    """Fills its stock once, sells every line, promises nothing it cannot make."""

    def init(self) -> None:
        """Nothing is known yet."""
        self._stock_lasts: bool | None = None
        self._stock = self._largest_order = 0
        self._stock_was_needed = False
        self._standing: dict[str, Offer] = {}
        """Offers of ours that a partner may still accept."""

    def before_step(self) -> None:
        """See what yesterday's production did to the stock."""
        stock = self.awi.current_inventory_input
        if stock < self._stock:
            self._stock_lasts = False
        elif self._stock_was_needed and self._stock_lasts is None:
            self._stock_lasts = True
        self._stock = stock
        self._largest_order = max(self._largest_order, self.awi.current_exogenous_output_quantity)
        self._standing = {}

    def step(self) -> None:
        """Note whether today's orders take more than what arrives today."""
        awi, today = self.awi, self.awi.current_step
        arrived = awi.total_supplies_at(today) + awi.current_exogenous_input_quantity
        ordered = awi.total_sales_at(today) + awi.current_exogenous_output_quantity
        self._stock_was_needed = min(ordered, awi.n_lines, arrived + self._stock) > arrived

    # --- negotiations -----------------------------------------------------------------------------

    def first_proposals(self) -> dict[str, Offer | None]:
        """Open every negotiation for which there is something to offer."""
        self._standing = self._offers(self._capacity(), list(self.negotiators), 0)
        return {partner: self._standing.get(partner) for partner in self.negotiators}

    def counter_all(
        self, offers: Mapping[str, Offer | None], states: Mapping[str, SAOState]
    ) -> dict[str, SAOResponse]:
        """Take what fits, make an offer to the others, end what can come to nothing."""
        turn = max((state.step for state in states.values()), default=0)
        self._standing = {
            partner: offer
            for partner, offer in self._standing.items()
            if partner not in offers and self.get_nmi(partner) is not None
        }
        capacity = self._capacity()
        taken = self._take(capacity, {p: offer for p, offer in offers.items() if offer}, turn)
        made = self._offers(capacity, [partner for partner in offers if partner not in taken], turn)
        self._standing |= made
        return (
            dict.fromkeys(offers, SAOResponse(ResponseType.END_NEGOTIATION, None))
            | {p: SAOResponse(ResponseType.ACCEPT_OFFER, offer) for p, offer in taken.items()}
            | {p: SAOResponse(ResponseType.REJECT_OFFER, offer) for p, offer in made.items()}
        )

    def _take(
        self, capacity: FreeCapacity, offers: Mapping[str, Offer], turn: int
    ) -> dict[str, Offer]:
        """Soonest and best price first: every sale that fits, every supply that is needed."""
        taken = {}
        sales = {p: offer for p, offer in offers.items() if p in self.awi.my_consumers}
        for partner in sorted(sales, key=lambda p: (sales[p][1], -sales[p][2], -sales[p][0], p)):
            quantity, day, _ = sales[partner]
            if quantity <= capacity.free.get(day, 0) and (
                turn >= CHOOSY or is_large_enough(quantity, day, capacity, len(sales))
            ):
                taken[partner] = sales[partner]
                capacity.sell(day, quantity)
        supplies = {p: offer for p, offer in offers.items() if p in self.awi.my_suppliers}
        for partner in sorted(supplies, key=lambda p: (supplies[p][1], supplies[p][2], p)):
            quantity, _, price = supplies[partner]
            fits = capacity.need > 0 and quantity <= capacity.need + EXTRA_UNITS
            if fits and price <= bid(*_prices(self.awi.current_input_issues), turn):
                taken[partner] = supplies[partner]
                capacity.need -= quantity
        return taken

    def _offers(
        self, capacity: FreeCapacity, partners: Iterable[str], turn: int
    ) -> dict[str, Offer]:
        """An offer each, such that all sales could be accepted at once."""
        awi, made = self.awi, {}
        buyers = [partner for partner in partners if partner in awi.my_consumers]
        if buyers:  # who is served first changes, for there may not be enough for all
            first = (turn + awi.current_step) % len(buyers)
            buyers = buyers[first:] + buyers[:first]
        most = awi.n_lines if turn < FIRM else LARGEST_DEAL
        for index, partner in enumerate(buyers):
            days = capacity.open_days()
            if not days:
                break
            # in turn: a day of their own for each buyer, and one day after the other for all
            day = days[(index if turn % 2 else turn // 2) % len(days)]
            kept = len(buyers) - index - 1  # a unit each, or their negotiations would end
            quantity = max(1, min(capacity.free[day], most, capacity.total() - kept))
            capacity.sell(day, quantity)
            ahead = day > awi.current_step
            made[partner] = (quantity, day, ask(*_prices(awi.current_output_issues), turn, ahead))
        suppliers = [partner for partner in partners if partner in awi.my_suppliers]
        if suppliers and capacity.need > 0:
            share = min(capacity.need, -(-capacity.need * ASK_FOLD // len(suppliers)))
            price = bid(*_prices(awi.current_input_issues), turn)
            made |= dict.fromkeys(suppliers, (share, awi.current_step, price))
        return made

    # --- what it has and needs -------------------------------------------------------------------

    def _capacity(self) -> FreeCapacity:
        """What can be agreed to now, less what partners not heard from may still accept."""
        capacity = FreeCapacity(self._free(), self._need(), pooled=not self._stock_lasts)
        for partner, (quantity, day, _) in self._standing.items():
            if partner in self.awi.my_consumers:
                capacity.sell(day, quantity)
            else:
                capacity.need -= quantity
        return capacity

    def _free(self) -> dict[int, int]:
        awi, today = self.awi, self.awi.current_step
        if awi.is_last_level:  # its sales are exogenous
            return {}
        days = range(today, min(today + awi.horizon, awi.n_steps - 1) + 1)
        arriving = [awi.total_supplies_at(day) for day in days]
        arriving[0] += awi.current_exogenous_input_quantity
        sold = [awi.total_sales_at(day) for day in days]
        missing = awi.n_lines - self._stock
        if missing > 0 and today < FILLING_DAYS and len(days) > awi.horizon:
            return {today: max(0, min(arriving[0] - missing, awi.n_lines) - sold[0])}
        inputs = unsold_input(self._stock, arriving, sold, lasts=bool(self._stock_lasts))
        known = zip(days, sold, inputs, strict=True)
        free = {day: max(0, min(awi.n_lines - units, have)) for day, units, have in known}
        trial = days[:TRIAL_DAYS] if self._stock_lasts is None else days
        return {day: free[day] for day in trial}

    def _need(self) -> int:
        awi, today = self.awi, self.awi.current_step
        if awi.is_first_level:  # its supplies are exogenous
            return 0
        left = awi.n_steps - today - 1
        highest = _prices(awi.current_input_issues)[1]
        target = awi.n_lines
        if awi.is_last_level:
            target = min(target, self._largest_order + ORDER_MARGIN)
        orders = awi.current_exogenous_output_quantity
        if self._stock_lasts is False:
            promised = orders + awi.total_sales_from(today)
            have = self._stock + awi.total_supplies_from(today) - promised
            need = min(target, 3 * left) - have  # towards the end less can still be sold
        else:
            gap = max(0, target - self._stock - awi.total_supplies_from(today + 1))
            orders = min(awi.n_lines, orders + awi.total_sales_at(today))
            margin = _prices(awi.current_output_issues)[0] - awi.profile.cost
            worth = left * margin * EXPECTED_USE / highest
            need = units_to_buy(self._stock, orders, gap, worth) - awi.total_supplies_at(today)
        # money before stock: half of what is there stays
        return max(0, min(need, int(awi.current_balance / 2 / highest)))


def unsold_input(
    stock: int, arriving: Sequence[int], sold: Sequence[int], *, lasts: bool
) -> list[int]:
    """By day from today: input sure to be there and not promised, to that day or a later one."""
    if lasts:  # every day has all of the day-start stock, whatever happens before
        return [stock + a - s for a, s in zip(arriving, sold, strict=True)]
    found, have = [], stock
    for a, s in zip(arriving, sold, strict=True):
        have += a - s
        found.append(have)
    return [min(found[index:]) for index in range(len(found))]


def units_to_buy(stock: int, orders: int, gap: int, worth: float) -> int:
    """For today, if stock lasts: what today's orders lack, or enough to close the gap in stock.

    What arrives goes into today's orders first, and only the rest into stock: closing the gap
    takes the orders' units on top. `worth` is what a unit of stock will earn, in units of input.
    """
    if gap * worth > gap + min(orders, stock):
        return orders + gap
    return max(0, orders - stock)


def is_large_enough(quantity: int, day: int, capacity: FreeCapacity, buyers: int) -> bool:
    """Whether an order takes its share of what is to be sold, or all that is left of its day."""
    share = min(LARGEST_DEAL, capacity.total() / max(1, buyers))
    return quantity >= min(capacity.free[day], share)


def ask(lowest: int, highest: int, turn: int, ahead: bool) -> int:
    """The price for a sale: a day ahead can be sold tomorrow, today's lines only now."""
    if ahead:
        return highest if turn < FIRM else max(lowest, int(highest * GREEDY_DISCOUNT))
    late = max(0.0, (turn - CHOOSY) / (LAST_ROUND - CHOOSY))
    return max(lowest, round(highest - late * (highest - lowest)))


def bid(lowest: int, highest: int, turn: int) -> int:
    """The price for a supply."""
    return min(highest, round(lowest + (highest - lowest) * turn / BIDS_RISE))


def _prices(issues: Sequence[Any]) -> tuple[int, int]:
    return int(issues[2].min_value), int(issues[2].max_value)
