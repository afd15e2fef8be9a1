"""Hosted matches go on from any state exactly as they would have, however they get there."""

from dataclasses import dataclass

import numpy as np
import pytest

from understudy.games.two_player import hosted
from understudy.games.two_player.hosted import RANDOM, HostedEnv
from understudy.learn.rl.env import BatchedEnv


class Walk:
    """Both go up or down at once, or wait their turn by chance; over at 6 steps away from 0."""

    made = 0

    def __init__(self, wild):
        Walk.made += 1
        self.wild = wild

    def reset(self, seed):
        self.rng = np.random.default_rng(None if self.wild else seed)
        self.place, self.steps, self.mover = 0, 0, int(self.rng.integers(3))

    def turn(self):
        if abs(self.place) >= 6:
            return ()
        return (0, 1) if self.mover == 2 else (self.mover,)

    def see(self, slot, features, legal):
        features[:] = (self.place * (1 - 2 * slot), self.steps)
        if legal is not None:
            legal[:] = (True, True, self.place % 2 == 0)

    def step(self, options):
        for slot in self.turn():
            assert options[slot, 0] < 2 or self.place % 2 == 0
            self.place += (1 - 2 * slot) * (1, -1, 2)[options[slot, 0]] if options[slot, 0] else 1
            break
        self.steps += 1
        self.mover = int(self.rng.integers(3))
        return 0.25, 0.0

    def score(self):
        return 0.5 if self.place > 0 else -0.5


@dataclass(frozen=True)
class Walking:
    wild: bool = False
    name = "walking"
    features = 2
    heads = (3,)

    def match(self):
        return Walk(self.wild)

    def __call__(self, num_matches, pseudo_reward):
        return HostedEnv(self, num_matches, pseudo_reward)


WALKING = Walking()


def begun(host=WALKING, places=6, steps=5):
    env = host(places, 0.0)
    env.reset(np.arange(places), np.arange(places) + 2**61)
    go_on(env, steps)
    return env


def go_on(env, steps=7):
    """What is seen and comes of so many steps by those who guess."""
    told = []
    for _ in range(steps):
        for slot in (0, 1):
            env.script(RANDOM, np.arange(len(env.seeds)), slot)
        told += [*env.observe(), *env.step()]
    return told


def assert_same(told, other):
    assert len(told) == len(other)
    for one, another in zip(told, other, strict=True):
        np.testing.assert_array_equal(one, another)


@pytest.fixture(autouse=True)
def nobody_parked():
    hosted._PARKED.clear()


def test_it_is_what_learning_asks_of_a_game():
    assert isinstance(begun(), BatchedEnv)


@pytest.mark.parametrize("parked", [True, False])
def test_going_on_from_a_state_is_as_if_nothing_had_happened(parked):
    env = begun()
    state = env.state()
    if not parked:
        hosted._PARKED.clear()  # as in another process
    other = Walking()(6, 0.0)
    before = Walk.made
    other.restore(state)
    assert Walk.made - before == (0 if parked else 6)
    assert_same(go_on(other), go_on(begun(), 7))
    again = Walking()(6, 0.0)
    again.restore(state)  # the matches have been taken and have moved on
    assert_same(go_on(again), go_on(begun()))


def test_whose_matches_were_taken_over_goes_on_as_well():
    env = begun()
    other = Walking()(6, 0.0)
    other.restore(env.state())
    expected = go_on(begun())
    assert_same(go_on(other), expected)
    assert_same(go_on(env), expected)


def test_a_state_that_was_left_is_not_found_with_matches_that_moved_on():
    env = begun()
    state = env.state()
    go_on(env, 2)
    assert not hosted._PARKED
    other = Walking()(6, 0.0)
    other.restore(state)
    assert_same(go_on(other), go_on(begun()))


def test_a_state_can_be_restored_where_it_came_from():
    env = begun()
    state = env.state()
    expected = go_on(env)
    env.restore(state)
    assert_same(go_on(env), expected)


def test_only_so_many_states_are_kept():
    kept = [begun(steps=number) for number in range(hosted._PARKED_MAX + 3)]
    for env in kept:
        env.state()
    assert len(hosted._PARKED) == hosted._PARKED_MAX


def test_a_match_that_cannot_be_repeated_begins_anew():
    env = begun(Walking(wild=True), places=40)
    state = env.state()
    hosted._PARKED.clear()
    other = Walking(wild=True)(40, 0.0)
    other.restore(state)
    anew = other.steps == 0
    assert anew.any()
    assert (other.steps[~anew] == state["steps"][~anew]).all()
    go_on(other)  # and it is a match like any other
    assert not hosted.replays_exactly(Walking(wild=True), 3) and hosted.replays_exactly(Walking())


def test_a_match_depends_on_its_seed_and_choices_not_on_its_place():
    env, other = Walking()(6, 0.0), Walking()(6, 0.0)
    seeds = np.arange(6) + 50
    env.reset(np.arange(6), seeds)
    other.reset(np.arange(6)[::-1], seeds)
    for one, another in zip(go_on(env, 9), go_on(other, 9), strict=True):
        np.testing.assert_array_equal(one, another[::-1])


def test_whoever_waits_has_nothing_to_choose():
    env = begun()
    seen = env.observe()
    waits = ~env.turn
    assert waits.any() and env.turn.any()
    assert (seen.legal[waits] == [True, False, False]).all()
    np.testing.assert_array_equal(seen.observation[..., 0], env.turn)
    np.testing.assert_array_equal(seen.observation[..., 1], np.tile([0, 1], (6, 1)))
    assert seen.legal[env.turn].sum(1).min() >= 2


def test_who_guesses_chooses_every_legal_option_about_equally_often():
    env = Walking()(9_000, 0.0)
    env.reset(np.arange(9_000), np.arange(9_000))
    env.script(RANDOM, np.arange(9_000), 0)
    mine = env.turn[:, 0]
    counts = np.bincount(env.chosen[mine, 0, 0], minlength=3)
    assert abs(counts / mine.sum() - 1 / 3).max() < 0.02
    assert (env.chosen[~mine, 0] == 0).all()


def test_chance_of_one_match_tells_nothing_of_another_or_of_its_next_step():
    seed, step = np.arange(2_000), np.full(2_000, 5)
    draws = hosted.uniform(seed, step, 0)
    others = [(seed + 1, step, 0), (seed, step + 1, 0), (seed + 1, step - 1, 0), (seed, step, 1)]
    for other in others:
        assert abs(np.corrcoef(draws, hosted.uniform(*other))[0, 1]) < 0.07


def test_a_match_without_an_end_is_cut_short(monkeypatch):
    monkeypatch.setattr(hosted, "MOST_STEPS", 3)
    env = begun(steps=0)
    last = go_on(env, 3)
    truncated, terminated = last[-1], last[-2]
    assert truncated.any() and not (truncated & terminated).any()
    assert (env.legal[truncated] == [True, False, False]).all()
    state = env.state()
    hosted._PARKED.clear()
    other = Walking()(6, 0.0)
    other.restore(state)
    assert_same(go_on(other, 1), go_on(env, 1))
    assert not go_on(env, 1)[-1].any()
