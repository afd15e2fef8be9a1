import numpy as np
import pytest
from arena_play import bot_actions, in_cover, look, scattered

from understudy.data.results import win_rates
from understudy.errors import InputError
from understudy.games import Fixture, PlayerRef
from understudy.games.arena import GAME, observe
from understudy.games.arena import actions as codec
from understudy.games.arena import rules as r
from understudy.games.arena import state as v
from understudy.games.arena import world as w
from understudy.games.arena.bots import BOTS
from understudy.games.arena.match import Bot, play, player
from understudy.games.arena.record import results

FIRST_OPTION = np.cumsum([0, *codec.HEADS.values()])[:-1]


def act(name, world, slot, matches=None):
    """What a bot does in these matches, by default in all."""
    chosen = np.arange(world.num_matches) if matches is None else np.asarray(matches)
    return Bot(name).act(world.view[chosen, slot], world, chosen, slot)


def fixture(one, other, seeds):
    return Fixture((PlayerRef(one), PlayerRef(other)), tuple(seeds))


def check(views, actions):
    """Every action is legal and made of the codec's levels."""
    choices = codec.encode(actions)
    assert np.array_equal(codec.decode(choices), actions)
    assert np.take_along_axis(observe.legal(views), choices + FIRST_OPTION, axis=1).all()


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
    for t in range(1, 200):
        world.step(bot_actions(world, name, "collector"))
        if t % 40:
            continue
        hidden = (world.view[:, 0, v.ENEMY_AGE] > 0) & (world.status == r.RUNNING)
        view, done = world.view[:, 0].copy(), act(name, world, 0)
        row, place = world.row.copy(), world.body[:, 1, [w.X, w.Y]].copy()
        world.body[:, 1, w.VX : w.DASH_Y + 1] = rng.normal(20, 9, (200, w.DASH_Y - w.VX + 1))
        world.body[:, 1, w.SEEN_X : w.AGE] = rng.normal(0, 5, (200, 4))
        world.body[:, 1, [w.X, w.Y]] = np.where(
            rng.random((200, 1)) < 0.7, rng.uniform(-9.5, 9.5, (200, 2)), place
        )
        look(world)
        still = hidden & (world.view[:, 0, v.ENEMY_AGE] > 0)
        moved = (world.body[:, 1, [w.X, w.Y]] != place).any(axis=1)
        assert (still & moved).sum() > 10
        assert np.array_equal(world.view[still, 0], view[still])
        assert np.array_equal(act(name, world, 0)[still], done[still])
        world.row[:] = row
        look(world)


@pytest.mark.parametrize("other", [name for name in BOTS if name != "expert"])
def test_the_expert_beats_every_other_bot(other):
    outline = [
        play(fixture(*pair, range(200)), 0)["matches"]
        for pair in (("expert", other), (other, "expert"))
    ]
    rates = [rate for one in outline for rate in win_rates(results(one), resamples=10)]
    wins = [rate.wins for rate in rates if rate.player == "expert"]
    assert sum(rate.matches for rate in rates if rate.player == "expert") == 400
    assert np.mean(wins) > 0.65


def test_each_bot_plays_in_its_own_style():
    """What `BOTS` says of each, measured against the same opponent."""
    seen = {}
    for name in BOTS:
        world = w.World(60)
        world.reset(range(60))
        tally = dict.fromkeys(("steps", "way", "near", "visits", "shields", "west"), 0.0)
        while (world.status == r.RUNNING).any():
            world.step(bot_actions(world, name, "collector"))
            on = world.status == r.RUNNING
            view, events = world.view[on, 0], world.events[on, 0]
            sees = view[:, v.ENEMY_AGE] == 0
            gap = np.hypot(view[:, v.ENEMY_X] - view[:, v.X], view[:, v.ENEMY_Y] - view[:, v.Y])
            tally["steps"] += on.sum()
            tally["way"] += np.hypot(view[:, v.VX], view[:, v.VY]).sum()
            tally["near"] += (sees & (gap < 3)).sum()
            tally["visits"] += ((events & (r.HEALED | r.SUPPLIED)) > 0).sum()
            tally["shields"] += ((events & r.SHIELDED) > 0).sum()
            tally["west"] += (view[:, v.X] < 0).sum()
        seen[name] = {key: value / tally["steps"] for key, value in tally.items()}
    others = {name: measured for name, measured in seen.items() if name != "camper"}
    assert seen["camper"]["way"] < min(one["way"] for one in others.values())
    assert seen["camper"]["west"] > max(one["west"] for one in others.values())
    assert seen["rusher"]["near"] > 2 * seen["kiter"]["near"]
    assert seen["collector"]["visits"] > max(seen[name]["visits"] for name in ("rusher", "kiter"))
    assert seen["rusher"]["visits"] == seen["rusher"]["shields"] == 0
    assert seen["expert"]["visits"] > 0 and seen["expert"]["shields"] > 0


def test_nobody_gets_stuck_behind_cover():
    """Whoever has lost sight of the enemy for ten seconds has gone somewhere meanwhile."""
    world = w.World(60)
    world.reset(range(60))
    places = []
    for _ in range(150):  # two rushers that never meet: neither moves once both are far away
        world.body[:, 1, [w.X, w.Y]] = 9.5, 9.5
        actions = bot_actions(world, "rusher", "rusher")
        actions[:, 1] = 0
        world.step(actions)
        world.body[:, 0, w.AGE] = 61  # the memory is stale: search
        look(world)
        places.append(world.body[:, 0, [w.X, w.Y]].copy())
    reach = np.ptp(places, axis=0).max(axis=1)
    assert (reach > 6).all()
    assert not in_cover(world.layout, *world.body[:, 0, [w.X, w.Y]].T).any()


def test_bots_are_listed_with_what_they_are_like_the_expert_first():
    assert next(iter(GAME.players)) == "expert"
    assert dict(GAME.players) == BOTS
    assert all(about and not about.endswith(".") for about in BOTS.values())


def test_an_unknown_player_is_answered_with_those_there_are():
    with pytest.raises(InputError, match=r"no player 'boss'; it has rusher, .*expert.*trained"):
        player(PlayerRef("boss"))
