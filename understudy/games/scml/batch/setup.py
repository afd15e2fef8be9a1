"""Worlds as records: a configuration and who plays in it, laid out for compiled code."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from understudy.data.arrays import Array
from understudy.errors import InputError
from understudy.games.scml.batch.players.ask import LEARNER, NATIVE
from understudy.games.scml.batch.players.numbers import numbers_of
from understudy.games.scml.batch.state import CROWD, FIXED, LEVELS, MOST_DAYS
from understudy.games.scml.domain import RULES
from understudy.games.scml.players.steward_numbers import Plans

if TYPE_CHECKING:  # takes seconds to import
    from understudy.games.scml.engine.config import WorldConfig


@dataclass(frozen=True)
class Seat:
    """Who plays a factory."""

    player: str | None
    """A native player by name; None: a learner."""
    policy: int = 0
    """Which of several learners."""
    plans: Plans | None = None
    """Of a Steward, where other than its own."""
    risk: float | None = None
    """Of an L1, likewise."""


def record_of(
    config: "WorldConfig", seats: Sequence[Seat], seed: int, *, conserve_stock: bool = False
) -> Array:
    """What is fixed of a world, [] of dtype FIXED."""
    check_size(config)
    fixed, rules = np.zeros((), FIXED), RULES[config.track]
    levels = [factory.level for factory in config.factories]
    fixed["seed"], fixed["days"] = seed, config.steps
    fixed["levels"], fixed["factories"] = config.num_products - 1, len(levels)
    fixed["horizon"], fixed["perishable"] = rules.horizon, rules.perishable
    lines = max(factory.lines for factory in config.factories)
    fixed["most_units"] = max(1, lines * rules.quantity_factor)
    fixed["price_share"] = -1.0 if rules.price_share is None else rules.price_share
    fixed["conserves"] = conserve_stock
    fixed["catalog"][: config.num_products] = config.catalog_prices
    fixed["first_of"] = np.searchsorted(levels, np.arange(LEVELS + 1))
    count, days = len(levels), config.steps
    fixed["level"][:count] = levels
    fixed["lines"][:count] = [factory.lines for factory in config.factories]
    fixed["cost"][:count] = [factory.cost for factory in config.factories]
    fixed["initial"][:count] = [factory.initial_balance for factory in config.factories]
    fixed["storage"][:count, :days] = [factory.storage_cost for factory in config.factories]
    fixed["disposal"][:count, :days] = [factory.disposal_cost for factory in config.factories]
    fixed["penalty"][:count, :days] = [factory.shortfall_penalty for factory in config.factories]
    _set_trades(fixed, config)
    set_seats(fixed, seats)
    return fixed


def _set_trades(fixed: Array, config: "WorldConfig") -> None:
    """Of each day in their order: it decides the last bits of trading prices."""
    trades = sorted(config.exogenous, key=lambda trade: trade.day)  # stable
    days = [trade.day for trade in trades]
    fixed["trades_until"] = np.searchsorted(days, np.arange(MOST_DAYS + 1))
    fixed["trade_factory"][: len(trades)] = [trade.factory for trade in trades]
    fixed["trade_product"][: len(trades)] = [trade.product for trade in trades]
    fixed["trade_units"][: len(trades)] = [trade.quantity for trade in trades]
    fixed["trade_price"][: len(trades)] = [trade.unit_price for trade in trades]


def set_seats(fixed: Array, seats: Sequence[Seat]) -> None:
    """Who plays, in order of factories."""
    if len(seats) != fixed["factories"]:
        raise ValueError(f"{fixed['factories']} factories but {len(seats)} seats")
    for index, seat in enumerate(seats):
        set_seat(fixed, index, seat)


def set_seat(fixed: Array, index: int, seat: Seat) -> None:
    """Who plays one factory."""
    native = NATIVE["oneshot" if fixed["perishable"] else "std"]
    if seat.player is None:
        fixed["player"][index], fixed["policy"][index] = LEARNER, seat.policy
    elif seat.player in native:
        fixed["player"][index] = native[seat.player]
        fixed["numbers"][index] = numbers_of(
            seat.player, seat.plans, int(fixed["level"][index]), int(fixed["levels"])
        )
        if seat.risk is not None:
            fixed["numbers"][index, 0] = seat.risk
    else:
        raise InputError(
            f"{seat.player} is not part of the compiled world; there is {', '.join(native)}. "
            "Choose --simulator engine, which hosts everybody"
        )


def check_size(config: "WorldConfig") -> None:
    """Refuse a world that does not fit into a record."""
    most = max(np.bincount([factory.level for factory in config.factories]))
    if config.num_products - 1 > LEVELS or most > CROWD or config.steps > MOST_DAYS:
        raise InputError(
            f"the compiled world has at most {LEVELS} levels, {CROWD} factories a level and "
            f"{MOST_DAYS} days, not {config.num_products - 1}, {most} and {config.steps}. "
            "Choose --simulator engine"
        )
