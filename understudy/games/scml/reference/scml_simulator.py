"""The real scml package playing a world of ours, kept from threads, logs and the home directory."""

import contextlib
import io
import os
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scml.oneshot.agent import OneShotAgent
from scml.oneshot.common import OneShotExogenousContract
from scml.oneshot.sysagents import DefaultOneShotAdapter
from scml.oneshot.world import SCMLBaseWorld

from understudy.games.scml.engine.config import WORLDS, Exogenous, WorldConfig

SWITCHES = {"sync_calls": True, "saved_details_level": 0, "storage_format": "csv"}
"""What makes scml faster without changing a game."""
NO_LIMITS = dict.fromkeys(
    ("time_limit", "neg_hidden_time_limit", "neg_step_time_limit"), float("inf")
)
"""scml gives up negotiations by the clock on the wall: on a busy machine games would end
differently."""


def scml_world(
    config: WorldConfig, kinds: Sequence[type[OneShotAgent]], folder: str, **options: Any
) -> SCMLBaseWorld:
    """scml's own world of a configuration, with all switches on unless told otherwise."""
    options = SWITCHES | options
    world = WORLDS[config.track](
        catalog_prices=np.array(config.catalog_prices),
        profiles=[factory.profile for factory in config.factories],
        agent_types=[DefaultOneShotAdapter] * len(kinds),
        agent_params=[{"controller_type": kind} for kind in kinds],
        exogenous_contracts=[_exogenous(trade) for trade in config.exogenous],
        initial_balance=np.array([factory.initial_balance for factory in config.factories]),
        n_steps=config.steps,
        force_signing=True,
        agent_name_reveals_type=False,
        log_folder=folder,
        **NO_LIMITS,
        no_logs=True,
        compact=True,
        fast=True,
        **options,
    )
    for name, factory in zip(config.names, config.factories, strict=True):
        world.agent_storage_cost[name] = np.array(factory.storage_cost)
        world.agent_disposal_cost[name] = np.array(factory.disposal_cost)
        world.agent_shortfall_penalty[name] = np.array(factory.shortfall_penalty)
    world.save_negotiations = False
    _order_signatures(world)
    return world


def _order_signatures(world: SCMLBaseWorld) -> None:
    """Have contracts signed in the order they were made.

    scml keeps those of a day in a set, ordered by random ids, and with their order the last bits of
    the trading prices would change from run to run.
    """

    class InOrder(dict[Any, None]):
        def add(self, contract: Any) -> None:
            self[contract] = None

        def remove(self, contract: Any) -> None:
            del self[contract]

    found: dict[int, InOrder] = defaultdict(InOrder)
    for day, contracts in world.unsigned_contracts.items():
        for contract in world.exogenous_contracts[day]:
            assert contract in contracts
            found[day].add(contract)
    world.unsigned_contracts = found


def _exogenous(trade: Exogenous) -> OneShotExogenousContract:
    outside = -1
    return OneShotExogenousContract(
        quantity=trade.quantity,
        unit_price=trade.unit_price,
        product=trade.product,
        seller=outside if trade.product == 0 else trade.factory,
        buyer=trade.factory if trade.product == 0 else outside,
        time=trade.day,
        revelation_time=trade.day,
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Agents print and warn, and some write files where they are: neither concerns us."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                yield
        finally:
            os.chdir(here)
