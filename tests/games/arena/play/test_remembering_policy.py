"""A trained policy that remembers, as a player: each match is its own, whoever plays beside it."""

import numpy as np
import pytest
import torch

from understudy.games.arena.codec import actions as codec
from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.play.policy import ArenaPolicy, _dice
from understudy.games.arena.sim.world import World
from understudy.learn.policy import FactoredPolicy, PolicyShape

SEEDS, STEPS = [4, 11, 23, 7], 15


def restless(memory=6, plans=3):
    """A policy whose every weight matters."""
    shape = PolicyShape(MOVES.features, MOVES.heads, (8,), memory, plans, plans)
    policy, chance = FactoredPolicy(shape), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in policy.parameters():
            weight.normal_(0.0, 0.4, generator=chance)
    return policy


def played(player, seeds, steps=STEPS):
    """What it saw and did on both sides, [T N 2 ...], and the plans of each step."""
    world, running = World(len(seeds)), np.arange(len(seeds))
    world.reset(seeds)
    seen, done, plans = [], [], []
    for _ in range(steps):
        views = world.view.copy()
        both = [player.act(views[:, slot], world, running, slot) for slot in range(2)]
        seen.append(views)
        done.append(np.stack(both, 1))
        plans.append(player.playing.plan.copy())
        world.step(done[-1])
    return np.stack(seen), np.stack(done), np.stack(plans)


@pytest.mark.parametrize("more", [{}, {"plans": 0}, {"memory": 0}], ids=["both", "memory", "plans"])
def test_a_match_is_played_the_same_alone_and_among_others(more):
    _, together, _ = played(ArenaPolicy(restless(**more)), SEEDS)
    for place, seed in enumerate(SEEDS):
        _, alone, _ = played(ArenaPolicy(restless(**more)), [seed])
        np.testing.assert_array_equal(together[:, place], alone[:, 0])


def test_nothing_is_remembered_of_matches_that_are_over():
    player = ArenaPolicy(restless())
    first, again = played(player, SEEDS), played(player, SEEDS)
    np.testing.assert_array_equal(first[1], again[1])
    played(player, SEEDS[:2])  # another number of matches: another player at heart
    np.testing.assert_array_equal(first[1], played(player, SEEDS)[1])


def test_a_plan_hangs_on_match_and_seat_and_is_kept():
    _, _, plans = played(ArenaPolicy(restless()), list(range(60)))
    assert (plans == plans[0]).all()
    assert np.bincount(plans[0].ravel()) / 120 == pytest.approx([1 / 3] * 3, abs=0.12)
    assert (plans[0, :, 0] == plans[0, :, 1]).mean() == pytest.approx(1 / 3, abs=0.15)


@pytest.mark.parametrize("slot", [0, 1])
def test_what_it_is_said_to_have_thought_is_what_it_did(slot):
    """The distributions over a whole match, hit by the dice of each step, give its actions."""
    player = ArenaPolicy(restless())
    seen, done, _ = played(player, SEEDS)
    for place, seed in enumerate(SEEDS):
        heads, value = player.distribution(seen[:, place, slot], seed, slot)
        dice = np.concatenate([_dice(np.array([seed]), np.array([t]), slot) for t in range(STEPS)])
        shares = [heads[name].astype(np.float64) for name in codec.HEADS]
        options = [
            (share.cumsum(1) <= dice[:, k, None]).sum(1).clip(max=share.shape[1] - 1)
            for k, share in enumerate(shares)
        ]
        np.testing.assert_array_equal(codec.decode(np.stack(options, 1)), done[:, place, slot])
        assert value.shape == (STEPS,)
