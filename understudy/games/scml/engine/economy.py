"""Factories, contracts and prices from day to day: a world without its negotiations.

Given the contracts of a game in the order they were made, an economy plays the rest of it again, to
the last bit. Mirrors scml's SCMLBaseWorld.
"""

from collections import defaultdict
from collections.abc import Sequence

from understudy.games.scml.domain import RULES
from understudy.games.scml.engine.config import Exogenous, WorldConfig
from understudy.games.scml.engine.contracts import Ledger
from understudy.games.scml.engine.factory import Deal, Factory, Today
from understudy.games.scml.engine.prices import TradingPrices

Ranges = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
"""The lowest and highest quantity, delivery day and unit price."""


class Economy:
    """State of all factories. A day is `open_day`, contracts into `ledger`, `close_day`."""

    def __init__(self, config: WorldConfig, *, conserve_stock: bool = False) -> None:
        self.config = config
        self.rules = RULES[config.track]
        self.day = 0
        self.max_lines = max(factory.lines for factory in config.factories)
        self.prices = TradingPrices(config.catalog_prices)
        self.factories = [
            Factory(factory, conserve_stock, self.rules.perishable) for factory in config.factories
        ]
        self.ledger = Ledger()
        self._outside: dict[int, list[Exogenous]] = defaultdict(list)
        for trade in config.exogenous:
            self._outside[trade.day].append(trade)

    def trades_outside(self) -> Sequence[Exogenous]:
        """Today's trades with the outside world."""
        return self._outside[self.day]

    def ranges(self, product: int) -> Ranges:
        """What may be offered today for a product (SCMLBaseWorld._make_issues)."""
        last, rules = self.config.steps - 1, self.rules
        return (
            (1, max(1, self.max_lines * rules.quantity_factor)),
            (min(self.day, last), min(self.day + rules.horizon, last)),
            self.prices.range_of(product, rules.price_share),
        )

    def open_day(self) -> None:
        """Reveal today's trades with the outside world."""
        for factory in self.factories:
            factory.exogenous = Today()
        for trade in self.trades_outside():
            today = self.factories[trade.factory].exogenous
            if trade.product == 0:
                today.supply_quantity += trade.quantity
                today.supply_price += trade.quantity * trade.unit_price
            else:
                today.sale_quantity += trade.quantity
                today.sale_price += trade.quantity * trade.unit_price

    def close_day(self) -> None:
        """Deliver, produce, pay, move prices (stage 1 of SCMLBaseWorld.simulation_step)."""
        bought, sold = self._deliver()
        prices = self.prices.now
        self.prices.close_day()
        for index, factory in enumerate(self.factories):
            level = factory.level
            factory.close_day(
                self.day, bought[index], sold[index], prices[level], prices[level + 1]
            )
            if factory.bankrupt:
                self.ledger.nullify(index)
        self.day += 1

    def _deliver(self) -> tuple[list[list[Deal]], list[list[Deal]]]:
        """What each factory bought and sold for today from and to others."""
        bought: list[list[Deal]] = [[] for _ in self.factories]
        sold: list[list[Deal]] = [[] for _ in self.factories]
        for contract in self.ledger.execute(self.day):
            deal = contract.quantity, contract.unit_price
            self.prices.add_sale(contract.product, *deal)
            bought[contract.buyer].append(deal)
            sold[contract.seller].append(deal)
        for trade in self.trades_outside():
            self.prices.add_sale(trade.product, trade.quantity, trade.unit_price)
        return bought, sold
