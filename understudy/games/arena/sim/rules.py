"""The arena's numbers: sizes, speeds, times, the layouts of cover, and what an action is.

Lengths are metres, times are steps of a tenth of a second unless said; (0, 0) is the centre.
Everything on the floor looks the same from both ends: turn it by 180 degrees and nothing changes.
Cover and body sizes are multiples of 1/4, so that touching a wall is exact in floating point.
"""

from typing import Final

import numpy as np

# Of the rules and of what players see; in recordings, and the version of samples. 1 had no clock.
VERSION: Final = 2

STEP_SECONDS: Final = 0.1
MAX_STEPS: Final = 600
HALF_FLOOR: Final = 10.0
SIGHT: Final = 12.0  # the floor's diagonal is 28, so nobody sees everything

RADIUS: Final = 0.5
SPEED: Final = 5.0  # metres a second
ACCELERATION: Final = 2.5  # metres a second, per step
DASH_SPEED: Final = 12.0
DASH_STEPS: Final = 2
DASH_COOLDOWN: Final = 50
SHIELD_STEPS: Final = 8
SHIELD_COOLDOWN: Final = 100

HEALTH: Final = 100
DAMAGE: Final = 25
MAGAZINE: Final = 8
RESERVE: Final = 32
FIRE_COOLDOWN: Final = 3
RELOAD_STEPS: Final = 15
SHOT_SPEED: Final = 22.0
SHOT_RADIUS: Final = 0.1
SHOT_STEPS: Final = 14
MAX_SHOTS: Final = 5  # in the air per player: SHOT_STEPS / FIRE_COOLDOWN, rounded up

# Loadouts, of the variant that has them (`loadouts/`): the shots of each hurt the one named before
# it more, in a circle, so that three of them kill rather than four: who is first of two equals to
# land three before the other lands four wins 65.6 % of the time.
LOADOUTS: Final = ("steel", "flame", "frost")
STRONG_DAMAGE: Final = 34

REACH: Final = 1.25  # from a station
HOLD_STEPS: Final = 10
HEALTH_PACK: Final = 40
AMMO_PACK: Final = 24
STATION_COOLDOWN: Final = 200
HEALTH_STATION, AMMO_STATION = 0, 2  # first index of each kind
# (x, y): two of health, then two of ammo; even ones are player 0's own.
STATIONS: Final = np.array([(-7.0, 7.0), (7.0, -7.0), (-7.0, -7.0), (7.0, 7.0)])

STATION_EDGE: Final = float(np.abs(STATIONS).min()) - REACH  # no station reaches further in

THREAT_WIDTH: Final = 1.5  # a shot that will pass this near is a threat
THREAT_STEPS: Final = 8.0  # ... when it is this close in time

SPAWN_X: Final = 8.0
SPAWN_Y: Final = 3.0  # y is drawn from -3 to 3

EVENTS: Final = (
    *("fired", "hit", "hurt", "blocked", "reloaded"),
    *("dashed", "shielded", "healed", "supplied", "killed"),
)
FIRED, HIT, HURT, BLOCKED, RELOADED, DASHED, SHIELDED, HEALED, SUPPLIED, KILLED = (
    1 << bit for bit in range(len(EVENTS))
)
RUNNING, TERMINATED, TRUNCATED = 0, 1, 2

# An action as the rules take it, in the player's own frame.
ACTION = ("move_x", "move_y", "aim_x", "aim_y", "fire", "interact", "ability")
MOVE_X, MOVE_Y, AIM_X, AIM_Y, FIRE, INTERACT, ABILITY = range(len(ACTION))
DASH, SHIELD = 1, 2  # values of ability; 0 is none


def _mirrored(*half: tuple[float, float, float, float]) -> list[tuple[float, float, float, float]]:
    """Boxes (centre x, centre y, half width, half height), each with its counterpart."""
    return [box for x, y, w, h in half for box in ((x, y, w, h), (-x, -y, w, h))]


LAYOUT_NAMES: Final = ("pillars", "gates", "lanes", "ring", "steps", "court")
_LAYOUTS = (
    _mirrored((-4, 3.5, 1, 1), (-3, -4, 1, 1)),
    _mirrored((-3, -3, 0.5, 1.5), (-3, 3.5, 0.5, 1.5)),
    _mirrored((-3.5, 3, 1.5, 0.5), (3.5, 3, 1.5, 0.5)),
    _mirrored((-4.5, 0, 0.5, 1.5), (0, 4.5, 1.5, 0.5)),
    _mirrored((-2.5, 3, 1.5, 0.5), (-4.5, -2.5, 0.5, 1.5)),
    _mirrored((-0.5, 0, 0.5, 1.5), (-2, 5.5, 1.25, 0.75)),
)
NUM_LAYOUTS: Final = len(_LAYOUTS)
NUM_COVER: Final = 4  # boxes; the same on every layout, which keeps the kernel's loops fixed
# By layout, then centre x, centre y, half width, half height, then box.
COVER: Final = np.array(_LAYOUTS, np.float64).transpose(0, 2, 1).copy()
# How far a body's centre stays from a box's: half width, half height, each with the body's radius.
ROOM: Final = (COVER[:, 2:] + RADIUS).copy()
assert COVER.shape == (NUM_LAYOUTS, 4, NUM_COVER)
