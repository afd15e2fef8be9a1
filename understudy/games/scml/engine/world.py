"""A world of factories, day by day. The loop mirrors scml's SCMLBaseWorld and negmas' World.

A day: trades with the outside are revealed; negotiations are called for; agents prepare;
negotiations run until all have ended; what is due is delivered; agents look back; factories produce
and are paid; prices move.
"""

import contextlib
import gc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from negmas import Contract as NegmasContract
from scml.oneshot.agent import OneShotAgent
from scml.oneshot.common import SYSTEM_BUYER_ID, SYSTEM_SELLER_ID

from understudy.games.scml.engine.config import WorldConfig
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.engine.economy import Economy
from understudy.games.scml.engine.factory import Factory
from understudy.games.scml.engine.hosting.faults import Failure, Fault, described, watchdog_of
from understudy.games.scml.engine.hosting.host import Host
from understudy.games.scml.engine.negotiation import Agenda, Negotiation, Side
from understudy.games.scml.engine.reports import Reports

CALL_SECONDS = 20.0
"""CPU time an agent may take for one answer; in the league, 20 s of a negotiation's round."""
CALL_WALL_SECONDS = 60.0
"""Time it may take asleep or waiting; more, as a busy machine is no fault of the agent's."""

ALIVE = 50_000
"""Objects made before the garbage collector looks again. Negotiations are freed without it, and
looking through all that agents remember took a tenth of a world's time."""

Player = tuple[type[OneShotAgent], Mapping[str, Any]]
"""An agent class and its parameters."""
Pairing = tuple[Host, Host, dict[str, Any]]
"""Who opens a negotiation, with whom, and what it is about."""


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Have the garbage collector look less often while the block runs."""
    before = gc.get_threshold()
    gc.set_threshold(ALIVE, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class World(Economy):
    """An economy whose contracts are negotiated by agents. `run` plays it to its end."""

    def __init__(
        self,
        config: WorldConfig,
        players: Sequence[Player],
        *,
        conserve_stock: bool = False,
        strict: bool = False,
        call_seconds: float = CALL_SECONDS,
        call_wall_seconds: float = CALL_WALL_SECONDS,
    ) -> None:
        if len(players) != len(config.factories):
            raise ValueError(f"{len(config.factories)} factories but {len(players)} players")
        super().__init__(config, conserve_stock=conserve_stock)
        self.strict = strict
        self.catalog_prices = np.array(config.catalog_prices)
        self.reports = Reports()
        self.faults: list[Fault] = []
        self.watchdog = watchdog_of(config.names, call_seconds, call_wall_seconds, self.note_fault)
        self.exogenous_summary: list[tuple[float, float]] = []
        self._set_levels()
        self.open_day()
        self.agendas = [Agenda(*self.ranges(product)) for product in range(config.num_products)]
        with self.watchdog.watching():
            self.hosts = [
                Host(self, name, factory, *player)
                for name, factory, player in zip(config.names, self.factories, players, strict=True)
            ]
        self._host_of = dict(zip(config.names, self.hosts, strict=True))
        self._met: tuple[int, list[Pairing]] = -1, []
        """How many were bankrupt and who met then: the same as long as nobody else is."""

    def _set_levels(self) -> None:
        """Who makes and who uses each product, by name; the outside world is one of them."""
        names, num_products = self.config.names, self.config.num_products
        self.suppliers: list[list[str]] = [[] for _ in range(num_products)]
        self.consumers: list[list[str]] = [[] for _ in range(num_products)]
        self.suppliers[0].append(SYSTEM_SELLER_ID)
        self.consumers[-1].append(SYSTEM_BUYER_ID)
        self.capacities = [0] * (num_products - 1)
        for name, factory in zip(names, self.config.factories, strict=True):
            self.suppliers[factory.level + 1].append(name)
            self.consumers[factory.level].append(name)
            self.capacities[factory.level] += factory.lines
        self._index_of = {name: index for index, name in enumerate(names)}

    def note_fault(self, factory: str, error: Failure) -> None:
        """Write down that an agent failed."""
        self.faults.append(Fault(factory, self.day, described(error)))

    # --- what agents ask for ---------------------------------------------------------------------

    @property
    def agents(self) -> list[str]:
        """Everybody, the outside world last."""
        return [*self.config.names, SYSTEM_SELLER_ID, SYSTEM_BUYER_ID]

    def factory_of(self, name: str) -> Factory:
        """A factory by name."""
        return self.factories[self._index_of[name]]

    @property
    def settings(self) -> dict[str, Any]:
        """The rules, by scml's names."""
        return {
            "n_steps": self.config.steps,
            "horizon": self.rules.horizon,
            "neg_n_steps": 20,
            "perishable": self.rules.perishable,
            "force_signing": True,
            "public_trading_prices": True,
            "public_exogenous_summary": True,
            "quantity_multiplier": self.rules.quantity_factor,
            "financial_report_period": 5,
            "allow_zero_quantity": False,
        }

    def bulletin(self, section: str) -> dict[str, Any]:
        """A section of scml's bulletin board."""
        if section == "settings":
            return self.settings
        if section == "reports_agent":
            return {name: self.reports.of(name) for name in self._index_of}
        return {}

    # --- the days --------------------------------------------------------------------------------

    def run(self) -> "World":
        """Play all days."""
        with self.watchdog.watching(), collecting_rarely():
            for host in self.hosts:
                host.join()
            for _ in range(self.config.steps):
                self.step()
        return self

    def step(self) -> None:
        """Play one day."""
        self._prepare()
        self._negotiation()
        for host in self.hosts:
            host.step()
        self.close_day()
        self.reports.publish(self.day - 1, dict(zip(self._index_of, self.factories, strict=True)))

    def _prepare(self) -> None:
        """Mirrors stage 0 of SCMLBaseWorld.simulation_step."""
        self.open_day()
        self._summarise_exogenous()
        for host in self.hosts:
            host.make_ufun(add_exogenous=True)
        # Product 0 is never negotiated, and scml never renews its agenda.
        for product in range(1, len(self.agendas)):
            self.agendas[product] = Agenda(*self.ranges(product))
        self._request_negotiations()
        for host in self.hosts:
            host.before_step()

    def _summarise_exogenous(self) -> None:
        quantities = np.zeros(self.config.num_products)
        prices = np.zeros(self.config.num_products)
        for trade in self.trades_outside():
            quantities[trade.product] += trade.quantity
            prices[trade.product] += trade.quantity * trade.unit_price
        self.exogenous_summary = list(zip(quantities, prices, strict=True))

    def _request_negotiations(self) -> None:
        self._negotiations: list[Negotiation] = []
        negotiations_of: dict[str, dict[str, Negotiation]] = {name: {} for name in self._index_of}
        # How often somebody may wait in one negotiation: as often as there are agents to wait for.
        patience = len(self.hosts)
        for opener, other, annotation in self._pairings():
            negotiation = Negotiation(
                Side(opener.negotiator, other.name),
                Side(other.negotiator, opener.name),
                self.agendas[annotation["product"]],
                annotation | {"sim_step": self.day},
                patience,
            )
            self._negotiations.append(negotiation)
            negotiations_of[opener.name][other.name] = negotiations_of[other.name][opener.name] = (
                negotiation
            )
        for host in self.hosts:
            host.meet(negotiations_of[host.name])

    def _pairings(self) -> list[Pairing]:
        """Every second level opens, with its suppliers first (SCMLBaseWorld._make_negotiations)."""
        num_bankrupt = sum(factory.bankrupt for factory in self.factories)
        # Bankruptcy is for good, so as many bankrupt as before are the same ones.
        if num_bankrupt == self._met[0]:
            return self._met[1]
        pairings = []
        for product in range(self.config.num_products - 1, 0, -2):
            suppliers = self._solvent(self.suppliers[product - 1])
            consumers = self._solvent(self.consumers[product])
            for opener in self._solvent(self.suppliers[product]):
                pairings += [self._pairing(opener, supplier, True) for supplier in suppliers]
                pairings += [self._pairing(opener, consumer, False) for consumer in consumers]
        self._met = num_bankrupt, pairings
        return pairings

    def _solvent(self, names: Sequence[str]) -> list[Host]:
        hosts = [self._host_of[name] for name in names if name in self._host_of]
        return [host for host in hosts if not host.factory.bankrupt]

    def _pairing(self, opener: Host, other: Host, is_buy: bool) -> Pairing:
        annotation = {
            "product": opener.factory.level if is_buy else opener.factory.level + 1,
            "is_buy": is_buy,
            "buyer": opener.name if is_buy else other.name,
            "seller": other.name if is_buy else opener.name,
            "caller": opener.name,
        }
        return opener, other, annotation

    def _negotiation(self) -> None:
        """Move all negotiations on in turn until the last has ended (World._step_negotiations)."""
        running = self._negotiations
        while running:
            still = []
            for negotiation in running:
                if negotiation.step():
                    still.append(negotiation)
                else:
                    self._end(negotiation)
            running = still

    def _end(self, negotiation: Negotiation) -> None:
        opener, other = negotiation.annotation["caller"], negotiation.sides[0].partner
        first, second = self._host_of[opener], self._host_of[other]
        # Both are closed before either hears of it: agents look at who is still negotiating.
        first.close_negotiation(other)
        second.close_negotiation(opener)
        if negotiation.state.agreement is None:
            first.part(negotiation, other, [opener, other])
            second.part(negotiation, opener, [opener, other])
            return
        contract = None
        if first.hears_of_success or second.hears_of_success:
            contract = self._negmas_contract(negotiation, [opener, other])
        first.agree(negotiation, other, contract)
        second.agree(negotiation, opener, contract)
        self._sign(negotiation)

    def _sign(self, negotiation: Negotiation) -> None:
        quantity, day, unit_price = negotiation.state.agreement
        self.ledger.add(
            Contract(
                seller=self._index_of[negotiation.annotation["seller"]],
                buyer=self._index_of[negotiation.annotation["buyer"]],
                product=negotiation.annotation["product"],
                quantity=quantity,
                day=day,
                unit_price=unit_price,
                concluded=self.day,
            )
        )

    def _negmas_contract(self, negotiation: Negotiation, partners: list[str]) -> NegmasContract:
        quantity, day, unit_price = negotiation.state.agreement
        return NegmasContract(
            partners=partners,
            agreement={"quantity": quantity, "time": day, "unit_price": unit_price},
            annotation=negotiation.annotation,
            issues=negotiation.agenda.issues,
            concluded_at=self.day,
            to_be_signed_at=self.day,
            signed_at=-1,
            mechanism_state=negotiation.state,
        )
