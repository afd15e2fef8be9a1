"""Matches set up by hand, and play that tries everything, for the tests of the arena."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from understudy.games.arena.codec import actions as codec
from understudy.games.arena.kernels import kernel
from understudy.games.arena.play.play import Bot
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import geometry, sight
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import world as w
from understudy.games.arena.sim.lanes import blocks, load, store, where

IDLE = np.zeros(len(r.ACTION), np.float32)
WEST, EAST = {"x": -9.5, "y": -9.5}, {"x": 9.5, "y": 9.5}


def act(move=(0, 0), aim=(0, 0), fire=0, interact=0, ability=0):
    """One player's action."""
    return np.array([*move, *aim, fire, interact, ability], np.float32)


def stage(first=WEST, second=EAST, *, layout="pillars", **settings):
    """A world of one match whose players are as given, by the names of a body's entries.

    Positions are in the floor's frame. Who is not given stands in a corner, far from the other.
    """
    world = w.World(1, **settings)
    world.reset([0])
    world.layout[0] = r.LAYOUT_NAMES.index(layout)
    with by_hand(world) as rows:
        rows.body[..., e.AGE] = 0
    for p, given in enumerate((first, second)):
        put(world, p, **given)
    look(world)
    return world


@contextmanager
def by_hand(world):
    """The numbers of all matches, to be changed; afterwards cover is as the layout says."""
    state = world.state()
    row = state["row"]
    yield SimpleNamespace(
        row=row,
        body=row[:, : e.SHOTS].reshape(-1, 2, e.BODY),
        shots=row[:, e.SHOTS : e.STATIONS].reshape(-1, 2, r.MAX_SHOTS, e.SHOT),
        stations=row[:, e.STATIONS : e.COVER],
    )
    row[:, e.COVER : e.LOADOUT] = r.COVER[world.layout].reshape(world.num_matches, -1)
    world.restore(state)


def put(world, player, match=0, **entries):
    """Change entries of a body by name; `look` makes the views agree."""
    with by_hand(world) as rows:
        for name, value in entries.items():
            rows.body[match, player, getattr(e, name.upper())] = value


def shoot(world, player, x, y, vx, vy):
    """Put a shot of `player` into the air."""
    with by_hand(world) as rows:
        rows.shots[0, player, 0] = x, y, vx, vy, r.SHOT_STEPS


def look(world):
    """Make memories and views agree with what was set up by hand; the age of a memory stays."""
    with by_hand(world) as rows:
        rows.body[..., e.AGE] -= 1
    _look(world.blocks, world._clock, world._known, world._view)


@kernel
def _look(worlds, clock, known, view):
    for b in range(len(worlds)):
        m = worlds[b]
        sight.look(m, load(clock[e.STATUS], b) >= 0.0)
        w._show(m, b, clock, known, view)


def is_blocked(x0, y0, x1, y1, layout):
    """Whether cover stands between two points, as the rules see it."""
    m, ends, found = (blocks(np.float64, size) for size in (e.ROW, 4, 1))
    m[e.COVER : e.LOADOUT] = r.COVER[layout].reshape(-1, 1)
    ends[:] = np.array([x0, y0, x1, y1])[:, None]
    _blocked(m, ends, found)
    return bool(found[0, 0])


@kernel
def _blocked(m, ends, found):
    ends = load(ends, 0), load(ends, 1), load(ends, 2), load(ends, 3)
    store(found, 0, where(geometry.blocked(m, ends[0], ends[1], ends[2], ends[3]), 1.0, 0.0))


def step(world, first=IDLE, second=IDLE):
    """Bring the only match forward; the names of what happened to each player."""
    world.step(np.stack([first, second])[None])
    return [names(bits) for bits in world.events[0]]


def names(bits):
    """Events by name."""
    return {name for bit, name in enumerate(r.EVENTS) if int(bits) >> bit & 1}


def random_actions(rng, *shape):
    """Any option of any head, legal or not."""
    options = list(codec.HEADS.values())
    return codec.decode(rng.integers(0, options, (*shape, len(options))))


def bot_actions(world, *players):
    """Both players' actions in every match; each slot is played by the bot of that name."""
    everywhere = np.arange(world.num_matches)
    acts = [Bot(name).act(world.view[:, p], world, everywhere, p) for p, name in enumerate(players)]
    return np.stack(acts, axis=1)


def scattered(rng, num_matches):
    """Matches in the midst of play: hurt, half empty, waiting for this or that, many at stations.

    Nobody stands in cover: those who would are put where they began.
    """
    world = w.World(num_matches)
    world.reset(rng.integers(2**62, size=num_matches))
    began = world.body[:, :, [e.X, e.Y]].copy()
    near = r.STATIONS[rng.integers(4, size=(num_matches, 2))]
    near = near + rng.normal(0, 0.9, near.shape)
    anywhere = rng.uniform(-9.5, 9.5, near.shape)
    place = np.where(rng.random((num_matches, 2, 1)) < 0.6, near, anywhere).clip(-9.5, 9.5)
    inside = in_cover(world.layout[:, None], place[..., 0], place[..., 1])
    with by_hand(world) as rows:
        rows.body[:, :, [e.X, e.Y]] = np.where(inside[..., None], began, place)
        still = rng.random((num_matches, 2, 1)) < 0.3
        rows.body[:, :, [e.VX, e.VY]] = np.where(still, 0, rng.normal(0, 3, place.shape))
        for entry, most in (
            (e.MAGAZINE, r.MAGAZINE),
            (e.RESERVE, r.RESERVE),
            (e.RELOAD, r.RELOAD_STEPS),
            (e.FIRE_COOLDOWN, r.FIRE_COOLDOWN),
            (e.DASH_COOLDOWN, r.DASH_COOLDOWN),
            (e.SHIELD_COOLDOWN, r.SHIELD_COOLDOWN),
            (e.SHIELD, r.SHIELD_STEPS),
            (e.HOLD, r.HOLD_STEPS - 1),
        ):  # often one of the two borders
            value = rng.integers(0, most, (num_matches, 2), endpoint=True)
            border = rng.choice([0, most], (num_matches, 2))
            rows.body[:, :, entry] = np.where(rng.random((num_matches, 2)) < 0.6, border, value)
        rows.body[:, :, e.HEALTH] = rng.integers(1, 5, (num_matches, 2), endpoint=True) * 20
        rows.stations[:] = np.where(rng.random((num_matches, 4)) < 0.7, 0, 2)
    look(world)
    return world


def in_cover(layout, x, y):
    """Whether a body there overlaps cover, by the definition; touching is not overlapping."""
    cover = r.COVER[layout]
    over_x = abs(np.expand_dims(x, -1) - cover[..., 0, :]) < cover[..., 2, :] + r.RADIUS
    over_y = abs(np.expand_dims(y, -1) - cover[..., 1, :]) < cover[..., 3, :] + r.RADIUS
    return (over_x & over_y).any(axis=-1)
