from collections import Counter

import numpy as np
import pytest

from tests.games.arena.acting import bot_actions, by_hand, look, scattered
from understudy.data.players import PlayerRef
from understudy.data.results import win_rates
from understudy.errors import InputError
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.data.tables import results
from understudy.games.arena.game import GAME
from understudy.games.arena.play.bots import BOTS
from understudy.games.arena.play.play import Bot, play, player
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim import world as w
from understudy.pipeline.pairings import Fixture

FIRST_OPTION = np.cumsum([0, *codec.HEADS.values()])[:-1]


def act(name, world, slot, matches=None):
    """What a bot does in these matches, by default in all."""
    chosen = np.arange(world.num_matches) if matches is None else np.asarray(matches)
    return Bot(name).act(world.view[chosen, slot], world, chosen, slot)


def fixture(one, other, seeds):
    return Fixture((PlayerRef(one), PlayerRef(other)), tuple(seeds), 0)


def check(views, actions):
    """Every action is legal and made of the codec's levels."""
    choices = codec.encode(actions)
    assert np.array_equal(codec.decode(choices), actions)
    assert np.take_along_axis(features.legal(views), choices + FIRST_OPTION, axis=1).all()


@pytest.mark.parametrize("name", BOTS)
def test_every_action_of_a_bot_is_legal_and_exact_in_the_codec(name):
    world = w.World(40)
    world.reset(range(40))
    while (world.status == r.RUNNING).any():
        actions = bot_actions(world, name, "expert")
        for slot in range(2):
            check(world.view[:, slot], actions[:, slot])
        world.step(actions)


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_finds_a_legal_action_wherever_it_is(name):
    rng = np.random.default_rng(8)
    world = scattered(rng, 1_000)
    for slot in range(2):
        check(world.view[:, slot], act(name, world, slot))


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_does_the_same_alone_and_among_others(name):
    world = scattered(np.random.default_rng(9), 50)
    for slot in range(2):
        together = act(name, world, slot)
        for i in range(50):
            assert act(name, world, slot, [i]).tobytes() == together[i].tobytes()


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_does_not_see_what_is_hidden(name):
    """Out of sight the enemy may be anywhere and in any state: the bot does the same."""
    rng = np.random.default_rng(10)
    world = w.World(200)
    world.reset(range(200))
    compared = 0
    for t in range(1, 200):
        world.step(bot_actions(world, name, "collector"))
        if t % 5:
            continue
        hidden = (world.view[:, 0, v.ENEMY_AGE] > 0) & (world.status == r.RUNNING)
        view, done = world.view[:, 0].copy(), act(name, world, 0)
        before, place = world.state(), world.body[:, 1, [e.X, e.Y]]
        with by_hand(world) as rows:
            rows.body[:, 1, e.VX : e.DASH_Y + 1] = rng.normal(20, 9, (200, e.DASH_Y - e.VX + 1))
            rows.body[:, 1, e.SEEN_X : e.AGE] = rng.normal(0, 5, (200, 4))
            rows.body[:, 1, [e.X, e.Y]] = np.where(
                rng.random((200, 1)) < 0.7, rng.uniform(-9.5, 9.5, (200, 2)), place
            )
        look(world)
        still = hidden & (world.view[:, 0, v.ENEMY_AGE] > 0)
        moved = (world.body[:, 1, [e.X, e.Y]] != place).any(axis=1)
        compared += (still & moved).sum()
        assert np.array_equal(world.view[still, 0], view[still])
        assert np.array_equal(act(name, world, 0)[still], done[still])
        world.restore(before)
    assert compared > 40


@pytest.mark.parametrize("other", [name for name in BOTS if name != "expert"])
def test_the_expert_beats_every_other_bot(other):
    outline = [
        play(fixture(*pair, range(200))).recordings["matches"]
        for pair in (("expert", other), (other, "expert"))
    ]
    rates = [rate for one in outline for rate in win_rates(results(one), resamples=10)]
    wins = [rate.wins.value for rate in rates if rate.player == "expert"]
    assert sum(rate.matches for rate in rates if rate.player == "expert") == 400
    assert np.mean(wins) > 0.65


def measured(name, opponent="expert", matches=100):
    """Shares of the steps of many matches that say how a bot plays."""
    world = w.World(matches)
    world.reset(range(matches))
    pushed = np.zeros(matches)
    sums = Counter()
    while (world.status == r.RUNNING).any():
        actions = bot_actions(world, name, opponent)
        world.step(actions)
        on = world.status == r.RUNNING
        view, events = world.view[:, 0], world.events[:, 0]
        gap = np.hypot(view[:, v.ENEMY_X] - view[:, v.X], view[:, v.ENEMY_Y] - view[:, v.Y])
        speed = np.hypot(view[:, v.VX], view[:, v.VY])
        wants = actions[:, 0, [r.MOVE_X, r.MOVE_Y]].any(axis=1)
        pushed = np.where(wants & (speed < 0.5), pushed + 1, 0)
        seen = {
            "steps": on,
            "speed": speed * on,
            "near": on & (view[:, v.ENEMY_AGE] == 0) & (gap < 3),
            "home": on & (view[:, v.X] < 0),
            "stations": on & ((events & (r.HEALED | r.SUPPLIED)) > 0),
            "shields": on & ((events & r.SHIELDED) > 0),
            "stuck": on & (pushed >= 20),
        }
        sums.update({key: float(values.sum()) for key, values in seen.items()})
    return {key: value / sums["steps"] for key, value in sums.items()}


@pytest.fixture(scope="module")
def styles():
    return {name: measured(name) for name in BOTS}


def test_each_bot_plays_in_its_own_style(styles):
    """What `BOTS` says of each, measured against the same opponent."""
    others = [style for name, style in styles.items() if name != "camper"]
    assert styles["camper"]["speed"] < min(style["speed"] for style in others)
    assert styles["camper"]["home"] > max(style["home"] for style in others)
    assert styles["rusher"]["near"] > 2 * styles["kiter"]["near"]
    assert styles["collector"]["stations"] == max(style["stations"] for style in styles.values())
    assert styles["rusher"]["stations"] == styles["rusher"]["shields"] == 0
    assert styles["expert"]["stations"] > 0 and styles["expert"]["shields"] > 0


@pytest.mark.parametrize("name", BOTS)
def test_a_bot_seldom_pushes_against_a_wall_for_two_seconds(styles, name):
    assert styles[name]["stuck"] < 0.08


def test_bots_are_listed_with_what_they_are_like_the_expert_first():
    assert next(iter(GAME.players)) == "expert"
    assert dict(GAME.players) == BOTS
    assert all(about and not about.endswith(".") for about in BOTS.values())


def test_an_unknown_player_is_answered_with_those_there_are():
    with pytest.raises(InputError, match=r"no player 'boss'; it has rusher, .*expert.*trained"):
        player(PlayerRef("boss"))
