"""What a factory knows when it decides: profile, day-start state, commitments, negotiations.

A state is built live from what the simulator shows an agent, or from a recording
(`from_recording.py`). Whoever reads it cannot tell which.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from understudy.games.scml.domain import LINES


@dataclass(frozen=True, slots=True)
class FactoryProfile:
    """What never changes in a world."""

    steps: int
    levels: int
    level: int
    lines: int
    cost: int
    """Of making one unit."""
    horizon: int
    """Deliveries can be agreed for today and this many days ahead."""
    initial_balance: float
    catalog_in: int
    catalog_out: int
    perishable: bool
    suppliers: int
    consumers: int
    """How many factories there are to negotiate with on either side."""

    @property
    def opens(self) -> bool:
        """Whether this factory makes the first offer: every second level does."""
        return (self.levels - self.level) % 2 == 1

    @property
    def can_buy(self) -> bool:
        """The first level is supplied from outside."""
        return self.level > 0

    @property
    def can_sell(self) -> bool:
        """The last level sells to the outside."""
        return self.level < self.levels - 1


@dataclass(frozen=True, slots=True)
class DayStart:
    """What never changes within a day."""

    day: int
    stock: int
    balance: float
    supply_quantity: int
    supply_price: int
    """Exogenous purchase; its total price."""
    sale_quantity: int
    sale_price: int
    price_in: float
    price_out: float
    """Trading prices."""
    prices_in: tuple[int, int]
    prices_out: tuple[int, int]
    """The lowest and highest unit price that may be offered, buying and selling."""
    storage_cost: float
    disposal_cost: float
    shortfall_penalty: float
    stock_falls: bool = False
    """Production has been seen to take from stock, as it does not in scml."""
    supplied: tuple[int, ...] = (0,) * LINES
    """By units from 1: on how many days so far, with today, at least so many came from outside."""


@dataclass(frozen=True, slots=True)
class Commitments:
    """What is agreed with solvent partners, by days from now: today, up to the horizon."""

    bought: tuple[int, ...]
    bought_money: tuple[int, ...]
    sold: tuple[int, ...]
    sold_money: tuple[int, ...]


class PastOffer(NamedTuple):
    """An offer in a negotiation."""

    mine: bool
    quantity: int
    day: int
    price: int


@dataclass(frozen=True, slots=True)
class OpenNegotiation:
    """A negotiation that is still open."""

    partner: str
    buys: bool
    """We would buy; else sell."""
    round: int
    offers: tuple[PastOffer, ...]
    memory: tuple[float, ...] = ()
    """What is known of the partner from earlier days: a row of sums (`memory.py`), or nothing."""

    @property
    def heard(self) -> PastOffer | None:
        """The partner's offer that lies on the table."""
        return self.offers[-1] if self.offers and not self.offers[-1].mine else None


@dataclass(frozen=True, slots=True)
class State:
    """All of it, at one decision."""

    profile: FactoryProfile
    day_start: DayStart
    commitments: Commitments
    negotiations: tuple[OpenNegotiation, ...]

    @property
    def days_ahead(self) -> int:
        """How far ahead a delivery can be agreed today."""
        return min(self.profile.horizon, self.profile.steps - 1 - self.day_start.day)


# --- live ----------------------------------------------------------------------------------------


def profile_of(awi: Any) -> FactoryProfile:
    """From what the simulator shows before the first day."""
    from scml.oneshot.common import is_system_agent  # takes seconds, and few need it

    return FactoryProfile(
        steps=awi.n_steps,
        levels=awi.n_products - 1,
        level=awi.level,
        lines=awi.n_lines,
        cost=int(awi.profile.cost),
        horizon=awi.horizon,
        initial_balance=float(awi.current_balance),
        catalog_in=int(awi.catalog_prices[awi.my_input_product]),
        catalog_out=int(awi.catalog_prices[awi.my_output_product]),
        perishable=awi.is_perishable,
        suppliers=sum(not is_system_agent(name) for name in awi.my_suppliers),
        consumers=sum(not is_system_agent(name) for name in awi.my_consumers),
    )


def day_start_of(awi: Any, stock_falls: bool, supplied: tuple[int, ...]) -> DayStart:
    """From what the simulator shows at the start of a day, and what the agent has seen before."""
    prices = awi.trading_prices
    price_in, price_out = awi.current_input_issues[2], awi.current_output_issues[2]
    return DayStart(
        day=awi.current_step,
        stock=awi.current_inventory_input,
        balance=float(awi.current_balance),
        supply_quantity=awi.current_exogenous_input_quantity,
        supply_price=int(awi.current_exogenous_input_price),
        sale_quantity=awi.current_exogenous_output_quantity,
        sale_price=int(awi.current_exogenous_output_price),
        price_in=float(prices[awi.my_input_product]),
        price_out=float(prices[awi.my_output_product]),
        prices_in=(price_in.min_value, price_in.max_value),
        prices_out=(price_out.min_value, price_out.max_value),
        storage_cost=float(awi.current_storage_cost),
        disposal_cost=float(awi.current_disposal_cost),
        shortfall_penalty=float(awi.current_shortfall_penalty),
        stock_falls=stock_falls,
        supplied=supplied,
    )


def commitments_of(awi: Any) -> Commitments:
    """From what the simulator shows at this moment."""
    days = range(awi.current_step, awi.current_step + awi.horizon + 1)

    def total(by_day: Mapping[int, Mapping[str, int]]) -> tuple[int, ...]:
        return tuple(_solvent_total(awi, by_day.get(day)) for day in days)

    return Commitments(
        bought=total(awi._future_supplies),
        bought_money=total(awi._future_supplies_cost),
        sold=total(awi._future_sales),
        sold_money=total(awi._future_sales_cost),
    )


def _solvent_total(awi: Any, by_partner: Mapping[str, int] | None) -> int:
    """The bankrupt will not deliver nor pay; scml goes on counting what they had agreed to."""
    if not by_partner:
        return 0
    return sum(value for name, value in by_partner.items() if not awi.is_bankrupt(name))
