"""A match from a log of other origin as a replay: what its players saw, step by step.

Where cover and shots were is not in such a log, and often it tells of one player only: the other is
drawn where that one saw it last.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.data.tables import actions_of, views_of
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v

# Frame entries straight from a view: name, entry, scale, and whether half a turn turns its sign.
_OWN = (
    ("x", v.X, 1.0, True),
    ("y", v.Y, 1.0, True),
    ("aim_x", v.FACING_X, 1.0, True),
    ("aim_y", v.FACING_Y, 1.0, True),
    ("health", v.HEALTH, 1.0, False),
    ("magazine", v.MAGAZINE, 1.0, False),
    ("reserve", v.RESERVE, 1.0, False),
    ("reload", v.RELOAD, r.RELOAD_STEPS, False),
    ("shield", v.SHIELD, r.SHIELD_STEPS, False),
    ("dash_cooldown", v.DASH_COOLDOWN, r.DASH_COOLDOWN, False),
    ("shield_cooldown", v.SHIELD_COOLDOWN, r.SHIELD_COOLDOWN, False),
    ("hold", v.HOLD, r.HOLD_STEPS, False),
    ("memory_x", v.ENEMY_X, 1.0, True),
    ("memory_y", v.ENEMY_Y, 1.0, True),
)
_STATIONS = ((v.HEALTH_OURS, v.HEALTH_THEIRS), (v.AMMO_OURS, v.AMMO_THEIRS))


def frames_of(steps: pa.Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """Frames and actions of the rows of one match, each as a replay has them."""
    views, actions = _by_slot(steps)
    known = sorted(views)
    own = {slot: _own(views[slot], slot) for slot in known}
    for slot in (0, 1):
        if slot not in own:
            own[slot] = _as_seen(own[1 - slot], views[1 - slot])
    frames: dict[str, Any] = {
        name: [np.round(own[slot][name], 3).tolist() for slot in (0, 1)] for name, *_ in _OWN
    }
    frames["sees"] = [
        (views[slot][:, v.ENEMY_AGE] == 0).tolist() if slot in views else [False] * len(own[0]["x"])
        for slot in (0, 1)
    ]
    frames["events"] = _events(np.array(frames["health"]))
    frames["shots"] = [[] for _ in own[0]["x"]]
    frames["ready"] = _ready(views[known[0]], known[0])
    choices = {slot: codec.encode(actions[slot]) for slot in known}
    done = {
        head: [choices[slot][:, k].tolist() if slot in choices else [] for slot in (0, 1)]
        for k, head in enumerate(codec.HEADS)
    }
    return frames, done


def _by_slot(steps: pa.Table) -> tuple[dict[int, Array], dict[int, Array]]:
    """Views and actions of each player that the log tells of, a row per step of the match.

    A step that is missing is as the one before.
    """
    step, slot = steps["step"].to_numpy(), steps["slot"].to_numpy()
    views, actions = views_of(steps), actions_of(steps)
    first, last = int(step.min()), min(int(step.max()), int(step.min()) + 10 * r.MAX_STEPS)
    every = np.arange(first, last + 1)
    found: tuple[dict[int, Array], dict[int, Array]] = {}, {}
    for one in (0, 1):
        rows = np.flatnonzero(slot == one)
        if len(rows):
            rows = rows[np.argsort(step[rows], kind="stable")]
            place = np.maximum(np.searchsorted(step[rows], every, side="right") - 1, 0)
            found[0][one], found[1][one] = views[rows[place]], actions[rows[place]]
    return found


def _own(views: Array, slot: int) -> dict[str, Array]:
    side = 1.0 - 2.0 * slot  # player 1 sees the floor turned by half a turn
    return {
        name: np.nan_to_num(views[:, entry].astype(np.float64)) / scale * (side if turns else 1.0)
        for name, entry, scale, turns in _OWN
    }


def _as_seen(other: dict[str, Array], views: Array) -> dict[str, Array]:
    """A player of whom nothing is told but where the other saw it."""
    count = len(views)
    found = {name: np.zeros(count) for name, *_ in _OWN}
    found |= {"x": other["memory_x"], "y": other["memory_y"]}
    away = np.stack([other["x"] - found["x"], other["y"] - found["y"]])
    far = np.maximum(np.hypot(*away), 1e-6)
    found |= {"aim_x": away[0] / far, "aim_y": away[1] / far}
    found |= {"health": np.full(count, float(r.HEALTH)), "magazine": np.full(count, r.MAGAZINE)}
    return found | {"memory_x": other["x"], "memory_y": other["y"]}


def _events(health: Array) -> list[list[list[str]]]:
    """Who was hurt, by falling health; a log has no other events."""
    fell = np.diff(health, axis=1, prepend=health[:, :1]) < 0
    return [
        [["hurt"] * bool(hurt) + ["hit"] * bool(hits) for hurt, hits in zip(*pair, strict=True)]
        for pair in ((fell[0], fell[1]), (fell[1], fell[0]))
    ]


def _ready(views: Array, slot: int) -> list[list[bool]]:
    order = [entry for pair in _STATIONS for entry in (pair[::-1] if slot else pair)]
    return (views[:, order] > 0).tolist()
