"""What an agent may ask of its world: scml's own interface, answered by our world.

`HostedAWI` inherits from scml's StdAWI, so that everything an agent could call exists and whatever
is derived from other answers is derived as in scml. It replaces the answers that scml takes from
its world, and makes plain attributes of those that never change.
"""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from scml.oneshot.awi import defaultdict_int
from scml.oneshot.common import (
    SYSTEM_BUYER_ID,
    SYSTEM_SELLER_ID,
    FinancialReport,
    NegotiationDetails,
)
from scml.std.awi import StdAWI

from understudy.games.scml.engine.negotiation import Negotiation

if TYPE_CHECKING:
    from understudy.games.scml.engine.hosting.host import Host
    from understudy.games.scml.engine.world import World

Commitments = dict[int, dict[str, int]]
"""Quantity or money by day and partner."""


def _ignore(*_: object) -> None:
    """Nobody reads the world's log."""


class HostedAWI(StdAWI):
    """An agent's window on the world."""

    # Properties of StdAWI that are plain attributes here, set once in `_set_level`.
    n_steps = n_products = n_processes = n_competitors = n_lines = max_n_lines = 0
    level = my_input_product = my_output_product = horizon = 0
    is_first_level = is_middle_level = is_last_level = False
    my_suppliers: list[str] = []  # noqa: RUF012
    my_consumers: list[str] = []  # noqa: RUF012
    all_suppliers: list[list[str]] = []  # noqa: RUF012
    all_consumers: list[list[str]] = []  # noqa: RUF012
    production_capacities: list[int] = []  # noqa: RUF012
    catalog_prices: Any = None
    profile: Any = None
    is_perishable = False
    # And those that change overnight only, set in `refresh`.
    current_step = current_inventory_input = current_inventory_output = 0
    current_exogenous_input_quantity = current_exogenous_input_price = 0
    current_exogenous_output_quantity = current_exogenous_output_price = 0
    current_balance = current_disposal_cost = current_storage_cost = 0.0
    current_shortfall_penalty = relative_time = 0.0
    current_inventory: tuple[int, int] = (0, 0)
    trading_prices: Any = None
    exogenous_contract_summary: list[tuple[float, float]] = []  # noqa: RUF012
    current_input_issues: list[Any] = []  # noqa: RUF012
    current_output_issues: list[Any] = []  # noqa: RUF012
    # Rules that are the same in every world of the league.
    allow_zero_quantity = False
    is_exogenous_forced = True
    price_multiplier = 0.0
    penalties_scale = "trading"

    logdebug = loginfo = logwarning = logerror = _ignore
    logdebug_agent = loginfo_agent = logwarning_agent = logerror_agent = _ignore
    log_debug = log_info = log_warning = log_error = _ignore

    def __init__(self, world: "World", host: "Host") -> None:
        # StdAWI's own __init__ wants an scml world; these are the four dicts it would make.
        self._future_sales: Commitments = _by_day()
        self._future_supplies: Commitments = _by_day()
        self._future_sales_cost: Commitments = _by_day()
        self._future_supplies_cost: Commitments = _by_day()
        self._sold: dict[int, int] = {}
        self._supplied: dict[int, int] = {}
        """Totals of two of them, by day: agents ask for little else."""
        self._sold_between: dict[tuple[int, int], int] = {}
        self._supplied_between: dict[tuple[int, int], int] = {}
        self._later_sales: Commitments | None = None
        self._later_supplies: Commitments | None = None
        """Answers to what agents ask most, kept until something is agreed."""
        self._world = world
        self.agent = host
        self._factory = host.factory
        self._config = host.factory.config
        # As numpy's numbers, since they do not raise where Python's would: x / 0 is infinite.
        self._storage_cost = np.array(self._config.storage_cost)
        self._disposal_cost = np.array(self._config.disposal_cost)
        self._shortfall_penalty = np.array(self._config.shortfall_penalty)
        self._set_level(world)

    def _set_level(self, world: "World") -> None:
        level = self._factory.level
        self.profile = self._config.profile
        self.level = self.my_input_product = level
        self.my_output_product = level + 1
        self.n_steps = world.config.steps
        self.n_products = world.config.num_products
        self.n_processes = self.n_products - 1
        self.n_lines = self._config.lines
        self.max_n_lines = world.max_lines
        self.is_first_level = level == 0
        self.is_last_level = level == self.n_processes - 1
        self.is_middle_level = 0 < level < self.n_processes - 1
        self.horizon = world.rules.horizon
        self.is_perishable = world.rules.perishable
        self.all_suppliers, self.all_consumers = world.suppliers, world.consumers
        self.my_suppliers, self.my_consumers = world.suppliers[level], world.consumers[level + 1]
        self.n_competitors = len(world.consumers[level]) - 1
        self.production_capacities = world.capacities
        self.catalog_prices = world.catalog_prices

    def refresh(self) -> None:
        """A new day. Nothing of this changes before the next, whatever is agreed."""
        world, factory, level = self._world, self._factory, self.level
        day, today = world.day, factory.exogenous
        self.current_step = day
        self.relative_time = day / self.n_steps
        self.trading_prices = world.prices.published
        self.exogenous_contract_summary = world.exogenous_summary
        self.current_input_issues = world.agendas[level].issues
        self.current_output_issues = world.agendas[level + 1].issues
        # Before the first day's profit it is a whole number, then one of numpy's, as in scml.
        self.current_balance = np.float64(factory.balance) if day else factory.balance
        self.current_inventory_input = factory.stock
        self.current_inventory = factory.stock, 0  # nothing is ever produced for later
        self.current_exogenous_input_quantity = today.supply_quantity
        self.current_exogenous_input_price = today.supply_price
        self.current_exogenous_output_quantity = today.sale_quantity
        self.current_exogenous_output_price = today.sale_price
        self.current_disposal_cost = self._disposal_cost[day]
        self.current_storage_cost = self._storage_cost[day]
        self.current_shortfall_penalty = self._shortfall_penalty[day]

    # --- the market ------------------------------------------------------------------------------

    def is_bankrupt(self, aid: str | None = None) -> bool:
        """Whether a factory (its own by default) is."""
        if aid in (SYSTEM_BUYER_ID, SYSTEM_SELLER_ID):
            return False
        return self._world.factory_of(aid or self.agent.id).bankrupt

    @property
    def settings(self) -> dict[str, Any]:
        """The rules, by scml's names."""
        return self._world.settings

    def bb_read(self, section: str, key: str) -> Any:
        """scml's bulletin board."""
        return self._world.bulletin(section).get(key)

    def bb_query(self, section: str, query: Any, query_keys: bool = False) -> dict[str, Any]:
        """A whole section of it; conditions are not supported, no agent uses them."""
        return dict(self._world.bulletin(section))

    def reports_of_agent(self, aid: str) -> dict[int, FinancialReport] | None:
        """A factory's financial reports, by day."""
        return self._world.reports.of(aid)

    def reports_at_step(self, step: int) -> dict[str, FinancialReport] | None:
        """All factories' reports of a day."""
        return self._world.reports.at(step)

    # --- the agent's own factory -----------------------------------------------------------------

    @property
    def current_score(self) -> float:
        """What the game would be worth if it ended now."""
        return np.float64(self._factory.score)

    @property
    def needed_sales(self) -> int:
        """Units in hand or on their way today that nobody has bought yet."""
        if self.is_last_level:
            return 0
        needed = (
            self.current_exogenous_input_quantity
            + self.current_inventory_input
            + self._supplied.get(self.current_step, 0)
            - self._sold.get(self.current_step, 0)
            - self.current_exogenous_output_quantity
        )
        return min(self.n_lines, needed) if self.is_perishable else needed

    @property
    def needed_supplies(self) -> int:
        """Units sold for today that are neither in hand nor on their way."""
        if self.is_first_level:
            return 0
        needed = (
            self.current_exogenous_output_quantity
            + self._sold.get(self.current_step, 0)
            - self._supplied.get(self.current_step, 0)
            - self.current_exogenous_input_quantity
            - self.current_inventory_input
        )
        return min(self.n_lines, needed) if self.is_perishable else needed

    def total_sales_at(self, step: int) -> int:
        """Units sold to others for a day to come."""
        return self._sold.get(step, 0) if step >= self.current_step else 0

    def total_supplies_at(self, step: int) -> int:
        """Units bought from others for a day to come."""
        return self._supplied.get(step, 0) if step >= self.current_step else 0

    def total_sales_between(self, start: int, end: int) -> int:
        """Units sold to others for these days, both included, as far as they are to come."""
        total = self._sold_between.get((start, end))
        if total is None:
            total = _sum_between(self._sold, max(start, self.current_step), end)
            self._sold_between[start, end] = total
        return total

    def total_supplies_between(self, start: int, end: int) -> int:
        """Units bought from others for these days, both included, as far as they are to come."""
        total = self._supplied_between.get((start, end))
        if total is None:
            total = _sum_between(self._supplied, max(start, self.current_step), end)
            self._supplied_between[start, end] = total
        return total

    def total_sales_from(self, start: int) -> int:
        """Units sold to others from a day on."""
        return self.total_sales_between(start, self.n_steps - 1)

    def total_supplies_from(self, start: int) -> int:
        """Units bought from others from a day on."""
        return self.total_supplies_between(start, self.n_steps - 1)

    @property
    def future_sales(self) -> Commitments:
        """Units sold for each day after today, by partner."""
        if self._later_sales is None:
            self._later_sales = _later_than(self.current_step, self._future_sales)
        return self._later_sales.copy()

    @property
    def future_supplies(self) -> Commitments:
        """Units bought for each day after today, by partner."""
        if self._later_supplies is None:
            self._later_supplies = _later_than(self.current_step, self._future_supplies)
        return self._later_supplies.copy()

    def _register_sale(self, customer: str, quantity: int, unit_price: int, step: int) -> None:
        super()._register_sale(customer, quantity, unit_price, step)
        self._sold[step] = self._sold.get(step, 0) + quantity
        self._sold_between.clear()
        self._later_sales = None

    def _register_supply(self, supplier: str, quantity: int, unit_price: int, step: int) -> None:
        super()._register_supply(supplier, quantity, unit_price, step)
        self._supplied[step] = self._supplied.get(step, 0) + quantity
        self._supplied_between.clear()
        self._later_supplies = None

    def _reset_sales_and_supplies(self) -> None:
        yesterday = self.current_step - 1
        for commitments in (
            self._future_sales,
            self._future_supplies,
            self._future_sales_cost,
            self._future_supplies_cost,
            self._sold,
            self._supplied,
        ):
            commitments.pop(yesterday, None)
        self._sold_between.clear()
        self._supplied_between.clear()
        self._later_sales = self._later_supplies = None

    # --- negotiations -----------------------------------------------------------------------------

    @property
    def current_input_outcome_space(self) -> Any:
        """The same as a space."""
        return self._world.agendas[self.level].outcome_space

    @property
    def current_output_outcome_space(self) -> Any:
        """The same as a space."""
        return self._world.agendas[self.level + 1].outcome_space

    @property
    def current_negotiation_details(self) -> dict[str, dict[str, NegotiationDetails]]:
        """Today's negotiations that have not ended, by side and partner."""
        found: dict[str, dict[str, NegotiationDetails]] = {"buy": {}, "sell": {}}
        for partner, negotiation in self.agent.open_negotiations.items():
            found[_side_of(negotiation, self.agent.id)][partner] = NegotiationDetails(
                buyer=negotiation.annotation["buyer"],
                seller=negotiation.annotation["seller"],
                product=negotiation.annotation["product"],
                nmi=negotiation.view,
            )
        return found


def _side_of(negotiation: Negotiation, name: str) -> str:
    return "buy" if negotiation.annotation["buyer"] == name else "sell"


def _sum_between(quantities: dict[int, int], start: int, end: int) -> int:
    return sum([quantity for day, quantity in quantities.items() if start <= day <= end])


def _later_than(today: int, commitments: Commitments) -> Commitments:
    return {day: by_partner for day, by_partner in commitments.items() if day > today}


def _by_day() -> Commitments:
    return defaultdict(defaultdict_int)
