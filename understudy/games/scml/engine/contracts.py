"""What was agreed: contracts by the day they are due."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(slots=True)
class Contract:
    """A seller owes a buyer goods on a day, at a price. Factories are given by index."""

    seller: int
    buyer: int
    product: int
    quantity: int
    day: int
    unit_price: int
    concluded: int
    """The day it was agreed."""
    executed: bool = False
    nullified: bool = False


class Ledger:
    """All contracts between factories, in the order they were agreed."""

    def __init__(self) -> None:
        self.contracts: list[Contract] = []
        self._due: dict[int, list[Contract]] = defaultdict(list)

    def add(self, contract: Contract) -> None:
        """Binding at once: the league forces signatures (SCMLBaseWorld.generate)."""
        self.contracts.append(contract)
        self._due[contract.day].append(contract)

    def execute(self, day: int) -> Iterator[Contract]:
        """Those to be delivered on this day; deliveries cannot be asked for twice."""
        for contract in self._due.pop(day, ()):
            if not contract.nullified:
                contract.executed = True
                yield contract

    def nullify(self, factory: int) -> None:
        """Nothing open of a bankrupt factory will be delivered (SCMLBaseWorld.simulation_step)."""
        for contracts in self._due.values():
            for contract in contracts:
                if factory in (contract.seller, contract.buyer):
                    contract.nullified = True
