"""The utility function that scml gives an agent every day."""

from typing import Any

from scml.oneshot.ufun import OneShotUFun

from understudy.games.scml.engine.hosting.awi import HostedAWI
from understudy.games.scml.engine.random_state import random_state_kept


class DeferredUFun(OneShotUFun):
    """scml's utility function of a day, made when an agent first looks at it.

    Making one is costly, scml makes two per factory and day, and most agents never look.
    """

    _events: list[tuple[Any, ...]] | None
    """What it has to be told once it is made; None: it is made."""

    def __init__(
        self, awi: HostedAWI, issues: tuple[list[Any], list[Any]], exogenous: bool
    ) -> None:
        self.__dict__["_deferred"] = awi, issues, exogenous
        self.__dict__["_events"] = []

    def __getattr__(self, name: str) -> Any:
        deferred = self.__dict__.pop("_deferred", None)
        if deferred is None or name.startswith("__"):
            if deferred is not None:
                self.__dict__["_deferred"] = deferred
            raise AttributeError(name)
        with random_state_kept():  # negmas draws a name for it; scml did so before the agent's turn
            super().__init__(**_ufun_arguments(*deferred))
        events, self._events = self._events or [], None
        for event in events:
            self.note(*event)
        return getattr(self, name)

    def note(self, *event: Any) -> None:
        """Tell it how a negotiation ended: one of its `register_` methods and the arguments."""
        if self._events is not None:
            self._events.append(event)
        else:
            getattr(self, event[0])(*event[1:])


def _ufun_arguments(
    awi: HostedAWI, issues: tuple[list[Any], list[Any]], exogenous: bool
) -> dict[str, Any]:
    """As scml's OneShotUFunCreatorMixin.make_ufun."""
    (quantity_in, day, price_in), (quantity_out, _, price_out) = issues
    return {
        "agent_id": awi.agent.id,
        "perishable": awi.is_perishable,
        "ex_qin": awi.current_exogenous_input_quantity if exogenous else 0,
        "ex_pin": awi.current_exogenous_input_price if exogenous else 0,
        "ex_qout": awi.current_exogenous_output_quantity if exogenous else 0,
        "ex_pout": awi.current_exogenous_output_price if exogenous else 0,
        "production_cost": awi.profile.cost,
        "disposal_cost": awi.current_disposal_cost,
        "storage_cost": awi.current_storage_cost,
        "shortfall_penalty": awi.current_shortfall_penalty,
        "input_penalty_scale": awi.penalty_multiplier(True, None),
        "storage_penalty_scale": awi.penalty_multiplier(True, None),
        "output_penalty_scale": awi.penalty_multiplier(False, None),
        "input_agent": awi.is_first_level,
        "output_agent": awi.is_last_level,
        "input_product": awi.my_input_product,
        "n_input_negs": awi.n_input_negotiations,
        "n_output_negs": awi.n_output_negotiations,
        "current_step": awi.current_step,
        "time_range": (day.min_value, day.max_value),
        "input_qrange": (quantity_in.min_value, quantity_in.max_value),
        "input_prange": (price_in.min_value, price_in.max_value),
        "output_qrange": (quantity_out.min_value, quantity_out.max_value),
        "output_prange": (price_out.min_value, price_out.max_value),
        "force_exogenous": awi.is_exogenous_forced,
        "n_lines": awi.n_lines,
        "current_balance": awi.current_balance,
        "suppliers": set(awi.my_suppliers),
        "consumers": set(awi.my_consumers),
        "inventory_in": awi.current_inventory_input,
        "inventory_out": awi.current_inventory_output,
    }
