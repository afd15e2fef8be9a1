"""The days of a world, played again from its configuration and its contracts.

Whichever simulator played, the same code says what each factory had at its start and what came of
its day; nothing of it has to be recorded.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from understudy.games.scml.engine.config import WorldConfig
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.economy import Economy, Ranges


class FactoryDay(NamedTuple):
    """A row of the table `days` in `tables.py`, which says what its columns mean."""

    day: int
    factory: int
    bankrupt: bool
    supply_quantity: int
    supply_price: int
    sale_quantity: int
    sale_price: int
    stock: int
    balance: float
    price_in: float
    price_out: float
    lowest_in: int
    highest_in: int
    lowest_out: int
    highest_out: int
    storage_cost: float
    disposal_cost: float
    shortfall_penalty: float
    supplies: list[int]
    supplies_money: list[int]
    sales: list[int]
    sales_money: list[int]
    bought: int = 0
    bought_money: int = 0
    sold: int = 0
    sold_money: int = 0
    produced: int = 0
    shortfall: int = 0
    stored: int = 0
    profit: float = 0.0


@dataclass(frozen=True)
class DayLedger:
    """All days of a world."""

    days: list[FactoryDay]
    """By day, and the factories of a day in order."""
    ranges: list[list[Ranges]]
    """What could be offered, by day and product; also on a day that was begun and not ended."""
    economy: Economy
    """As it was after the last day."""

    def of(self, day: int, factory: int) -> FactoryDay:
        """One factory's day."""
        return self.days[day * len(self.economy.factories) + factory]


def day_ledger(
    config: WorldConfig,
    contracts: Iterable[Contract],
    conserve_stock: bool,
    steps: int | None = None,
) -> DayLedger:
    """Play a world's economy again; `steps` where the world ended before its last day."""
    economy = Economy(config, conserve_stock=conserve_stock)
    made: dict[int, list[Contract]] = defaultdict(list)
    for contract in contracts:
        made[contract.concluded].append(replace(contract, executed=False, nullified=False))
    books = [_Book(economy.rules.horizon) for _ in config.factories]
    ledger = DayLedger([], [_ranges(economy, None)], economy)
    for day in range(config.steps if steps is None else steps):
        economy.open_day()
        ranges = ledger.ranges[-1]
        day_starts = [_day_start(economy, index, ranges, book) for index, book in enumerate(books)]
        for contract in made[day]:
            economy.ledger.add(contract)
            books[contract.seller].sales.add(contract)
            books[contract.buyer].supplies.add(contract)
        economy.close_day()
        ledger.days.extend(
            _evening(economy, day_start, book)
            for day_start, book in zip(day_starts, books, strict=True)
        )
        ledger.ranges.append(_ranges(economy, ranges[0]))
    return ledger


def _ranges(economy: Economy, of_first: Ranges | None) -> list[Ranges]:
    """By product. scml never renews those of product 0, which nobody negotiates about."""
    products = range(1, economy.config.num_products)
    return [of_first or economy.ranges(0), *(economy.ranges(product) for product in products)]


class _Side:
    """A factory's purchases, or its sales, by the day they are due."""

    def __init__(self, horizon: int) -> None:
        self._horizon = horizon
        self._quantities: dict[int, int] = defaultdict(int)
        self._money: dict[int, int] = defaultdict(int)
        self._due: dict[int, list[Contract]] = defaultdict(list)

    def add(self, contract: Contract) -> None:
        self._quantities[contract.day] += contract.quantity
        self._money[contract.day] += contract.quantity * contract.unit_price
        self._due[contract.day].append(contract)

    def ahead(self, day: int) -> tuple[list[int], list[int]]:
        """Units and money for this day and those after it, as agents are shown them.

        Contracts with those who have gone bankrupt since are still among them.
        """
        days = range(day, day + self._horizon + 1)
        return [self._quantities.get(d, 0) for d in days], [self._money.get(d, 0) for d in days]

    def executed(self, day: int) -> tuple[int, int]:
        """Units and money that really changed hands."""
        done = [contract for contract in self._due.pop(day, ()) if contract.executed]
        return sum(c.quantity for c in done), sum(c.quantity * c.unit_price for c in done)


class _Book:
    def __init__(self, horizon: int) -> None:
        self.supplies, self.sales = _Side(horizon), _Side(horizon)


def _day_start(economy: Economy, index: int, ranges: Sequence[Ranges], book: _Book) -> FactoryDay:
    factory, day = economy.factories[index], economy.day
    level, today, config = factory.level, factory.exogenous, factory.config
    supplies, supplies_money = book.supplies.ahead(day)
    sales, sales_money = book.sales.ahead(day)
    return FactoryDay(
        day=day,
        factory=index,
        bankrupt=factory.bankrupt,
        supply_quantity=today.supply_quantity,
        supply_price=today.supply_price,
        sale_quantity=today.sale_quantity,
        sale_price=today.sale_price,
        stock=factory.stock,
        balance=float(factory.balance),
        price_in=economy.prices.now[level],
        price_out=economy.prices.now[level + 1],
        lowest_in=ranges[level][2][0],
        highest_in=ranges[level][2][1],
        lowest_out=ranges[level + 1][2][0],
        highest_out=ranges[level + 1][2][1],
        storage_cost=config.storage_cost[day],
        disposal_cost=config.disposal_cost[day],
        shortfall_penalty=config.shortfall_penalty[day],
        supplies=supplies,
        supplies_money=supplies_money,
        sales=sales,
        sales_money=sales_money,
    )


def _evening(economy: Economy, day_start: FactoryDay, book: _Book) -> FactoryDay:
    bought, bought_money = book.supplies.executed(day_start.day)
    sold, sold_money = book.sales.executed(day_start.day)
    result = economy.factories[day_start.factory].results[-1]
    return day_start._replace(
        bought=bought,
        bought_money=bought_money,
        sold=sold,
        sold_money=sold_money,
        produced=result.produced,
        shortfall=result.shortfall,
        stored=result.stored,
        profit=result.profit,
    )
