"""Play worlds in the compiled simulator: many at once, the same tables.

What it cannot play is refused with the reason. Of a recorded world the contracts and days are
written down, not the decisions: in a compiled world there are no agents that could be watched.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.batch import course
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import Track
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.recording.safety_audit import AuditedDays
from understudy.games.scml.tournament.design import Tournament, WorldPlan
from understudy.terminal.console import err_console

MANY = 64
"""Worlds played at once; more would only take more memory."""
SELLER, BUYER, PRODUCT, UNITS, DUE, PRICE, SIGNED, DELIVERED = range(8)
"""Columns of a logged contract."""


class BatchGame(NamedTuple):
    """A world that was played."""

    plan: WorldPlan
    config: WorldConfig
    contracts: Array
    """[contracts, 8], in the order of signing."""
    days: AuditedDays
    profits: Array
    """[days, factories]."""
    scores: list[float]
    bankrupt: list[bool]


def check_native(players: Sequence[PlayerRef], track: Track) -> None:
    """Refuse players that are not part of the compiled world."""
    there = NATIVE[track]
    strangers = [ref.name for ref in players if ref.weights is not None or ref.name not in there]
    if strangers:
        raise InputError(
            f"{', '.join(strangers)} cannot play in the compiled simulator, which has "
            f"{', '.join(there)}. Leave --simulator batch away: the engine hosts everybody"
        )


def prepare(tournament: Tournament) -> None:
    """Refuse who cannot play in the compiled world, and compile it before many workers would."""
    check_native(tournament.competitors, tournament.track)
    with err_console.status("compiling the world: a minute or two, once"):
        compile_world()


def compile_world() -> None:
    """Compile whatever a world is played by, unless that lies in the cache."""
    fixed = sample([(1, 1)], [1], [0])
    fixed["player"] = NATIVE["std"]["DoNothing"]
    Worlds(fixed).play(Log.of(1, 1))


def play_batch(plans: Sequence[WorldPlan]) -> list[BatchGame]:
    """The worlds of these plans, in order."""
    found: list[BatchGame] = []
    for start in range(0, len(plans), MANY):
        found += _play(plans[start : start + MANY])
    return found


def _play(plans: Sequence[WorldPlan]) -> list[BatchGame]:
    configs = [_config(p.factories_per_level, p.steps, p.seed, p.track) for p in plans]
    for plan in plans:
        check_native(plan.players, plan.track)
    worlds = Worlds(
        [
            record_of(
                config,
                [Seat(ref.name) for ref in plan.players],
                dice_seed(plan),
                conserve_stock=plan.conserve_stock,
            )
            for plan, config in zip(plans, configs, strict=True)
        ]
    )
    log = Log.of(len(plans), max(p.steps for p in plans), max(map(_talks, plans)))
    worlds.play(log)
    return [
        _game(plan, config, worlds, log, index)
        for index, (plan, config) in enumerate(zip(plans, configs, strict=True))
    ]


@functools.lru_cache(maxsize=64)
def _config(
    factories_per_level: tuple[int, ...], steps: int, seed: int, track: Track
) -> WorldConfig:
    """Drawn once for all rotations of its players."""
    return draw(factories_per_level, steps, seed, track)


def dice_seed(plan: WorldPlan) -> int:
    """Of the players' dice: others for each run of a configuration."""
    return plan.seed * 1009 + plan.run


def _talks(plan: WorldPlan) -> int:
    sizes = plan.factories_per_level
    return sum(a * b for a, b in itertools.pairwise(sizes))


def _game(plan: WorldPlan, config: WorldConfig, worlds: Worlds, log: Log, index: int) -> BatchGame:
    count = len(config.factories)
    notes = log.days[index, : plan.steps, :count].astype(np.int64)
    named = {
        "stock": course.STOCK,
        "supply": course.SUPPLY,
        "sale": course.SALE,
        "bankrupt": course.BANKRUPT,
        "sold": course.SOLD,
        "produced": course.PRODUCED,
        "shortfall": course.SHORT,
    }
    return BatchGame(
        plan,
        config,
        log.contracts[index, : worlds.state["signed"][index]].copy(),
        AuditedDays(**{name: notes[:, :, column] for name, column in named.items()}),
        log.profits[index, : plan.steps, :count].copy(),
        worlds.scores[index, :count].tolist(),
        worlds.bankrupt[index, :count].tolist(),
    )
