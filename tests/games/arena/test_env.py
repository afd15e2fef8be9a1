"""The three faces of the arena for others, held against their libraries' own checkers."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo.utils import parallel_to_aec

from tests.games.arena.acting import bot_actions, by_hand
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.env import ENV_ID, ArenaEnv, ArenaParallelEnv, ArenaVectorEnv, to_floats
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.draw import FLOOR, SIZE, TEAMS, draw
from understudy.games.arena.sim.world import World

with warnings.catch_warnings():  # its other tests import environments by deprecated names
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import parallel_api_test, parallel_seed_test, render_test

KINDS = ["factored", "raw"]
kinds = pytest.mark.parametrize("kind", KINDS)


def sample(space, rng):
    """A random action; a generator of our own, so that copies of a space draw the same."""
    space.seed(int(rng.integers(2**31)))
    return space.sample()


class Still:
    """An opponent that remembers what it was shown and never moves."""

    def __init__(self):
        self.slots, self.views = [], []

    def act(self, views, world, running, slot):
        self.slots.append(slot)
        self.views.append(views.copy())
        return np.zeros((len(views), len(r.ACTION)), np.float32)


# --- Gymnasium -----------------------------------------------------------------------------------


@kinds
def test_gymnasium_finds_no_fault(kind):
    env = gymnasium.make(ENV_ID, actions=kind, render_mode="rgb_array")
    check_env(env.unwrapped)
    env.close()


def test_the_environment_can_be_made_by_its_name():
    env = gymnasium.make(ENV_ID, opponent="camper")
    assert isinstance(env.unwrapped, ArenaEnv)
    many = gymnasium.make_vec(ENV_ID, 3, vectorization_mode="vector_entry_point", opponent="kiter")
    assert isinstance(many.unwrapped, ArenaVectorEnv) and many.num_envs == 3
    copies = gymnasium.make_vec(ENV_ID, 3, vectorization_mode="sync")
    observation, _ = copies.reset(seed=5)
    assert np.array_equal(observation, many.reset(seed=5)[0])
    for one in (env, many, copies):
        one.close()


def test_an_unknown_opponent_is_answered_with_those_there_are():
    with pytest.raises(InputError, match="no player 'boss'; it has rusher"):
        ArenaEnv(opponent="boss")


@kinds
def test_the_same_seed_gives_the_same_matches(kind):
    def play(seed, actions_seed=1):
        env, rng = ArenaEnv("expert", kind), np.random.default_rng(actions_seed)
        seen = [env.reset(seed=seed)[0]]
        for _ in range(300):
            observation, reward, ended, cut, info = env.step(sample(env.action_space, rng))
            seen += [observation, [reward, ended, cut], info["action_mask"]]
            if ended or cut:
                seen.append(env.reset()[0])
        return np.concatenate(seen)

    assert np.array_equal(play(7), play(7))
    assert not np.array_equal(play(7)[:19], play(8)[:19])


def test_a_match_is_that_of_the_world_against_the_bot():
    """The environment adds nothing: the same seed and actions in a bare world give the same."""
    env, rng = ArenaEnv("collector", timeout="health", shaping=0.25), np.random.default_rng(2)
    env.reset(seed=11)
    world = World(1, timeout="health", shaping=0.25)
    world.reset([np.random.default_rng(11).integers(2**62)])
    ended = cut = False
    while not (ended or cut):
        choice = sample(env.action_space, rng)
        actions = bot_actions(world, "expert", "collector")
        actions[0, 0] = codec.decode(choice)
        world.step(actions)
        observation, reward, ended, cut, info = env.step(choice)
        assert np.array_equal(observation, features.features(world.view[:, 0])[0])
        assert np.array_equal(info["action_mask"], features.legal(world.view[:, 0])[0])
        assert reward == world.reward[0, 0]
        assert (ended, cut) == (world.status[0] == r.TERMINATED, world.status[0] == r.TRUNCATED)


def test_both_kinds_of_actions_can_say_the_same():
    factored, raw = ArenaEnv("expert"), ArenaEnv("expert", "raw")
    rng = np.random.default_rng(3)
    factored.reset(seed=1), raw.reset(seed=1)
    for _ in range(60):
        choice = sample(factored.action_space, rng)
        floats = codec.decode(choice)
        action = {
            "move": floats[[r.MOVE_X, r.MOVE_Y]],
            "aim": floats[[r.AIM_X, r.AIM_Y]],
            "fire": int(floats[r.FIRE]),
            "interact": int(floats[r.INTERACT]),
            "ability": int(floats[r.ABILITY]),
        }
        assert np.array_equal(to_floats(action, "raw"), floats)
        assert np.array_equal(factored.step(choice)[0], raw.step(action)[0])


def test_options_follow_the_mask():
    """To take only what the mask allows, head by head, is never ignored by the rules."""
    env, rng = ArenaEnv("expert"), np.random.default_rng(4)
    _, info = env.reset(seed=3)
    fired = 0
    for _ in range(400):
        assert info["action_mask"].shape == (features.NUM_OPTIONS,)
        assert info["action_mask"].dtype == np.int8
        heads = np.split(info["action_mask"], np.cumsum(list(codec.HEADS.values()))[:-1])
        choice = [rng.choice(np.flatnonzero(head)) for head in heads]
        choice[-1] = 0  # a reload would come before the shot
        before = env.unwrapped._world.events[0, 0]
        _, _, ended, cut, info = env.step(np.array(choice))
        events = env.unwrapped._world.events[0, 0]
        assert bool(events & r.DASHED) == (choice[5] == r.DASH), before
        assert bool(events & r.SHIELDED) == (choice[5] == r.SHIELD)
        assert bool(events & r.FIRED) == (choice[4] == 1 and choice[5] != r.SHIELD)
        fired += bool(events & r.FIRED)
        if ended or cut:
            _, info = env.reset()
    assert fired > 20


def test_an_object_that_can_act_may_be_the_opponent():
    still = Still()
    env = ArenaEnv(still)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.array([8, 4, 4, 4, 0, 0, 0]))
    assert still.slots == [1, 1, 1]
    assert len({view.tobytes() for view in still.views}) == 3  # time goes by: memory ages
    assert all(view[0, 0] == -r.SPAWN_X for view in still.views)


def test_a_picture_shows_the_floor_and_both_players():
    env = ArenaEnv(Still(), render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (SIZE, SIZE, 3) and picture.dtype == np.uint8
    colours = {tuple(colour) for colour in picture.reshape(-1, 3).tolist()}
    assert {FLOOR, *TEAMS} <= colours
    # We begin in the west, and go east.
    rows, columns = np.nonzero((picture == TEAMS[0]).all(axis=2))
    assert columns.mean() < SIZE / 4
    for _ in range(10):
        env.step(np.array([8, 4, 4, 4, 0, 0, 0]))
    later = np.nonzero((env.render() == TEAMS[0]).all(axis=2))
    assert later[1].mean() > columns.mean() + 50 and abs(later[0].mean() - rows.mean()) < 5


def test_a_picture_has_north_on_top():
    world = World(1)
    world.reset([0])
    with by_hand(world) as rows:
        rows.body[0, 0, :2], rows.body[0, 1, :2] = (0, 8), (0, -8)
    picture = draw(world, 0)
    first, second = (np.nonzero((picture == team).all(axis=2))[0].mean() for team in TEAMS)
    assert first < SIZE / 4 and second > SIZE * 3 / 4


# --- many at once --------------------------------------------------------------------------------


def assert_same_info(found, expected, num_envs):
    """Where the reference says something of an environment, we say the same."""
    assert {key for key in found if key.startswith("final")} == {
        key for key in expected if key.startswith("final")
    }
    for key in ("action_mask", "final_obs"):
        for i in np.flatnonzero(expected.get(f"_{key}", np.zeros(num_envs, bool))):
            assert found[f"_{key}"][i]
            assert np.array_equal(found[key][i], expected[key][i])
    if "final_obs" in expected:
        assert np.array_equal(found["_final_obs"], expected["_final_obs"])
        assert np.array_equal(found["_final_info"], expected["_final_info"])
        assert_same_info(found["final_info"], expected["final_info"], num_envs)


def pair(mode, kind="factored", num_envs=5, **settings):
    """Our vector environment, and Gymnasium's own made of single ones."""
    ours = ArenaVectorEnv(num_envs, actions=kind, autoreset_mode=mode, **settings)
    theirs = SyncVectorEnv(
        [lambda: ArenaEnv(actions=kind, **settings)] * num_envs, autoreset_mode=mode
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] == mode
    return ours, theirs


def assert_same_step(ours, theirs, actions):
    """Step both; the ends that came of it, as [terminated, truncated]."""
    found, expected = ours.step(actions), theirs.step(actions)
    for one, other in zip(found[:4], expected[:4], strict=True):
        assert one.dtype == other.dtype and np.array_equal(one, other)
    assert_same_info(found[4], expected[4], ours.num_envs)
    return np.array([found[2].sum(), found[3].sum()])


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
@pytest.mark.parametrize(
    ("kind", "opponent", "steps"),
    [("factored", "expert", 700), ("raw", "rusher", 300), ("factored", "camper", 1_250)],
)
def test_many_side_by_side_are_as_many_one_by_one(mode, kind, opponent, steps):
    ours, theirs = pair(mode, kind, opponent=opponent, timeout="health", shaping=0.1)
    rng = np.random.default_rng(5)
    observation, info = ours.reset(seed=21)
    expected, expected_info = theirs.reset(seed=21)
    assert np.array_equal(observation, expected)
    assert_same_info(info, expected_info, 5)
    ends = np.zeros(2)
    for _ in range(steps):
        ends += assert_same_step(ours, theirs, sample(ours.action_space, rng))
    if opponent == "expert":
        assert ends[0] > 10
    if opponent == "camper":
        assert ends[1] > 2
    ours.close(), theirs.close()


def test_without_autoreset_one_resets_by_mask():
    ours, theirs = pair(AutoresetMode.DISABLED, opponent="expert")
    rng = np.random.default_rng(6)
    ours.reset(seed=3), theirs.reset(seed=3)
    resets = 0
    for _ in range(400):
        actions = sample(ours.action_space, rng)
        found, expected = ours.step(actions), theirs.step(actions)
        for one, other in zip(found[:4], expected[:4], strict=True):
            assert np.array_equal(one, other)
        if (mask := found[2] | found[3]).any():
            resets += 1
            begun, info = ours.reset(options={"reset_mask": mask.copy()})
            begun_too, info_too = theirs.reset(options={"reset_mask": mask.copy()})
            assert np.array_equal(begun, begun_too)
            assert_same_info(info, info_too, 5)
    assert resets > 3


@pytest.mark.parametrize("seed", [None, 17, [None, 4, None, 5, 6]])
def test_a_reset_by_mask_leaves_the_others_and_their_dice_alone(seed):
    ours, theirs = pair(AutoresetMode.DISABLED)
    mask = np.array([False, True, False, True, False])
    for env in (ours, theirs):
        env.reset(seed=3)
        env.step(np.zeros((5, 7), np.int64))
    for wanted in (mask, None):  # the second shows whether their dice were touched
        options = {} if wanted is None else {"reset_mask": wanted}
        found = ours.reset(seed=seed if wanted is not None else None, options=dict(options))[0]
        expected = theirs.reset(seed=seed if wanted is not None else None, options=dict(options))[0]
        assert np.array_equal(found, expected)


def test_a_match_that_has_ended_waits_for_its_reset():
    env = ArenaVectorEnv(2, "expert", autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=3)
    while True:
        observation, reward, ended, *_ = env.step(np.full((2, 7), [4, 4, 4, 4, 0, 0, 0]))
        if ended.any():
            break
    assert reward[ended].tolist() == [-1.0] * int(ended.sum())
    later = env.step(np.full((2, 7), [4, 4, 4, 4, 0, 0, 0]))
    assert np.array_equal(later[0][ended], observation[ended])
    assert later[2][ended].all() and not later[1][ended].any()


def test_seeds_may_be_given_one_by_one():
    env, single = ArenaVectorEnv(3), ArenaEnv()
    observation, _ = env.reset(seed=[4, 9, 4])
    for i, seed in enumerate((4, 9, 4)):
        assert np.array_equal(observation[i], single.reset(seed=seed)[0])
    assert not np.array_equal(env.reset()[0], observation)  # the dice go on


def test_without_a_seed_no_two_environments_are_alike():
    observation, _ = ArenaVectorEnv(8).reset()
    assert len(np.unique(observation, axis=0)) == 8


def test_every_match_has_a_picture():
    env = ArenaVectorEnv(2, render_mode="rgb_array")
    env.reset(seed=0)
    pictures = env.render()
    assert len(pictures) == 2 and not np.array_equal(*pictures)
    assert all(picture.shape == (SIZE, SIZE, 3) for picture in pictures)


# --- PettingZoo ----------------------------------------------------------------------------------


@kinds
def test_pettingzoo_finds_no_fault(kind, capsys):
    parallel_api_test(ArenaParallelEnv(actions=kind), num_cycles=700)
    parallel_seed_test(lambda: ArenaParallelEnv(actions=kind), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


def test_pettingzoo_gets_its_pictures():
    def make(render_mode=None):
        return parallel_to_aec(ArenaParallelEnv(render_mode=render_mode))

    render_test(make)
    assert ArenaParallelEnv.metadata["render_modes"] == ["rgb_array"]


def test_two_callers_play_the_match_of_the_world():
    env, rng = ArenaParallelEnv(shaping=0.5), np.random.default_rng(7)
    observations, infos = env.reset(seed=5)
    world = World(1, shaping=0.5)
    world.reset([np.random.default_rng(5).integers(2**62)])
    while env.agents:
        for k, agent in enumerate(("player_0", "player_1")):
            assert np.array_equal(observations[agent], features.features(world.view[0])[k])
            assert np.array_equal(infos[agent]["action_mask"], features.legal(world.view[0])[k])
        choices = {agent: sample(env.action_space(agent), rng) for agent in env.agents}
        world.step(codec.decode(np.stack(list(choices.values())))[None])
        observations, rewards, ended, cut, infos = env.step(choices)
        assert list(rewards.values()) == world.reward[0].tolist()
    assert set(ended) == set(cut) == {"player_0", "player_1"}
    assert all(ended.values()) == (world.status[0] == r.TERMINATED)
    assert all(cut.values()) == (world.status[0] == r.TRUNCATED)


def test_an_agent_left_out_does_nothing():
    one, other = ArenaParallelEnv(), ArenaParallelEnv()
    for env in (one, other):
        env.reset(seed=1)
    idle, east = np.array([4, 4, 4, 4, 0, 0, 0]), np.array([8, 4, 4, 4, 1, 0, 0])
    for _ in range(5):
        seen = one.step({"player_1": east})[0]
        seen_too = other.step({"player_0": idle, "player_1": east})[0]
        for agent in ("player_0", "player_1"):
            assert np.array_equal(seen[agent], seen_too[agent])
