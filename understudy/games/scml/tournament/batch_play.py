"""Play worlds in the compiled simulator: many at once, the same tables.

Players are part of it, or weights of HRL-XF, of which all factories that wait decide together; who
is neither is refused. What is recorded is what the hosting engine records, decisions and all.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.scml.agent.policy import learnt_players, packaged, policy_of
from understudy.games.scml.batch import course
from understudy.games.scml.batch.decisions import take_away
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.players.ask import LEARNER, NATIVE
from understudy.games.scml.batch.sampler import sample
from understudy.games.scml.batch.setup import Seat, record_of
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.domain import RULES, Track
from understudy.games.scml.engine.config import WorldConfig, draw
from understudy.games.scml.recording.safety_audit import AuditedDays
from understudy.games.scml.tournament.design import Tournament, WorldPlan
from understudy.terminal.console import err_console

MANY = 64
"""Worlds played at once; more would only take more memory."""
DECISIONS_A_DAY = 40_000
"""Rows of one world. Ten times what is seen; memory that is never written to costs nothing."""
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
    decisions: Array
    """Rows of `batch/decisions.py`, in order; none unless the world is recorded."""


def check_playable(players: Sequence[PlayerRef], track: Track) -> None:
    """Refuse players that are neither part of the compiled world nor weights made for it."""
    known = [*NATIVE[track], *learnt_players(RULES[track].horizon)]
    strangers = [ref.name for ref in players if ref.weights is None and ref.name not in known]
    if strangers:
        raise InputError(
            f"{', '.join(strangers)} cannot play in the compiled simulator, which has "
            f"{', '.join(known)} and trained models. Leave --simulator batch away: the engine "
            "hosts everybody"
        )
    for ref in players:
        if "+" in ref.name:
            raise InputError(
                f"{ref.name}: nobody can look on in the compiled simulator. Leave --simulator "
                "batch away"
            )
        if (path := weights_of(ref, track)) is not None:
            policy_of(path).require(RULES[track].horizon)


def weights_of(ref: PlayerRef, track: Track) -> Path | None:
    """What a learnt player decides by; None: it is part of the compiled world."""
    return ref.weights or packaged(ref.name, RULES[track].horizon)


def prepare(tournament: Tournament) -> None:
    """Refuse who cannot play in the compiled world, and compile it before many workers would."""
    check_playable(tournament.competitors, tournament.track)
    paths = [weights_of(ref, tournament.track) for ref in tournament.competitors]
    learners = [ManyDecisions(policy_of(path)) for path in paths if path is not None]
    with err_console.status("compiling the world: a minute or two, once"):
        compile_world(learners[:1])


def compile_world(learners: Sequence[ManyDecisions] = ()) -> None:
    """Compile whatever a world is played by, and learners decide by, unless it is in the cache."""
    fixed = sample([(1, 1)], [2], [0])
    fixed["player"] = LEARNER if learners else NATIVE["std"]["DoNothing"]
    play(Worlds(fixed), learners, Log.of(1, 2))


def play_batch(plans: Sequence[WorldPlan]) -> list[BatchGame]:
    """The worlds of these plans, in order."""
    for plan in plans:
        check_playable(plan.players, plan.track)
        if plan.trace is not None:
            raise InputError("--trace tells of agents; the compiled simulator hosts none")
    paths = (weights_of(ref, plan.track) for plan in plans for ref in plan.players)
    policies = {path: index for index, path in enumerate(dict.fromkeys(filter(None, paths)))}
    learners = [ManyDecisions(policy_of(path)) for path in policies]
    found: list[BatchGame] = []
    for start in range(0, len(plans), MANY):
        found += _play(plans[start : start + MANY], policies, learners)
    return found


def _play(
    plans: Sequence[WorldPlan], policies: Mapping[Path, int], learners: Sequence[ManyDecisions]
) -> list[BatchGame]:
    configs = [_config(p.factories_per_level, p.steps, p.seed, p.track) for p in plans]
    worlds = Worlds(
        [
            record_of(
                config,
                [_seat(ref, plan.track, policies) for ref in plan.players],
                dice_seed(plan),
                conserve_stock=plan.conserve_stock,
            )
            for plan, config in zip(plans, configs, strict=True)
        ]
    )
    is_noted = any(plan.recorded for plan in plans)
    days, talks = max(p.steps for p in plans), max(map(_talks, plans))
    log = Log.of(len(plans), days, talks, DECISIONS_A_DAY if is_noted else 0)
    noted = _played_day_by_day(worlds, learners, log, days) if is_noted else log.decisions
    play(worlds, learners, log)
    return [
        _game(plan, config, worlds, log, index)._replace(decisions=noted[index])
        for index, (plan, config) in enumerate(zip(plans, configs, strict=True))
    ]


def _played_day_by_day(
    worlds: Worlds, learners: Sequence[ManyDecisions], log: Log, days: int
) -> list[Array]:
    """What is decided in each world, taken away every evening."""
    found: list[list[Array]] = [[] for _ in log.decisions]
    for day in range(1, days + 1):
        play(worlds, learners, log, until=day)
        for rows, noted in zip(found, log.decisions, strict=True):
            rows.append(take_away(noted))
    return [np.concatenate(rows) for rows in found]


def _seat(ref: PlayerRef, track: Track, policies: Mapping[Path, int]) -> Seat:
    path = weights_of(ref, track)
    return Seat(ref.name) if path is None else Seat(None, policy=policies[path])


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
        log.decisions[index, :0],
    )
