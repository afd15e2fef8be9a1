"""Bodies, shots and lines among cover: what stops them, and when they meet.

A layout's boxes are the columns of `rules.COVER[layout]`: middle x and y, half width, half height.
`rules.ROOM` is how near a body's middle comes to a box's. All in metres, in the floor's frame.
"""

import math

from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r


@kernel
def is_near_cover(x, y, speed_x, speed_y, layout):  # type: ignore[no-untyped-def]
    """Whether a step at that speed could touch any cover: one quick look that mostly says no."""
    near = False
    # A hair further than the step goes: rounding must not let a body into a wall unseen.
    reach_x, reach_y = speed_x * r.STEP_SECONDS + 1e-9, speed_y * r.STEP_SECONDS + 1e-9
    for b in range(r.NUM_COVER):
        beside = abs(x - r.COVER[layout, 0, b]) < r.ROOM[layout, 0, b] + reach_x
        level = abs(y - r.COVER[layout, 1, b]) < r.ROOM[layout, 1, b] + reach_y
        near |= beside & level
    return near


@kernel
def slide(place, speed, across, axis, near, layout):  # type: ignore[no-untyped-def]
    """Place and speed on one axis after a step that ends at the nearest obstacle."""
    wished = place + speed * r.STEP_SECONDS
    edge = r.HALF_FLOOR - r.RADIUS
    reached = min(max(wished, -edge), edge)
    for b in range(r.NUM_COVER if near else 0):
        centre, room = r.COVER[layout, axis, b], r.ROOM[layout, axis, b]
        beside = abs(across - r.COVER[layout, 1 - axis, b]) < r.ROOM[layout, 1 - axis, b]
        if beside & (abs(wished - centre) < room):
            reached = min(reached, centre - room) if speed > 0 else max(reached, centre + room)
    return reached, speed if reached == wished else 0.0


@kernel
def meeting(x, y, step_x, step_y):  # type: ignore[no-untyped-def]
    """When a point at (x, y), moving by the step, enters the body at the origin; 2 for not now."""
    reach = r.RADIUS + r.SHOT_RADIUS
    beyond = x * x + y * y - reach * reach
    if beyond <= 0:
        return 0.0
    nearing = x * step_x + y * step_y
    if nearing >= 0:
        return 2.0
    speed2 = step_x * step_x + step_y * step_y
    inner = nearing * nearing - speed2 * beyond
    if inner < 0:
        return 2.0
    time = (-nearing - math.sqrt(inner)) / speed2
    return time if time <= 1.0 else 2.0


@kernel
def blocked(x0, y0, x1, y1, layout):  # type: ignore[no-untyped-def]
    """Whether cover stands between two points. The same both ways and with the floor turned."""
    middle_x, middle_y = (x0 + x1) * 0.5, (y0 + y1) * 0.5
    half_x, half_y = (x1 - x0) * 0.5, (y1 - y0) * 0.5
    long_x, long_y = abs(half_x), abs(half_y)
    for b in range(r.NUM_COVER):
        width, height = r.COVER[layout, 2, b], r.COVER[layout, 3, b]
        x, y = middle_x - r.COVER[layout, 0, b], middle_y - r.COVER[layout, 1, b]
        # Separating axes: the box's two, and the line's normal.
        if (
            (abs(x) <= width + long_x)
            & (abs(y) <= height + long_y)
            & (abs(x * half_y - y * half_x) <= width * long_y + height * long_x)
        ):
            return True
    return False


@kernel
def nearest_cover(x, y, p, layout):  # type: ignore[no-untyped-def]
    """From (x, y) to the middle of the nearest box, in player p's frame.

    Boxes come in pairs that are each other's image, so both players look through them in the same
    order, each in its own frame, and break ties alike.
    """
    side = 1.0 - 2.0 * p
    best, best_x, best_y = 1e9, 0.0, 0.0
    for k in range(r.NUM_COVER):
        b = k ^ p
        to_x, to_y = side * (r.COVER[layout, 0, b] - x), side * (r.COVER[layout, 1, b] - y)
        distance = to_x * to_x + to_y * to_y
        nearer = distance < best
        best = distance if nearer else best
        best_x = to_x if nearer else best_x
        best_y = to_y if nearer else best_y
    return best_x + 0.0, best_y + 0.0
