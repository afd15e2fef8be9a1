"""A factory: its goods, its money, and what a day of production does to them.

Production is to order: a factory makes what it has sold for today and can make today, nothing for
later. Mirrors `OneShotUFun.from_offers`, by which scml decides a day's profit, and the stock rule
of `SCMLBaseWorld.simulation_step`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from understudy.games.scml.engine.config import FactoryConfig

Deal = tuple[int, float]
"""Quantity and unit price."""
_unit_price = itemgetter(1)


class DayResult(NamedTuple):
    """What a day of production came to."""

    produced: int
    profit: float
    shortfall: int
    """Units sold that could not be made."""
    stored: int
    """Units of input left over, for which storage (or disposal) is paid."""


@dataclass(slots=True)
class Today:
    """What is known of a day before it starts."""

    supply_quantity: int = 0
    supply_price: int = 0
    """Total, not per unit."""
    sale_quantity: int = 0
    sale_price: int = 0


class Factory:
    """State of one factory. `conserve_stock` False is scml's rule: production takes no stock."""

    def __init__(
        self, config: FactoryConfig, conserve_stock: bool, perishable: bool = False
    ) -> None:
        self.config = config
        self.level = config.level
        self.exogenous = Today()
        self.stock = 0
        self.balance: float = config.initial_balance
        self.bankrupt = False
        self.profits: list[float] = []
        self.results: list[DayResult] = []
        self.breach_levels: list[float] = []
        self._conserve_stock = conserve_stock
        self._perishable = perishable
        self._earned = 0.0

    @property
    def score(self) -> float:
        """Final over initial balance; left-over stock is worth nothing."""
        return self.balance / self.config.initial_balance

    def close_day(
        self,
        day: int,
        bought: Sequence[Deal],
        sold: Sequence[Deal],
        price_in: float,
        price_out: float,
    ) -> None:
        """Produce, pay, store. Prices are the day-start trading prices of input and output."""
        today = self.exogenous
        # Stock counts as exogenous supply that was paid for before: it lowers its unit price.
        supplied = today.supply_quantity + self.stock
        supplies = [
            *bought,
            (supplied, today.supply_price / supplied if supplied else 0),
        ]
        ordered = today.sale_quantity
        sales = [*sold, (ordered, today.sale_price / ordered if ordered else 0)]
        result = self._produce(day, supplies, sales, price_in, price_out)
        delivered = sum([quantity for quantity, _ in bought]) + today.supply_quantity
        self._note_breach(delivered, sum([quantity for quantity, _ in sold]) + ordered)
        if not self._perishable:
            # In scml production takes no stock: stock grows by what arrives beyond a day's orders.
            left = delivered - result.produced
            self.stock += left if self._conserve_stock else max(0, left)
        self.results.append(result)
        self.profits.append(result.profit)
        self._earned += result.profit
        self.balance = self._earned + self.config.initial_balance
        self.bankrupt = self.bankrupt or self.balance < 0

    def _produce(
        self,
        day: int,
        supplies: Sequence[Deal],
        sales: Sequence[Deal],
        price_in: float,
        price_out: float,
    ) -> DayResult:
        config = self.config
        quantity_in, paid, usable = self._buy(supplies)
        # Lines and money both bound what can be worked on today.
        capacity = min(usable, config.lines)
        quantity_out, revenue = sell(sales, capacity)
        produced = min(quantity_in, capacity, quantity_out)
        stored, shortfall = max(0, quantity_in - produced), max(0, quantity_out - produced)
        # Costs are shares of the trading prices; terms come in scml's order, to the last bit.
        profit = (
            revenue
            - paid
            - config.cost * produced
            - price_in * (config.disposal_cost[day] * stored)
            - price_in * (config.storage_cost[day] * stored)
            - price_out * (config.shortfall_penalty[day] * shortfall)
        )
        return DayResult(produced, profit, shortfall, stored)

    def _buy(self, supplies: Sequence[Deal]) -> tuple[int, float, int]:
        """Units received, money paid for them, and how many of them there is money to work on.

        All is paid for, even with money the factory does not have; but from the deal on that takes
        it past its balance, cheapest first, it cannot pay for production.
        """
        quantity, paid, usable = 0, 0.0, 0
        broke = self.balance < 0
        for units, price in sorted(supplies, key=_unit_price):
            total = price * units
            if not broke and paid + total + units * self.config.cost > self.balance:
                usable = quantity + int((self.balance - paid) // (price + self.config.cost))
                broke = True
            paid += total
            quantity += units
        return quantity, paid, usable if broke else quantity

    def _note_breach(self, delivered: int, promised: int) -> None:
        """For the financial reports. That exogenous trades count twice is scml's doing."""
        today = self.exogenous
        able = min(delivered + today.supply_quantity + self.stock, self.config.lines)
        owed = promised + today.sale_quantity
        self.breach_levels.append(0 if able >= owed else (owed - able) / owed)


def sell(sales: Sequence[Deal], capacity: int) -> tuple[int, float]:
    """Units promised, and the money for as many of them as can be made, dearest first."""
    promised, revenue = 0, 0.0
    for units, price in sorted(sales, key=_unit_price, reverse=True):
        if promised < capacity:
            revenue += min(units, capacity - promised) * price
        promised += units
    return promised, revenue
