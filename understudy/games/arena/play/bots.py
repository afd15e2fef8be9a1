"""Five scripted players of distinct styles. They know their own view and nothing else.

A bot is a function of one view (own frame), so it keeps no memory of its own; its moods come from
`hash_rng`. `act` plays one bot in many matches at once. Every action is made of the codec's levels,
so a recording of a bot loses nothing.
"""

import math
from typing import Any, Final

import numpy as np

from understudy.games.arena.codec.actions import AIM_LEVELS
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.hash_rng import uniform

BOTS: Final = {
    "rusher": "runs at the enemy and fires all the way",
    "kiter": "keeps its distance and strafes",
    "camper": "waits behind cover near home, shield at the ready",
    "collector": "tours the stations and shoots at what it meets",
    "expert": "leads its shots, dodges, hides to reload, heals in time, hunts",
}
_RUSHER, _KITER, _CAMPER, _COLLECTOR, _EXPERT = range(len(BOTS))
_LEVELS = AIM_LEVELS.astype(np.float64)
_HIT = r.RADIUS + r.SHOT_RADIUS
_MOOD_STEPS = 30  # how long a searching bot keeps to one idea
_ROUND = 2.5  # metres from a cover's middle at which one begins to walk round it
_ORBIT = 6.0  # metres from the centre at which a searching bot circles


def act(
    bot: str,
    views: v.View,
    seeds: "np.ndarray[Any, Any]",
    steps: "np.ndarray[Any, Any]",
    slot: int,
) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """What `bot` does in each of these matches: floats [N, 7] as in rules.ACTION."""
    out = np.zeros((len(views), len(r.ACTION)), np.float32)
    _act(list(BOTS).index(bot), views, seeds, steps, slot, out)
    return out


@kernel
def _act(bot, views, seeds, steps, slot, out):  # type: ignore[no-untyped-def]
    for i in range(len(views)):
        mood = uniform(seeds[i], steps[i] // _MOOD_STEPS, slot, 3)
        if bot == _RUSHER:
            _rush(views, i, mood, out)
        elif bot == _KITER:
            _kite(views, i, mood, out)
        elif bot == _CAMPER:
            _camp(views, i, out)
        elif bot == _COLLECTOR:
            _collect(views, i, mood, out)
        else:
            _excel(views, i, mood, out)


# --- the five styles -----------------------------------------------------------------------------


@kernel
def _rush(views, i, mood, out):  # type: ignore[no-untyped-def]
    _shoot_at(views, i, 0.0, out)
    _hunt(views, i, mood, out)
    far = _distance_to_enemy(views, i) > 5.0
    if far and views[i, v.ENEMY_AGE] == 0 and v.can_dash(views, i):
        out[i, r.ABILITY] = r.DASH


@kernel
def _kite(views, i, mood, out):  # type: ignore[no-untyped-def]
    _shoot_at(views, i, 0.0, out)
    if views[i, v.HEALTH] < 40 and _restock(views, i, 0, out):
        return
    if views[i, v.ENEMY_AGE] > 0:
        _hunt(views, i, mood, out)
        return
    _strafe(views, i, 9.0, out)
    if _distance_to_enemy(views, i) < 4.0 and v.can_dash(views, i):
        out[i, r.ABILITY] = r.DASH


@kernel
def _camp(views, i, out):  # type: ignore[no-untyped-def]
    _shoot_at(views, i, 0.0, out)
    if abs(np.float64(views[i, v.THREAT])) > 0.4 and v.can_shield(views, i):
        out[i, r.ABILITY] = r.SHIELD
        out[i, r.FIRE] = 0.0
    if views[i, v.X] > -2.0:
        _go(views, i, -6.0, 0.0, out)
    else:
        _hide(views, i, out)
    _reload_in_peace(views, i, out)


@kernel
def _collect(views, i, mood, out):  # type: ignore[no-untyped-def]
    _shoot_at(views, i, 0.0, out)
    if views[i, v.HEALTH] < 90 and _restock(views, i, 0, out):
        return
    if views[i, v.RESERVE] < r.RESERVE - 4 and _restock(views, i, 2, out):
        return
    _hunt(views, i, mood, out)


@kernel
def _excel(views, i, mood, out):  # type: ignore[no-untyped-def]
    _shoot_at(views, i, 1.0, out)
    threat = views[i, v.THREAT]
    rounds = views[i, v.MAGAZINE] + views[i, v.RESERVE]
    visible = views[i, v.ENEMY_AGE] == 0
    if views[i, v.HEALTH] < 45 and _restock(views, i, 0, out):
        _parry(views, i, out)
        return
    if rounds < 8 and _restock(views, i, 2, out):
        _parry(views, i, out)
        return
    if abs(threat) > 0.25:
        _dodge(views, i, out)
        _parry(views, i, out)
    elif visible and (views[i, v.RELOAD] > 3 or rounds == 0):
        _hide(views, i, out)
    elif visible:
        _strafe(views, i, 5.5, out)
    else:
        _hunt(views, i, mood, out)
        _reload_in_peace(views, i, out)


# --- what they are made of -----------------------------------------------------------------------


@kernel
def _distance_to_enemy(views, i):  # type: ignore[no-untyped-def]
    x = np.float64(views[i, v.ENEMY_X]) - np.float64(views[i, v.X])
    y = np.float64(views[i, v.ENEMY_Y]) - np.float64(views[i, v.Y])
    return math.sqrt(x * x + y * y)


@kernel
def _shoot_at(views, i, lead, out):  # type: ignore[no-untyped-def]
    """Aim at the enemy, `lead` of the way to where it will be, and fire at what is in sight."""
    x, y = np.float64(views[i, v.X]), np.float64(views[i, v.Y])
    time = lead * _distance_to_enemy(views, i) / r.SHOT_SPEED
    to_x = np.float64(views[i, v.ENEMY_X]) + np.float64(views[i, v.ENEMY_VX]) * time - x
    to_y = np.float64(views[i, v.ENEMY_Y]) + np.float64(views[i, v.ENEMY_VY]) * time - y
    longest = max(abs(to_x), abs(to_y), 1e-9)
    aim_x, aim_y = _level(to_x / longest), _level(to_y / longest)
    out[i, r.AIM_X], out[i, r.AIM_Y] = aim_x, aim_y
    if views[i, v.ENEMY_AGE] > 0 or not v.can_fire(views, i):
        return
    # Those who lead their shots also hold those that the coarse aim would send wide.
    wide = abs(aim_x * to_y - aim_y * to_x) / math.sqrt(aim_x * aim_x + aim_y * aim_y)
    if lead == 0 or wide < _HIT:
        out[i, r.FIRE] = 1.0


@kernel
def _level(value):  # type: ignore[no-untyped-def]
    """The aim level nearest to a number between -1 and 1."""
    best = 0
    for k in range(1, len(_LEVELS)):
        if abs(value - _LEVELS[k]) < abs(value - _LEVELS[best]):
            best = k
    return _LEVELS[best]


@kernel
def _head(i, x, y, out):  # type: ignore[no-untyped-def]
    """Move at full speed in that one of eight directions that is nearest to (x, y)."""
    steep = max(0.41421356 * max(abs(x), abs(y)), 1e-9)  # the tangent of 22.5 degrees
    out[i, r.MOVE_X] = 0.0 if abs(x) < steep else math.copysign(1.0, x)
    out[i, r.MOVE_Y] = 0.0 if abs(y) < steep else math.copysign(1.0, y)


@kernel
def _go(views, i, to_x, to_y, out):  # type: ignore[no-untyped-def]
    """Walk to a place, around the nearest cover where that stands in the way."""
    x, y = to_x - np.float64(views[i, v.X]), to_y - np.float64(views[i, v.Y])
    cover_x, cover_y = np.float64(views[i, v.COVER_X]), np.float64(views[i, v.COVER_Y])
    away = math.hypot(cover_x, cover_y)
    distance = math.hypot(x, y)
    ahead = (x * cover_x + y * cover_y) / max(distance * away, 1e-9)
    if away < min(_ROUND, distance) and ahead > 0.6:
        turn = 1.0 if cover_x * y - cover_y * x >= 0 else -1.0
        x, y = -turn * cover_y, turn * cover_x
    _head(i, x, y, out)


@kernel
def _hunt(views, i, mood, out):  # type: ignore[no-untyped-def]
    """Go where the enemy was last seen, by a bend; once that is stale, circle the floor."""
    x, y = np.float64(views[i, v.X]), np.float64(views[i, v.Y])
    distance = _distance_to_enemy(views, i)
    if views[i, v.ENEMY_AGE] == 0 or (views[i, v.ENEMY_AGE] < 60 and distance > 1.5):
        to_x, to_y = np.float64(views[i, v.ENEMY_X]), np.float64(views[i, v.ENEMY_Y])
        bend = 0.0 if views[i, v.ENEMY_AGE] == 0 else 0.6 * (mood - 0.5)
        aside_x, aside_y = bend * (to_y - y), bend * (x - to_x)
        _go(views, i, to_x + aside_x, to_y + aside_y, out)
        return
    angle = math.atan2(y, x) + (0.9 if mood < 0.5 else -0.9)
    _go(views, i, _ORBIT * math.cos(angle), _ORBIT * math.sin(angle), out)


@kernel
def _strafe(views, i, wished, out):  # type: ignore[no-untyped-def]
    """Move across the line of fire, keeping the wished distance."""
    x, y = np.float64(views[i, v.X]), np.float64(views[i, v.Y])
    distance = max(_distance_to_enemy(views, i), 1e-6)
    to_x = (np.float64(views[i, v.ENEMY_X]) - x) / distance
    to_y = (np.float64(views[i, v.ENEMY_Y]) - y) / distance
    across = np.float64(views[i, v.VY]) * to_x - np.float64(views[i, v.VX]) * to_y
    if abs(across) < 0.5:  # stopped by something: turn towards the middle of the floor
        across = x * to_y - y * to_x
    turn = 1.0 if across >= 0 else -1.0
    nearer = min(max((distance - wished) * 0.5, -1.0), 1.0)
    _head(i, nearer * to_x - turn * to_y, nearer * to_y + turn * to_x, out)


@kernel
def _dodge(views, i, out):  # type: ignore[no-untyped-def]
    """Step off the path of the shot, to the side we already stand on; dash when it is close."""
    x, y = np.float64(views[i, v.X]), np.float64(views[i, v.Y])
    to_x, to_y = np.float64(views[i, v.ENEMY_X]) - x, np.float64(views[i, v.ENEMY_Y]) - y
    turn = 1.0 if views[i, v.THREAT] > 0 else -1.0
    _head(i, turn * to_y, -turn * to_x, out)
    if abs(views[i, v.THREAT]) > 0.5 and v.can_dash(views, i):
        out[i, r.ABILITY] = r.DASH


@kernel
def _parry(views, i, out):  # type: ignore[no-untyped-def]
    """Raise the shield against a shot that can no longer be dodged."""
    threat = abs(np.float64(views[i, v.THREAT]))
    if threat > 0.7 and out[i, r.ABILITY] == 0 and v.can_shield(views, i):
        out[i, r.ABILITY] = r.SHIELD
        out[i, r.FIRE] = 0.0


@kernel
def _hide(views, i, out):  # type: ignore[no-untyped-def]
    """Put the nearest cover between us and the enemy."""
    middle_x = np.float64(views[i, v.X]) + np.float64(views[i, v.COVER_X])
    middle_y = np.float64(views[i, v.Y]) + np.float64(views[i, v.COVER_Y])
    from_x = middle_x - np.float64(views[i, v.ENEMY_X])
    from_y = middle_y - np.float64(views[i, v.ENEMY_Y])
    away = max(math.hypot(from_x, from_y), 1e-6)
    to_x, to_y = middle_x + 2.0 * from_x / away, middle_y + 2.0 * from_y / away
    if math.hypot(to_x - np.float64(views[i, v.X]), to_y - np.float64(views[i, v.Y])) > 0.4:
        _go(views, i, to_x, to_y, out)


@kernel
def _restock(views, i, kind, out):  # type: ignore[no-untyped-def]
    """Go to the nearer ready station (kind 0 health, 2 ammo), hold it; False if none is ready."""
    found, nearest = -1, 1e9
    for which in range(2):
        s = kind + which  # in our own frame, station `kind` is ours and the next one theirs
        if views[i, v.HEALTH_OURS + s] == 0:
            continue
        away = math.hypot(
            r.STATIONS[s, 0] - np.float64(views[i, v.X]),
            r.STATIONS[s, 1] - np.float64(views[i, v.Y]),
        )
        if away < nearest:
            found, nearest = s, away
    if found < 0:
        return False
    if nearest > 0.7 * r.REACH:
        _go(views, i, r.STATIONS[found, 0], r.STATIONS[found, 1], out)
    if views[i, v.IN_REACH] > 0:
        out[i, r.INTERACT] = 1.0
    return True


@kernel
def _reload_in_peace(views, i, out):  # type: ignore[no-untyped-def]
    """Fill up the magazine while nobody is in sight."""
    low = views[i, v.MAGAZINE] <= r.MAGAZINE / 2
    if low and views[i, v.ENEMY_AGE] > 2 and views[i, v.IN_REACH] == 0 and v.can_reload(views, i):
        out[i, r.INTERACT] = 1.0
