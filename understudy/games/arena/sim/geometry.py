"""Bodies, shots and lines among cover: what stops them, and when they meet.

All of eight matches side by side (`lanes.py`), in metres, in the floor's frame. Cover stands in the
rows from COVER on of a block `m`: middle x and y, half width, half height of each box.
"""

from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.entries import COVER
from understudy.games.arena.sim.lanes import larger, load, root, same, smaller, where

_Y, _WIDTH, _HEIGHT = r.NUM_COVER, 2 * r.NUM_COVER, 3 * r.NUM_COVER


@kernel
def slide(m, place, speed, across, axis):  # type: ignore[no-untyped-def]
    """Place and speed on one axis after a step that ends at the nearest obstacle."""
    wished = place + speed * r.STEP_SECONDS
    edge = r.HALF_FLOOR - r.RADIUS
    reached = smaller(larger(wished, -edge), edge)
    along, beside = COVER + axis * r.NUM_COVER, COVER + (1 - axis) * r.NUM_COVER
    for b in range(r.NUM_COVER):
        centre, room = load(m, along + b), load(m, along + _WIDTH + b) + r.RADIUS
        level = abs(across - load(m, beside + b)) < load(m, beside + _WIDTH + b) + r.RADIUS
        inside = level & (abs(wished - centre) < room)
        stopped = where(
            speed > 0.0, smaller(reached, centre - room), larger(reached, centre + room)
        )
        reached = where(inside, stopped, reached)
    return reached, where(reached == wished, speed, 0.0)


@kernel
def meeting(x, y, step_x, step_y):  # type: ignore[no-untyped-def]
    """When a point at (x, y), moving by the step, enters the body at the origin; 2 for not now."""
    reach = r.RADIUS + r.SHOT_RADIUS
    beyond = x * x + y * y - reach * reach
    nearing = x * step_x + y * step_y
    speed2 = step_x * step_x + step_y * step_y
    inner = nearing * nearing - speed2 * beyond
    comes = (nearing < 0.0) & (inner >= 0.0)
    time = (-nearing - root(larger(inner, 0.0))) / where(comes, speed2, 1.0)
    time = where(comes & (time <= 1.0), time, 2.0)
    return where(beyond <= 0.0, 0.0, time)


@kernel
def blocked(m, x0, y0, x1, y1):  # type: ignore[no-untyped-def]
    """Whether cover stands between two points. The same both ways and with the floor turned."""
    middle_x, middle_y = (x0 + x1) * 0.5, (y0 + y1) * 0.5
    half_x, half_y = (x1 - x0) * 0.5, (y1 - y0) * 0.5
    long_x, long_y = abs(half_x), abs(half_y)
    found = same(0.0) > 0.0
    for b in range(COVER, COVER + r.NUM_COVER):
        width, height = load(m, b + _WIDTH), load(m, b + _HEIGHT)
        x, y = middle_x - load(m, b), middle_y - load(m, b + _Y)
        # Separating axes: the box's two, and the line's normal.
        found = found | (
            (abs(x) <= width + long_x)
            & (abs(y) <= height + long_y)
            & (abs(x * half_y - y * half_x) <= width * long_y + height * long_x)
        )
    return found


@kernel
def nearest_cover(m, x, y, p):  # type: ignore[no-untyped-def]
    """From (x, y) to the middle of the nearest box, in player p's frame.

    Boxes come in pairs that are each other's image, so both players look through them in the same
    order, each in its own frame, and break ties alike.
    """
    side = 1.0 - 2.0 * p
    best, best_x, best_y = same(1e9), same(0.0), same(0.0)
    for k in range(r.NUM_COVER):
        b = COVER + (k ^ p)
        to_x, to_y = side * (load(m, b) - x), side * (load(m, b + _Y) - y)
        distance = to_x * to_x + to_y * to_y
        nearer = distance < best
        best = where(nearer, distance, best)
        best_x, best_y = where(nearer, to_x, best_x), where(nearer, to_y, best_y)
    return best_x + 0.0, best_y + 0.0
