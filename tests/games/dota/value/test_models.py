"""Models of the comparison beside their definitions: what they minimise, and how sides swap."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.games.dota.small_matches import blank_samples, made_up, samples_from
from understudy.data.stats import logistic, logit
from understudy.games.dota.features.features import EVEN
from understudy.games.dota.features.samples import ALL_NAMES, swapped
from understudy.games.dota.value.blend import Best, Blend
from understudy.games.dota.value.linear import (
    CHANGES,
    Constant,
    Linear,
    Seven,
    fit_linear,
    fit_logistic,
    seven,
    standard_errors,
)
from understudy.games.dota.value.symmetric import HEROES, MAJOR, MINOR, Symmetric, sum_of, symmetric
from understudy.games.dota.value.trees import ODD, V0, V1, Boosted, Trees


@pytest.fixture(scope="module")
def samples():
    return samples_from(made_up(120)).begun()


@pytest.fixture(scope="module")
def problem():
    """Rows of unlike weight and columns of unlike penalty, so that nothing can trade places."""
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(300, 3)) * (1.0, 0.3, 2.0)
    weight, penalty = rng.uniform(0.2, 3.0, 300), np.array([0.5, 4.0, 20.0])
    won = (rng.random(300) < logistic(columns @ [0.8, -1.5, 0.3] - 0.4)).astype(float)
    return columns, won, weight, penalty


def known(columns):
    return np.concatenate([columns, np.ones((len(columns), 1))], axis=1)


def penalised(columns, won, weight, penalty):
    """Log loss with a ridge, as a function of the weights."""

    def loss(beta):
        score = known(columns) @ beta
        chance = 1 / (1 + np.exp(-score))
        rows = -(won * np.log(chance) + (1 - won) * np.log(1 - chance))
        return weight @ rows + (penalty * beta[:-1] ** 2).sum() / 2

    return loss


def test_a_logistic_fit_is_where_the_penalised_loss_is_least(problem):
    found = fit_logistic(*problem)
    loss = penalised(*problem)
    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    assert found == pytest.approx(best.x, abs=1e-4)
    assert loss(found) <= best.fun + 1e-9


def test_a_row_of_weight_two_is_that_row_twice(problem):
    columns, won, _, penalty = problem
    weight = np.ones(300)
    weight[:50] = 2
    twice = np.concatenate([np.arange(300), np.arange(50)])
    for fit in (fit_logistic, fit_linear):
        heavy = fit(columns, won, weight, penalty)
        again = fit(columns[twice], won[twice], np.ones(350), penalty)
        assert heavy == pytest.approx(again, abs=1e-6)


def test_a_linear_fit_is_least_squares_with_rows_for_the_penalty(problem):
    columns, target, weight, penalty = problem
    rows = np.sqrt(weight)[:, None] * known(columns)
    ridge = np.diag(np.sqrt(np.append(penalty, 0.0)))
    wanted = np.append(np.sqrt(weight) * target, np.zeros(4))
    expected = np.linalg.lstsq(np.concatenate([rows, ridge]), wanted, rcond=None)[0]
    assert fit_linear(columns, target, weight, penalty) == pytest.approx(expected, abs=1e-7)


def test_errors_of_weights_are_by_the_curvature_of_the_loss(problem):
    columns, _, weight, penalty = problem
    beta = fit_logistic(*problem)
    loss, step = penalised(*problem), 1e-3
    curve = np.zeros((4, 4))
    for i, one in enumerate(np.eye(4) * step):
        for j, other in enumerate(np.eye(4) * step):
            ends = loss(beta + one + other) - loss(beta + one - other)
            ends += loss(beta - one - other) - loss(beta - one + other)
            curve[i, j] = ends / (4 * step**2)
    expected = np.sqrt(np.diag(np.linalg.inv(curve)))
    assert standard_errors(columns, beta, weight, penalty) == pytest.approx(expected, rel=1e-3)


def test_logit_undoes_logistic_and_neither_overflows():
    score = np.linspace(-12, 12, 25)
    assert logit(logistic(score)) == pytest.approx(score, abs=1e-6)
    assert logistic(-score) == pytest.approx(1 - logistic(score))
    assert np.isfinite(logistic(np.array([-1e9, 1e9]))).all()
    assert logit(np.array([0.0, 1.0])) == pytest.approx([-6 * np.log(10), 6 * np.log(10)], abs=1e-5)


def test_the_constant_is_the_mean_over_matches_not_over_rows():
    won = np.array([1.0, 1.0, 1.0, 0.0])
    labels = {"y_win": won, "y_dgold_adv": 10 * won, "y_dxp_adv": -4 * won}
    rows = blank_samples([1, 1, 1, 2], labels)
    model = Constant().fit(rows, rows, 0)
    assert model.predict("y_win", rows) == pytest.approx([0.5] * 4)
    assert model.predict("y_dgold_adv", rows) == pytest.approx([5] * 4)
    assert model.predict("y_dxp_adv", rows) == pytest.approx([-2] * 4)


def test_seven_columns_by_hand():
    row = blank_samples([1, 1], t_min=[15, 0.5], radiant_gold_adv=3000, radiant_xp_adv=-600)
    assert seven(row)[0] == pytest.approx([0.5, 3, 1.5, 0.2, -0.6, -0.3, -0.04])
    assert seven(row)[1, 3] == 3  # not over less than a minute


def test_symmetric_columns_by_hand():
    row = blank_samples(
        [1],
        t_min=16,
        radiant_gold_adv=2000,
        gold_adv_change_3=500,
        towers_1=2,
        towers_4=-1,
        barracks_melee=1,
        strength_teams=0.5,
        gold_total=64_000,
        kills=7,
        hero_axe=-1,
    )
    names = (*MAJOR, *MINOR, *HEROES)
    found = dict(zip(names, symmetric(row)[0].tolist(), strict=True))
    assert [found[name] for name in MAJOR[:5]] == pytest.approx([2, 2 * 16 / 30, 0.25, 0.5, 0.5])
    assert [found[name] for name in MAJOR[5:10]] == [0] * 5
    assert found["towers"] == 1 and found["barracks"] == 1 and found["kills"] == 7
    assert [name for name in HEROES if found[name]] == ["hero_axe"] and found["hero_axe"] == -1
    early = 0.5 * np.exp(-16 / 15)
    assert found["strength early"] == pytest.approx(early) and found["strength"] == 0.5
    assert sum_of(row, ("towers_1", "kills")).tolist() == [9]


def test_every_symmetric_column_turns_with_the_sides(samples):
    np.testing.assert_allclose(symmetric(swapped(samples)), -symmetric(samples), atol=1e-5)
    every = (*MAJOR, *MINOR, *HEROES)
    assert not {*MINOR, *HEROES} & EVEN and len({*every}) == len(every)
    assert {*V0} < {*V1} <= {*ALL_NAMES} and not {*ODD} & EVEN
    assert not [name for name in V0 if "change" in name]


def test_minor_features_are_held_tighter(samples):
    loose, tight = (Symmetric(tighter=x).fit(samples, samples, 0) for x in (1.0, 1000.0))
    minor = slice(len(MAJOR), -1)

    def size(model, part):
        return np.abs(model.weights["y_win"][part]).sum()

    assert size(tight, minor) < size(loose, minor) / 10
    assert size(tight, slice(0, len(MAJOR))) > size(loose, slice(0, len(MAJOR))) / 10
    assert (
        loose.standard_errors.shape == loose.weights["y_win"].shape
        and (loose.standard_errors > 0).all()
    )


def test_regression_on_seven_says_what_its_weights_say(samples):
    model = Seven().fit(samples, samples, 0)
    score = seven(samples) @ model.weights["y_win"][:-1] + model.weights["y_win"][-1]
    np.testing.assert_allclose(model.predict("y_win", samples), 1 / (1 + np.exp(-score)))
    weight = samples.weights()
    for label in CHANGES:  # a constant is in it, so nothing is left over on average
        miss = samples.labels[label] - model.predict(label, samples)
        assert weight @ miss / weight.sum() == pytest.approx(0, abs=1e-3)


def test_a_blend_is_one_part_linear_and_two_parts_trees_but_for_chances(samples):
    few = samples.where(np.arange(5))
    one, other = (
        Linear(lambda rows: np.zeros((len(rows), 0)), dict.fromkeys(("y_win", *CHANGES), value))
        for value in (np.array([3.0]), np.array([-6.0]))
    )
    blend = Blend(one, other)
    assert blend.predict("y_win", few) == pytest.approx(logistic(np.full(5, 3.0)))
    assert blend.predict("y_dgold_adv", few) == pytest.approx([(3 - 12) / 3] * 5)


# --- trees ---------------------------------------------------------------------------------------


def test_trees_that_learn_both_ways_turn_with_the_sides(samples):
    pytest.importorskip("xgboost", reason="trees are XGBoost's")
    names = ("t_min", "radiant_gold_adv", "kills")
    model = Trees(names, swap=True, rounds=5, rate=0.5).fit(samples, samples, 0)
    there = model.predict("y_win", samples)
    assert model.predict("y_win", swapped(samples)) == pytest.approx(1 - there, abs=1e-6)
    gain = model.predict("y_dgold_adv", samples)
    assert model.predict("y_dgold_adv", swapped(samples)) == pytest.approx(-gain, abs=1e-3)
    assert there.std() > 0.05
    plain = Trees(names, rounds=5, rate=0.5, labels=("y_win",)).fit(samples, samples, 0)
    assert isinstance(plain, Boosted) and set(plain.boosters) == {"y_win"}
    assert np.abs(plain.predict("y_win", swapped(samples)) + there - 1).max() > 1e-3


def test_trees_are_the_same_by_their_seed_and_stop_when_nothing_gets_better(samples):
    pytest.importorskip("xgboost", reason="trees are XGBoost's")
    recipe = Trees(V0, rounds=30, rate=0.5, patience=2, labels=("y_win",))
    one, same, other = (recipe.fit(samples, samples, seed) for seed in (1, 1, 2))
    predicted = [model.predict("y_win", samples) for model in (one, same, other)]
    np.testing.assert_array_equal(predicted[0], predicted[1])
    assert not np.array_equal(predicted[0], predicted[2])
    turned = samples.where(np.arange(len(samples)))
    turned.labels["y_win"][:] = 1 - turned.labels["y_win"]
    stopped = recipe.fit(samples, turned, 1).boosters["y_win"]
    assert stopped.num_boosted_rounds() == 1 < one.boosters["y_win"].num_boosted_rounds()


def test_our_best_learns_chances_from_rows_after_the_horn():
    pytest.importorskip("xgboost", reason="trees are XGBoost's")
    rows = samples_from(made_up(40))
    assert (rows.column("t") == 0).any()
    quick = Best().quick()
    assert quick.trees.rounds < Best().trees.rounds and quick.linear == Best().linear
    blend = quick.fit(rows, rows, 0)
    alone = Symmetric().fit(rows.begun(), rows, 0)
    np.testing.assert_array_equal(blend.linear.weights["y_win"], alone.weights["y_win"])
