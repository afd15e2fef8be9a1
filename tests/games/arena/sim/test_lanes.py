"""Eight matches at once are as each alone: every operation, blocks not full, and golden play."""

import hashlib

import numpy as np
import pytest

from tests.games.arena.acting import random_actions
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim.lanes import (
    LANES,
    blocks,
    every,
    from_lanes,
    larger,
    load,
    root,
    same,
    smaller,
    some,
    store,
    to_lanes,
    where,
)
from understudy.games.arena.sim.world import World

ODD = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300]
ROWS = 24


@kernel
def arithmetic(m, out):
    x, y = load(m, 0), load(m, 1)
    for k, value in enumerate(
        (x + y, x - y, x * y, x / y, -x, abs(x), root(abs(x)), smaller(x, y), larger(x, y))
    ):
        store(out, k, value)
    store(out, 9, 2 * x + 0.5)  # plain numbers stand in all lanes
    store(out, 10, 1 - x / 3)
    store(out, 11, smaller(larger(x, -1), 1.0))
    store(out, 12, same(7))


@kernel
def choices(m, out):
    x, y = load(m, 0), load(m, 1)
    for k, mask in enumerate(
        (
            x < y,
            x <= y,
            x > y,
            x >= y,
            x == y,
            x != y,
            ~(x < y),
            (x < y) & (x > 0),
            (x < y) | (y < 0),
        )
    ):
        store(out, k, where(mask, x, -1.0))
    store(out, 9, 1.0 if some(x < y) else 0.0)
    store(out, 10, 1.0 if every(x < y) else 0.0)
    store(out, 11, 1.0 if every(x == x) else 0.0)
    store(out, 12, 1.0 if some(x > 1e301) else 0.0)


def cases():
    """Ordinary numbers, every odd number beside every other, and equals."""
    rng = np.random.default_rng(0)
    yield from rng.normal(0, 3, (20, 2, LANES))
    for shift in range(LANES):
        yield np.array([ODD, np.roll(ODD, shift)])


@pytest.mark.parametrize("function", [arithmetic, choices])
def test_compiled_and_as_plain_python_lanes_give_the_same_bits(function):
    for given in cases():
        m, found, expected = (blocks(np.float64, size) for size in (2, ROWS, ROWS))
        m[:] = given
        function(m, found)
        with np.errstate(all="ignore"):
            function.py_func(m, expected)
        finite = ~np.isnan(expected)  # one NaN is as good as another
        assert np.array_equal(np.isnan(found), ~finite)
        assert found[finite].tobytes() == expected[finite].tobytes()


@kernel
def copy(source, target):
    for k in range(len(source)):
        store(target, k, load(source, k))


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_a_row_keeps_its_numbers_whatever_the_block_holds(kind):
    source, target = blocks(kind, 3), blocks(kind, 3)
    source[:] = np.arange(-12, 12).reshape(3, LANES)
    copy(source, target)
    assert np.array_equal(source, target) and source.ctypes.data % 64 == 0


@pytest.mark.parametrize("width", [8, 14, 16, 58])
def test_rows_turn_into_lanes_and_back(width):
    rows = np.random.default_rng(1).normal(size=(24, width)).astype(np.float32)
    block, back = blocks(np.float32, width), np.zeros_like(rows)
    for number in range(3):
        to_lanes(rows, number, block)
        assert np.array_equal(block, rows[8 * number : 8 * number + 8].T)
        from_lanes(block, number, back)
        assert np.array_equal(back[: 8 * number + 8], rows[: 8 * number + 8])
        assert not back[8 * number + 8 :].any()


# --- blocks of a world ---------------------------------------------------------------------------


def parts(world, which=slice(None)):
    """All that a world holds of some matches."""
    return [part[which].tobytes() for part in world.state().values()]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 16, 21])
def test_a_match_is_the_same_in_a_full_block_and_in_part_of_one(size):
    rng = np.random.default_rng(2)
    large, small = World(32, shaping=0.2), World(size, shaping=0.2)
    large.reset(range(32))
    small.reset(range(32 - size, 32))  # other lanes of other blocks
    for _ in range(150):
        actions = random_actions(rng, 32, 2)
        large.step(actions)
        small.step(actions[32 - size :])
        assert parts(small) == parts(large, slice(32 - size, None))


def test_beside_matches_that_go_on_those_that_have_ended_stay_as_they_are():
    rng = np.random.default_rng(3)
    world = World(16)
    world.reset(range(16))
    ended = np.array([0, 3, 9])  # not all of a block
    world.status[ended] = r.TERMINATED
    before = world.state()
    for _ in range(60):
        world.step(random_actions(rng, 16, 2))
        assert parts(world, ended) == [part[ended].tobytes() for part in before.values()]
        assert not world.reward[ended].any() and not np.signbit(world.reward[ended]).any()
    assert world.steps.tolist() == [0 if k in ended else 60 for k in range(16)]


def test_beginning_some_matches_anew_leaves_their_neighbours_alone():
    rng = np.random.default_rng(4)
    world, fresh = World(13), World(2)
    world.reset(range(13))
    for _ in range(40):
        world.step(random_actions(rng, 13, 2))
    before = world.state()
    world.reset([70, 71], [11, 2])
    fresh.reset([70, 71])
    others = np.delete(np.arange(13), [2, 11])
    assert parts(world, others) == [part[others].tobytes() for part in before.values()]
    assert parts(world, [11, 2]) == parts(fresh)


@pytest.mark.parametrize("size", [3, 8, 20])
def test_a_world_goes_on_from_its_state(size):
    rng = np.random.default_rng(5)
    world, other = World(size), World(size)
    world.reset(range(size))
    for _ in range(30):
        world.step(random_actions(rng, size, 2))
    other.restore(world.state())
    for _ in range(30):
        actions = random_actions(rng, size, 2)
        world.step(actions)
        other.step(actions)
    assert parts(world) == parts(other)


def test_numbers_by_name_are_those_of_the_rows():
    world = World(9)
    world.reset(range(9))
    assert world.row.shape == (9, e.ROW) and world.body.shape == (9, 2, e.BODY)
    assert world.body[:, 0, e.X].tolist() == [-r.SPAWN_X] * 9
    assert np.array_equal(world.row[:, e.BODY + e.Y], world.body[:, 1, e.Y])
    cover = r.COVER[world.layout].reshape(9, -1)
    assert np.array_equal(world.row[:, e.COVER : e.LOADOUT], cover)
    assert world.shots.shape == (9, 2, r.MAX_SHOTS, e.SHOT) and not world.stations.any()


@pytest.mark.parametrize("form", ["float64", "not in order", "too few"])
def test_actions_of_any_form_are_taken_as_they_are_meant(form):
    actions = random_actions(np.random.default_rng(6), 8, 2)
    world, other = World(8), World(8)
    for one in (world, other):
        one.reset(range(8))
    world.step(actions)
    if form == "too few":
        with pytest.raises(ValueError, match="broadcast"):
            other.step(actions[:, :, :5])
        return
    other.step(np.asfortranarray(actions) if form == "not in order" else actions.astype(form))
    assert parts(world) == parts(other)


# --- golden --------------------------------------------------------------------------------------

GOLDEN = "1c8c2787257682bcff7f16fbb6f0f25735c0e61621981f769fc90d216e0203b6"
"""Made by the rules as they were written for one match at a time. The rules know no function but
the square root, so it holds on every processor."""


def test_play_is_what_it_always_was():
    rng = np.random.default_rng(14)
    world = World(21, shaping=0.25, timeout="health")
    world.reset(rng.integers(2**62, size=21))
    total, killed = hashlib.sha256(), 0
    for _ in range(r.MAX_STEPS + 100):
        actions = rng.uniform(-1.5, 1.5, (21, 2, len(r.ACTION))).astype(np.float32)
        actions[..., r.ABILITY] = rng.integers(0, 4, (21, 2))
        aims = rng.random((21, 2)) < 0.7
        to_enemy = world.view[..., v.ENEMY_X : v.ENEMY_VX] - world.view[..., v.X : v.VX]
        actions[aims, r.AIM_X : r.AIM_Y + 1] = to_enemy[aims]
        world.step(actions)
        bodies = world.body[..., : e.IN_REACH].reshape(21, -1)
        rows = np.concatenate([bodies, world.row[:, e.SHOTS : e.COVER]], axis=1)
        for part in (rows, world.clock, world.reward, world.view[..., : v.TIME_LEFT]):
            total.update(np.ascontiguousarray(part).tobytes())
        done = np.flatnonzero((world.status != r.RUNNING) & (rng.random(21) < 0.05))
        killed += len(done)
        if len(done):
            world.reset(rng.integers(2**62, size=len(done)), done)
    assert killed > 20
    assert total.hexdigest() == GOLDEN
