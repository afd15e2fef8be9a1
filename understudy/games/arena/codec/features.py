"""From a view to what the network reads. Live play and `encode.py` both call this.

Nothing here can tell whether a view came from a running match or from a recording.
"""

from typing import Any, Final

import numpy as np

from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v

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
    out = np.empty((len(views), NUM_FEATURES), np.float32)
    _features(views, out)
    return out


def legal(views: v.View) -> Legal:
    """Views [rows, V] -> which options of all heads the rules allow, [rows, 43]."""
    out = np.ones((len(views), NUM_OPTIONS), np.bool_)
    _legal(views, out)
    return out


@kernel
def _features(views, out):  # type: ignore[no-untyped-def]
    # np.float64, because numba's float() of a float32 stays one: so plain Python gives the same.
    width = 2.0 * r.HALF_FLOOR
    for i in range(len(views)):
        x, y = np.float64(views[i, v.X]), np.float64(views[i, v.Y])
        out[i, 0] = x / r.HALF_FLOOR
        out[i, 1] = y / r.HALF_FLOOR
        out[i, 2] = np.float64(views[i, v.VX]) / r.DASH_SPEED
        out[i, 3] = np.float64(views[i, v.VY]) / r.DASH_SPEED
        out[i, 4] = np.float64(views[i, v.HEALTH]) / r.HEALTH
        if views[i, v.RELOAD] > 0:
            out[i, 5] = -np.float64(views[i, v.RELOAD]) / r.RELOAD_STEPS
        else:
            out[i, 5] = np.float64(views[i, v.MAGAZINE]) / r.MAGAZINE
        out[i, 6] = np.float64(views[i, v.RESERVE]) / r.RESERVE
        out[i, 7] = 1.0 - np.float64(views[i, v.DASH_COOLDOWN]) / r.DASH_COOLDOWN
        if views[i, v.SHIELD] > 0:
            out[i, 8] = np.float64(views[i, v.SHIELD]) / r.SHIELD_STEPS
        else:
            out[i, 8] = -np.float64(views[i, v.SHIELD_COOLDOWN]) / r.SHIELD_COOLDOWN
        out[i, 9] = (np.float64(views[i, v.ENEMY_X]) - x) / width
        out[i, 10] = (np.float64(views[i, v.ENEMY_Y]) - y) / width
        out[i, 11] = np.float64(views[i, v.ENEMY_VX]) / r.DASH_SPEED
        out[i, 12] = np.float64(views[i, v.ENEMY_VY]) / r.DASH_SPEED
        out[i, 13] = 1.0 - min(np.float64(views[i, v.ENEMY_AGE]), MEMORY_STEPS) / MEMORY_STEPS
        out[i, 14] = np.float64(views[i, v.COVER_X]) / width
        out[i, 15] = np.float64(views[i, v.COVER_Y]) / width
        out[i, 16] = views[i, v.THREAT]
        out[i, 17] = (
            np.float64(views[i, v.HEALTH_OURS]) + 2.0 * np.float64(views[i, v.HEALTH_THEIRS])
        ) / 3.0
        out[i, 18] = (
            np.float64(views[i, v.AMMO_OURS]) + 2.0 * np.float64(views[i, v.AMMO_THEIRS])
        ) / 3.0
        out[i, 19] = np.float64(views[i, v.TIME_LEFT]) / r.MAX_STEPS


@kernel
def _legal(views, out):  # type: ignore[no-untyped-def]
    for i in range(len(views)):
        out[i, _FIRE + 1] = v.can_fire(views, i)
        out[i, _ABILITY + r.DASH] = v.can_dash(views, i)
        out[i, _ABILITY + r.SHIELD] = v.can_shield(views, i)
        out[i, _INTERACT + 1] = v.can_interact(views, i)
