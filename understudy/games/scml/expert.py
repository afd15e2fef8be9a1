"""Steward: a scripted player that plays SCML Standard by the simulator's true rules.

Two facts rule the game (`engine/factory.py`). Production is to order: a line not sold for a day is
lost that evening. And stock is not used up: who holds as many units as it has lines has free input
for the rest of the game. So the Steward buys once, fills its lines with orders as far ahead as
talks reach, and never promises what it cannot make. Should stock be used up after all, it notices
and buys what it sells.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from negmas import ResponseType, SAOResponse, SAOState
from scml.std import StdSyncAgent

Offer = tuple[int, int, int]
"""Quantity, delivery day, unit price."""
ROUNDS = 20


class Steward(StdSyncAgent):
    """Buys once, sells everything, promises nothing it cannot make."""

    PATIENCE = 10
    FUTURE_PATIENCE = 5
    FUTURE_DISCOUNT = 0.9
    BUY_PATIENCE = 5
    MOST = 7
    ACCEPT_ALL = True
    MARGIN = 2
    USE = 0.5
    HOLD_UNTIL = 8
    SPARE = True
    TRIAL = 3
    TRUST = False
    LOWEST = 99
    SMALL_FROM = 99
    BUSY = 0.0
    LEFT = 4
    ASK = 2
    SLACK = 3
    WANT = 1.0
    WANT_UNTIL = 10

    def init(self) -> None:
        """The first morning."""
        self._stock_lasts: bool | None = None
        """Whether production leaves stock alone; None: not seen yet."""
        self._drawn = False
        self._stock = 0
        self._orders: list[int] = []
        self._standing: dict[str, Offer] = {}

    def before_step(self) -> None:
        """See what yesterday's production did to the stock."""
        stock = self.awi.current_inventory_input
        if stock < self._stock:
            self._stock_lasts = False
        elif self._drawn and self._stock_lasts is None:
            self._stock_lasts = True
        self._stock = stock
        self._standing = {}
        self._orders.append(self.awi.current_exogenous_output_quantity)

    def step(self) -> None:
        """Note whether today's orders need more than what arrives today."""
        awi, day = self.awi, self.awi.current_step
        arrived = awi.total_supplies_at(day) + awi.current_exogenous_input_quantity
        ordered = awi.total_sales_at(day) + awi.current_exogenous_output_quantity
        self._drawn = min(ordered, awi.n_lines, arrived + self._stock) > arrived

    # --- talks -----------------------------------------------------------------------------------

    def first_proposals(self) -> dict[str, Offer | None]:  # type: ignore[override]
        """Open every talk."""
        partners = list(self.negotiators)
        found = self._offers(partners, 0)
        self._standing = dict(found)
        return {partner: found.get(partner) for partner in partners}

    def counter_all(  # type: ignore[override]
        self, offers: Mapping[str, Offer | None], states: Mapping[str, SAOState]
    ) -> dict[str, SAOResponse]:
        """Take what fits, make offers to the others."""
        turn = max((state.step for state in states.values()), default=0)
        for partner in offers:
            self._standing.pop(partner, None)
        for partner in [p for p in self._standing if self.get_nmi(p) is None]:
            del self._standing[partner]
        taken = self._take({p: o for p, o in offers.items() if o is not None}, turn)
        left = [partner for partner in offers if partner not in taken]
        found = self._offers(left, turn, taken)
        self._standing |= found
        return {
            partner: SAOResponse(ResponseType.ACCEPT_OFFER, offers[partner])
            if partner in taken
            else SAOResponse(ResponseType.REJECT_OFFER, found[partner])
            if partner in found
            else SAOResponse(ResponseType.END_NEGOTIATION, None)
            for partner in offers
        }

    def _take(self, offers: Mapping[str, Offer], turn: int) -> dict[str, Offer]:
        awi = self.awi
        free, need = self._free(), self._need()
        for partner, (quantity, day, _) in self._standing.items():
            if partner in awi.my_consumers:
                self._reserve(free, day, quantity)
            else:
                need -= quantity
        taken: dict[str, Offer] = {}
        sales = [(-o[2] * 0 + o[1], -o[2], -o[0], p) for p, o in offers.items() if p in awi.my_consumers]
        for _, _, _, partner in sorted(sales):
            quantity, day, price = offers[partner]
            if quantity <= free.get(day, 0) and self._good(quantity, price, day, turn, free, len(sales)):
                taken[partner] = offers[partner]
                self._reserve(free, day, quantity)
        buys = [(o[1], o[2], p) for p, o in offers.items() if p in awi.my_suppliers]
        for _, _, partner in sorted(buys):
            quantity, day, price = offers[partner]
            if need > 0 and quantity <= need + self.SLACK and price <= self._buy_price(turn):
                taken[partner] = offers[partner]
                need -= quantity
        return taken

    def _good(self, quantity: int, price: float, day: int, turn: int, free: Counter[int], buyers: int) -> bool:
        if turn < self.WANT_UNTIL:
            want = min(self.MOST, sum(free.values()) / max(1, buyers) * self.WANT)
            if quantity < min(free[day], want):
                return False
        return self.ACCEPT_ALL or price >= self._sell_price(day, turn)

    def _offers(
        self, partners: Iterable[str], turn: int, taken: Mapping[str, Offer] | None = None
    ) -> dict[str, Offer]:
        """An offer each, such that all together could be taken at once."""
        awi = self.awi
        free, need = self._free(), self._need()
        for partner, (quantity, day, _) in [*self._standing.items(), *(taken or {}).items()]:
            if partner in awi.my_consumers:
                self._reserve(free, day, quantity)
            else:
                need -= quantity
        buyers = [p for p in partners if p in awi.my_consumers]
        sellers = [p for p in partners if p in awi.my_suppliers]
        found: dict[str, Offer] = {}
        if buyers:
            shift = (turn + awi.current_step) % len(buyers)
            buyers = buyers[shift:] + buyers[:shift]
        for place, partner in enumerate(buyers):
            days = [day for day in sorted(free) if free[day] > 0]
            if not days:
                break
            day = days[place % len(days)] if turn % 2 else days[(turn // 2) % len(days)]
            later = len(buyers) - place - 1
            # leave a unit for each of those still to come
            spare = (sum(free[d] for d in days) if self._stock_lasts else max(free.values())) - later
            most = self.MOST
            if turn >= self.SMALL_FROM and turn % 2:
                day, most = days[0], 2
            quantity = max(1, min(free[day], most, spare))
            self._reserve(free, day, quantity)
            found[partner] = (quantity, day, self._sell_price(day, turn))
        for place, partner in enumerate(sellers):
            share = min(need, int(-(-need * self.ASK // len(sellers))))
            if share <= 0:
                break
            found[partner] = (share, awi.current_step, self._buy_price(turn))
        return found

    def _sell_price(self, day: int, turn: int) -> int:
        low, high = _range(self.awi.current_output_issues)
        if day > self.awi.current_step:
            if turn < self.FUTURE_PATIENCE or self._busy():
                return high
            return low if turn >= self.LOWEST else max(low, int(high * self.FUTURE_DISCOUNT))
        late = max(0.0, (turn - self.PATIENCE) / (ROUNDS - 2 - self.PATIENCE))
        return max(low, round(high - late * (high - low)))

    def _busy(self) -> bool:
        days = self._days()
        return self.BUSY > 0 and sum(self._free().values()) < self.BUSY * self.awi.n_lines * len(days)

    def _buy_price(self, turn: int) -> int:
        low, high = _range(self.awi.current_input_issues)
        return min(high, round(low + (high - low) * turn / self.BUY_PATIENCE))

    # --- what it has and needs -------------------------------------------------------------------

    def _days(self) -> range:
        awi = self.awi
        return range(awi.current_step, min(awi.current_step + awi.horizon, awi.n_steps - 1) + 1)

    def _free(self) -> Counter[int]:
        """Units that can still be sold, by day."""
        awi, days = self.awi, self._days()
        if awi.is_last_level:
            return Counter()
        today = days[0]
        arriving = {day: awi.total_supplies_at(day) for day in days}
        arriving[today] += awi.current_exogenous_input_quantity
        sold = {day: awi.total_sales_at(day) for day in days}
        stock = awi.current_inventory_input
        short = max(0, awi.n_lines - stock)
        if short and today < self.HOLD_UNTIL and len(days) > awi.horizon:
            spare = max(0, arriving[today] - short - sold[today]) if self.SPARE else 0
            return Counter({today: max(0, min(spare, awi.n_lines - sold[today]))})
        if self._stock_lasts or (self.TRUST and self._stock_lasts is None):
            inputs = {day: stock + arriving[day] - sold[day] for day in days}
        else:
            inputs, least = {}, 10**6
            total = stock + sum(arriving.values()) - sum(sold.values())
            for day in reversed(days):
                least = min(least, total)
                inputs[day] = least
                total -= arriving[day] - sold[day]
            if self._stock_lasts is None:
                inputs = {day: inputs[day] for day in days[: self.TRIAL]}
        return Counter({d: max(0, min(awi.n_lines - sold[d], have)) for d, have in inputs.items()})

    def _reserve(self, free: Counter[int], day: int, quantity: int) -> None:
        if self._stock_lasts or (self.TRUST and self._stock_lasts is None):
            free[day] -= quantity
        else:
            for other in free:
                free[other] -= quantity

    def _target(self) -> int:
        awi = self.awi
        if not awi.is_last_level:
            return awi.n_lines
        return min(awi.n_lines, max(self._orders) + self.MARGIN)

    def _need(self) -> int:
        """Units to buy for today."""
        awi = self.awi
        today = awi.current_step
        if awi.is_first_level:
            return 0
        stock, target = awi.current_inventory_input, self._target()
        left = awi.n_steps - today - 1
        ordered = min(awi.n_lines, awi.total_sales_at(today) + awi.current_exogenous_output_quantity)
        if self._stock_lasts is False:
            all_ordered = awi.total_sales_from(today) + awi.current_exogenous_output_quantity
            have = stock + awi.total_supplies_from(today) - all_ordered
            return max(0, min(target, 3 * left) - have)
        arriving = awi.total_supplies_at(today)
        gap = max(0, target - stock - awi.total_supplies_from(today + 1)) if left > self.LEFT else 0
        cover = max(0, ordered - stock)
        _, price = _range(awi.current_input_issues)
        gain, _ = _range(awi.current_output_issues)
        if gap * left * (gain - awi.profile.cost) * self.USE > (min(ordered, stock) + gap) * price:
            cover = ordered + gap
        return max(0, cover - arriving)


def _range(issues: Any) -> tuple[int, int]:
    return int(issues[2].min_value), int(issues[2].max_value)
