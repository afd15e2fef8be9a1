"""Play the same worlds in scml and in our engine, and compare all that happened.

Agents draw random numbers, and so does negmas between their calls. So in both simulators every call
into an agent starts from its own seed, made of the world's, the agent's place and the number of
calls before. Equal games then have equal numbers of calls too, which is compared as well.
"""

import contextlib
import functools
import io
import os
import random
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from negmas.sao import SAOSyncController
from scml.oneshot.agent import OneShotAgent
from scml.oneshot.common import OneShotExogenousContract
from scml.oneshot.sysagents import DefaultOneShotAdapter
from scml.std.world import SCML2024StdWorld

from understudy.games.scml.engine import agents
from understudy.games.scml.engine.config import Exogenous, WorldConfig, draw
from understudy.games.scml.engine.voices import takes
from understudy.games.scml.engine.world import World

CALLS = (
    "init",
    "before_step",
    "step",
    "first_proposals",
    "counter_all",
    "propose",
    "respond",
    "on_negotiation_success",
    "on_negotiation_failure",
)
SHOWN = 5
"""Differences of a world that are told; the rest is counted."""


@dataclass(frozen=True)
class Case:
    """A world to be played twice."""

    field: str
    """What to call this set of players."""
    players: tuple[str, ...]
    """By factory."""
    factories_per_level: tuple[int, ...]
    steps: int
    seed: int


@dataclass(frozen=True)
class Game:
    """All that happened in one world."""

    contracts: list[tuple[Any, ...]]
    """Seller, buyer, product, quantity, day, price, day of conclusion, executed; in order."""
    profits: dict[str, list[float]]
    stock: dict[str, int]
    scores: dict[str, float]
    prices: list[float]
    calls: list[int]
    ended: str | None
    """What ended it early: an exception of an agent, and when."""
    cpu_seconds: float


@dataclass(frozen=True)
class Comparison:
    """What came of a case."""

    case: Case
    contracts: int
    differences: list[str] = field(default_factory=list)
    ended: str | None = None
    scml_seconds: float = 0.0
    engine_seconds: float = 0.0


def compare(case: Case) -> Comparison:
    """Play a case in both simulators."""
    config = draw(case.factories_per_level, case.steps, case.seed)
    kinds = agents.load_all(case.players)
    with _quiet():
        theirs = play_in_scml(config, kinds, case.seed)
        ours = play_in_engine(config, kinds, case.seed)
    return Comparison(
        case,
        len(theirs.contracts),
        differences(theirs, ours),
        theirs.ended,
        theirs.cpu_seconds,
        ours.cpu_seconds,
    )


def differences(theirs: Game, ours: Game) -> list[str]:
    """In words, the first of each kind; empty if the two games are the same."""
    found = []
    for number, pair in enumerate(zip_longest(theirs.contracts, ours.contracts)):
        if pair[0] != pair[1]:
            found.append(f"contract {number}: scml {pair[0]}, engine {pair[1]}")
            break
    for what in ("profits", "stock", "scores"):
        for name, theirs_of in getattr(theirs, what).items():
            ours_of = getattr(ours, what).get(name)
            if theirs_of != ours_of:
                found.append(f"{what} of {name}: {_first_difference(theirs_of, ours_of)}")
    for what in ("prices", "calls", "ended"):
        if getattr(theirs, what) != getattr(ours, what):
            found.append(f"{what}: scml {getattr(theirs, what)}, engine {getattr(ours, what)}")
    return found


def _first_difference(theirs: Any, ours: Any) -> str:
    if isinstance(theirs, list) and isinstance(ours, list):
        for day, (one, other) in enumerate(zip_longest(theirs, ours)):
            if one != other:
                return f"on day {day} scml {one}, engine {other}"
    return f"scml {theirs}, engine {ours}"


# --- one world in each simulator -----------------------------------------------------------------


def play_in_engine(config: WorldConfig, kinds: Sequence[type[OneShotAgent]], seed: int) -> Game:
    """The game as our engine plays it."""
    started = time.process_time()
    calls, reseeding = _reseeding(kinds, seed)
    world = World(config, [(kind, {}) for kind in reseeding], strict=True)
    ended = None
    try:
        world.run()
    except Exception as error:
        ended = f"{type(error).__name__} on day {world.day}"
    seconds = time.process_time() - started
    names = config.names
    return Game(
        contracts=[
            (
                names[contract.seller],
                names[contract.buyer],
                contract.product,
                contract.quantity,
                contract.day,
                contract.unit_price,
                contract.concluded,
                contract.executed,
            )
            for contract in world.ledger.contracts
        ],
        profits={name: list(f.profits) for name, f in zip(names, world.factories, strict=True)},
        stock={name: f.stock for name, f in zip(names, world.factories, strict=True)},
        scores={name: float(f.score) for name, f in zip(names, world.factories, strict=True)},
        prices=[float(price) for price in world.prices.now],
        calls=list(calls),
        ended=ended,
        cpu_seconds=seconds,
    )


def play_in_scml(config: WorldConfig, kinds: Sequence[type[OneShotAgent]], seed: int) -> Game:
    """The game as scml plays it, with its logs and threads switched off."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        calls, reseeding = _reseeding(kinds, seed)
        world = scml_world(config, reseeding, folder)
        ended = None
        try:
            world.run()
        except Exception as error:
            ended = f"{type(error).__name__} on day {world.current_step}"
        seconds = time.process_time() - started
    names = config.names
    scores = world.scores()
    return Game(
        contracts=[
            (
                record["seller_name"],
                record["buyer_name"],
                int(record["product_name"][1:]),
                record["quantity"],
                record["delivery_time"],
                record["unit_price"],
                record["concluded_at"],
                record["executed_at"] >= 0,
            )
            for record in world.negotiated_contract_records
        ],
        profits={name: [float(profit) for profit in world._profits[name]] for name in names},
        stock={name: world._inventory_input[name] for name in names},
        scores={name: float(scores[name]) for name in names},
        prices=[float(price) for price in world.trading_prices],
        calls=list(calls),
        ended=ended,
        cpu_seconds=seconds,
    )


def scml_world(
    config: WorldConfig, kinds: Sequence[type[OneShotAgent]], folder: str, **options: Any
) -> SCML2024StdWorld:
    """scml's own world of a configuration; everything that makes it slow or random is off."""
    options = {"sync_calls": True, "saved_details_level": 0, "storage_format": "csv"} | options
    world = SCML2024StdWorld(
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
        time_limit=float("inf"),
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


def _order_signatures(world: SCML2024StdWorld) -> None:
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


# --- equal randomness ----------------------------------------------------------------------------


def _reseeding(
    kinds: Sequence[type[OneShotAgent]], seed: int
) -> tuple[list[int], list[type[OneShotAgent]]]:
    """Subclasses that seed before every call, and how often each has done so."""
    calls = [0] * len(kinds)
    return calls, [_reseeded(kind, place, seed, calls) for place, kind in enumerate(kinds)]


def _reseeded(
    kind: type[OneShotAgent], place: int, seed: int, calls: list[int]
) -> type[OneShotAgent]:
    def seeded(method: Any) -> Any:
        unknown = {name for name in ("dest", "source") if not takes(method, name)}

        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            if not unknown.isdisjoint(named):
                raise TypeError  # as the method would: negmas tries what an agent takes
            calls[place] += 1
            number = (seed * 1_000_003 + place * 7919 + calls[place] * 104_729) % 2**32
            random.seed(number)
            np.random.seed(number)
            return method(*arguments, **named)

        return call

    members = {
        name: seeded(getattr(kind, name))
        for name in ("__init__", *CALLS)
        # Where an agent leaves these two to negmas' controller, engines may do without them.
        if hasattr(kind, name)
        and getattr(kind, name) is not getattr(SAOSyncController, name, None)
        and getattr(kind, name) is not getattr(OneShotAgent, name, None)
    }
    members |= {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind.__name__, (kind,), members)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
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
