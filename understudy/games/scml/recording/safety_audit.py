"""What each factory let itself in for: promises, talks, and sales beyond what was sure to suffice.

A sale that is *unsafe* was made while its factory could not yet know to be able to deliver it: with
it, the units sold for its day passed the lines or the input known to be there. It may come good
later. A sale *over the lines* never does: a factory cannot make more than its lines in a day,
whatever arrives.

Input known to be there on day t, at a moment of day d, follows the stock rule of
`engine/factory.py`: the stock of this morning, then for each day from d to t - 1 what arrives less
what is made (of which stock only ever gains, unless stock is conserved), and what arrives on t
itself. Arriving is what contracts made by then will bring, and today's forced supply; made is what
is sold by then, as far as lines and input allow. Tomorrow's forced trades are not known, contracts
with the bankrupt are void, and that money may run out is left aside.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from understudy.games.scml.engine.config import WorldConfig
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.recording.days import Account, FactoryDay


class Audit(NamedTuple):
    """One factory's world. The names are those of columns of the table `results`."""

    talks: int
    agreements: int
    promised: int
    shortfall: int
    sales: int
    unsafe: int
    over_lines: int
    produced: int


def audit(
    config: WorldConfig, contracts: Sequence[Contract], days: Account, conserve_stock: bool
) -> list[Audit]:
    """All factories', from the contracts in the order they were made."""
    talks = _talks(config, days)
    books = [_Book(factory.lines, conserve_stock) for factory in config.factories]
    bankrupt = _bankruptcies(days)
    ended = len(days.days) // len(books)
    for contract in contracts:
        for side, other in ((contract.seller, contract.buyer), (contract.buyer, contract.seller)):
            is_sale = side == contract.seller
            books[side].agreements += 1
            books[side].num_sales += is_sale
            if contract.concluded < ended:  # else an exception of an agent ended the world
                books[side].open_day(days.of(contract.concluded, side), bankrupt)
                books[side].add(contract, other, is_sale)
    found = []
    for index, book in enumerate(books):
        own = days.days[index :: len(books)]
        found.append(
            Audit(
                talks=talks[index],
                agreements=book.agreements,
                promised=sum(day.sold + day.sale_quantity for day in own),
                shortfall=sum(day.shortfall for day in own),
                sales=book.num_sales,
                unsafe=book.unsafe,
                over_lines=book.over_lines,
                produced=sum(day.produced for day in own),
            )
        )
    return found


def _talks(config: WorldConfig, days: Account) -> list[int]:
    """Every day each factory meets all solvent ones of the levels beside it, if it is solvent."""
    talks = [0] * len(config.factories)
    for start in range(0, len(days.days), len(talks)):
        solvent = [not day.bankrupt for day in days.days[start : start + len(talks)]]
        at_level: dict[int, int] = defaultdict(int)
        for index, factory in enumerate(config.factories):
            at_level[factory.level] += solvent[index]
        for index, factory in enumerate(config.factories):
            if solvent[index]:
                talks[index] += at_level[factory.level - 1] + at_level[factory.level + 1]
    return talks


def _bankruptcies(days: Account) -> dict[int, int]:
    """The first morning on which a factory is bankrupt, of those that ever are."""
    found: dict[int, int] = {}
    for day in days.days:
        if day.bankrupt:
            found.setdefault(day.factory, day.day)
    return found


class _Book:
    """What one factory has agreed to so far."""

    def __init__(self, lines: int, conserve_stock: bool) -> None:
        self.agreements = self.num_sales = self.unsafe = self.over_lines = 0
        self._lines = lines
        self._conserve_stock = conserve_stock
        self._bought: dict[int, int] = defaultdict(int)
        self._sold: dict[int, int] = defaultdict(int)
        self._open: list[tuple[Contract, int, bool]] = []
        """Contract, partner, whether it is a sale."""
        self._void: set[int] = set()
        """Partners known to be bankrupt."""

    def open_day(self, today: FactoryDay, bankrupt: dict[int, int]) -> None:
        """Strike out what partners who went bankrupt by this morning will not do."""
        self._today = today
        gone = {partner for partner, since in bankrupt.items() if since <= today.day}
        if gone == self._void:
            return
        for contract, partner, is_sale in self._open:
            if partner in gone - self._void:
                side = self._sold if is_sale else self._bought
                side[contract.day] -= contract.quantity
        self._void = gone

    def add(self, contract: Contract, partner: int, is_sale: bool) -> None:
        """A contract of today."""
        self._open.append((contract, partner, is_sale))
        if not is_sale:
            self._bought[contract.day] += contract.quantity
            return
        self._sold[contract.day] += contract.quantity
        sold = self._ordered(contract.day)
        self.over_lines += sold > self._lines
        self.unsafe += sold > min(self._lines, self._input_on(contract.day))

    def _arriving(self, day: int) -> int:
        today = self._today
        return self._bought[day] + (today.supply_quantity if day == today.day else 0)

    def _ordered(self, day: int) -> int:
        today = self._today
        return self._sold[day] + (today.sale_quantity if day == today.day else 0)

    def _input_on(self, day: int) -> int:
        """Units of input known to be there."""
        stock = self._today.stock
        for before in range(self._today.day, day):
            arriving = self._arriving(before)
            left = arriving - min(stock + arriving, self._lines, self._ordered(before))
            stock += left if self._conserve_stock else max(0, left)
        return stock + self._arriving(day)
