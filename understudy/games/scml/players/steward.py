"""Steward: a scripted player that plays SCML Standard by the simulator's true rules.

Three facts decide the game (`engine/factory.py`). Production is to order: a line that is not sold
for a day is lost that evening. Stock is not used up: who holds as many units as it has lines has
free input for the rest of the game. And stock only grows by what arrives beyond a day's orders. So
the Steward first fills its stock and sells little meanwhile, then sells its lines as far ahead as
negotiations reach, and buys no more. It never promises what it could not make if all its offers
were accepted at once. Until it has seen production leave stock alone it counts every unit once;
should stock be used up after all, it goes on counting so, and buys what it sells.

It tosses no coins and knows nobody by name: what it does follows from what it sees today, from the
state of its stock, at the last level from the largest order so far and, where its numbers
(`steward_numbers.py`) say so, from the most that each buyer ever asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from negmas import ResponseType, SAOResponse, SAOState
from scml.std import StdSyncAgent

from understudy.games.scml.domain import Offer
from understudy.games.scml.players.steward_numbers import (
    ORIGINAL,
    Numbers,
    Plans,
    place_in_chain,
    tuned,
)


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

    plans: Plans = ORIGINAL

    def init(self) -> None:
        """Nothing is known yet."""
        self._plan = self.plans[place_in_chain(self.awi.level, self.awi.n_products - 1)]
        self._numbers = self._plan.thrifty
        """Those it plays by today."""
        self._supplied = 0
        self._asked: dict[str, int] = {}
        """The most units that each buyer ever asked for."""
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
        self._supplied += self.awi.current_exogenous_input_quantity
        self._numbers = self._plan.eager if self._buyers_are_eager() else self._plan.thrifty
        self._standing = {}

    def _buyers_are_eager(self) -> bool:
        telling, awi = self._plan.telling, self.awi
        if awi.current_step < telling.watch_days or awi.is_last_level:
            return telling.first_way > 0
        eager = sum(asked >= telling.large for asked in self._asked.values())
        return eager >= telling.eager_share * len(awi.my_consumers)

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
        for partner in self.awi.my_consumers:
            if offer := offers.get(partner):
                self._asked[partner] = max(self._asked.get(partner, 0), offer[0])
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
        numbers = self._numbers
        sales = {p: offer for p, offer in offers.items() if p in self.awi.my_consumers}
        for partner in sorted(sales, key=lambda p: (sales[p][1], -sales[p][2], -sales[p][0], p)):
            quantity, day, _ = sales[partner]
            usual = self._asked.get(partner, numbers.unknown_ask)
            if quantity <= capacity.free.get(day, 0) and (
                turn >= numbers.choosy
                or quantity >= numbers.fraction * usual
                or is_large_enough(quantity, day, capacity, len(sales), numbers.largest_deal)
            ):
                taken[partner] = sales[partner]
                capacity.sell(day, quantity)
        supplies = {p: offer for p, offer in offers.items() if p in self.awi.my_suppliers}
        for partner in sorted(supplies, key=lambda p: (supplies[p][1], supplies[p][2], p)):
            quantity, _, price = supplies[partner]
            fits = capacity.need > 0 and quantity <= capacity.need + numbers.extra_units
            if fits and price <= bid(*_prices(self.awi.current_input_issues), turn, numbers):
                taken[partner] = supplies[partner]
                capacity.need -= quantity
        return taken

    def _offers(
        self, capacity: FreeCapacity, partners: Iterable[str], turn: int
    ) -> dict[str, Offer]:
        """An offer each, such that all sales could be accepted at once."""
        awi, numbers, made = self.awi, self._numbers, {}
        buyers = [partner for partner in partners if partner in awi.my_consumers]
        if buyers:  # who is served first changes, for there may not be enough for all
            first = (turn + awi.current_step) % len(buyers)
            buyers = buyers[first:] + buyers[:first]
        small = turn >= numbers.small_from
        most = int(numbers.small_units if small else numbers.largest_deal)
        most = awi.n_lines if turn < numbers.firm and not small else most
        for index, partner in enumerate(buyers):
            days = capacity.open_days()
            if not days:
                break
            # in turn: a day of their own for each buyer, and one day after the other for all
            day = days[(index if turn % 2 else turn // 2) % len(days)]
            if small or numbers.soonest > 0:
                day = days[0]
            kept = len(buyers) - index - 1  # a unit each, or their negotiations would end
            quantity = max(1, min(capacity.free[day], most, capacity.total() - kept))
            capacity.sell(day, quantity)
            ahead = day > awi.current_step
            price = ask(*_prices(awi.current_output_issues), turn, ahead, numbers)
            made[partner] = (quantity, day, price)
        suppliers = [partner for partner in partners if partner in awi.my_suppliers]
        if suppliers and capacity.need > 0:
            share = min(capacity.need, int(-(-capacity.need * numbers.ask_fold // len(suppliers))))
            price = bid(*_prices(awi.current_input_issues), turn, numbers)
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
        missing, numbers = awi.n_lines - self._stock, self._numbers
        if missing > 0 and today < numbers.filling_days and len(days) > awi.horizon:
            return {today: max(0, min(arriving[0] - missing, awi.n_lines) - sold[0])}
        inputs = unsold_input(self._stock, arriving, sold, lasts=bool(self._stock_lasts))
        if awi.is_first_level and self._stock_lasts is not False and numbers.supply_share > 0:
            more = int(numbers.supply_share * self._supplied / (today + 1))
            hoped = [self._stock + more - units for units in sold[1:]]
            inputs[1:] = map(max, inputs[1:], hoped)
        known = zip(days, sold, inputs, strict=True)
        free = {day: max(0, min(awi.n_lines - units, have)) for day, units, have in known}
        trial = days[: int(numbers.trial_days)] if self._stock_lasts is None else days
        return {day: free[day] for day in trial}

    def _need(self) -> int:
        awi, today = self.awi, self.awi.current_step
        if awi.is_first_level:  # its supplies are exogenous
            return 0
        left = awi.n_steps - today - 1
        highest = _prices(awi.current_input_issues)[1]
        numbers = self._numbers
        target = int(numbers.target)
        if awi.is_last_level:
            target = min(target, int(self._largest_order + numbers.order_margin))
        orders = awi.current_exogenous_output_quantity
        if self._stock_lasts is False:
            promised = orders + awi.total_sales_from(today)
            have = self._stock + awi.total_supplies_from(today) - promised
            need = min(target, 3 * left) - have  # towards the end less can still be sold
        else:
            gap = max(0, target - self._stock - awi.total_supplies_from(today + 1))
            orders = min(awi.n_lines, orders + awi.total_sales_at(today))
            margin = _prices(awi.current_output_issues)[0] - awi.profile.cost
            worth = left * margin * numbers.expected_use / highest
            need = units_to_buy(self._stock, orders, gap, worth) - awi.total_supplies_at(today)
        # money before stock: a part of what is there stays
        return max(0, min(need, int(awi.current_balance * numbers.spendable / highest)))


class TunedSteward(Steward):
    """The same by numbers that a search has found, others for each place in the chain."""

    plans = tuned()


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


def is_large_enough(
    quantity: int, day: int, capacity: FreeCapacity, buyers: int, largest: float
) -> bool:
    """Whether an order takes its share of what is to be sold, or all that is left of its day."""
    share = min(largest, capacity.total() / max(1, buyers))
    return quantity >= min(capacity.free[day], share)


def ask(lowest: int, highest: int, turn: int, ahead: bool, numbers: Numbers) -> int:
    """The price for a sale: a day ahead can be sold tomorrow, today's lines only now."""
    if ahead:
        if turn < numbers.firm:
            return highest
        if turn >= numbers.cheap_from:
            return lowest
        return max(lowest, int(highest * numbers.greedy_discount))
    late = max(0.0, (turn - numbers.choosy) / (numbers.last_round - numbers.choosy))
    return max(lowest, round(highest - min(late, numbers.floor) * (highest - lowest)))


def bid(lowest: int, highest: int, turn: int, numbers: Numbers) -> int:
    """The price for a supply."""
    return min(highest, round(lowest + (highest - lowest) * turn / numbers.bids_rise))


def _prices(issues: Sequence[Any]) -> tuple[int, int]:
    return int(issues[2].min_value), int(issues[2].max_value)
