"""What one player can know at one step: its view. Built live by the world, or from a recording.

A view is a row of float32, one entry per field of VIEW, in the player's own frame: player 1 sees
the floor turned by 180 degrees, so both believe they began in the west. Bots, policies, masks and
recordings all read views and nothing else.
"""

from typing import Any, Final

import numpy as np

from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim.rules import MAGAZINE as MAGAZINE_SIZE

VIEW: Final = {
    "x": "own position, metres from the centre",
    "y": "own position, metres from the centre",
    "vx": "own velocity, metres a second",
    "vy": "own velocity, metres a second",
    "facing_x": "own aim, a unit vector",
    "facing_y": "own aim, a unit vector",
    "health": "own health, 0 to 100",
    "magazine": "rounds ready to fire",
    "reserve": "rounds carried besides",
    "hold": "steps `interact` has been held at a station",
    "reload": "steps until the reload is done, 0 when not reloading",
    "fire_cooldown": "steps until the next shot is possible",
    "dash_cooldown": "steps until the next dash is possible",
    "shield_cooldown": "steps until the next shield is possible",
    "shield": "steps the shield stays up, 0 when down",
    "enemy_x": "where the enemy was last seen",
    "enemy_y": "where the enemy was last seen",
    "enemy_vx": "its velocity then",
    "enemy_vy": "its velocity then",
    "enemy_age": "steps since then; 0 while in sight",
    "cover_x": "from here to the middle of the nearest cover",
    "cover_y": "from here to the middle of the nearest cover",
    "threat": "nearest shot about to pass: 1 now to 0 far off, signed by the side we stand on",
    "health_ours": "1 when the health station on our side is ready",
    "health_theirs": "1 when the health station on their side is ready",
    "ammo_ours": "1 when the ammo station on our side is ready",
    "ammo_theirs": "1 when the ammo station on their side is ready",
    "in_reach": "1 when a station that is ready and of use is in reach",
    "time_left": "steps until time is up; whoever lives then has drawn",
}
(
    X,
    Y,
    VX,
    VY,
    FACING_X,
    FACING_Y,
    HEALTH,
    MAGAZINE,
    RESERVE,
    HOLD,
    RELOAD,
    FIRE_COOLDOWN,
    DASH_COOLDOWN,
    SHIELD_COOLDOWN,
    SHIELD,
    ENEMY_X,
    ENEMY_Y,
    ENEMY_VX,
    ENEMY_VY,
    ENEMY_AGE,
    COVER_X,
    COVER_Y,
    THREAT,
    HEALTH_OURS,
    HEALTH_THEIRS,
    AMMO_OURS,
    AMMO_THEIRS,
    IN_REACH,
    TIME_LEFT,
) = range(len(VIEW))

View = np.ndarray[Any, np.dtype[np.float32]]


@kernel
def may_fire(magazine, reload, fire_cooldown, shield):  # type: ignore[no-untyped-def]
    """Loaded, not reloading, not between two shots, not behind the shield."""
    return (magazine > 0.0) & (reload == 0.0) & (fire_cooldown == 0.0) & (shield == 0.0)


@kernel
def may_reload(magazine, reserve, reload):  # type: ignore[no-untyped-def]
    """There is room in the magazine and something to fill it with."""
    return (magazine < MAGAZINE_SIZE) & (reserve > 0.0) & (reload == 0.0)


@kernel
def may_interact(in_reach, reloads):  # type: ignore[no-untyped-def]
    """`interact` uses a station in reach, and reloads elsewhere."""
    return (in_reach > 0.0) | reloads


@kernel
def can_fire(views: View, row: int) -> bool:
    """As `may_fire`, by a view."""
    return may_fire(
        views[row, MAGAZINE], views[row, RELOAD], views[row, FIRE_COOLDOWN], views[row, SHIELD]
    )


@kernel
def can_dash(views: View, row: int) -> bool:
    """The dash has cooled down."""
    return bool(views[row, DASH_COOLDOWN] == 0)


@kernel
def can_shield(views: View, row: int) -> bool:
    """The shield has cooled down."""
    return bool(views[row, SHIELD_COOLDOWN] == 0)


@kernel
def can_reload(views: View, row: int) -> bool:
    """As `may_reload`, by a view."""
    return may_reload(views[row, MAGAZINE], views[row, RESERVE], views[row, RELOAD])


@kernel
def can_interact(views: View, row: int) -> bool:
    """As `may_interact`, by a view."""
    return may_interact(views[row, IN_REACH], can_reload(views, row))
