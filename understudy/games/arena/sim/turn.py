"""The rules of one step, for eight matches side by side and one player `p` at a time.

`m` is a block of eight matches, `wish` what the players want to do ([7 * p + entry of rules.ACTION,
8]), `notes` what one rule passes to the next. The two players are treated alike in every line.
"""

from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.entries import (
    AIM_X,
    AIM_Y,
    BODY,
    DASH,
    DASH_COOLDOWN,
    DASH_X,
    DASH_Y,
    FIRE_COOLDOWN,
    HAPPENED,
    HEALTH,
    HITS,
    HOLD,
    IN_REACH,
    LIFE,
    LOADOUT,
    MAGAZINE,
    RELOAD,
    RELOADS,
    RESERVE,
    SHIELD,
    SHIELD_COOLDOWN,
    SHOT,
    SHOT_VX,
    SHOT_VY,
    SHOT_X,
    SHOT_Y,
    SHOTS,
    STATIONS,
    VX,
    VY,
    WAS_X,
    WAS_Y,
    X,
    Y,
)
from understudy.games.arena.sim.geometry import blocked, meeting, slide
from understudy.games.arena.sim.lanes import larger, load, root, same, smaller, some, store, where
from understudy.games.arena.sim.sight import station_in_reach

_WISHES = len(r.ACTION)


@kernel
def begin(m, p, wish, notes):  # type: ignore[no-untyped-def]
    """Strike out wishes that the rules forbid, and note how things stand before anybody moves."""
    me, my = p * BODY, p * _WISHES
    magazine, reload = load(m, me + MAGAZINE), load(m, me + RELOAD)
    fires = v.may_fire(magazine, reload, load(m, me + FIRE_COOLDOWN), load(m, me + SHIELD))
    fires = fires & (load(wish, my + r.FIRE) >= 0.5)
    reloads = v.may_reload(magazine, load(m, me + RESERVE), reload)
    interacts = v.may_interact(load(m, me + IN_REACH), reloads)
    interacts = interacts & (load(wish, my + r.INTERACT) >= 0.5)
    ability = load(wish, my + r.ABILITY)  # as a whole number, whatever comes after the point
    dashes = (load(m, me + DASH_COOLDOWN) == 0.0) & (ability >= r.DASH) & (ability < r.DASH + 1)
    shields = (load(m, me + SHIELD_COOLDOWN) == 0.0) & (ability >= r.SHIELD)
    shields = shields & (ability < r.SHIELD + 1)
    store(wish, my + r.FIRE, where(fires, 1.0, 0.0))
    store(wish, my + r.INTERACT, where(interacts, 1.0, 0.0))
    store(wish, my + r.ABILITY, where(dashes, r.DASH, where(shields, r.SHIELD, 0.0)))
    store(notes, RELOADS + p, where(reloads, 1.0, 0.0))
    store(notes, HAPPENED + p, 0.0)
    store(notes, WAS_X + p, load(m, me + X))
    store(notes, WAS_Y + p, load(m, me + Y))


@kernel
def happens(notes, p, mask, event):  # type: ignore[no-untyped-def]
    """Note an event of player p in the lanes of the mask; once a step at most."""
    store(notes, HAPPENED + p, load(notes, HAPPENED + p) + where(mask, event, 0.0))


@kernel
def use_ability(m, p, wish, notes):  # type: ignore[no-untyped-def]
    """Aim; and dash or raise the shield."""
    me, my, side = p * BODY, p * _WISHES, 1.0 - 2.0 * p
    for timer in range(me + FIRE_COOLDOWN, me + DASH + 1):
        store(m, timer, larger(load(m, timer) - 1.0, 0.0))
    aim_x, aim_y = load(wish, my + r.AIM_X), load(wish, my + r.AIM_Y)
    length = root(aim_x * aim_x + aim_y * aim_y)
    aims = length > 1e-6
    scale = side / where(aims, length, 1.0)
    store(m, me + AIM_X, where(aims, aim_x * scale, load(m, me + AIM_X)))
    store(m, me + AIM_Y, where(aims, aim_y * scale, load(m, me + AIM_Y)))
    ability = load(wish, my + r.ABILITY)
    if some(ability > 0.0):
        dashes, shields = ability == r.DASH, ability == r.SHIELD
        _dash(m, me, dashes, side * load(wish, my + r.MOVE_X), side * load(wish, my + r.MOVE_Y))
        store(m, me + SHIELD, where(shields, r.SHIELD_STEPS, load(m, me + SHIELD)))
        cooldown = load(m, me + SHIELD_COOLDOWN)
        store(m, me + SHIELD_COOLDOWN, where(shields, r.SHIELD_COOLDOWN, cooldown))
        happens(notes, p, dashes, r.DASHED)
        happens(notes, p, shields, r.SHIELDED)


@kernel
def _dash(m, me, dashes, x, y):  # type: ignore[no-untyped-def]
    """Begin a dash along (x, y), or where one aims if that is nowhere."""
    length = root(x * x + y * y)
    moves = length > 1e-6
    length = where(moves, length, 1.0)
    dash_x = where(moves, x / length, load(m, me + AIM_X))
    dash_y = where(moves, y / length, load(m, me + AIM_Y))
    store(m, me + DASH_X, where(dashes, dash_x, load(m, me + DASH_X)))
    store(m, me + DASH_Y, where(dashes, dash_y, load(m, me + DASH_Y)))
    store(m, me + DASH, where(dashes, r.DASH_STEPS, load(m, me + DASH)))
    cooldown = load(m, me + DASH_COOLDOWN)
    store(m, me + DASH_COOLDOWN, where(dashes, r.DASH_COOLDOWN, cooldown))


@kernel
def move(m, p, wish):  # type: ignore[no-untyped-def]
    """Accelerate towards the wished velocity, go, and slide along what is in the way."""
    me, my = p * BODY, p * _WISHES
    x, y = load(wish, my + r.MOVE_X), load(wish, my + r.MOVE_Y)
    speed_x, speed_y = load(m, me + VX), load(m, me + VY)
    scale = (1.0 - 2.0 * p) * r.SPEED / larger(root(x * x + y * y), 1.0)
    change_x, change_y = x * scale - speed_x, y * scale - speed_y
    change = root(change_x * change_x + change_y * change_y)
    share = smaller(r.ACCELERATION / larger(change, 1e-9), 1.0)
    dashing = load(m, me + DASH) > 0.0
    speed_x = where(dashing, load(m, me + DASH_X) * r.DASH_SPEED, speed_x + change_x * share)
    speed_y = where(dashing, load(m, me + DASH_Y) * r.DASH_SPEED, speed_y + change_y * share)
    x, y = load(m, me + X), load(m, me + Y)
    x, speed_x = slide(m, x, speed_x, y, 0)
    y, speed_y = slide(m, y, speed_y, x, 1)
    store(m, me + X, x)
    store(m, me + VX, speed_x)
    store(m, me + Y, y)
    store(m, me + VY, speed_y)


@kernel
def fly(m, p, notes):  # type: ignore[no-untyped-def]
    """Bring p's shots forward, and note those that hurt the enemy."""
    enemy = (1 - p) * BODY
    shielded = load(m, enemy + SHIELD) > 0.0
    hits, stopped = same(0.0), same(0.0)
    first = SHOTS + p * r.MAX_SHOTS * SHOT
    for shot in range(first, first + r.MAX_SHOTS * SHOT, SHOT):
        alive = load(m, shot + LIFE) != 0.0
        if some(alive):
            met = _fly_one(m, shot, alive, p, notes)
            hits = hits + where(met & ~shielded, 1.0, 0.0)
            stopped = stopped + where(met & shielded, 1.0, 0.0)
    store(notes, HITS + p, hits)
    happens(notes, p, hits > 0.0, r.HIT)
    happens(notes, 1 - p, hits > 0.0, r.HURT)
    happens(notes, 1 - p, stopped > 0.0, r.BLOCKED)


@kernel
def _fly_one(m, shot, alive, p, notes):  # type: ignore[no-untyped-def]
    """Bring one shot forward; where it met the enemy, who moved meanwhile."""
    enemy, was_x, was_y = (1 - p) * BODY, load(notes, WAS_X + 1 - p), load(notes, WAS_Y + 1 - p)
    gone_x, gone_y = load(m, enemy + X) - was_x, load(m, enemy + Y) - was_y
    x, y, life = load(m, shot + SHOT_X), load(m, shot + SHOT_Y), load(m, shot + LIFE)
    step_x = load(m, shot + SHOT_VX) * r.STEP_SECONDS
    step_y = load(m, shot + SHOT_VY) * r.STEP_SECONDS
    at = meeting(x - was_x, y - was_y, step_x - gone_x, step_y - gone_y)
    share = smaller(at, 1.0)
    end_x, end_y = x + step_x * share, y + step_y * share
    free = alive & ~blocked(m, x, y, end_x, end_y)
    met = free & (at <= 1.0)
    flies = free & ~met
    outside = (abs(end_x) > r.HALF_FLOOR) | (abs(end_y) > r.HALF_FLOOR)
    store(m, shot + SHOT_X, where(flies, end_x, x))
    store(m, shot + SHOT_Y, where(flies, end_y, y))
    store(m, shot + LIFE, where(flies & ~outside, life - 1.0, 0.0))
    return met


@kernel
def interact(m, p, wish, notes):  # type: ignore[no-untyped-def]
    """Hold a station, or reload; and let a reload under way go on."""
    me = p * BODY
    wants = load(wish, p * _WISHES + r.INTERACT) > 0.0
    station = same(-1.0)
    if some(wants):
        station = where(wants, station_in_reach(m, me), -1.0)
    hold = where(station >= 0.0, load(m, me + HOLD) + 1.0, 0.0)
    done = hold >= r.HOLD_STEPS
    store(m, me + HOLD, where(done, 0.0, hold))
    if some(done):
        _use_station(m, p, done, station, notes)
    asked = wants & (station < 0.0) & (load(notes, RELOADS + p) > 0.0)
    _reload(m, p, asked, notes)


@kernel
def _use_station(m, p, done, station, notes):  # type: ignore[no-untyped-def]
    me = p * BODY
    for s in range(len(r.STATIONS)):
        store(m, STATIONS + s, where(done & (station == s), -1.0, load(m, STATIONS + s)))
    heals, supplies = done & (station < r.AMMO_STATION), done & (station >= r.AMMO_STATION)
    health, reserve = load(m, me + HEALTH), load(m, me + RESERVE)
    store(m, me + HEALTH, where(heals, smaller(health + r.HEALTH_PACK, r.HEALTH), health))
    store(m, me + RESERVE, where(supplies, smaller(reserve + r.AMMO_PACK, r.RESERVE), reserve))
    happens(notes, p, heals, r.HEALED)
    happens(notes, p, supplies, r.SUPPLIED)


@kernel
def _reload(m, p, asked, notes):  # type: ignore[no-untyped-def]
    me = p * BODY
    magazine, reserve = load(m, me + MAGAZINE), load(m, me + RESERVE)
    reload = load(m, me + RELOAD)
    under_way = reload > 0.0
    starts = ~under_way & (reserve > 0.0) & (asked | (magazine == 0.0))
    ends = reload == 1.0
    filled = where(ends, smaller(r.MAGAZINE - magazine, reserve), 0.0)
    store(m, me + MAGAZINE, magazine + filled)
    store(m, me + RESERVE, reserve - filled)
    going_on = where(under_way, reload - 1.0, reload)
    store(m, me + RELOAD, where(starts, r.RELOAD_STEPS, going_on))
    happens(notes, p, ends, r.RELOADED)


@kernel
def fire(m, p, wish, notes):  # type: ignore[no-untyped-def]
    """Put a shot into the first free place."""
    me = p * BODY
    fires = load(wish, p * _WISHES + r.FIRE) > 0.0
    # The shield may have been raised, or a reload begun, in this very step.
    fires = fires & ~((load(m, me + SHIELD) > 0.0) | (load(m, me + RELOAD) > 0.0))
    if not some(fires):
        return
    waits, first = fires, SHOTS + p * r.MAX_SHOTS * SHOT
    for shot in range(first, first + r.MAX_SHOTS * SHOT, SHOT):
        here = waits & (load(m, shot + LIFE) == 0.0)
        if some(here):
            _shoot(m, me, shot, here)
        waits = waits & ~here
    fired = fires & ~waits
    store(m, me + MAGAZINE, load(m, me + MAGAZINE) - where(fired, 1.0, 0.0))
    store(m, me + FIRE_COOLDOWN, where(fired, r.FIRE_COOLDOWN, load(m, me + FIRE_COOLDOWN)))
    happens(notes, p, fired, r.FIRED)


@kernel
def _shoot(m, me, shot, here):  # type: ignore[no-untyped-def]
    store(m, shot + SHOT_X, where(here, load(m, me + X), load(m, shot + SHOT_X)))
    store(m, shot + SHOT_Y, where(here, load(m, me + Y), load(m, shot + SHOT_Y)))
    speed_x, speed_y = load(m, me + AIM_X) * r.SHOT_SPEED, load(m, me + AIM_Y) * r.SHOT_SPEED
    store(m, shot + SHOT_VX, where(here, speed_x, load(m, shot + SHOT_VX)))
    store(m, shot + SHOT_VY, where(here, speed_y, load(m, shot + SHOT_VY)))
    store(m, shot + LIFE, where(here, r.SHOT_STEPS, load(m, shot + LIFE)))


@kernel
def hurt(m, p, notes):  # type: ignore[no-untyped-def]
    """Take damage; whether that was the end."""
    mine, theirs = load(m, LOADOUT + p), load(m, LOADOUT + 1 - p)
    ahead = theirs - mine  # of the enemy's loadout, round the circle
    strong = (mine > 0.0) & ((ahead == 1.0) | (ahead == 1.0 - len(r.LOADOUTS)))
    damage = where(strong, r.STRONG_DAMAGE, r.DAMAGE)
    health = load(m, p * BODY + HEALTH) - damage * load(notes, HITS + 1 - p)
    store(m, p * BODY + HEALTH, health)
    dead = health <= 0.0
    happens(notes, 1 - p, dead, r.KILLED)
    return dead
