"""Loadouts: hidden until in sight, chosen once, in a circle; without them nothing has changed."""

import numpy as np
import pytest

from tests.small_runs import assert_refused, understudy
from understudy import games
from understudy.games.arena.codec import features as base
from understudy.games.arena.loadouts.choice import circle, exploited
from understudy.games.arena.loadouts.matches import FEATURES, HEADS, NUM, LoadoutArena
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World

MANY = np.arange(64)
ENEMY = [*FEATURES].index("enemy_steel")
OWN = [*FEATURES].index("own_steel")


def begun(*players):
    """Matches of scripted players after their first step."""
    env = LoadoutArena(len(MANY))
    env.reset(MANY, MANY)
    stepped(env, players)
    return env


def stepped(env, players, which=MANY):
    for slot, player in enumerate(players):
        env.script(player, which, slot)
    return env.step()


def test_a_loadout_is_seen_in_sight_and_not_before():
    steel, flame = (begun("expert-steel", f"expert-{k}") for k in ("steel", "flame"))
    hidden = steel.world.loadouts[:, 0, 1] == 0
    assert hidden.all()  # they begin further apart than sight reaches
    np.testing.assert_array_equal(
        steel.observe().observation[:, 0], flame.observe().observation[:, 0]
    )
    for _ in range(40):
        stepped(flame, ("expert-steel", "expert-flame"))
        seen = flame.world.view[:, 0, base.v.ENEMY_AGE] == 0
        known = flame.observe().observation[:, 0, ENEMY : ENEMY + NUM]
        assert (known[seen] == np.eye(NUM)[r.LOADOUTS.index("flame")]).all()
    assert seen.any() and (known.sum(1) == 0).any()


def test_a_choice_counts_once_and_shows_at_home():
    env = LoadoutArena(len(MANY))
    env.reset(MANY, MANY)
    first = env.observe()
    assert first.legal[..., -NUM:].all()
    assert not first.observation[..., OWN : OWN + NUM].any()
    options = np.zeros((len(MANY), len(HEADS)), np.int64)
    for choice in (2, 1):  # the second comes too late
        options[:, -1] = choice
        for slot in (0, 1):
            env.set_actions(MANY, np.full(len(MANY), slot), options)
        env.step()
        seen, legal = env.observe()
        assert (seen[..., OWN : OWN + NUM] == np.eye(NUM)[2]).all()
        assert legal[..., -NUM].all() and not legal[..., -NUM + 1 :].any()


@pytest.mark.parametrize(
    ("mine", "damage"), [("flame", r.DAMAGE), ("steel", r.STRONG_DAMAGE), ("frost", r.DAMAGE)]
)
def test_flame_hurts_steel_more_and_nobody_else(mine, damage):
    env, lost = begun(f"rusher-{mine}", "rusher-flame"), set()
    for _ in range(60):
        before = env.world.body[:, 0, e.HEALTH]
        running = np.flatnonzero(env.world.status == r.RUNNING)
        stepped(env, (f"rusher-{mine}", "rusher-flame"), running)
        lost |= set((before - env.world.body[:, 0, e.HEALTH])[running].tolist())
    assert lost - {0.0} <= {float(damage), 2.0 * damage} and float(damage) in lost


def test_the_circle_is_as_steep_as_was_meant():
    for style in ("expert", "kiter"):
        found = circle(style, 1_200)
        for k in range(NUM):
            assert 0.58 < found[(k + 1) % NUM, k] < 0.75
    assert exploited(found, [1.0, 0.0, 0.0]) == found[:, 0].max()
    even = np.array([[0.5, 0.3, 0.7], [0.7, 0.5, 0.3], [0.3, 0.7, 0.5]])
    assert exploited(even, np.full(3, 1 / 3)) == pytest.approx(0.5)
    assert exploited(even, [0.5, 0.5, 0.0]) == pytest.approx(0.6)


def test_without_loadouts_a_world_may_be_older_than_they_are():
    one, other = World(5), World(5)
    one.reset(np.arange(5))
    old = one.state()
    old["row"] = old["row"][:, : e.LOADOUT]
    other.restore(old)
    np.testing.assert_array_equal(one.row, other.row)
    assert not one.loadouts.any()


def test_the_variant_is_a_game_of_its_own():
    game = games.load("arena:loadouts")
    assert {table.game for table in (*game.recordings, *game.samples)} == {"arena:loadouts"}
    assert game.league().recipe("full").slots
    assert_refused(understudy("encode arena:jetpacks"), "no variant 'jetpacks'", "loadouts")
