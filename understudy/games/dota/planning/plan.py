"""Plans for the next five minutes, rolled forward in the world model and compared.

The value of a plan is the chance to win, averaged over futures in which matches in such a state
carried it out, beside those in which they did not, of those that lasted as long. Where that
difference is within its spread, no plan is advised. It says what went along with a plan in
recordings, not what it would cause; a scenario, as a fight, is not up to the side alone and is
never advised.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data.arrays import Bools, Floats
from understudy.games.dota.advice import candidates
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.planning.moments import PLANS, SCENARIOS
from understudy.games.dota.planning.world_model import (
    STEPS,
    Futures,
    WorldModel,
    chance_after,
    of_models,
)
from understudy.games.dota.value.checkpoint import ValueModel

STEP = 5
"""Minutes ahead at which futures are valued."""
MATCHES = 600
"""Like matches that are rolled forward."""
ENOUGH = 20
"""Futures with a plan, and without, below which nothing is said of it."""
SURE = 2.4
"""Standard errors beyond which a difference is told: 95 % for the best of three plans."""


@dataclass(frozen=True)
class Gain:
    """What goes along with a plan."""

    share: float
    """Of like matches that carried it out."""
    value: float
    """The chance to win with it."""
    gain: float
    """That less the chance without."""
    error: float


@dataclass(frozen=True)
class SidePlans:
    """What one side may do."""

    side: str
    advised: str | None
    """None: no plan is told apart from the others."""
    plans: list[dict[str, Any]] = field(default_factory=list)


def differences(chances: Floats, did: Mapping[str, Bools], side: int) -> dict[str, Gain]:
    """By plan; `chances` are the side's own, on each future."""
    found = {}
    for name, both in did.items():
        with_it = both[:, side]
        some, others = chances[with_it], chances[~with_it]
        if min(len(some), len(others)) < ENOUGH:
            continue
        error = np.sqrt(some.var(ddof=1) / len(some) + others.var(ddof=1) / len(others))
        gain = some.mean() - others.mean()
        found[name] = Gain(float(with_it.mean()), float(some.mean()), float(gain), float(error))
    return found


def preferred(gains: Mapping[str, Gain]) -> str | None:
    """The plan with most to gain, if that is beyond its spread."""
    own = {name: one for name, one in gains.items() if name in PLANS}
    sure = {name: one.gain for name, one in own.items() if one.gain > SURE * one.error}
    return max(sure, key=lambda name: sure[name]) if sure else None


def plans_at(
    context: MatchContext, value: ValueModel, world: WorldModel, minute: int, teams: list[int]
) -> list[SidePlans]:
    """For each side, the feasible plans, the best first."""
    now = context.samples.where(np.array([context.row_at(minute)]))
    futures = world.futures(now, value.chance(now), MATCHES)
    chances, _ = chance_after(now, futures, value, STEP)
    # Who had no time for a plan says nothing of it.
    lasting = ~futures.ended[0, :, STEPS.index(STEP)]
    sides = []
    for team in teams:
        possible = {one.name for one in candidates.objectives(context.timeline, minute * 60, team)}
        did = {
            name: values[0][lasting]
            for name, values in futures.did.items()
            if name != "Roshan dies" or "Roshan" in possible
        }
        own = chances[0] if team == 0 else 1 - chances[0]
        gains = differences(own[lasting], did, team)
        lines = [
            {
                "plan": name,
                "meaning": {**PLANS, **SCENARIOS}[name],
                "own": name in PLANS,
                "share": one.share,
                "value": one.value,
                "gain": one.gain,
                "error": one.error,
            }
            for name, one in sorted(gains.items(), key=lambda pair: -pair[1].gain)
        ]
        sides.append(SidePlans(("Radiant", "Dire")[team], preferred(gains), lines))
    return sides


def planned_at(
    context: MatchContext, value: ValueModel, models: Path | None, minute: int, teams: list[int]
) -> tuple[list[SidePlans], dict[str, list[dict[str, float]]]]:
    """Plans of these sides, and bands of the next minutes, by the world model of `models`."""
    world = of_models(models)
    plans = plans_at(context, value, world, minute, teams)
    return plans, next_minutes(context, value, world, minute)


def next_minutes(
    context: MatchContext, value: ValueModel, world: WorldModel, minute: int
) -> dict[str, list[dict[str, float]]]:
    """Bands of Radiant's leads in gold and xp, its kills and its chance, 0 to 10 minutes ahead.

    For a page or a table: by name, a point for each minute of `STEPS` with the middle and the
    bounds of 50 and 80 %, of futures in which the match lasts; the chance is of all.
    """
    now = context.samples.where(np.array([context.row_at(minute)]))
    futures = world.futures(now, value.chance(now), MATCHES)
    bands = {
        name: _bands(now.column(feature)[0], futures, feature, minute)
        for name, feature in (
            ("gold", "radiant_gold_adv"),
            ("xp", "radiant_xp_adv"),
            ("kills", "kills"),
        )
    }
    chance = [_point(minute, np.array([float(value.chance(now)[0])]))]
    for step in STEPS:
        chances, _ = chance_after(now, futures, value, step)
        chance.append(_point(minute + step, chances[0]))
    return {**bands, "chance": chance}


def _bands(now: float, futures: Futures, feature: str, minute: int) -> list[dict[str, float]]:
    points = [_point(minute, np.array([now]))]
    for k, step in enumerate(STEPS):
        lasting = ~futures.ended[0, :, k]
        if lasting.sum() >= ENOUGH:
            points.append(_point(minute + step, futures.of(feature)[0, lasting, k]))
    return points


def _point(minute: int, values: Floats) -> dict[str, float]:
    names = ("low_80", "low_50", "middle", "high_50", "high_80")
    bounds = np.quantile(values, (0.1, 0.25, 0.5, 0.75, 0.9)).tolist()
    return {"minute": float(minute), **dict(zip(names, bounds, strict=True))}
