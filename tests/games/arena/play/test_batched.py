"""The arena as a learner plays it: the same game as everybody else's."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from understudy.data.players import PlayerRef
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.play import play
from understudy.games.arena.play.batched import BatchedArena
from understudy.games.arena.recipes import RECIPES
from understudy.games.arena.sim import rules as r
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.job import Job
from understudy.learn.rl.acting.opponents import Opponent, packed
from understudy.learn.rl.acting.rollout import collect
from understudy.learn.rl.env import BatchedEnv
from understudy.learn.rl.learner import Learner, met_by
from understudy.pipeline.pairings import Fixture

SEEDS = np.arange(40)
ALL = np.arange(len(SEEDS))


def scripted_score(pseudo_reward=0.0):
    """Play the expert against the rusher to the end; scores and rewards of player 0 by seed."""
    game = BatchedArena(len(SEEDS), pseudo_reward)
    game.reset(ALL, SEEDS)
    score, reward = np.zeros(len(SEEDS)), np.zeros(len(SEEDS))
    for _ in range(r.MAX_STEPS):
        game.script("expert", ALL, 0)
        game.script("rusher", ALL, 1)
        result = game.step()
        score[result.terminated] = result.score[result.terminated, 0]
        reward += result.reward[:, 0]
        assert not result.truncated.any()
    assert not game.step().terminated.any()  # told once
    return score, reward


def test_it_is_a_game():
    assert isinstance(BatchedArena(2), BatchedEnv)


def test_matches_end_as_they_do_when_they_are_recorded():
    fixture = Fixture((PlayerRef("expert"), PlayerRef("rusher")), tuple(SEEDS.tolist()), 0)
    expected = play.play(fixture).recordings["matches"]["score"].to_numpy()
    score, reward = scripted_score()
    np.testing.assert_array_equal(score, expected)
    np.testing.assert_array_equal(reward, expected)  # without pseudo-reward the score is all
    assert {-1.0, 1.0} <= set(score)


def test_pseudo_rewards_leave_the_score_alone():
    plain, helped = scripted_score(), scripted_score(0.5)
    np.testing.assert_array_equal(plain[0], helped[0])
    assert (plain[1] != helped[1]).mean() > 0.5


def test_options_are_decoded_as_everywhere():
    rng = np.random.default_rng(0)
    options = rng.integers(0, list(codec.HEADS.values()), (80, 7))
    game = BatchedArena(40)
    place, slot = np.divmod(np.arange(80), 2)
    game.set_actions(place, slot, options)
    np.testing.assert_array_equal(game.actions.reshape(80, -1), codec.decode(options))


def test_players_see_what_the_networks_of_other_players_see():
    game = BatchedArena(40)
    game.reset(ALL, SEEDS)
    seen = game.observe()
    for slot in range(2):
        views = game.world.view[:, slot]
        np.testing.assert_array_equal(seen.observation[:, slot], features.features(views))
        np.testing.assert_array_equal(seen.legal[:, slot], features.legal(views))


def test_a_state_put_back_goes_on_the_same():
    one, other = BatchedArena(40), BatchedArena(40)
    one.reset(ALL, SEEDS)
    for game in (one, one, one):
        game.script("expert", ALL, 0)
        game.step()
    other.restore(one.state())
    other.actions[:] = one.actions
    for game in (one, other):
        game.script("rusher", ALL, 1)
        game.step()
    for name, array in one.state().items():
        np.testing.assert_array_equal(array, other.state()[name])


@pytest.fixture(scope="module")
def start():
    shape = PolicyShape(RECIPES["refine"].decisions.features, codec.HEADS, (8,))
    return FactoredPolicy(shape, 0)


def test_a_frozen_bot_and_self_are_met_in_one_batch(start):
    opponents = (
        Opponent("self", 1.0),
        Opponent("camper", 1.0),
        Opponent("rusher", 1.0),
        Opponent("past", 1.0, packed(start)),
    )
    job = Job(
        make=BatchedArena,
        player=packed(start),
        opponents=opponents,
        matches=32,
        steps=16,
        discount=1.0,
        pseudo_reward=0.0,
        seed=(0,),
    )
    rollout = collect(job)
    assert rollout.play["reward"].shape == (16, 8 * 2 + 24)
    assert set(rollout.state["opponent"]) == {"self", "camper", "rusher", "past"}
    chosen = rollout.play["action"] + np.cumsum([0, *codec.HEADS.values()])[:-1]
    assert np.take_along_axis(rollout.play["legal"], chosen.astype(int), 2).all()


@pytest.mark.parametrize("name", ["refine", "refine-quick"])
def test_the_recipes_fit_their_objectives(name, start):
    changes = {"matches": 16, "steps": 4, "updates": 1, "critic_first": 0}
    recipe = replace(RECIPES[name], **changes)
    learner = Learner(recipe, start, met_by(recipe, start), 0)
    before = torch.cat([w.flatten() for w in learner.policy.parameters()]).clone()
    learner.iterate(Actors(0), last=True)
    assert not torch.equal(torch.cat([w.flatten() for w in learner.policy.parameters()]), before)
