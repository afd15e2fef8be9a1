"""Who sees whom, and each player's view, for eight matches side by side."""

from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.entries import (
    AGE,
    AIM_Y,
    BODY,
    HEALTH,
    IN_REACH,
    KNOWN,
    LIFE,
    LOADOUT,
    MAGAZINE,
    RESERVE,
    SEEN_X,
    SHIELD,
    SHOT,
    SHOT_VX,
    SHOT_VY,
    SHOT_X,
    SHOT_Y,
    SHOTS,
    STATIONS,
    X,
    Y,
)
from understudy.games.arena.sim.geometry import blocked, nearest_cover
from understudy.games.arena.sim.lanes import larger, load, same, smaller, some, store, where

_FIELDS = len(v.VIEW)


@kernel
def look(m, on):  # type: ignore[no-untyped-def]
    """Each player's memory of the other: refreshed when in sight, a step older otherwise.

    Only in the lanes of the mask `on`; elsewhere memories stay as they are.
    """
    x0, y0, x1, y1 = load(m, X), load(m, Y), load(m, BODY + X), load(m, BODY + Y)
    x, y = x1 - x0, y1 - y0
    near = x * x + y * y <= r.SIGHT * r.SIGHT
    seen = on & near & ~blocked(m, x0, y0, x1, y1)
    for p in range(2):
        me, enemy = p * BODY, (1 - p) * BODY
        for field in range(4):
            now, then = load(m, enemy + X + field), load(m, me + SEEN_X + field)
            store(m, me + SEEN_X + field, where(seen, now, then))
        carried, known = load(m, LOADOUT + 1 - p), load(m, KNOWN + p)
        store(m, KNOWN + p, where(seen, carried, known))
        age = load(m, me + AGE)
        store(m, me + AGE, where(seen, 0.0, where(on, age + 1.0, age)))


@kernel
def write_view(m, p, time_left, known):  # type: ignore[no-untyped-def]
    """What player p knows now, in its own frame, into the rows of state.VIEW in `known`."""
    me, side, my = p * BODY, 1.0 - 2.0 * p, p * _FIELDS
    for field in range(X, AIM_Y + 1):
        store(known, my + field, side * load(m, me + field) + 0.0)  # no -0.0: both see the same
    store(known, my + v.HEALTH, larger(load(m, me + HEALTH), 0.0))
    for field in range(MAGAZINE, SHIELD + 1):
        store(known, my + field, load(m, me + field))
    for field in range(4):
        store(known, my + v.ENEMY_X + field, side * load(m, me + SEEN_X + field) + 0.0)
    store(known, my + v.ENEMY_AGE, load(m, me + AGE))
    cover_x, cover_y = nearest_cover(m, load(m, me + X), load(m, me + Y), p)
    store(known, my + v.COVER_X, cover_x)
    store(known, my + v.COVER_Y, cover_y)
    store(known, my + v.THREAT, _threat(m, p))
    for kind in range(0, len(r.STATIONS), 2):
        ours, theirs = load(m, STATIONS + kind + p), load(m, STATIONS + kind + 1 - p)
        store(known, my + v.HEALTH_OURS + kind, where(ours <= 0.0, 1.0, 0.0))
        store(known, my + v.HEALTH_THEIRS + kind, where(theirs <= 0.0, 1.0, 0.0))
    in_reach = where(station_in_reach(m, me) >= 0.0, 1.0, 0.0)
    store(m, me + IN_REACH, in_reach)
    store(known, my + v.IN_REACH, in_reach)
    store(known, my + v.TIME_LEFT, time_left)


@kernel
def station_in_reach(m, me):  # type: ignore[no-untyped-def]
    """The station that `interact` would use here; -1 for none. No two are in reach at once."""
    x, y = load(m, me + X), load(m, me + Y)
    found = same(-1.0)
    if some(smaller(abs(x), abs(y)) >= r.STATION_EDGE):
        for s in range(len(r.STATIONS)):
            to_x, to_y = x - r.STATIONS[s, 0], y - r.STATIONS[s, 1]
            ready = load(m, STATIONS + s) <= 0.0
            near = to_x * to_x + to_y * to_y <= r.REACH * r.REACH
            own, full = (HEALTH, r.HEALTH) if s < r.AMMO_STATION else (RESERVE, r.RESERVE)
            found = where(ready & near & (load(m, me + own) < full), s, found)
    return found


@kernel
def _threat(m, p):  # type: ignore[no-untyped-def]
    """How soon an enemy shot will pass us, signed by the side of its path we stand on."""
    x, y = load(m, p * BODY + X), load(m, p * BODY + Y)
    worst, signed = same(0.0), same(0.0)
    first = SHOTS + (1 - p) * r.MAX_SHOTS * SHOT
    for shot in range(first, first + r.MAX_SHOTS * SHOT, SHOT):
        alive = load(m, shot + LIFE) != 0.0
        if some(alive):
            from_x, from_y = load(m, shot + SHOT_X), load(m, shot + SHOT_Y)
            speed_x, speed_y = load(m, shot + SHOT_VX), load(m, shot + SHOT_VY)
            to_x, to_y = x - from_x, y - from_y
            ahead = (to_x * speed_x + to_y * speed_y) / r.SHOT_SPEED
            beside = (speed_x * to_y - speed_y * to_x) / r.SHOT_SPEED
            urgency = 1.0 - ahead / (r.SHOT_SPEED * r.STEP_SECONDS * r.THREAT_STEPS)
            passes = alive & (ahead > 0.0) & (abs(beside) <= r.THREAT_WIDTH) & (urgency > worst)
            if some(passes):
                passes = passes & ~blocked(m, from_x, from_y, x, y)
                worst = where(passes, urgency, worst)
                signed = where(passes, where(beside >= 0.0, urgency, -urgency), signed)
    return signed
