"""An unmodified scml agent at work in our world.

The agent is made as scml makes it, and given an owner and a window on the world. All calls into its
code go through here or through its negotiators, so that whatever it raises is caught.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from negmas import Contract as NegmasContract
from negmas.negotiators.common import NegotiatorEntry
from scml.oneshot.agent import OneShotAgent
from scml.oneshot.agents import OneshotDoNothingAgent
from scml.std.agents import StdDoNothingAgent

from understudy.errors import InputError
from understudy.games.scml.domain import Track
from understudy.games.scml.engine.factory import Factory
from understudy.games.scml.engine.hosting.awi import HostedAWI
from understudy.games.scml.engine.hosting.faults import FAILURES, CallTimeout, Failure
from understudy.games.scml.engine.hosting.negotiators import (
    PlainNegotiator,
    SyncNegotiator,
    decides_jointly,
)
from understudy.games.scml.engine.hosting.ufun import DeferredUFun
from understudy.games.scml.engine.negotiation import Negotiation, NegotiationView

if TYPE_CHECKING:
    from understudy.games.scml.engine.world import World

IDLE: dict[Track, type[OneShotAgent]] = {"std": StdDoNothingAgent, "oneshot": OneshotDoNothingAgent}
"""Who plays for an agent that cannot be made."""
_entry = tuple.__new__  # what a named tuple's own constructor calls, without the detour


class HostedNegotiator:
    """What an agent finds under `self.negotiators[partner]`: the way to one negotiation."""

    __slots__ = ("id", "nmi", "owner")

    def __init__(self, partner: str, nmi: NegotiationView, owner: "Host") -> None:
        self.id = partner
        self.nmi: NegotiationView | None = nmi
        self.owner = owner

    @property
    def name(self) -> str:
        """The partner's."""
        return self.id

    @property
    def _nmi(self) -> NegotiationView | None:
        return self.nmi


def hosted(kind: type[Any]) -> type[Any]:
    """The class with `awi` as a plain attribute: agents read it a million times in a world.

    All agents of a class share one of these, so what they keep in `type(self)` they still share.
    The class itself keeps it: kept here, it would outlive classes that are made for one world.
    """
    if "_hosted" not in vars(kind):
        names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
        kind._hosted = type(kind.__name__, (kind,), {"awi": None, "__doc__": kind.__doc__, **names})
    return kind._hosted


class Host:
    """One agent and all that scml's adapter (DefaultOneShotAdapter) does for it."""

    def __init__(
        self,
        world: "World",
        name: str,
        factory: Factory,
        kind: type[OneShotAgent],
        parameters: Mapping[str, Any],
    ) -> None:
        self.id = self.name = name
        self.factory = factory
        self._world = world
        made: Any = self.call(kind, **parameters)
        if made is None:
            kind = IDLE[world.config.track]
            made = kind()
        self.agent = made
        self.agent.id = self.agent.name = name
        negotiator = SyncNegotiator if decides_jointly(kind) else PlainNegotiator
        self.negotiator = negotiator(self.agent, world.watchdog, self.give_up)
        self.open_negotiations: dict[str, Negotiation] = {}
        """Today's, until they end."""
        self._negotiators: dict[str, HostedNegotiator] = {}
        """Today's; the agent has a dict of its own, which it may spoil."""
        self.hears_of_success = (
            kind.on_negotiation_success is not OneShotAgent.on_negotiation_success
        )
        """Whether the agent listens; making a contract for negmas takes time."""
        self._hears_of_failure = (
            kind.on_negotiation_failure is not OneShotAgent.on_negotiation_failure
        )

    def join(self) -> None:
        """Show the agent its world, which must be complete by now, and let it prepare."""
        self._awi = self.awi = HostedAWI(self._world, self)
        self.awi.refresh()
        self.make_ufun(add_exogenous=True)
        self.agent._owner = self
        self.agent._awi = self.awi
        if type(self.agent).awi is OneShotAgent.awi:  # only now: before, it raises a ValueError
            self.agent.__class__ = hosted(type(self.agent))
            self.agent.awi = self.awi
        self.call(self.agent.init)

    def make_ufun(self, add_exogenous: bool) -> DeferredUFun:
        """The utility function of today, with the agendas of yesterday: scml makes it first."""
        awi = self.awi
        issues = awi.current_input_issues, awi.current_output_issues
        self.ufun = DeferredUFun(awi, issues, add_exogenous)
        self.agent._preferences = self.ufun
        return self.ufun

    # --- negotiations -----------------------------------------------------------------------------

    def meet(self, negotiations: dict[str, Negotiation]) -> None:
        """Today's negotiations, by partner, in the order they were called for."""
        self.open_negotiations = dict(negotiations)
        self._negotiators = {
            partner: HostedNegotiator(partner, negotiation.view, self)
            for partner, negotiation in negotiations.items()
        }
        self.agent._negotiators = {
            partner: _entry(NegotiatorEntry, (negotiator, None))
            for partner, negotiator in self._negotiators.items()
        }
        self.call(self.negotiator.open_day, negotiations)

    def close_negotiation(self, partner: str) -> None:
        """It is over, before anybody hears how it ended (Negotiator._on_negotiation_end)."""
        self._negotiators[partner].nmi = None
        self.call(self.negotiator.close, partner)

    def agree(
        self, negotiation: Negotiation, partner: str, contract: NegmasContract | None
    ) -> None:
        """It has ended with a contract (DefaultOneShotAdapter.on_negotiation_success)."""
        quantity, day, price = negotiation.state.agreement
        is_buyer = negotiation.annotation["buyer"] == self.id
        register = self.awi._register_supply if is_buyer else self.awi._register_sale
        register(partner, quantity, price, day)
        event = "register_supply" if is_buyer else "register_sale"
        self.ufun.note(event, quantity, price, day)
        self.open_negotiations.pop(partner, None)
        if self.hears_of_success:
            self.call(self.agent.on_negotiation_success, contract, negotiation.view)

    def part(self, negotiation: Negotiation, partner: str, partners: list[str]) -> None:
        """It has ended without (DefaultOneShotAdapter.on_negotiation_failure)."""
        is_buyer = negotiation.annotation["buyer"] == self.id
        self.ufun.note("register_supply_failure" if is_buyer else "register_sale_failure", partner)
        self.open_negotiations.pop(partner, None)
        if self._hears_of_failure:
            failure = self.agent.on_negotiation_failure
            self.call(
                failure, partners, negotiation.annotation, negotiation.view, negotiation.state
            )

    # --- the day ---------------------------------------------------------------------------------

    def before_step(self) -> None:
        """The start of the day."""
        self.awi.refresh()
        self.awi._reset_sales_and_supplies()
        self.call(self.agent.before_step)

    def step(self) -> None:
        """The evening."""
        self.call(self.agent.step)

    def call(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Run code of the agent; if it fails, that is written down, and None is returned."""
        watchdog = self._world.watchdog
        watchdog.calls += 1
        watchdog.inside = self.name
        try:
            return method(*arguments, **named)
        except FAILURES as error:
            watchdog.inside = None
            self.give_up(error)
            return None
        finally:
            watchdog.inside = None

    def give_up(self, error: Failure) -> None:
        """Write down that the agent failed, or raise what it raised (see `faults.py`)."""
        if isinstance(error, CallTimeout):
            return  # the watchdog has written it down
        if self._world.strict or isinstance(error, InputError):  # what a user gave is no fault
            raise error
        self._world.note_fault(self.name, error)
