"""The rules of the arena: N matches side by side in arrays, stepped by one compiled kernel.

`World.step` takes both players' actions and brings every running match forward by a tenth of a
second. A match's course depends only on its seed and its actions, never on its slot or on N. The
two players are treated alike in every line: swap them and turn the floor, and the numbers are equal
to the last bit. Positions are kept in the floor's frame; actions and views are in the player's own.

A match is one row of numbers, `m`; `me`, `enemy` and `shot` are offsets into it: `m[me + HEALTH]`
is our health. The kernel is serial and releases the GIL; run processes to use more cores. With
NUMBA_DISABLE_JIT=1 the same source runs as plain Python.
"""

import math
from typing import Any, Literal

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.geometry import (
    blocked,
    is_near_cover,
    meeting,
    nearest_cover,
    slide,
)
from understudy.games.arena.sim.hash_rng import uniform

Views = np.ndarray[Any, np.dtype[np.float32]]

# Entries of a body, the first 14 as in state.VIEW. Aim and dash direction are unit vectors; SEEN is
# where the enemy was last seen; FIRE_COOLDOWN to DASH count down by themselves.
X, Y, VX, VY, AIM_X, AIM_Y, HEALTH, MAGAZINE, RESERVE, HOLD, RELOAD = range(11)
FIRE_COOLDOWN, DASH_COOLDOWN, SHIELD_COOLDOWN, SHIELD, DASH = range(11, 16)
DASH_X, DASH_Y, SEEN_X, SEEN_Y, SEEN_VX, SEEN_VY, AGE, BODY = range(16, 24)
# Entries of a shot. LIFE counts down; 0 means there is none.
SHOT_X, SHOT_Y, SHOT_VX, SHOT_VY, LIFE, SHOT = range(6)
# A match's row: two bodies, the shots of each, steps until each station is ready (-1: just used).
SHOTS = 2 * BODY
STATIONS = SHOTS + 2 * r.MAX_SHOTS * SHOT
ROW = STATIONS + len(r.STATIONS)
# Entries of a match's clock row. EVENTS are two, one per player, as bits of rules.EVENTS.
SEED, STEP, LAYOUT, STATUS, EVENTS, CLOCK = 0, 1, 2, 3, 4, 6

Timeout = Literal["draw", "health"]


class World:
    """N matches. Read the arrays freely; only `reset` and `step` change them."""

    def __init__(
        self, num_matches: int, *, timeout: Timeout = "draw", shaping: float = 0.0
    ) -> None:
        """Room for that many matches, none of them begun.

        `timeout`: "draw" scores a match that runs out of time 0, "health" by the lead in health.
        `shaping`: reward per full health bar of damage dealt less damage taken; 0 is sparse.
        """
        n = num_matches
        self.num_matches = n
        self.by_health = timeout == "health"
        self.shaping = float(shaping)
        self.row: Floats = np.zeros((n, ROW))
        self.clock: Ints = np.zeros((n, CLOCK), np.int64)
        self.view: Views = np.zeros((n, 2, len(v.VIEW)), np.float32)
        self.reward: Views = np.zeros((n, 2), np.float32)
        # The same numbers by name.
        self.body: Floats = self.row[:, :SHOTS].reshape(n, 2, BODY)
        self.shots: Floats = self.row[:, SHOTS:STATIONS].reshape(n, 2, r.MAX_SHOTS, SHOT)
        self.stations: Floats = self.row[:, STATIONS:]
        self.seed, self.steps, self.layout, self.status = self.clock.T[:EVENTS]
        self.events: Ints = self.clock[:, EVENTS:]
        self.status[:] = r.TRUNCATED

    def reset(self, seeds: Any, slots: Any = None) -> None:
        """Begin a match of each seed, in these slots (all by default)."""
        chosen = np.arange(self.num_matches) if slots is None else np.asarray(slots)
        seeds = np.asarray(seeds, np.int64)
        _reset(chosen, seeds, self.row, self.clock, self.view, self.reward)

    def step(self, actions: Views) -> None:
        """Bring every running match forward; `actions` is float32 [N, 2, 7] as in rules.ACTION.

        Illegal parts of an action are ignored. Matches that have ended stay as they are, with
        reward 0.
        """
        _step(actions, self.row, self.clock, self.view, self.reward, self.by_health, self.shaping)


@kernel
def _reset(slots, seeds, rows, clock, view, reward):  # type: ignore[no-untyped-def]
    for k in range(len(slots)):
        i, seed = slots[k], seeds[k]
        m = rows[i]
        m[:] = 0.0
        clock[i, :] = 0
        reward[i, :] = 0.0
        clock[i, SEED] = seed
        clock[i, LAYOUT] = min(int(uniform(seed, 0, 0, 0) * r.NUM_LAYOUTS), r.NUM_LAYOUTS - 1)
        spawn_y = (2.0 * uniform(seed, 0, 0, 1) - 1.0) * r.SPAWN_Y
        for p in range(2):
            me, side = p * BODY, 1.0 - 2.0 * p
            m[me + X], m[me + Y] = -r.SPAWN_X * side, spawn_y * side
            m[me + SEEN_X], m[me + SEEN_Y] = r.SPAWN_X * side, -spawn_y * side
            m[me + AIM_X] = side
            m[me + HEALTH], m[me + MAGAZINE], m[me + RESERVE] = r.HEALTH, r.MAGAZINE, r.RESERVE
        _look(m, clock[i, LAYOUT])
        for p in range(2):
            _write_view(m, p, clock[i, LAYOUT], 0, view[i])


@kernel
def _step(actions, rows, clock, view, reward, by_health, shaping):  # type: ignore[no-untyped-def]
    for i in range(len(actions)):
        reward[i, 0] = reward[i, 1] = 0.0
        if clock[i, STATUS] != r.RUNNING:
            continue
        m, c, known, action = rows[i], clock[i], view[i], actions[i]
        layout = c[LAYOUT]
        c[STEP] += 1
        c[EVENTS] = c[EVENTS + 1] = 0
        # Where both stood, for shots that meet a moving body.
        x0, y0, x1, y1 = m[X], m[Y], m[BODY + X], m[BODY + Y]
        for p in range(2):
            _use_ability(m, c, p, action, known)
            _move(m, p, action, layout)
        hits0 = _fly(m, c, 0, layout, x1, y1)
        hits1 = _fly(m, c, 1, layout, x0, y0)
        for p in range(2):
            _interact(m, c, p, action, known)
        for s in range(STATIONS, ROW):
            m[s] = r.STATION_COOLDOWN if m[s] < 0 else max(m[s] - 1.0, 0.0)
        for p in range(2):
            _fire(m, c, p, action, known)
        m[HEALTH] -= r.DAMAGE * hits1
        m[BODY + HEALTH] -= r.DAMAGE * hits0
        score = _score(m, c, by_health) + shaping * (hits0 - hits1) * r.DAMAGE / r.HEALTH
        reward[i, 0], reward[i, 1] = score, -score
        _look(m, layout)
        for p in range(2):
            _write_view(m, p, layout, c[STEP], known)


@kernel
def _use_ability(m, c, p, action, known):  # type: ignore[no-untyped-def]
    me, side = p * BODY, 1.0 - 2.0 * p
    for timer in range(FIRE_COOLDOWN, DASH + 1):
        m[me + timer] = max(m[me + timer] - 1.0, 0.0)
    aim_x, aim_y = np.float64(action[p, r.AIM_X]), np.float64(action[p, r.AIM_Y])
    length = math.sqrt(aim_x * aim_x + aim_y * aim_y)
    if length > 1e-6:
        scale = side / length
        m[me + AIM_X], m[me + AIM_Y] = aim_x * scale, aim_y * scale
    ability = int(action[p, r.ABILITY])
    if ability == r.DASH and v.can_dash(known, p):
        x, y = np.float64(action[p, r.MOVE_X]), np.float64(action[p, r.MOVE_Y])
        length = math.sqrt(x * x + y * y)
        if length > 1e-6:
            m[me + DASH_X], m[me + DASH_Y] = side * x / length, side * y / length
        else:
            m[me + DASH_X], m[me + DASH_Y] = m[me + AIM_X], m[me + AIM_Y]
        m[me + DASH], m[me + DASH_COOLDOWN] = r.DASH_STEPS, r.DASH_COOLDOWN
        c[EVENTS + p] |= r.DASHED
    elif ability == r.SHIELD and v.can_shield(known, p):
        m[me + SHIELD], m[me + SHIELD_COOLDOWN] = r.SHIELD_STEPS, r.SHIELD_COOLDOWN
        c[EVENTS + p] |= r.SHIELDED


@kernel
def _move(m, p, action, layout):  # type: ignore[no-untyped-def]
    """Accelerate towards the wished velocity, go, and slide along what is in the way."""
    me = p * BODY
    speed_x, speed_y = m[me + VX], m[me + VY]
    if m[me + DASH] > 0:
        speed_x, speed_y = m[me + DASH_X] * r.DASH_SPEED, m[me + DASH_Y] * r.DASH_SPEED
    else:
        x, y = np.float64(action[p, r.MOVE_X]), np.float64(action[p, r.MOVE_Y])
        scale = (1.0 - 2.0 * p) * r.SPEED / max(math.sqrt(x * x + y * y), 1.0)
        change_x, change_y = x * scale - speed_x, y * scale - speed_y
        change = math.sqrt(change_x * change_x + change_y * change_y)
        share = min(r.ACCELERATION / max(change, 1e-9), 1.0)
        speed_x += change_x * share
        speed_y += change_y * share
    x, y = m[me + X], m[me + Y]
    near = is_near_cover(x, y, abs(speed_x), abs(speed_y), layout)
    m[me + X], m[me + VX] = slide(x, speed_x, y, 0, near, layout)
    m[me + Y], m[me + VY] = slide(y, speed_y, m[me + X], 1, near, layout)


@kernel
def _fly(m, c, p, layout, was_x, was_y):  # type: ignore[no-untyped-def]
    """Bring p's shots forward; the number that hurt the enemy, who stood at (was_x, was_y)."""
    enemy = (1 - p) * BODY
    hits = 0
    for s in range(r.MAX_SHOTS):
        shot = SHOTS + (p * r.MAX_SHOTS + s) * SHOT
        if m[shot + LIFE] == 0:
            continue
        x, y = m[shot + SHOT_X], m[shot + SHOT_Y]
        step_x = m[shot + SHOT_VX] * r.STEP_SECONDS
        step_y = m[shot + SHOT_VY] * r.STEP_SECONDS
        gone_x, gone_y = m[enemy + X] - was_x, m[enemy + Y] - was_y
        at = meeting(x - was_x, y - was_y, step_x - gone_x, step_y - gone_y)
        share = min(at, 1.0)
        end_x, end_y = x + step_x * share, y + step_y * share
        if blocked(x, y, end_x, end_y, layout):
            m[shot + LIFE] = 0.0
        elif at <= 1.0:
            m[shot + LIFE] = 0.0
            if m[enemy + SHIELD] > 0:
                c[EVENTS + 1 - p] |= r.BLOCKED
            else:
                hits += 1
        else:
            m[shot + SHOT_X], m[shot + SHOT_Y] = end_x, end_y
            outside = abs(end_x) > r.HALF_FLOOR or abs(end_y) > r.HALF_FLOOR
            m[shot + LIFE] = 0.0 if outside else m[shot + LIFE] - 1.0
    if hits > 0:
        c[EVENTS + p] |= r.HIT
        c[EVENTS + 1 - p] |= r.HURT
    return hits


@kernel
def _interact(m, c, p, action, known):  # type: ignore[no-untyped-def]
    """Hold a station, or reload; and let a reload under way go on."""
    me = p * BODY
    wants = action[p, r.INTERACT] >= 0.5 and v.can_interact(known, p)
    station = _station_in_reach(m, me) if wants else -1
    m[me + HOLD] = m[me + HOLD] + 1.0 if station >= 0 else 0.0
    if m[me + HOLD] >= r.HOLD_STEPS:
        m[me + HOLD] = 0.0
        m[STATIONS + station] = -1.0
        if station < r.AMMO_STATION:
            m[me + HEALTH] = min(m[me + HEALTH] + r.HEALTH_PACK, r.HEALTH)
            c[EVENTS + p] |= r.HEALED
        else:
            m[me + RESERVE] = min(m[me + RESERVE] + r.AMMO_PACK, r.RESERVE)
            c[EVENTS + p] |= r.SUPPLIED
    if m[me + RELOAD] > 0:
        m[me + RELOAD] -= 1.0
        if m[me + RELOAD] == 0:
            filled = min(r.MAGAZINE - m[me + MAGAZINE], m[me + RESERVE])
            m[me + MAGAZINE] += filled
            m[me + RESERVE] -= filled
            c[EVENTS + p] |= r.RELOADED
    elif m[me + RESERVE] > 0:
        asked = wants and station < 0 and v.can_reload(known, p)
        if asked or m[me + MAGAZINE] == 0:
            m[me + RELOAD] = r.RELOAD_STEPS


@kernel
def _station_in_reach(m, me):  # type: ignore[no-untyped-def]
    """The station that `interact` would use here; -1 for none."""
    if min(abs(m[me + X]), abs(m[me + Y])) < r.STATION_EDGE:
        return -1
    for s in range(len(r.STATIONS)):
        x, y = m[me + X] - r.STATIONS[s, 0], m[me + Y] - r.STATIONS[s, 1]
        if m[STATIONS + s] <= 0 and x * x + y * y <= r.REACH * r.REACH:
            healing = s < r.AMMO_STATION
            of_use = m[me + HEALTH] < r.HEALTH if healing else m[me + RESERVE] < r.RESERVE
            return s if of_use else -1
    return -1


@kernel
def _fire(m, c, p, action, known):  # type: ignore[no-untyped-def]
    me = p * BODY
    if action[p, r.FIRE] < 0.5 or not v.can_fire(known, p):
        return
    if m[me + SHIELD] > 0 or m[me + RELOAD] > 0:  # raised or begun in this very step
        return
    for s in range(r.MAX_SHOTS):
        shot = SHOTS + (p * r.MAX_SHOTS + s) * SHOT
        if m[shot + LIFE] == 0:
            m[shot + SHOT_X], m[shot + SHOT_Y] = m[me + X], m[me + Y]
            m[shot + SHOT_VX] = m[me + AIM_X] * r.SHOT_SPEED
            m[shot + SHOT_VY] = m[me + AIM_Y] * r.SHOT_SPEED
            m[shot + LIFE] = r.SHOT_STEPS
            m[me + MAGAZINE] -= 1.0
            m[me + FIRE_COOLDOWN] = r.FIRE_COOLDOWN
            c[EVENTS + p] |= r.FIRED
            return


@kernel
def _score(m, c, by_health):  # type: ignore[no-untyped-def]
    """Player 0's score in this step; also notes who is dead and whether time is up."""
    dead0, dead1 = m[HEALTH] <= 0, m[BODY + HEALTH] <= 0
    if dead0:
        c[EVENTS + 1] |= r.KILLED
    if dead1:
        c[EVENTS] |= r.KILLED
    if dead0 or dead1:
        c[STATUS] = r.TERMINATED
        return (1.0 if dead1 else 0.0) - (1.0 if dead0 else 0.0)
    if c[STEP] >= r.MAX_STEPS:
        c[STATUS] = r.TRUNCATED
        if by_health:
            return (m[HEALTH] - m[BODY + HEALTH]) / r.HEALTH
    return 0.0


@kernel
def _look(m, layout):  # type: ignore[no-untyped-def]
    """Each player's memory of the other: refreshed when in sight, a step older otherwise."""
    x, y = m[BODY + X] - m[X], m[BODY + Y] - m[Y]
    near = x * x + y * y <= r.SIGHT * r.SIGHT
    seen = near and not blocked(m[X], m[Y], m[BODY + X], m[BODY + Y], layout)
    for p in range(2):
        me, enemy = p * BODY, (1 - p) * BODY
        if seen:
            m[me + SEEN_X], m[me + SEEN_Y] = m[enemy + X], m[enemy + Y]
            m[me + SEEN_VX], m[me + SEEN_VY] = m[enemy + VX], m[enemy + VY]
            m[me + AGE] = 0.0
        else:
            m[me + AGE] += 1.0


@kernel
def _write_view(m, p, layout, step, known):  # type: ignore[no-untyped-def]
    """What player p knows now, in its own frame (see state.VIEW)."""
    me, side = p * BODY, 1.0 - 2.0 * p
    for field in range(X, AIM_Y + 1):
        known[p, field] = side * m[me + field] + 0.0  # no -0.0: both sides see the same bits
    known[p, v.HEALTH] = max(m[me + HEALTH], 0.0)
    for field in range(MAGAZINE, SHIELD + 1):
        known[p, field] = m[me + field]
    for field in range(4):
        known[p, v.ENEMY_X + field] = side * m[me + SEEN_X + field] + 0.0
    known[p, v.ENEMY_AGE] = m[me + AGE]
    known[p, v.COVER_X], known[p, v.COVER_Y] = nearest_cover(m[me + X], m[me + Y], p, layout)
    known[p, v.THREAT] = _threat(m, p, layout)
    for kind in range(0, len(r.STATIONS), 2):
        known[p, v.HEALTH_OURS + kind] = 1.0 if m[STATIONS + kind + p] <= 0 else 0.0
        known[p, v.HEALTH_THEIRS + kind] = 1.0 if m[STATIONS + kind + 1 - p] <= 0 else 0.0
    known[p, v.IN_REACH] = 1.0 if _station_in_reach(m, me) >= 0 else 0.0
    known[p, v.TIME_LEFT] = r.MAX_STEPS - step


@kernel
def _threat(m, p, layout):  # type: ignore[no-untyped-def]
    """How soon an enemy shot will pass us, signed by the side of its path we stand on."""
    x, y = m[p * BODY + X], m[p * BODY + Y]
    worst, signed = 0.0, 0.0
    for s in range(r.MAX_SHOTS):
        shot = SHOTS + ((1 - p) * r.MAX_SHOTS + s) * SHOT
        if m[shot + LIFE] == 0:
            continue
        to_x, to_y = x - m[shot + SHOT_X], y - m[shot + SHOT_Y]
        ahead = (to_x * m[shot + SHOT_VX] + to_y * m[shot + SHOT_VY]) / r.SHOT_SPEED
        beside = (m[shot + SHOT_VX] * to_y - m[shot + SHOT_VY] * to_x) / r.SHOT_SPEED
        urgency = 1.0 - ahead / (r.SHOT_SPEED * r.STEP_SECONDS * r.THREAT_STEPS)
        if ahead <= 0 or abs(beside) > r.THREAT_WIDTH or urgency <= worst:
            continue
        if not blocked(m[shot + SHOT_X], m[shot + SHOT_Y], x, y, layout):
            worst = urgency
            signed = urgency if beside >= 0 else -urgency
    return signed
