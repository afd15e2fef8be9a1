"""A match from above as an RGB picture, in plain numpy: what `render` gives."""

from typing import Any

import numpy as np

from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World

PIXELS = 24  # per metre
SIZE = round(2 * r.HALF_FLOOR * PIXELS)
FLOOR, WALL, ASLEEP = (236, 236, 232), (90, 96, 104), (200, 200, 196)
HEALTH, AMMO = (70, 170, 90), (200, 160, 40)
TEAMS = ((40, 110, 220), (230, 110, 30))
DARK, SHIELD = (30, 30, 30), (120, 200, 240)

Picture = np.ndarray[Any, np.dtype[np.uint8]]
Colour = tuple[int, int, int]
_CENTRES = (np.arange(SIZE) + 0.5) / PIXELS - r.HALF_FLOOR
_X, _Y = _CENTRES[None, :], -_CENTRES[:, None]  # y points up


def draw(world: World, match: int) -> Picture:
    """One match of a world, uint8 [height, width, 3]."""
    picture = np.full((SIZE, SIZE, 3), FLOOR, np.uint8)
    for x, y, half_width, half_height in r.COVER[world.layout[match]].T:
        picture[(abs(_X - x) <= half_width) & (abs(_Y - y) <= half_height)] = WALL
    stations, bodies, shots = world.stations[match], world.body[match], world.shots[match]
    for s, (x, y) in enumerate(r.STATIONS):
        awake = HEALTH if s < r.AMMO_STATION else AMMO
        _disc(picture, x, y, 0.6, awake if stations[s] <= 0 else ASLEEP)
    for p in range(2):
        body = bodies[p]
        if body[e.SHIELD] > 0:
            _disc(picture, body[e.X], body[e.Y], r.RADIUS + 0.25, SHIELD)
        _disc(picture, body[e.X], body[e.Y], r.RADIUS, TEAMS[p])
        for reach in (0.35, 0.55, 0.75):
            nose = body[e.X] + reach * body[e.AIM_X], body[e.Y] + reach * body[e.AIM_Y]
            _disc(picture, *nose, 0.12, DARK)
        _health_bar(picture, body, TEAMS[p])
        for shot in shots[p]:
            if shot[e.LIFE] > 0:
                _disc(picture, shot[e.SHOT_X], shot[e.SHOT_Y], 0.15, TEAMS[p])
    return picture


def _disc(picture: Picture, x: float, y: float, radius: float, colour: Colour) -> None:
    picture[(_X - x) ** 2 + (_Y - y) ** 2 <= radius**2] = colour


def _health_bar(picture: Picture, body: "np.ndarray[Any, Any]", colour: Colour) -> None:
    """A bar above the body, filled as far as it is healthy."""
    share = max(body[e.HEALTH], 0.0) / r.HEALTH
    beside, above = _X - body[e.X], _Y - body[e.Y] - 0.95
    bar = (abs(beside) <= 0.7) & (abs(above) <= 0.1)
    picture[bar] = DARK
    picture[bar & (beside <= -0.7 + 1.4 * share)] = colour
