import numpy as np
import pytest

from tests.games.arena.acting import bot_actions, by_hand, random_actions, scattered
from understudy.games.arena.codec import features as observe
from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.play.bots import BOTS
from understudy.games.arena.sim import entries as e
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.games.arena.sim import world as w

FIRST = dict(zip(HEADS, np.cumsum([0, *HEADS.values()]), strict=False))
FEATURE = {name: k for k, name in enumerate(observe.FEATURES)}


def flat(world):
    return world.view.reshape(-1, len(v.VIEW))


def view(**fields):
    """A view of a match that has just begun, but for these fields."""
    world = w.World(1)
    world.reset([0])
    found = world.view[0, :1].copy()
    for name, value in fields.items():
        found[0, list(v.VIEW).index(name)] = value
    return found


def played(players, steps, matches=24):
    """Worlds along the way; None plays at random."""
    rng = np.random.default_rng(4)
    world = w.World(matches)
    world.reset(range(matches))
    for _ in range(steps):
        yield world
        world.step(
            random_actions(rng, matches, 2) if players is None else bot_actions(world, *players)
        )


def test_there_are_twenty_documented_features():
    assert observe.NUM_FEATURES == len(observe.FEATURES) == 20
    assert all(observe.FEATURES.values())
    assert observe.features(view()).shape == (1, 20)
    assert observe.features(view()).dtype == np.float32


def test_the_fields_of_a_view_stand_where_their_names_say():
    for place, name in enumerate(v.VIEW):
        assert getattr(v, name.upper()) == place
        assert v.VIEW[name]


@pytest.mark.parametrize("players", [None, *(("expert", name) for name in BOTS)])
def test_features_stay_between_minus_one_and_one(players):
    for world in played(players, 300):
        features = observe.features(flat(world))
        assert np.isfinite(features).all() and abs(features).max() <= 1


def test_no_feature_is_idle():
    every = [observe.features(flat(world)) for world in played(("expert", "collector"), 300)]
    assert (np.ptp(np.concatenate(every), axis=0) > 0.3).all()


def test_features_stay_between_minus_one_and_one_in_the_midst_of_anything():
    rng = np.random.default_rng(5)
    for _ in range(5):
        world = scattered(rng, 200)
        with by_hand(world) as rows:
            rows.body[..., [e.VX, e.VY]] = 0
        for _ in range(20):
            world.step(random_actions(rng, 200, 2))
            features = observe.features(flat(world))
            assert np.isfinite(features).all() and abs(features).max() <= 1


@pytest.mark.parametrize(
    ("fields", "feature", "value"),
    [
        ({"x": -9.5}, "own_x", -0.95),
        ({"y": 5.0}, "own_y", 0.5),
        ({"vx": -12.0}, "own_vx", -1),
        ({"vy": 3.0}, "own_vy", 0.25),
        ({"health": 40}, "own_health", 0.4),
        ({"magazine": 2}, "own_magazine", 0.25),
        ({"magazine": 2, "reload": 15}, "own_magazine", -1),
        ({"magazine": 2, "reload": 3}, "own_magazine", -0.2),
        ({"reserve": 8}, "own_reserve", 0.25),
        ({"dash_cooldown": 0}, "own_dash", 1),
        ({"dash_cooldown": 50}, "own_dash", 0),
        ({"dash_cooldown": 10}, "own_dash", 0.8),
        ({"shield_cooldown": 0}, "own_shield", 0),
        ({"shield_cooldown": 100, "shield": 8}, "own_shield", 1),
        ({"shield_cooldown": 94, "shield": 2}, "own_shield", 0.25),
        ({"shield_cooldown": 92, "shield": 0}, "own_shield", -0.92),
        ({"x": -8.0, "enemy_x": 8.0}, "enemy_dx", 0.8),
        ({"y": 1.0, "enemy_y": -1.0}, "enemy_dy", -0.1),
        ({"enemy_vx": 6.0}, "enemy_vx", 0.5),
        ({"enemy_vy": -6.0}, "enemy_vy", -0.5),
        ({"enemy_age": 0}, "enemy_seen", 1),
        ({"enemy_age": 10}, "enemy_seen", 0.8),
        ({"enemy_age": 50}, "enemy_seen", 0),
        ({"enemy_age": 600}, "enemy_seen", 0),
        ({"cover_x": -5.0}, "cover_dx", -0.25),
        ({"cover_y": 10.0}, "cover_dy", 0.5),
        ({"threat": -0.75}, "threat", -0.75),
        ({"health_ours": 0, "health_theirs": 0}, "health_ready", 0),
        ({"health_ours": 1, "health_theirs": 0}, "health_ready", 1 / 3),
        ({"health_ours": 0, "health_theirs": 1}, "health_ready", 2 / 3),
        ({"ammo_ours": 1, "ammo_theirs": 1}, "ammo_ready", 1),
        ({"ammo_ours": 0, "ammo_theirs": 1}, "ammo_ready", 2 / 3),
        ({"time_left": 600}, "time_left", 1),
        ({"time_left": 150}, "time_left", 0.25),
        ({"time_left": 0}, "time_left", 0),
    ],
)
def test_worked_examples_of_features(fields, feature, value):
    found = observe.features(view(**fields))[0, FEATURE[feature]]
    assert found == pytest.approx(value, rel=1e-6, abs=1e-7)


def test_a_feature_tells_only_of_what_it_is_named_after():
    # The hold, the facing and the wait for the next shot are in no feature at all.
    same = observe.features(view())
    untold = ("hold", "facing_x", "facing_y", "fire_cooldown", "in_reach")
    for name in v.VIEW:
        changed = (observe.features(view(**{name: 0.3125})) != same).any()
        assert changed == (name not in untold), name


@pytest.mark.parametrize(
    ("fields", "legal"),
    [
        ({}, {"fire", "dash", "shield"}),
        ({"magazine": 0, "reload": 5}, {"dash", "shield"}),
        ({"magazine": 5, "reload": 5}, {"dash", "shield"}),
        ({"magazine": 0}, {"dash", "shield", "interact"}),
        ({"magazine": 0, "reserve": 0}, {"dash", "shield"}),
        ({"fire_cooldown": 1}, {"dash", "shield"}),
        ({"shield": 1, "shield_cooldown": 93}, {"dash"}),
        ({"dash_cooldown": 1}, {"fire", "shield"}),
        ({"shield_cooldown": 1}, {"fire", "dash"}),
        ({"magazine": 7}, {"fire", "dash", "shield", "interact"}),
        ({"magazine": 7, "reserve": 0}, {"fire", "dash", "shield"}),
        ({"in_reach": 1}, {"fire", "dash", "shield", "interact"}),
        ({"in_reach": 1, "reload": 5}, {"dash", "shield", "interact"}),
    ],
)
def test_worked_examples_of_what_is_legal(fields, legal):
    mask = observe.legal(view(**fields))[0]
    place = {
        "fire": FIRST["fire"] + 1,
        "dash": FIRST["ability"] + r.DASH,
        "shield": FIRST["ability"] + r.SHIELD,
        "interact": FIRST["interact"] + 1,
    }
    assert {name for name, k in place.items() if mask[k]} == legal
    assert np.delete(mask, list(place.values())).all()  # to do nothing is always allowed


@pytest.mark.parametrize("players", [None, ("expert", "collector"), ("camper", "kiter")])
def test_each_head_always_has_a_legal_option(players):
    for world in played(players, 200):
        mask = observe.legal(flat(world))
        assert mask.shape == (48, observe.NUM_OPTIONS) and mask.dtype == np.bool_
        for head, options in HEADS.items():
            assert mask[:, FIRST[head] : FIRST[head] + options].any(axis=1).all()


def outcomes(world, place, value):
    """The rows and events after both players of every match do one thing only."""
    trial = w.World(world.num_matches)
    trial.restore(world.state())
    actions = np.zeros((world.num_matches, 2, len(r.ACTION)), np.float32)
    if place is not None:
        actions[..., place] = value
    trial.step(actions)
    return trial.body.copy(), trial.events.copy()


@pytest.mark.parametrize(
    ("place", "value", "option", "event"),
    [
        (r.FIRE, 1, FIRST["fire"] + 1, r.FIRED),
        (r.ABILITY, r.DASH, FIRST["ability"] + r.DASH, r.DASHED),
        (r.ABILITY, r.SHIELD, FIRST["ability"] + r.SHIELD, r.SHIELDED),
        (r.INTERACT, 1, FIRST["interact"] + 1, None),
    ],
)
def test_an_option_is_legal_exactly_when_the_rules_act_on_it(place, value, option, event):
    rng = np.random.default_rng(6)
    world = scattered(rng, 2_000)
    with by_hand(world) as rows:
        rows.body[..., [e.VX, e.VY]] = 0  # who drifts may leave a station in the very step
    legal = observe.legal(flat(world))[:, option].reshape(-1, 2)
    body, events = outcomes(world, place, value)
    if event is not None:
        acted = (events & event) > 0
    else:
        acted = (body != outcomes(world, None, 0)[0]).any(axis=-1)
        empty = (world.view[..., v.MAGAZINE] == 0) & (world.view[..., v.RELOAD] == 0)
        acted |= empty & (world.view[..., v.RESERVE] > 0)  # would also reload unasked
    assert np.array_equal(acted, legal)
    assert 100 < legal.sum() < legal.size - 100


def test_rows_do_not_know_of_each_other_nor_of_how_they_lie_in_memory():
    views = flat(scattered(np.random.default_rng(7), 50))
    for function in (observe.features, observe.legal):
        whole = function(views)
        assert np.array_equal(whole[::2], function(views[::2]))
        assert np.array_equal(
            whole, np.concatenate([function(views[k : k + 1]) for k in range(100)])
        )
        assert len(function(views[:0])) == 0
        assert np.array_equal(whole, function(np.asfortranarray(views)))
