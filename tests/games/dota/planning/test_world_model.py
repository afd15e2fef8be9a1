"""The world model: donors are alike, sides swap, files keep it, scores are by definition."""

import numpy as np
import pytest

from tests.games.dota.small_matches import known_of, made_up, small_match, small_tables
from understudy.errors import InputError
from understudy.games.dota.features.samples import Samples, swapped
from understudy.games.dota.planning import world_model
from understudy.games.dota.planning.judging import crps
from understudy.games.dota.planning.moments import moments
from understudy.games.dota.planning.plan import Gain, differences, preferred
from understudy.games.dota.planning.world_model import STATE, STEPS, chance_after, fit
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.games.dota.value.symmetric import Symmetric


@pytest.fixture(scope="module")
def seen():
    tables = made_up(60)
    return moments(tables, known_of(tables), 3)


@pytest.fixture(scope="module")
def value(seen):
    linear = Symmetric(labels=()).fit(seen.samples, seen.samples, 0)
    even = {"y_win": np.append(linear.weights["y_win"][:-1], 0.0)}  # neither side is favoured
    return ValueModel(type(linear)(linear.columns, even, linear.standard_errors), (), {})


@pytest.fixture(scope="module")
def world(seen, value):
    return fit(seen, value.linear)


def futures_of(world, value, rows, most=20):
    return world.futures(rows, value.chance(rows), most)


def test_moments_are_minutes_with_what_came_after(seen):
    now, later = seen.samples, seen.later(3)
    assert set(now.column("t_min") % 3) == {0.0} and (now.column("t_min") > 0).all()
    went_on = seen.left >= 3
    assert (later.column("t_min") - now.column("t_min"))[went_on] == pytest.approx(3)
    assert (later.column("t_min") <= now.column("t_min") + 3).all()
    assert (now.match_id == later.match_id).all()


def test_plans_by_hand():
    match = small_match(minutes=12)
    match["players"][0]["purchase_log"] = [{"time": 200, "key": "smoke_of_deceit"}]
    match["players"][5]["kills_log"] = [
        {"time": 190 + k, "key": "npc_dota_hero_axe"} for k in range(6)
    ]
    tables = small_tables(match)
    found = moments(tables, known_of(tables), 3)
    at = {int(m): k for k, m in enumerate(found.samples.column("t_min"))}
    assert found.did["smoke"][at[3]].tolist() == [True, False]
    assert found.did["smoke"][at[6]].tolist() == [False, False]
    assert found.did["a fight"][at[3]].all() and not found.did["a fight"][at[6]].any()
    assert found.did["farming"][at[6]].all() and not found.did["farming"][at[3]].any()
    # The tower falls at 300 s, which is within five minutes of minute 3 and known at minute 5.
    assert found.did["a tower falls"][at[3]].all()
    assert not found.did["a tower falls"][at[6]].any()
    assert not found.did["Roshan dies"].any() and not found.did["ward"].any()


def test_a_future_is_what_a_like_match_came_to(seen, value):
    """Asked about a match's twin, with one future, a world of neighbours says what happened."""
    world = fit(seen, value.linear, regress=False)
    k = int(np.argmax(seen.left))
    own = seen.samples.where(np.array([k]))
    now = Samples(own.features, own.match_id - own.match_id, own.patch, own.start_time, own.labels)
    futures = futures_of(world, value, now, most=1)
    for s, step in enumerate(STEPS):
        later = seen.later(step).where(np.array([k]))
        for name in ("radiant_gold_adv", "kills", "gold_adv_change_3", "gold_total"):
            assert futures.of(name)[0, 0, s] == pytest.approx(later.column(name)[0])
    assert futures.won[0, 0] == now.labels["y_win"][0] and not futures.ended[0, 0].any()


def test_futures_turn_with_the_sides(world, value, seen):
    rows = seen.samples.where(np.arange(0, 60, 7))
    there, back = (futures_of(world, value, part) for part in (rows, swapped(rows)))
    sign = world_model._SIGN
    np.testing.assert_allclose(back.values, there.values * sign, atol=1e-3)
    np.testing.assert_array_equal(back.won, 1 - there.won)
    np.testing.assert_array_equal(back.did["smoke"], there.did["smoke"][:, :, ::-1])
    chance = [chance_after(*pair, value, 5)[1] for pair in ((rows, there), (swapped(rows), back))]
    assert chance[0] == pytest.approx(1 - chance[1], abs=1e-4)


def test_no_match_is_a_future_twice_and_the_end_decides(world, value, seen):
    rows = seen.samples.where(np.array([5]))
    which, _ = world._donors(world_model.near(rows, value.chance(rows))[0], 40, rows.match_id[0])
    assert len(set(world.match[which].tolist()) - set(rows.match_id.tolist())) == 40
    futures = futures_of(world, value, rows, 40)
    over = futures.ended.copy()
    over[:] = True
    ended = world_model.Futures(futures.values, over, futures.won, futures.did)
    chances, mean = chance_after(rows, ended, value, 10)
    np.testing.assert_array_equal(chances, futures.won)
    assert mean[0] == futures.won.mean()


def test_the_regression_leaves_nothing_over_on_average(world, seen):
    gold = world.moved[:, STEPS.index(3), STATE.index("radiant_gold_adv")]
    raw = seen.later(3).column("radiant_gold_adv") - seen.samples.column("radiant_gold_adv")
    assert gold.std() < raw.std()


def test_what_is_written_is_read_back(world, value, seen, tmp_path):
    world_model.save(tmp_path / "world.npz", world)
    read = world_model.load(tmp_path / "world.npz")
    for name in ("ended", "won", "did", "match", "weights"):
        np.testing.assert_array_equal(getattr(read, name), getattr(world, name))
    np.testing.assert_allclose(read.moved, world.moved, atol=5.01)
    kills = STATE.index("kills")
    np.testing.assert_array_equal(read.moved[..., kills], world.moved[..., kills])
    with pytest.raises(InputError, match="there is no world model"):
        world_model.load(tmp_path / "none.npz")
    (tmp_path / "world.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="is no world model this program reads"):
        world_model.load(tmp_path / "world.npz")


def test_crps_is_by_its_definition():
    rng = np.random.default_rng(0)
    draws, truth = rng.normal(size=30), 0.4
    pairs = np.abs(draws[:, None] - draws[None]).mean()
    assert crps(draws, truth) == pytest.approx(np.abs(draws - truth).mean() - pairs / 2)
    assert crps(np.array([2.0]), 5.0) == 3


def test_a_plan_is_advised_only_beyond_its_spread():
    rng = np.random.default_rng(1)
    did = np.zeros((400, 2), bool)
    did[:100, 0] = True
    did[200:215, 1] = True
    chances = np.clip(0.5 + 0.1 * rng.normal(size=400) + 0.1 * did[:, 0], 0, 1)
    gains = differences(chances, {"smoke": did}, 0)
    assert gains["smoke"].share == 0.25
    assert gains["smoke"].gain == pytest.approx(chances[:100].mean() - chances[100:].mean())
    assert preferred(gains) == "smoke"
    assert differences(chances, {"smoke": did}, 1) == {}  # fifteen are too few
    assert (
        preferred({"ward": Gain(0.5, 0.6, 0.02, 0.01), "sentries": Gain(0.5, 0.4, -0.1, 0.01)})
        is None
    )
    assert preferred({"a fight": Gain(0.5, 0.9, 0.4, 0.01)}) is None  # not up to one side


def test_futures_know_nothing_of_what_comes_later(world, value, seen):
    """All minutes after the one asked about are changed; the futures are the same."""
    k = 4
    now = seen.samples.where(np.array([k]))
    after = np.arange(len(seen.every)) > seen.rows[k]
    features = seen.every.features.copy()
    features[after] += 7
    other = Samples(
        features, seen.every.match_id, seen.every.patch, seen.every.start_time, seen.every.labels
    )
    again = other.where(seen.rows[[k]])
    one, same = (futures_of(world, value, rows) for rows in (now, again))
    np.testing.assert_array_equal(one.values, same.values)
