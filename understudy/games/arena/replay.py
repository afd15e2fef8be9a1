"""A recorded match as a replay: everything `viewer/` draws, step by step.

A recording holds views and actions; the shots in the air come from playing those actions again.
Where that does not give the recorded views, the rules have changed since and the replay is refused.
Logs of other origin cannot be played again: they are shown as their players saw it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.arrays import Array
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.data.tables import MATCHES, STEPS, actions_of, check_rules, views_of
from understudy.games.arena.log_replay import frames_of
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.world import World
from understudy.games.arena.viewer import replay_page
from understudy.pipeline.game import Look, Shown

VERSION = 1
# Frame entries taken straight from a body: name, entry, scale.
_SIMPLE = (
    ("x", e.X, 1.0),
    ("y", e.Y, 1.0),
    ("aim_x", e.AIM_X, 1.0),
    ("aim_y", e.AIM_Y, 1.0),
    ("health", e.HEALTH, 1.0),
    ("magazine", e.MAGAZINE, 1.0),
    ("reserve", e.RESERVE, 1.0),
    ("reload", e.RELOAD, r.RELOAD_STEPS),
    ("shield", e.SHIELD, r.SHIELD_STEPS),
    ("dash_cooldown", e.DASH_COOLDOWN, r.DASH_COOLDOWN),
    ("shield_cooldown", e.SHIELD_COOLDOWN, r.SHIELD_COOLDOWN),
    ("hold", e.HOLD, r.HOLD_STEPS),
    ("memory_x", e.SEEN_X, 1.0),
    ("memory_y", e.SEEN_Y, 1.0),
)
_OF_ALL = ("shots", "ready")
"""Entries of a frame that are not a player's."""


def recorded_matches(run: Run) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every match of a run that is recorded step by step: its shard of STEPS, and its outline."""
    for folder in (run.recordings, *sorted(run.results.glob("*/"))):
        for path in sorted(folder.glob(f"{MATCHES.name}-*.parquet")):
            steps = shards.shard_path(folder, STEPS, shards.shard_key(path))
            left = shards.shard_rows(steps, STEPS)
            for row in shards.read_shard(path, MATCHES).to_pylist() if left else ():
                if row["seed"] is not None:  # a shard's first matches are recorded in full, if any
                    left -= 2 * row["steps"]
                if left < 0:
                    break
                yield steps, row


def looks() -> dict[str, Look]:
    """Matches that were recorded step by step."""
    return {"matches": Look("Recorded matches, played again", _shown, match_page)}


def _shown(run: Run) -> Iterator[Shown]:
    for _, row in recorded_matches(run):
        seconds = row["steps"] * r.STEP_SECONDS
        said = f"{_ended(row)}, {seconds:.0f} s, {row['layout']}"
        yield Shown(row["match"], f"{row['player_0']} against {row['player_1']}", said)


def _ended(row: dict[str, Any]) -> str:
    if row["score"] is None:
        return "nobody knows how it ended"
    return _outcome([row["player_0"], row["player_1"]], float(row["score"]), row["ending"])


def match_page(run: Run, match: str) -> str:
    """A page that plays one recorded match."""
    return replay_page(find_replay(run, match), run.title)


def find_replay(run: Run, match: str) -> dict[str, Any]:
    """The replay of one match by its name."""
    some: list[str] = []
    for steps, outline in recorded_matches(run):
        if outline["match"] == match:
            return replay(run, steps, outline)
        if len(some) < 3:
            some.append(outline["match"])
    raise InputError(
        f"{run.folder} has no recording of match '{match}'. It has, for example: "
        f"{', '.join(some) or 'none at all'}"
    )


def replay(run: Run, path: Path, outline: dict[str, Any]) -> dict[str, Any]:
    """A recorded match with everything there is to see of it.

    It is played again; one from a log of other origin cannot be, and is shown as it was seen.
    """
    steps = shards.read_shard(path, STEPS)
    check_rules(steps)
    steps = steps.filter(pc.equal(steps["match"], outline["match"]))
    names = [outline["player_0"], outline["player_1"]]
    score = float(outline["score"] or 0)
    found = _seen(steps) if outline["seed"] is None else _played_again(run, names, outline, steps)
    return {
        "schema": "understudy.arena.replay",
        "version": VERSION,
        "match": outline["match"],
        "seed": outline["seed"],
        "players": names,
        "outcome": _ended(outline),
        "score": [score, -score],
        **measures(),
        "heads": codec.HEADS,
        **found,
    }


def measures() -> dict[str, Any]:
    """The arena's own numbers that a picture of it needs."""
    return {
        "seconds_per_step": r.STEP_SECONDS,
        "half_floor": r.HALF_FLOOR,
        "sight": r.SIGHT,
        "radius": r.RADIUS,
        "max": {"health": r.HEALTH, "magazine": r.MAGAZINE, "reserve": r.RESERVE},
        "stations": [
            {"kind": "health" if s < r.AMMO_STATION else "ammo", "x": x, "y": y}
            for s, (x, y) in enumerate(r.STATIONS.tolist())
        ],
    }


def cover_of(world: World) -> list[list[float]]:
    """The boxes on the floor of the first match, each by its borders."""
    boxes = r.COVER[int(world.layout[0])].T
    return [[x - a, y - b, x + a, y + b] for x, y, a, b in boxes.tolist()]


def frame_of(world: World) -> dict[str, Any]:
    """What there is to see of the first match now: by name, for both players in order."""
    body = world.body[0]
    frame = {name: np.round(body[:, k] / scale, 3).tolist() for name, k, scale in _SIMPLE}
    frame["health"] = [max(left, 0.0) for left in frame["health"]]
    happened = [int(bits) for bits in world.events[0]]
    return frame | {
        "sees": (body[:, e.AGE] == 0).tolist(),
        "events": [[n for k, n in enumerate(r.EVENTS) if bits >> k & 1] for bits in happened],
        "shots": _shots(world),
        "ready": (world.stations[0] <= 0).tolist(),
    }


def _seen(steps: pa.Table) -> dict[str, Any]:
    """A match of a log: cover and shots are not in it."""
    frames, actions = frames_of(steps)
    nobody = [None, None]
    return {
        "cover": [], "frames": frames, "actions": actions, "policy": nobody, "value": nobody
    }  # fmt: skip


def _played_again(
    run: Run, names: list[str], outline: dict[str, Any], steps: pa.Table
) -> dict[str, Any]:
    actions = actions_of(steps).reshape(-1, 2, len(r.ACTION))
    views = views_of(steps).reshape(-1, 2, len(v.VIEW))
    world, frames = _play_again(outline, actions, views)
    seed = int(outline["seed"])
    thoughts = (_thoughts(run, name, views[:, k], seed, k) for k, name in enumerate(names))
    policy, value = zip(*thoughts, strict=True)
    choices = codec.encode(actions)
    return {
        "cover": cover_of(world),
        "frames": frames,
        "actions": {head: choices[:, :, k].T.tolist() for k, head in enumerate(codec.HEADS)},
        "policy": list(policy),
        "value": list(value),
    }


def _play_again(
    outline: dict[str, Any], actions: Array, views: Array
) -> tuple[World, dict[str, Any]]:
    """The world after the match, and its frames: one more than there were actions."""
    world = World(1)
    world.reset([outline["seed"]])
    frames = [frame_of(world)]
    for t, action in enumerate(actions):
        if not np.array_equal(world.view[0], views[t]):
            raise InputError(
                f"match '{outline['match']}' does not play again as recorded: the rules have "
                "changed since. Record anew: understudy record arena --fresh"
            )
        world.step(action[None])
        frames.append(frame_of(world))
    of_both = [name for name in frames[0] if name not in _OF_ALL]
    told: dict[str, Any] = {
        name: [[frame[name][player] for frame in frames] for player in range(2)] for name in of_both
    }
    return world, told | {name: [frame[name] for frame in frames] for name in _OF_ALL}


def _shots(world: World) -> list[list[float]]:
    return [
        [round(float(shot[e.SHOT_X]), 3), round(float(shot[e.SHOT_Y]), 3), owner]
        for owner in range(2)
        for shot in world.shots[0, owner]
        if shot[e.LIFE] > 0
    ]


def _outcome(names: list[str], score: float, ending: str) -> str:
    if score == 0:
        return f"draw ({ending})"
    return f"{names[0] if score > 0 else names[1]} wins ({ending})"


def _thoughts(
    run: Run, name: str, views: Array, seed: int, slot: int
) -> tuple[dict[str, list[list[float]]] | None, list[float] | None]:
    """A trained player's distribution over options and its value at each step; None for a bot."""
    folder = run.model(name)
    if not folder.is_dir():
        return None, None
    from understudy.games.arena.play.policy import ArenaPolicy

    shown = np.ascontiguousarray(views)
    heads, value = ArenaPolicy.load(folder).distribution(shown, seed, slot)
    rounded = {head: np.round(p.astype(np.float64), 3).tolist() for head, p in heads.items()}
    return rounded, np.round(value.astype(np.float64), 3).tolist()
