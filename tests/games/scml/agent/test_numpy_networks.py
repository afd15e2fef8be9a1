"""The networks in play, against loops that spell them out; and weights that do not fit."""

import random

import numpy as np
import pytest
import torch
from scipy.special import softmax

from tests.games.scml.states import state
from understudy.data.runs import WEIGHTS
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import (
    About,
    Checkpoint,
    feature_names,
    read_checkpoint,
    write_checkpoint,
)
from understudy.games.scml.agent.l4_priorities import teacher_scores
from understudy.games.scml.agent.numpy_networks import Goals, Offers, Scores, raw_goals
from understudy.games.scml.agent.numpy_transformer import HEADS
from understudy.games.scml.agent.policy import HRLPolicy, draw, policy_of, scales_of
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.learning.layer_recipe import weights_of
from understudy.games.scml.learning.networks import GoalNetwork, OfferNetwork, PriorityNetwork
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs
from understudy.games.scml.view.columns import packed
from understudy.games.scml.view.observe import observed
from understudy.games.scml.view.state import OpenNegotiation, PastOffer

ABOUT = About(features=feature_names())
RNG = np.random.default_rng(8)


def shaken(network):
    """With weights that all differ."""
    drawn = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=drawn)
    return weights_of(network)


@pytest.fixture(scope="module")
def l3():
    return shaken(OfferNetwork("residual", (24,), 8, 2, seed=1))


# --- definitions ---------------------------------------------------------------------------------


def normal(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-5)


def end_of(history, w):
    """The transformer spelled out: every offer looks at itself and those before it."""

    def linear(name, x):
        return x @ w[f"history.{name}.weight"].T + w[f"history.{name}.bias"]

    last = len(history) - 1
    ago = w["history.ago.weight"].T[last - np.arange(last + 1)] + w["history.ago.bias"]
    xs = linear("offer", history) + ago
    size = xs.shape[1] // HEADS
    for layer in ("layers.0", "layers.1"):
        mixed = [linear(f"{layer}.mix", normal(x)).reshape(3, HEADS, size) for x in xs]
        new = []
        for index, x in enumerate(xs):
            seen = []
            for head in range(HEADS):
                scores = [
                    mixed[index][0, head] @ m[1, head] / size**0.5 for m in mixed[: index + 1]
                ]
                shares = softmax(np.array(scores))
                seen.append(sum(s * m[2, head] for s, m in zip(shares, mixed, strict=False)))
            x = x + linear(f"{layer}.out", np.concatenate(seen))
            up = np.maximum(linear(f"{layer}.up", normal(x)), 0)
            new.append(x + linear(f"{layer}.down", up))
        xs = np.array(new)
    return normal(xs[-1])


@pytest.mark.parametrize("length", [1, 2, 5, f.HISTORY])
def test_offers_are_read_as_the_transformer_is_defined(l3, length):
    history = RNG.random((1, f.HISTORY, len(f.PAST_OFFER))).astype(np.float32)
    found = Offers(l3, "residual").histories(history, np.array([length]))
    assert found[0] == pytest.approx(end_of(history[0, :length], l3), abs=1e-4)


def test_a_negotiation_without_an_offer_is_all_zeros_whatever_came_before(l3):
    played = Offers(l3, "residual")
    history = RNG.random((3, f.HISTORY, len(f.PAST_OFFER))).astype(np.float32)
    found = played.histories(history, np.array([4, 0, 7]))
    assert not found[1].any()
    assert (played.histories(history[2:], np.array([7])) == found[2]).all()


def test_goals_in_raw_units_by_hand():
    out = np.zeros((2, NUM_GOALS), np.float32)
    out[0, :4] = [np.log(6), 0.5, -1, -20]  # 5 units at 5 % more; none; never below 0
    out[1, 0] = 50  # cut, so that nothing overflows
    scales = np.array([[10, 20, 40, 1000]] * 2, np.float32)
    found = raw_goals(out, scales)
    assert found[0, :4] == pytest.approx([5, 21, 0, 0], abs=1e-5)
    assert found[0, 4:] == pytest.approx([0, 20, 0, 40] * 3)
    assert found[1, 0] == pytest.approx(np.expm1(6))


def test_goals_told_to_the_layers_above_are_those_goals_again():
    """Units in days of work, prices in tenths over the market; no goal at all is 0."""
    scales = np.array([[10, 20, 40, 1000]], np.float32)
    goals = np.zeros((1, NUM_GOALS), np.float32)
    goals[0, :4] = [5, 21, 100, 0]
    goal_input = inputs.goal_input(goals, scales)[0]
    assert goal_input[:4] == pytest.approx([0.5, 0.5, f.MOST, 0]) and not goal_input[4:].any()


def test_temperature_0_takes_the_first_of_equals_and_illegal_options_are_never_drawn():
    rng = random.Random(0)
    assert draw(np.array([1.0, 2.0, 2.0]), None, 0.0, rng) == 1
    legal = np.array([False, True, False])
    assert {draw(np.array([9.0, -9.0, 9.0]), legal, 5.0, rng) for _ in range(40)} == {1}


# --- a policy -------------------------------------------------------------------------------------

NEGOTIATIONS = tuple(
    OpenNegotiation(name, False, 2, (PastOffer(False, 3, 5 + ahead, price),))
    for name, ahead, price in (("a", 4, 18), ("b", 0, 22), ("c", 0, 19))
)


@pytest.fixture
def seen():
    columns = packed([state(stock=9, negotiations=NEGOTIATIONS)])
    return columns, observed(columns)


def test_without_l2_there_are_no_goals_and_without_l4_its_teacher_ranks(l3, seen):
    policy = HRLPolicy(Checkpoint({"l3": l3}, ABOUT))
    goals = policy.goals(*seen)
    assert goals.shape == (1, NUM_GOALS) and not goals.any()
    ranked = policy.rank(*seen, policy.goal_input(seen[0], goals))
    assert ranked.order.tolist() == np.argsort(-teacher_scores(seen[1].thread)).tolist()


def test_with_l2_and_l4_both_are_asked(l3, seen):
    l2, l4 = shaken(GoalNetwork((16,), 1)), shaken(PriorityNetwork(8, 1))
    policy = HRLPolicy(
        Checkpoint({"l2": l2, "l3": l3, "l4": l4}, About(features=feature_names(), goals=True))
    )
    columns, view = seen
    goals = policy.goals(columns, view)
    x = inputs.day_start_input(view.static, view.temporal, view.can)
    assert (goals == Goals(l2)(x, scales_of(columns))).all() and goals.any()
    goal_input = policy.goal_input(columns, goals)
    scores = Scores(l4)(view.thread, inputs.overall_input(view.static, view.situation, goal_input))
    assert policy.rank(columns, view, goal_input).order.tolist() == np.argsort(-scores).tolist()


def test_scales_are_lines_prices_and_the_initial_balance(seen):
    assert scales_of(seen[0]).tolist() == [[10, 10, 20, 1000]]


def test_weights_are_read_once_until_they_change(l3, tmp_path):
    path = tmp_path / WEIGHTS
    write_checkpoint(path, Checkpoint({"l3": l3}, ABOUT))
    policy = policy_of(tmp_path)
    assert policy_of(path) is policy
    write_checkpoint(path, Checkpoint({"l3": l3}, About(features=feature_names(), horizons=(0,))))
    assert policy_of(tmp_path).about.horizons == (0,)


# --- weights on disk -----------------------------------------------------------------------------


def test_equal_weights_are_equal_bytes_and_a_folder_is_its_file(l3, tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        write_checkpoint(tmp_path / name / WEIGHTS, Checkpoint({"l3": l3}, ABOUT))
    one, other = (tmp_path / name / WEIGHTS for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert (
        read_checkpoint(one).layers.keys()
        == read_checkpoint(tmp_path / "one").layers.keys()
        == {"l3"}
    )


def test_weights_that_are_no_numbers_are_named(l3, tmp_path):
    broken = {**l3, "day.bias": np.full(DAYS, np.nan, np.float32)}
    write_checkpoint(tmp_path / WEIGHTS, Checkpoint({"l3": broken}, ABOUT))
    with pytest.raises(InputError, match=r"'l3.day.bias' does not belong there or is no number"):
        read_checkpoint(tmp_path)


def test_a_renamed_feature_makes_weights_old(monkeypatch):
    before = feature_names()
    renamed = tuple("cash" if name == "balance" else name for name in f.STATIC)
    monkeypatch.setitem(inputs.GROUPS, "static", renamed)
    assert feature_names() != before
    monkeypatch.setitem(inputs.GROUPS, "static", tuple(reversed(tuple(f.STATIC))))
    assert feature_names() != before


@pytest.mark.parametrize(
    ("layer", "name", "make"),
    [
        ("L2", "goals.bias", lambda w: Goals({"standard.mean": np.zeros(inputs.DAY_START_INPUTS)})),
        ("L3", "day.bias", lambda w: Offers({**w, "day.bias": np.zeros(3)}, "residual")),
        ("L3", "units.bias", lambda w: Offers(w, "direct")),
        ("L4", "standard.mean", lambda w: Scores(w)),
    ],
)
def test_weights_that_do_not_fit_say_which_and_how_to_mend_it(l3, layer, name, make):
    with pytest.raises(InputError, match=rf"{layer}'s weights do not fit: '{name}' .* Train again"):
        make(l3)
