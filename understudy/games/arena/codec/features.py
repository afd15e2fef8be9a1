"""From a view to what the network reads. Live play and `encode.py` both call this.

Nothing here can tell whether a view came from a running match or from a recording.
"""

from typing import Any, Final

import numpy as np

from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.lanes import (
    LANES,
    from_lanes,
    load,
    smaller,
    store,
    to_lanes,
    where,
)

FEATURES: Final = {
    "own_x": "own position, -1 our edge to 1 their edge",
    "own_y": "own position, across",
    "own_vx": "own velocity, 1 = dash speed",
    "own_vy": "own velocity, across",
    "own_health": "own health, 1 = full",
    "own_magazine": "rounds ready, 1 = full; while reloading minus the share still to go",
    "own_reserve": "rounds carried besides, 1 = full",
    "own_dash": "1 = dash ready, 0 = just used",
    "own_shield": "share of the shield's time left while up; else minus the share of its cooldown",
    "enemy_dx": "from us to where the enemy was last seen, 1 = the floor's width",
    "enemy_dy": "the same, across",
    "enemy_vx": "its velocity then, 1 = dash speed",
    "enemy_vy": "the same, across",
    "enemy_seen": "1 = in sight, down to 0 after five seconds out of sight",
    "cover_dx": "from us to the middle of the nearest cover, 1 = the floor's width",
    "cover_dy": "the same, across",
    "threat": "nearest shot about to pass us: 1 now to 0 far off, signed by our side of its path",
    "health_ready": "health stations ready: 0 none, 1/3 ours, 2/3 theirs, 1 both",
    "ammo_ready": "ammo stations ready: 0 none, 1/3 ours, 2/3 theirs, 1 both",
    "time_left": "1 when a match begins, 0 when time is up",
}
NUM_FEATURES: Final = len(FEATURES)
NUM_OPTIONS: Final = sum(HEADS.values())
MEMORY_STEPS: Final = 50.0
_FIRE, _ABILITY, _INTERACT = 36, 38, 41  # first option of these heads in `legal`

Features = np.ndarray[Any, np.dtype[np.float32]]
Legal = np.ndarray[Any, np.dtype[np.bool_]]


def features(views: v.View) -> Features:
    """Views [rows, V] -> features [rows, 20], each between -1 and 1."""
    rows, size = len(views), -(-len(views) // LANES) * LANES
    plain = views.flags.c_contiguous and views.dtype == np.float32
    if size > rows or not plain:
        given, views = views, np.zeros((size, len(v.VIEW)), np.float32)
        views[:rows] = given
    seen, told = (np.empty((width, LANES), np.float32) for width in (len(v.VIEW), NUM_FEATURES))
    out = np.empty((size, NUM_FEATURES), np.float32)
    _features(views, seen, told, out)
    return out[:rows]


def legal(views: v.View) -> Legal:
    """Views [rows, V] -> which options of all heads the rules allow, [rows, 43]."""
    out = np.ones((len(views), NUM_OPTIONS), np.bool_)
    _legal(views, out)
    return out


@kernel
def _features(views, seen, told, out):  # type: ignore[no-untyped-def]
    """Eight rows at a time; `seen` and `told` are room for a block of views and of features."""
    for number in range(len(views) // LANES):
        to_lanes(views, number, seen)
        _tell(seen, told)
        from_lanes(told, number, out)


@kernel
def _tell(seen, told):  # type: ignore[no-untyped-def]
    width = 2.0 * r.HALF_FLOOR
    x, y = load(seen, v.X), load(seen, v.Y)
    store(told, 0, x / r.HALF_FLOOR)
    store(told, 1, y / r.HALF_FLOOR)
    store(told, 2, load(seen, v.VX) / r.DASH_SPEED)
    store(told, 3, load(seen, v.VY) / r.DASH_SPEED)
    store(told, 4, load(seen, v.HEALTH) / r.HEALTH)
    reload, magazine = load(seen, v.RELOAD), load(seen, v.MAGAZINE)
    loading = reload > 0.0  # to choose before dividing saves a division
    full = where(loading, r.RELOAD_STEPS, r.MAGAZINE)
    store(told, 5, where(loading, -reload, magazine) / full)
    store(told, 6, load(seen, v.RESERVE) / r.RESERVE)
    store(told, 7, 1.0 - load(seen, v.DASH_COOLDOWN) / r.DASH_COOLDOWN)
    shield, cooldown = load(seen, v.SHIELD), load(seen, v.SHIELD_COOLDOWN)
    full = where(shield > 0.0, r.SHIELD_STEPS, r.SHIELD_COOLDOWN)
    store(told, 8, where(shield > 0.0, shield, -cooldown) / full)
    store(told, 9, (load(seen, v.ENEMY_X) - x) / width)
    store(told, 10, (load(seen, v.ENEMY_Y) - y) / width)
    store(told, 11, load(seen, v.ENEMY_VX) / r.DASH_SPEED)
    store(told, 12, load(seen, v.ENEMY_VY) / r.DASH_SPEED)
    store(told, 13, 1.0 - smaller(load(seen, v.ENEMY_AGE), MEMORY_STEPS) / MEMORY_STEPS)
    store(told, 14, load(seen, v.COVER_X) / width)
    store(told, 15, load(seen, v.COVER_Y) / width)
    store(told, 16, load(seen, v.THREAT))
    store(told, 17, (load(seen, v.HEALTH_OURS) + 2.0 * load(seen, v.HEALTH_THEIRS)) / 3.0)
    store(told, 18, (load(seen, v.AMMO_OURS) + 2.0 * load(seen, v.AMMO_THEIRS)) / 3.0)
    store(told, 19, load(seen, v.TIME_LEFT) / r.MAX_STEPS)


@kernel
def _legal(views, out):  # type: ignore[no-untyped-def]
    for i in range(len(views)):
        out[i, _FIRE + 1] = v.can_fire(views, i)
        out[i, _ABILITY + r.DASH] = v.can_dash(views, i)
        out[i, _ABILITY + r.SHIELD] = v.can_shield(views, i)
        out[i, _INTERACT + 1] = v.can_interact(views, i)
