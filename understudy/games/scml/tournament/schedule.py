"""Tournaments cut into tasks for workers; one that grows keeps the tasks it had."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from understudy.data.manifests import PARTS, Size, cuts
from understudy.data.runs import RECORD
from understudy.games.scml.tournament.design import MOST_CONFIGS, Tournament, WorldPlan, plan
from understudy.games.scml.tournament.isolation import is_foreign
from understudy.names import joined
from understudy.pipeline.game import Schedule

WORLDS_PER_TASK = 1, 6
"""Fewest and most: every task leaves a file of each table."""
BATCH_PER_TASK = 16, 64
"""In the compiled simulator, where a world takes milliseconds; learnt players decide in 16 worlds
at once in two fifths of the time that one world after the other takes."""
TASKS_AT_THE_END = 64
"""What is left of a tournament is cut into at least so many, so that tens of workers end alike."""


def schedule(
    tournament: Tournament,
    *,
    purpose: int,
    watched: frozenset[str] | None = None,
    keep: int | None,
    trace: Path | None = None,
    parts: Sequence[int] = (),
    isolate: bool = False,
) -> Schedule:
    """The tasks of a tournament; `keep` worlds spread over it are recorded in full, None: all.

    With `isolate`, a world with agents that somebody brought is played in a process of its own.
    `parts` are numbers of configurations at which it is cut, because it has grown (`manifests.py`).
    """
    worlds = plan(tournament, purpose=purpose)
    every = max(1, -(-len(worlds) // keep)) if keep else 1
    worlds = [
        replace(
            world,
            watched=watched,
            recorded=keep is None or (keep > 0 and index % every == 0),
            trace=trace,
            isolated=isolate and is_foreign(world),
        )
        for index, world in enumerate(worlds)
    ]
    fixtures = _tasks_by_part(worlds, tournament, purpose, parts)
    learnt_from = sorted(watched or {ref.name for ref in tournament.competitors})
    return Schedule(
        name=_name(tournament, len(worlds)),
        settings=tournament.settings()
        | {
            **({"players": learnt_from} if purpose == RECORD else {}),
            "watched": sorted(watched) if watched else None,
            "trace": trace is not None or None,
            "tasks": len(fixtures),  # what was cut otherwise cannot be gone on with
            **({PARTS: list(parts)} if parts else {}),
        },
        matches=len(worlds),
        fixtures=fixtures,
        # With so many worlds in all, each configuration would get another number of them.
        growing=() if tournament.target_worlds is not None else ("configs", "tasks", PARTS),
    )


def _name(tournament: Tournament, worlds: int) -> str:
    """Another where others compete, or elsewhere: results do not get into each other's way."""
    usual = ("std", "engine")
    unusual = [name for name in (tournament.track, tournament.simulator) if name not in usual]
    competitors = [ref.name for ref in tournament.competitors]
    return joined([tournament.field, *unusual, *competitors, worlds, tournament.seed])


def _tasks_by_part(
    worlds: Sequence[WorldPlan], tournament: Tournament, purpose: int, parts: Sequence[int]
) -> dict[str, tuple[WorldPlan, ...]]:
    """The tasks of each part, as they were when it was the last; keys go on from part to part."""
    found = dict[str, tuple[WorldPlan, ...]]()
    first = (2 * tournament.seed + purpose) * MOST_CONFIGS
    for begin, end in cuts(Size(tournament.configs, tuple(parts))):
        chosen = [world for world in worlds if begin <= world.seed - first < end]
        cut = tasks(chosen)
        found |= {f"{len(found) + int(key):05d}": plans for key, plans in cut.items()}
    return found


def tasks(worlds: Sequence[WorldPlan]) -> dict[str, tuple[WorldPlan, ...]]:
    """The worlds cut into tasks, by key, in the order to begin them: the longest first.

    Keys follow the plan, and so does what is read back, however it was cut and whoever was first.
    The cut does not ask how many workers there are: others may go on with it.
    """
    cut: dict[str, tuple[WorldPlan, ...]] = {}
    begun = 0
    while begun < len(worlds):
        left = len(worlds) - begun
        compiled = worlds[begun].simulator == "batch"
        fewest, most = BATCH_PER_TASK if compiled else WORLDS_PER_TASK
        size = min(most, max(fewest, left // TASKS_AT_THE_END))
        cut[f"{len(cut):05d}"] = tuple(worlds[begun : begun + size])
        begun += size
    return dict(sorted(cut.items(), key=lambda task: -sum(map(negotiations, task[1]))))


def negotiations(world: WorldPlan) -> int:
    """How many a world has at most, which is about how long it takes."""
    sizes = world.factories_per_level
    return world.steps * sum(a * b for a, b in pairwise(sizes))
