"""The rules, one by one, and what holds for every match: no tunnelling, no favourites, no leaks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.games.arena.acting import (
    EAST,
    WEST,
    act,
    bot_actions,
    by_hand,
    in_cover,
    is_blocked,
    look,
    put,
    random_actions,
    scattered,
    shoot,
    stage,
    step,
)
from tests.games.arena.sim.digests import digests
from understudy.games.arena.codec import features
from understudy.games.arena.codec.actions import MOVE_LEVELS
from understudy.games.arena.play.bots import BOTS
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim import world as w

FLIGHT = r.SHOT_SPEED * r.STEP_SECONDS  # metres a shot goes in a step
SOUTH = -8.0  # there is no cover so far south in "pillars", where matches are set up
few = settings(max_examples=40, deadline=None, derandomize=True)
layouts = st.sampled_from(range(r.NUM_LAYOUTS))
floor = st.floats(-9.5, 9.5)
unit = st.floats(-1, 1, width=32)


def entry(world, player, *entries):
    """Entries of a body by name; one of them alone is a number."""
    found = world.body[0, player, [getattr(e, name.upper()) for name in entries]].tolist()
    return found if len(found) > 1 else found[0]


def course(world, steps, first=None, second=None):
    """Each player does the same for many steps: the events of every step."""
    idle = act()
    return [
        step(world, idle if first is None else first, idle if second is None else second)
        for _ in range(steps)
    ]


def when(events, player, name):
    """The steps in which something happened to a player."""
    return [t for t, happened in enumerate(events) if name in happened[player]]


# --- the floor -----------------------------------------------------------------------------------


def test_cover_looks_the_same_from_both_ends():
    for layout in r.COVER:
        boxes = set(map(tuple, layout.T.tolist()))
        assert len(boxes) == r.NUM_COVER
        assert boxes == {(-x, -y, width, height) for x, y, width, height in boxes}


def test_stations_look_the_same_from_both_ends():
    for kind in (r.HEALTH_STATION, r.AMMO_STATION):
        ours, theirs = r.STATIONS[kind], r.STATIONS[kind + 1]
        assert (ours == -theirs).all() and ours[0] < 0


def test_nothing_stands_on_a_station_or_where_matches_begin_or_over_the_edge():
    x, y, width, height = r.COVER.transpose(1, 0, 2)
    assert (abs(x) + width <= r.HALF_FLOOR).all() and (abs(y) + height <= r.HALF_FLOOR).all()
    for s_x, s_y in r.STATIONS:  # a station can be stood on and reached from all around
        gap_x, gap_y = (abs(s_x - x) - width).clip(0), (abs(s_y - y) - height).clip(0)
        assert (np.hypot(gap_x, gap_y) >= r.RADIUS).all()
    for layout in range(r.NUM_LAYOUTS):
        line = np.linspace(-r.SPAWN_Y, r.SPAWN_Y, 601)
        for side in (-r.SPAWN_X, r.SPAWN_X):
            assert not in_cover(np.full(601, layout), np.full(601, side), line).any()


def test_sizes_are_exact_in_binary():
    exact = np.concatenate([r.COVER.ravel(), r.ROOM.ravel(), [r.RADIUS, r.HALF_FLOOR]]) * 4
    assert (exact == exact.round()).all()
    assert (r.COVER[:, 2:] + r.RADIUS == r.ROOM).all()


def test_boxes_are_too_wide_to_jump_over():
    assert (2 * r.ROOM).min() > r.DASH_SPEED * r.STEP_SECONDS


# --- the beginning -------------------------------------------------------------------------------


def test_both_begin_alike_on_opposite_sides():
    world = w.World(300)
    world.reset(range(300))
    places = [e.X, e.Y, e.VX, e.VY, e.AIM_X, e.AIM_Y, e.SEEN_X, e.SEEN_Y]
    assert (world.body[:, 0, places] == -world.body[:, 1, places]).all()
    assert np.array_equal(world.view[:, 0], world.view[:, 1])
    assert (world.view[:, :, v.X] == -r.SPAWN_X).all()
    assert (world.view[:, :, v.ENEMY_X] == r.SPAWN_X).all()
    assert (world.view[:, :, v.ENEMY_Y] == -world.view[:, :, v.Y]).all()
    full = {v.HEALTH: r.HEALTH, v.MAGAZINE: r.MAGAZINE, v.RESERVE: r.RESERVE, v.FACING_X: 1}
    for field, value in full.items():
        assert (world.view[:, :, field] == value).all()
    assert (world.view[:, :, v.HEALTH_OURS : v.AMMO_THEIRS + 1] == 1).all()
    assert (world.status == r.RUNNING).all() and (world.steps == 0).all()


def test_the_seed_draws_the_layout_and_where_to_begin():
    world = w.World(3_000)
    world.reset(range(3_000))
    share = np.bincount(world.layout, minlength=r.NUM_LAYOUTS) / 3_000
    assert abs(share - 1 / r.NUM_LAYOUTS).max() < 0.03
    y = world.body[:, 0, e.Y]
    assert -r.SPAWN_Y <= y.min() < -2.9 and 2.9 < y.max() < r.SPAWN_Y and abs(y.mean()) < 0.15
    again = w.World(3_000)
    again.reset(range(3_000))
    assert again.row.tobytes() == world.row.tobytes()


def test_a_world_has_begun_nothing_until_it_is_reset():
    world = w.World(2)
    world.reset([5], [1])
    assert world.status.tolist() == [r.TRUNCATED, r.RUNNING]
    world.step(np.ones((2, 2, len(r.ACTION)), np.float32))
    assert world.steps.tolist() == [0, 1] and not world.row[0].any()


# --- moving --------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
def test_a_body_takes_two_steps_to_top_speed_and_two_to_stop(player):
    bodies = [WEST, EAST]
    bodies[player] = {"x": 0.0, "y": 8.5}
    world = stage(*bodies)
    side = 1 - 2 * player  # actions are in the player's own frame
    found = []
    for east in (1, 1, 1, 0, 0, 0):
        actions = [act(), act()]
        actions[player] = act(move=(east, 0))
        step(world, *actions)
        found.append((side * entry(world, player, "x"), side * entry(world, player, "vx")))
    expected = [(0.25, 2.5), (0.75, 5), (1.25, 5), (1.5, 2.5), (1.5, 0), (1.5, 0)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("move", "speed"),
    [((1, 0), 5), ((1, 1), 5), ((-1, 1), 5), ((0.5, 0), 2.5), ((0.25, 0.25), 1.25 * 2**0.5)],
)
def test_top_speed_is_the_same_in_all_directions_and_shares_of_it_can_be_asked(move, speed):
    world = stage({"x": 0.0, "y": SOUTH})
    course(world, 4, act(move=move))
    velocity = entry(world, 0, "vx", "vy")
    np.testing.assert_allclose(velocity, np.array(move) / np.hypot(*move) * speed, rtol=1e-6)


def test_a_turn_changes_velocity_by_no_more_than_a_step_of_acceleration():
    world = stage({"x": 0.0, "y": SOUTH, "vx": 5.0})
    step(world, act(move=(0, 1)))
    # The wish is (0, 5): the change (-5, 5) is 7.07 long, of which 2.5 are possible.
    share = 2.5 / 50**0.5
    expected = [5 - 5 * share, 5 * share]
    np.testing.assert_allclose(entry(world, 0, "vx", "vy"), expected)


def test_a_body_slides_along_cover():
    x, y, width, height = r.COVER[0, :, 0]
    wall = x - width - r.RADIUS
    world = stage({"x": wall - 0.5, "y": y - height}, layout=r.LAYOUT_NAMES[0])
    for t in range(5):
        step(world, act(move=(1, 1)))
        if t >= 2:
            assert entry(world, 0, "x", "vx") == [wall, 0.0]  # touching, exactly
            assert entry(world, 0, "vy") > 2
    assert entry(world, 0, "y") > y - height + 1


def test_a_body_slides_along_the_edge_of_the_floor():
    world = stage({"x": -9.25, "y": 0.0})
    course(world, 4, act(move=(-1, 1)))
    assert entry(world, 0, "x", "vx") == [-9.5, 0.0]
    assert entry(world, 0, "y") > 0.75 and entry(world, 0, "vy") > 3
    course(world, 40, act(move=(-1, 1)))
    assert entry(world, 0, "x", "y", "vx", "vy") == [-9.5, 9.5, 0.0, 0.0]


def test_a_body_that_touches_cover_walks_on_beside_it():
    x, y, width, _ = r.COVER[0, :, 0]
    wall = x - width - r.RADIUS
    world = stage({"x": wall, "y": y - 4}, layout=r.LAYOUT_NAMES[0])
    course(world, 20, act(move=(0, 1)))
    assert entry(world, 0, "x") == wall and entry(world, 0, "y") > y + 4


@few
@given(
    layout=layouts,
    x=floor,
    y=floor,
    moves=st.lists(st.tuples(unit, unit, st.booleans()), min_size=1, max_size=12),
)
def test_a_body_never_enters_nor_crosses_cover_nor_leaves_the_floor(layout, x, y, moves):
    assume(not in_cover(layout, x, y))
    world = stage({"x": x, "y": y}, layout=r.LAYOUT_NAMES[layout])
    centre_x, centre_y, *_ = r.COVER[layout]
    room_x, room_y = r.ROOM[layout]
    for move_x, move_y, dash in moves:
        put(world, 0, dash_cooldown=0)
        look(world)
        before_x, before_y = entry(world, 0, "x", "y")
        step(world, act(move=(move_x, move_y), ability=r.DASH if dash else 0))
        x, y = entry(world, 0, "x", "y")
        assert not in_cover(layout, x, y)
        assert abs(x) <= 9.5 and abs(y) <= 9.5
        # First across, then up: neither leg has any of a box in it.
        level = abs(before_y - centre_y) < room_y
        across = (min(before_x, x) < centre_x + room_x) & (max(before_x, x) > centre_x - room_x)
        assert not (level & across).any()
        level = abs(x - centre_x) < room_x
        up = (min(before_y, y) < centre_y + room_y) & (max(before_y, y) > centre_y - room_y)
        assert not (level & up).any()


def touching(layout):
    """Places right at the four walls of every box, one per row."""
    (x, y), (room_x, room_y) = r.COVER[layout, :2], r.ROOM[layout]
    sides = [
        (x - room_x, y + 0.1),
        (x + room_x, y + 0.1),
        (x + 0.1, y - room_y),
        (x + 0.1, y + room_y),
    ]
    places = np.concatenate([np.stack(side, axis=1) for side in sides])
    return places[~in_cover(np.full(len(places), layout), *places.T)]


@pytest.mark.parametrize("layout", range(r.NUM_LAYOUTS))
def test_who_steps_off_a_wall_and_back_is_at_the_wall(layout):
    """The way back ends at the wall but for rounding, and must not end inside by a bit."""
    places = np.repeat(touching(layout), 81, axis=0)
    moves = np.array([(a, b) for a in MOVE_LEVELS for b in MOVE_LEVELS])
    moves = np.tile(moves, (len(places) // 81, 1))
    world = w.World(len(places))
    world.reset(range(len(places)))
    world.layout[:] = layout
    with by_hand(world) as rows:
        rows.body[:, 0, [e.X, e.Y]] = places
    for direction in (1, 0, -1, 0, 0):
        before = world.body[:, 0, [e.X, e.Y]].copy()
        actions = np.zeros((len(places), 2, len(r.ACTION)), np.float32)
        actions[:, 0, [r.MOVE_X, r.MOVE_Y]] = direction * moves
        world.step(actions)
        after = world.body[:, 0, [e.X, e.Y]]
        assert not in_cover(world.layout, *after.T).any()
        assert abs(after - before).max() <= r.SPEED * r.STEP_SECONDS + 1e-9


def test_in_long_wild_play_nobody_enters_cover_nor_is_too_fast():
    rng = np.random.default_rng(1)
    world = w.World(128)
    world.reset(range(128))
    for _ in range(300):
        before = world.body[..., [e.X, e.Y]].copy()
        world.step(random_actions(rng, 128, 2))
        after = world.body[..., [e.X, e.Y]]
        assert not in_cover(world.layout[:, None], after[..., 0], after[..., 1]).any()
        assert abs(after).max() <= 9.5
        assert np.hypot(*(after - before).T).max() <= 1.2 + 1e-9


# --- dash and shield -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("move", "aim", "direction"),
    [((1, 0), (0, 1), (1, 0)), ((0.25, 0.25), (0, 1), (0.5**0.5,) * 2), ((0, 0), (0, 3), (0, 1))],
)
def test_a_dash_goes_two_steps_where_one_moves_or_else_aims(move, aim, direction):
    world = stage({"x": 0.0, "y": -9.0})
    first = step(world, act(move=move, aim=aim, ability=r.DASH))
    step(world)  # what is wished meanwhile does not matter
    np.testing.assert_allclose(entry(world, 0, "x", "y"), 2.4 * np.array(direction) - [0, 9])
    step(world)
    assert "dashed" in first[0]
    np.testing.assert_allclose(np.hypot(*entry(world, 0, "vx", "vy")), 12 - 2.5)


def test_a_dash_cools_down_for_fifty_steps_and_a_shield_for_a_hundred():
    events = course(stage(), 210, act(ability=r.DASH), act(ability=r.SHIELD))
    assert when(events, 0, "dashed") == [0, 51, 102, 153, 204]
    assert when(events, 1, "shielded") == [0, 101, 202]


@pytest.mark.parametrize("late", range(12))
def test_a_shield_stops_what_arrives_within_eight_steps(late):
    world = stage({"x": 0.0, "y": SOUTH})
    if late:
        step(world, act(ability=r.SHIELD))
        course(world, late - 1)
    shoot(world, 1, 1.0, SOUTH, -r.SHOT_SPEED, 0.0)
    events = step(world, act() if late else act(ability=r.SHIELD))
    assert ("blocked" in events[0]) == (late < 8)
    assert ("hurt" in events[0]) == ("hit" in events[1]) == (late >= 8)
    assert entry(world, 0, "health") == r.HEALTH - (0 if late < 8 else r.DAMAGE)
    assert world.shots[0, 1, 0, e.LIFE] == 0


def test_nobody_fires_from_behind_the_shield():
    events = course(stage(), 12, act(fire=1, ability=r.SHIELD))
    assert when(events, 0, "shielded") == [0]
    assert when(events, 0, "fired") == [9]  # the view says at step 8 that it is still up: no more


# --- shots ---------------------------------------------------------------------------------------


def test_a_shot_hits_when_it_gets_there():
    # Two and a half steps of flight to the rim of the body: reached in the third after the shot.
    world = stage({"x": 0.0, "y": SOUTH}, {"x": 2.5 * FLIGHT + 0.6, "y": SOUTH})
    events = [step(world, act(aim=(1, 0), fire=1)), *course(world, 4)]
    assert when(events, 0, "fired") == [0]
    assert when(events, 0, "hit") == when(events, 1, "hurt") == [3]
    assert entry(world, 1, "health") == r.HEALTH - r.DAMAGE
    assert not (world.shots[..., e.LIFE] > 0).any()


def test_player_one_aims_in_its_own_frame():
    world = stage({"x": 0.0, "y": SOUTH}, {"x": 2.5 * FLIGHT + 0.6, "y": SOUTH})
    events = [step(world, second=act(aim=(0.5, 0), fire=1)), *course(world, 4)]
    assert when(events, 1, "fired") == [0] and when(events, 0, "hurt") == [3]


def test_a_shot_at_arms_length_hits_in_the_next_step():
    world = stage({"x": 0.0, "y": SOUTH}, {"x": 0.25, "y": SOUTH})
    events = [step(world, act(aim=(-1, 0), fire=1)), *course(world, 2)]  # even facing away
    assert when(events, 1, "hurt") == [1]


def test_a_shot_lasts_fourteen_steps():
    world = stage()
    shoot(world, 0, 0.0, SOUTH, 0.5, 0.0)  # so slow that nothing else ends it
    lives = []
    for _ in range(20):
        step(world)
        lives.append(int(world.shots[0, 0, 0, e.LIFE]))
    assert lives == [*range(13, 0, -1), *[0] * 7]
    assert r.SHOT_STEPS == 14


def test_a_shot_over_the_edge_is_gone():
    world = stage({"x": 10 - 1.5 * FLIGHT, "y": SOUTH}, WEST)
    step(world, act(aim=(1, 0), fire=1))
    step(world)
    assert world.shots[0, 0, 0, e.LIFE] == r.SHOT_STEPS - 1
    step(world)
    assert world.shots[0, 0, 0, e.LIFE] == 0


def test_there_is_room_for_every_shot_that_can_be_in_the_air():
    assert r.MAX_SHOTS * (r.FIRE_COOLDOWN + 1) >= r.SHOT_STEPS


@pytest.mark.parametrize(("beside", "hurt"), [(0.0, False), (0.99, False), (1.01, True)])
def test_cover_stops_shots(beside, hurt):
    x, y, width, height = r.COVER[0, :, 2]
    x += beside * width
    world = stage({"x": x, "y": SOUTH}, {"x": x, "y": y + height + 1})
    events = [step(world, act(aim=(0, 1), fire=1)), *course(world, 6)]
    assert bool(when(events, 1, "hurt")) == hurt
    assert not (world.shots[..., e.LIFE] > 0).any()


def first_hit_by_brute_force(shot, velocity, places, parts=4_000):
    """The step in which a shot meets a body that goes straight from place to place; None: never.

    Time in small parts, by the definition. Also by how much it was decided.
    """
    share = np.linspace(0, 1, parts + 1)[:, None]
    closest = np.inf
    for t in range(min(len(places) - 1, r.SHOT_STEPS)):
        path = shot + velocity * (t + share) * r.STEP_SECONDS
        body = places[t] + (places[t + 1] - places[t]) * share
        closest = min(closest, np.hypot(*(path - body).T).min())
        if closest <= r.RADIUS + r.SHOT_RADIUS:
            return t, r.RADIUS + r.SHOT_RADIUS - closest
        if abs(path[-1]).max() > r.HALF_FLOOR:
            break
    return None, closest - r.RADIUS - r.SHOT_RADIUS


def test_shots_meet_moving_bodies_as_a_simulation_in_small_steps_says():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(150):  # in the south of "pillars" there is no cover
        mine, theirs = rng.uniform((-9.5, -9.5), (9.5, -6.0), (2, 2))
        aim = theirs - mine + rng.normal(0, 1.2, 2)
        first, second = ({"x": x, "y": y, "dash_cooldown": 0} for x, y in (mine, theirs))
        world = stage(first, second)
        flight = act(move=rng.uniform(-1, 1, 2), ability=r.DASH * int(rng.random() < 0.4))
        step(world, act(aim=aim, fire=1))
        shot = world.shots[0, 0, 0].copy()
        places = [world.body[0, 1, [e.X, e.Y]].copy()]
        events = []
        for _ in range(r.SHOT_STEPS):
            events.append(step(world, second=flight))
            places.append(world.body[0, 1, [e.X, e.Y]].copy())
        expected, margin = first_hit_by_brute_force(
            shot[:2], shot[[e.SHOT_VX, e.SHOT_VY]], np.array(places)
        )
        if expected is None and margin < 1e-4:
            continue  # grazed: the small steps may have missed it
        assert when(events, 1, "hurt") == ([] if expected is None else [expected])
        hits += expected is not None
    assert 30 < hits < 120


@few
@given(x0=floor, y0=floor, x1=floor, y1=floor, layout=layouts)
def test_blocked_means_that_some_point_in_between_lies_in_cover(x0, y0, x1, y1, layout):
    share = np.linspace(0, 1, 8_001)[:, None]
    points = np.array([x0, y0]) + share * np.array([x1 - x0, y1 - y0])
    centre, size = r.COVER[layout, :2], r.COVER[layout, 2:]
    outside = (abs(points[:, :, None] - centre) - size).max(axis=1)  # of each box
    found = is_blocked(x0, y0, x1, y1, layout)
    if (outside <= 0).any():
        assert found
    if found:
        assert outside.min() < np.hypot(x1 - x0, y1 - y0) / 8_000 + 1e-9
    assert found == is_blocked(x1, y1, x0, y0, layout) == is_blocked(-x0, -y0, -x1, -y1, layout)


# --- rounds --------------------------------------------------------------------------------------


def test_three_steps_lie_between_shots_and_an_empty_magazine_fills_itself():
    world = stage()
    events = course(world, 60, act(fire=1))
    # Empty after step 28; the reload begins in 29, takes 15 more, and 45 can fire again.
    assert when(events, 0, "fired") == [*range(0, 29, 4), 45, 49, 53, 57]
    assert when(events, 0, "reloaded") == [44]
    assert entry(world, 0, "magazine", "reserve") == [4, 24]


def test_a_view_counts_down_to_the_next_shot_and_to_the_end_of_a_reload():
    world = stage({**WEST, "magazine": 1})
    step(world, act(fire=1))
    waits = [world.view[0, 0, [v.FIRE_COOLDOWN, v.RELOAD, v.MAGAZINE]].tolist()]
    for _ in range(17):
        step(world)
        waits.append(world.view[0, 0, [v.FIRE_COOLDOWN, v.RELOAD, v.MAGAZINE]].tolist())
    fire, reload, magazine = zip(*waits, strict=True)
    assert fire == (3, 2, 1, *[0] * 15)
    assert reload == (0, *range(15, 0, -1), 0, 0)
    assert magazine == (*[0] * 16, 8, 8)


@pytest.mark.parametrize(
    ("magazine", "reserve", "after"),
    [(5, 32, [8, 29]), (5, 2, [7, 0]), (8, 32, [8, 32]), (5, 0, [5, 0]), (0, 3, [3, 0])],
)
def test_a_reload_takes_from_the_reserve_what_there_is_room_for(magazine, reserve, after):
    world = stage({**WEST, "magazine": magazine, "reserve": reserve})
    legal = features.legal(world.view[0])[0, -1]
    events = [step(world, act(interact=1)), *course(world, 16)]
    assert entry(world, 0, "magazine", "reserve") == after
    assert when(events, 0, "reloaded") == ([15] if legal else [])
    assert legal == (magazine < 8 and reserve > 0)


def test_without_rounds_nothing_is_fired_and_nothing_reloads():
    world = stage({**WEST, "magazine": 0, "reserve": 0})
    events = course(world, 20, act(fire=1, interact=1))
    assert events == [[set(), set()]] * 20
    assert entry(world, 0, "magazine", "reserve", "reload") == [0, 0, 0]


def test_asking_to_reload_and_fire_at_once_reloads():
    world = stage({**WEST, "magazine": 5})
    events = course(world, 17, act(fire=1, interact=1))
    assert when(events, 0, "fired") == [16] and when(events, 0, "reloaded") == [15]


# --- stations ------------------------------------------------------------------------------------


AT_HEALTH = {"x": -7.0, "y": 7.0}
AT_AMMO = {"x": -7.0, "y": -7.0}


def test_a_station_must_be_held_and_then_sleeps_and_wakes():
    world = stage({**AT_HEALTH, "health": 20})
    events, holds, ready = [], [], []
    for _ in range(230):
        events.append(step(world, act(interact=1)))
        holds.append(world.view[0, 0, v.HOLD])
        ready.append(world.view[0, [0, 1], [v.HEALTH_OURS, v.HEALTH_THEIRS]].tolist())
    # Ten steps of holding; 200 asleep; ten more of holding.
    assert when(events, 0, "healed") == [9, 219]
    assert holds[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0]
    awake = [True] * 9 + [False] * 200 + [True] * 10 + [False] * 11
    assert ready == [[float(x)] * 2 for x in awake]
    assert entry(world, 0, "health") == 100


def test_to_let_go_of_a_station_is_to_begin_anew():
    world = stage({**AT_HEALTH, "health": 20})
    course(world, 9, act(interact=1))
    step(world)
    assert entry(world, 0, "hold") == 0
    events = course(world, 10, act(interact=1))
    assert when(events, 0, "healed") == [9]


@pytest.mark.parametrize(("health", "after"), [(20, 60), (60, 100), (80, 100)])
def test_a_health_station_gives_forty_at_most_to_full(health, after):
    world = stage({**AT_HEALTH, "health": health})
    events = course(world, 10, act(interact=1))
    assert when(events, 0, "healed") == [9] and entry(world, 0, "health") == after


@pytest.mark.parametrize(("reserve", "after"), [(0, 24), (8, 32), (30, 32)])
def test_an_ammo_station_gives_twenty_four_at_most_to_full(reserve, after):
    world = stage({**AT_AMMO, "reserve": reserve})
    events = course(world, 10, act(interact=1))
    assert when(events, 0, "supplied") == [9] and entry(world, 0, "reserve") == after
    assert world.stations[0].tolist() == [0, 0, r.STATION_COOLDOWN, 0]


def test_a_station_of_no_use_is_not_used():
    world = stage(AT_HEALTH, {"x": 7.0, "y": 7.0})  # full health; full reserve
    events = course(world, 12, act(interact=1), act(interact=1))
    assert events == [[set(), set()]] * 12 and not world.stations.any()


def test_interact_at_a_station_does_not_reload_and_elsewhere_does():
    world = stage({**AT_HEALTH, "health": 20, "magazine": 5}, {**EAST, "magazine": 5})
    step(world, act(interact=1), act(interact=1))
    assert entry(world, 0, "hold", "reload") == [1, 0]
    assert entry(world, 1, "hold", "reload") == [0, r.RELOAD_STEPS]


@pytest.mark.parametrize(("x", "reached"), [(-5.75, True), (-5.7499, False), (-8.25, True)])
def test_a_station_is_reached_from_a_metre_and_a_quarter(x, reached):
    world = stage({"x": x, "y": 7.0, "health": 20})
    assert bool(world.view[0, 0, v.IN_REACH]) == reached
    step(world, act(interact=1))
    assert entry(world, 0, "hold") == int(reached)


def test_in_reach_means_near_a_station_that_is_ready_and_of_use():
    world = scattered(np.random.default_rng(3), 3_000)
    place = world.body[:, :, None, [e.X, e.Y]]
    near = ((place - r.STATIONS) ** 2).sum(axis=-1) <= r.REACH**2
    hurt, spent = world.body[..., e.HEALTH] < r.HEALTH, world.body[..., e.RESERVE] < r.RESERVE
    of_use = np.stack([hurt, hurt, spent, spent], axis=-1)
    expected = (near & of_use & (world.stations[:, None] <= 0)).any(axis=-1)
    assert np.array_equal(world.view[..., v.IN_REACH], expected)
    assert 500 < expected.sum() < 5_000


def test_two_at_one_station_in_the_same_step_are_both_served():
    world = stage({**AT_HEALTH, "health": 20}, {"x": -7.0, "y": 6.0, "health": 40})
    events = course(world, 15, act(interact=1), act(interact=1))
    assert when(events, 0, "healed") == when(events, 1, "healed") == [9]
    assert entry(world, 0, "health") == 60 and entry(world, 1, "health") == 80
    assert world.stations[0, 0] == r.STATION_COOLDOWN - 5


def test_who_comes_a_step_later_to_a_station_gets_nothing():
    world = stage({**AT_HEALTH, "health": 20}, {"x": -7.0, "y": 6.0, "health": 40})
    step(world, act(interact=1))
    events = course(world, 12, act(interact=1), act(interact=1))
    assert when(events, 0, "healed") == [8] and when(events, 1, "healed") == []
    assert entry(world, 1, "hold") == 0


def test_each_player_calls_the_stations_on_its_own_side_ours():
    world = stage()
    with by_hand(world) as rows:
        rows.stations[0] = 0, 5, 5, 0  # health: west awake; ammo: east awake
    look(world)
    fields = [v.HEALTH_OURS, v.HEALTH_THEIRS, v.AMMO_OURS, v.AMMO_THEIRS]
    assert world.view[0][:, fields].tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]


# --- sight and memory ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "seen"),
    [
        ((-6.0, -8.0), (6.0, -8.0), True),
        ((-6.0, -8.0), (6.01, -8.0), False),
        ((-3.0, -8.0), (-3.0, -1.5), False),  # a pillar between
        ((-1.0, -8.0), (-1.0, -1.5), True),  # none
    ],
)
def test_the_enemy_is_seen_within_twelve_metres_when_no_cover_stands_between(first, second, seen):
    world = stage(*({"x": x, "y": y} for x, y in (first, second)))
    step(world)
    ages = world.view[0, :, v.ENEMY_AGE].tolist()
    assert ages == ([0, 0] if seen else [1, 1])
    if seen:
        (x, y), (enemy_x, enemy_y) = first, second
        fields = [v.ENEMY_X, v.ENEMY_Y]
        assert world.view[0, 0, fields].tolist() == pytest.approx([enemy_x, enemy_y])
        assert world.view[0, 1, fields].tolist() == pytest.approx([-x, -y])


def test_a_memory_keeps_the_last_place_seen_and_grows_old():
    world = stage({"x": -6.0, "y": SOUTH}, {"x": 4.0, "y": SOUTH})
    fields = [v.ENEMY_X, v.ENEMY_Y, v.ENEMY_VX, v.ENEMY_VY]
    seen, last = [], None
    for _ in range(12):  # player 1 backs off to the east: 0.25, then 0.5 a step; 2 m to go
        step(world, second=act(move=(-1, 0)))
        seen.append(world.view[0, 0, v.ENEMY_AGE])
        if seen[-1] == 0:
            last = world.view[0, 0, fields].tolist()
        assert world.view[0, 0, fields].tolist() == last
    assert seen == [0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert last == pytest.approx([5.75, -8.0, 5.0, 0.0])
    for _ in range(8):
        step(world, second=act(move=(1, 0)))
    assert world.view[0, 0, v.ENEMY_AGE] == 0


@pytest.mark.parametrize(
    ("shot", "threat"),
    [
        # Where it is, in steps of flight to the east and metres to the north of us; it goes east.
        ((-4, 0.0), 0.5),
        ((-4, -0.5), 0.5),  # passes south of us: we stand on its left
        ((-4, 0.5), -0.5),
        ((-2, 1.49), -0.75),
        ((-2, 1.51), 0.0),  # passes too far off
        ((-8.1, 0.0), 0.0),  # is too far off yet
        ((4, 0.0), 0.0),  # has passed
    ],
)
def test_the_threat_tells_how_soon_and_on_which_side(shot, threat):
    world = stage({"x": 0.0, "y": SOUTH})
    east, north = shot
    shoot(world, 1, east * FLIGHT, SOUTH + north, r.SHOT_SPEED, 0.0)
    look(world)
    assert world.view[0, 0, v.THREAT] == pytest.approx(threat)
    assert world.view[0, 1, v.THREAT] == 0  # its own shot is none


def test_a_shot_behind_cover_is_no_threat():
    x, y, _, height = r.COVER[0, :, 2]
    for beside, threat in ((0.0, False), (1.2, True)):
        world = stage({"x": x + beside, "y": y + height + 1})
        shoot(world, 1, x + beside, SOUTH, 0.0, r.SHOT_SPEED)
        look(world)
        assert (world.view[0, 0, v.THREAT] != 0) == threat


def test_of_several_shots_the_nearest_is_the_threat():
    world = stage({"x": 0.0, "y": SOUTH})
    for place, (steps, north) in enumerate(((-6, 0.2), (-2, -0.2), (-4, 0.1))):
        shot = steps * FLIGHT, SOUTH + north, r.SHOT_SPEED, 0.0, r.SHOT_STEPS
        with by_hand(world) as rows:
            rows.shots[0, 1, place] = shot
    look(world)
    assert world.view[0, 0, v.THREAT] == pytest.approx(0.75)


@few
@given(x=floor, y=floor, layout=layouts)
def test_the_nearest_cover_is_the_nearest(x, y, layout):
    world = stage({"x": x, "y": y}, {"x": -x, "y": -y}, layout=r.LAYOUT_NAMES[layout])
    boxes = r.COVER[layout, :2].T - (x, y)
    to = world.view[0, 0, [v.COVER_X, v.COVER_Y]]
    assert np.hypot(*to) == pytest.approx(np.hypot(*boxes.T).min(), rel=1e-6, abs=1e-6)
    assert abs(boxes - to).sum(axis=1).min() < 1e-5
    assert world.view[0, 0].tobytes() == world.view[0, 1].tobytes()


# --- endings and scores --------------------------------------------------------------------------


def duel(**settings):
    """The next hit on either is its last."""
    places = {"x": 0.0, "y": SOUTH}, {"x": 0.0, "y": -SOUTH}
    return stage(*({**place, "health": r.DAMAGE} for place in places), **settings)


def strike(world, *players):
    """Put a shot right before the enemy of each of these players."""
    for p in players:
        shoot(world, p, 1.0, -SOUTH if p == 0 else SOUTH, -r.SHOT_SPEED, 0.0)


def test_a_kill_ends_the_match_and_is_worth_one():
    world = duel()
    strike(world, 0)
    events = step(world)
    assert world.status[0] == r.TERMINATED and world.reward[0].tolist() == [1, -1]
    assert events == [{"hit", "killed"}, {"hurt"}]
    assert world.view[0, 1, v.HEALTH] == 0


def test_a_double_kill_is_a_draw():
    world = duel(timeout="health")
    strike(world, 0, 1)
    events = step(world)
    assert world.status[0] == r.TERMINATED and world.reward[0].tolist() == [0, 0]
    assert events == [{"hit", "hurt", "killed"}] * 2


@pytest.mark.parametrize(("timeout", "score"), [("draw", 0.0), ("health", 0.6)])
def test_time_runs_out_after_six_hundred_steps(timeout, score):
    world = stage({**WEST, "health": 80}, {**EAST, "health": 20}, timeout=timeout)
    for t in range(1, r.MAX_STEPS + 1):
        assert world.status[0] == r.RUNNING and not world.reward.any()
        step(world)
        assert world.steps[0] == t
    assert world.status[0] == r.TRUNCATED
    np.testing.assert_allclose(world.reward[0], [score, -score], rtol=1e-6)


def test_a_kill_in_the_last_step_is_a_kill():
    world = duel()
    world.steps[0] = r.MAX_STEPS - 1
    strike(world, 1)
    step(world)
    assert world.status[0] == r.TERMINATED and world.reward[0].tolist() == [-1, 1]


def test_a_match_that_has_ended_stays_as_it_is():
    world = duel()
    strike(world, 0)
    step(world)
    row, clock, view = world.row.copy(), world.clock.copy(), world.view.copy()
    for _ in range(3):
        step(world, act(move=(1, 1), fire=1), act(move=(1, 1), fire=1))
        assert not world.reward.any()
    assert np.array_equal(world.row, row) and np.array_equal(world.clock, clock)
    assert np.array_equal(world.view, view)


def test_two_shots_in_one_step_hurt_twice_and_shaping_counts_both():
    world = stage({"x": 0.0, "y": SOUTH}, shaping=0.5)
    with by_hand(world) as rows:
        rows.shots[0, 1, 0] = 1.0, SOUTH, -r.SHOT_SPEED, 0.0, 9.0
        rows.shots[0, 1, 3] = 0.0, SOUTH + 1, 0.0, -r.SHOT_SPEED, 9.0
    assert step(world) == [{"hurt"}, {"hit"}]
    assert entry(world, 0, "health") == r.HEALTH - 2 * r.DAMAGE
    lost = 0.5 * 2 * r.DAMAGE / r.HEALTH
    np.testing.assert_allclose(world.reward[0], [-lost, lost], rtol=1e-6)


def test_shaping_adds_up_to_the_lead_in_damage():
    sparse, shaped = w.World(32, timeout="health"), w.World(32, timeout="health", shaping=0.5)
    for world in (sparse, shaped):
        world.reset(range(32))
    total = np.zeros((2, 32))
    while (sparse.status == r.RUNNING).any():
        actions = bot_actions(sparse, "rusher", "rusher")  # who never heal
        for k, world in enumerate((sparse, shaped)):
            world.step(actions)
            total[k] += world.reward[:, 0]
            assert (world.reward[:, 0] == -world.reward[:, 1]).all()
    assert np.array_equal(sparse.row, shaped.row)
    health = sparse.body[:, :, e.HEALTH]
    np.testing.assert_allclose(
        total[1] - total[0], 0.5 * (health[:, 0] - health[:, 1]) / 100, atol=1e-6
    )
    assert np.ptp(total[0]) == 2


# --- what holds for every match ------------------------------------------------------------------


def without_illegal_parts(actions, views):
    """The same actions with 0 for every part that the mask forbids."""
    legal = features.legal(views.reshape(-1, len(v.VIEW))).reshape(*actions.shape[:2], -1)
    allowed = actions.copy()
    allowed[..., r.FIRE] *= legal[..., 37]
    allowed[..., r.INTERACT] *= legal[..., 42]
    ability = actions[..., r.ABILITY].astype(int)
    allowed[..., r.ABILITY] *= np.take_along_axis(legal[..., 38:41], ability[..., None], -1)[..., 0]
    return allowed


@few
@given(seed=st.integers(0, 2**32))
def test_illegal_parts_of_an_action_are_ignored(seed):
    rng = np.random.default_rng(seed)
    world, same = scattered(rng, 64), w.World(64)
    for mine, theirs in zip(vars(same).values(), vars(world).values(), strict=True):
        if isinstance(mine, np.ndarray):
            mine[:] = theirs
    for _ in range(12):
        actions = random_actions(rng, 64, 2)
        allowed = without_illegal_parts(actions, world.view)
        assert not np.array_equal(allowed, actions)
        world.step(actions)
        same.step(allowed)
        for name in ("row", "clock", "view", "reward"):
            assert np.array_equal(getattr(world, name), getattr(same, name)), name


def script(seed, steps):
    """What both players of a match do, drawn from its seed alone."""
    return random_actions(np.random.default_rng(seed), steps, 2)


def film(world, slot, begin, seed, steps):
    """Everything about one match of a world in each step from `begin` on, to the last bit.

    Player 0 is the expert, player 1 plays its script; the others do whatever they do.
    """
    mine, rng = script(seed, steps), np.random.default_rng(begin)
    frames = []
    for t in range(begin + steps):
        if t == begin:
            world.reset([seed], [slot])
        actions = random_actions(rng, world.num_matches, 2)
        if t >= begin:
            actions[slot, 0] = bot_actions(world, "expert", "expert")[slot, 0]
            actions[slot, 1] = mine[t - begin, 1]
        world.step(actions)
        if t >= begin:
            parts = (world.row, world.clock, world.view, world.reward)
            frames.append(b"".join(part[slot].tobytes() for part in parts))
    return frames


@few
@given(
    seed=st.integers(0, 2**62),
    others=st.lists(st.integers(0, 2**62), min_size=1, max_size=7),
    begin=st.sampled_from([0, 1, 37]),
    data=st.data(),
)
def test_a_match_is_the_same_in_any_slot_of_any_batch_begun_at_any_time(seed, others, begin, data):
    alone = w.World(1)
    slot = data.draw(st.integers(0, len(others)))
    beside = w.World(len(others) + 1)
    beside.reset([*others, 1])
    assert film(beside, slot, begin, seed, 80) == film(alone, 0, 0, seed, 80)


@pytest.mark.parametrize("players", ["random", "expert camper", "collector kiter"])
def test_players_who_swap_sides_see_and_earn_the_same(players):
    rng = np.random.default_rng(3)
    world, swapped = w.World(48, shaping=0.3), w.World(48, shaping=0.3)
    for one in (world, swapped):
        one.reset(range(48))
    for _ in range(r.MAX_STEPS):
        if players == "random":
            actions = random_actions(rng, 48, 2)
        else:
            actions = bot_actions(world, *players.split())
        world.step(actions)
        swapped.step(np.ascontiguousarray(actions[:, ::-1]))
        assert world.view.tobytes() == swapped.view[:, ::-1].tobytes()
        assert np.array_equal(world.reward, -swapped.reward)
        assert np.array_equal(world.events, swapped.events[:, ::-1])
    assert (world.status != r.RUNNING).all()
    if players != "random":
        assert (world.status == r.TERMINATED).sum() > 20


def test_both_players_see_the_clock_run_down_to_the_draw():
    world = w.World(3)
    world.reset(range(3))
    for step_number in range(r.MAX_STEPS + 1):
        left = world.view[..., v.TIME_LEFT]
        assert (left == r.MAX_STEPS - step_number).all()
        assert (world.status == (r.RUNNING if left[0, 0] else r.TRUNCATED)).all()
        world.step(np.zeros((3, 2, len(r.ACTION)), np.float32))
    assert (world.view[..., v.TIME_LEFT] == 0).all()
    world.reset([7], [1])
    assert world.view[..., v.TIME_LEFT].tolist() == [[0, 0], [r.MAX_STEPS] * 2, [0, 0]]


def test_a_number_that_is_zero_has_no_sign_in_a_view():
    world = w.World(16)
    world.reset(range(16))
    for _ in range(100):
        world.step(bot_actions(world, "expert", "rusher"))
        assert not (np.signbit(world.view) & (world.view == 0)).any()


def test_compiled_and_as_plain_python_the_arena_is_the_same_to_the_last_bit():
    helper = Path(__file__).with_name("digests.py")
    plain = subprocess.run(
        [sys.executable, "-W", "error", str(helper)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    expected = digests()
    assert plain.stdout.split() == ["plain", *expected]
    assert len(set(expected)) == len(expected) == len(BOTS) + 1
