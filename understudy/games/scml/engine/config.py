"""What is fixed before a world starts, drawn by scml's own generator, as plain data.

A configuration says nothing of who plays: the same one can be played by any agents.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scml.oneshot.common import OneShotProfile
from scml.oneshot.world import SCML2024OneShotWorld
from scml.std.agents import StdDoNothingAgent
from scml.std.world import SCML2024StdWorld

from understudy.games.scml.domain import LINES, Track
from understudy.games.scml.engine.random_state import random_state_kept


@dataclass(frozen=True)
class Exogenous:
    """An exogenous contract with the outside world, revealed on the day it is due."""

    day: int
    product: int
    factory: int
    """Index of the factory that has to buy (product 0) or sell (the last product)."""
    quantity: int
    unit_price: int


@dataclass(frozen=True)
class FactoryConfig:
    """A factory's private numbers."""

    level: int
    """Turns product `level` into product `level + 1`."""
    lines: int
    cost: int
    """Of making one unit."""
    initial_balance: int
    storage_cost: tuple[float, ...]
    """By day, as a share of the input product's trading price; so are the next two."""
    disposal_cost: tuple[float, ...]
    shortfall_penalty: tuple[float, ...]
    """By day, as a share of the output product's trading price."""
    means: tuple[float, float, float]
    """Storage, disposal and shortfall as their owner is told them."""
    deviations: tuple[float, float, float]

    @property
    def profile(self) -> OneShotProfile:
        """As scml shows it to the factory's agent."""
        return OneShotProfile(
            cost=self.cost,
            input_product=self.level,
            n_lines=self.lines,
            storage_cost_mean=self.means[0],
            disposal_cost_mean=self.means[1],
            shortfall_penalty_mean=self.means[2],
            storage_cost_dev=self.deviations[0],
            disposal_cost_dev=self.deviations[1],
            shortfall_penalty_dev=self.deviations[2],
        )


@dataclass(frozen=True)
class WorldConfig:
    """A world without its players."""

    track: Track
    steps: int
    """Days."""
    catalog_prices: tuple[int, ...]
    """By product; trading prices start here."""
    factories: tuple[FactoryConfig, ...]
    """Ordered by level."""
    exogenous: tuple[Exogenous, ...]

    @property
    def num_products(self) -> int:
        """One more than there are levels."""
        return len(self.catalog_prices)

    @property
    def names(self) -> list[str]:
        """As scml names factories where names do not tell who plays: 00@0, 01@0, ..."""
        return [f"{index:02}@{factory.level}" for index, factory in enumerate(self.factories)]


WORLDS = {"std": SCML2024StdWorld, "oneshot": SCML2024OneShotWorld}


def draw(
    factories_per_level: Sequence[int], steps: int, seed: int, track: Track = "std"
) -> WorldConfig:
    """An official world of these sizes. The global random states are left as they were."""
    levels = [level for level, count in enumerate(factories_per_level) for _ in range(count)]
    with random_state_kept():
        random.seed(seed)
        np.random.seed(seed % 2**32)
        drawn = WORLDS[track].generate(
            agent_types=[StdDoNothingAgent] * len(levels),  # whoever plays, the world is the same
            agent_processes=levels,
            n_processes=len(factories_per_level),
            n_steps=steps,
            n_lines=LINES,
        )
        return _plain(drawn, track)


def _plain(drawn: dict[str, Any], track: Track) -> WorldConfig:
    steps = int(drawn["n_steps"])
    balances = [int(balance) for balance in drawn["initial_balance"]]
    return WorldConfig(
        track=track,
        steps=steps,
        catalog_prices=tuple(int(price) for price in drawn["catalog_prices"]),
        factories=tuple(
            _factory(profile, balance, steps)
            for profile, balance in zip(drawn["profiles"], balances, strict=True)
        ),
        exogenous=tuple(
            Exogenous(
                day=int(contract.time),
                product=int(contract.product),
                factory=int(max(contract.seller, contract.buyer)),  # the outside is -1
                quantity=int(contract.quantity),
                unit_price=int(contract.unit_price),
            )
            for contract in drawn["exogenous_contracts"]
        ),
    )


def _factory(profile: OneShotProfile, balance: int, steps: int) -> FactoryConfig:
    def by_day(mean: float, deviation: float) -> tuple[float, ...]:
        # As SCMLBaseWorld.__init__ draws them, in the order disposal, storage, shortfall.
        return tuple(np.abs(np.random.randn(steps) * deviation + mean).tolist())

    disposal = by_day(profile.disposal_cost_mean, profile.disposal_cost_dev)
    storage = by_day(profile.storage_cost_mean, profile.storage_cost_dev)
    shortfall = by_day(profile.shortfall_penalty_mean, profile.shortfall_penalty_dev)
    return FactoryConfig(
        level=int(profile.input_product),
        lines=int(profile.n_lines),
        cost=int(profile.cost),
        initial_balance=balance,
        storage_cost=storage,
        disposal_cost=disposal,
        shortfall_penalty=shortfall,
        means=(
            float(profile.storage_cost_mean),
            float(profile.disposal_cost_mean),
            float(profile.shortfall_penalty_mean),
        ),
        deviations=(
            float(profile.storage_cost_dev),
            float(profile.disposal_cost_dev),
            float(profile.shortfall_penalty_dev),
        ),
    )
