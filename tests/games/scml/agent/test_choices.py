"""Between choices and offers, and between scores and orders, by search and by hand."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.games.scml.agent import l3_offers as l3
from understudy.games.scml.agent.checkpoint import Checkpoint, read_checkpoint
from understudy.games.scml.agent.l4_priorities import priorities, teacher_scores
from understudy.games.scml.agent.policy import SHIPPED, HRLPolicy
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.view import features as f
from understudy.games.scml.view.columns import NUM_FACTS

SCHEMES = ("residual", "direct")


def one(value):
    return np.array([value])


# --- offers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("left", [0, 1, 2, 7, 16, 30])
def test_an_option_is_allowed_if_it_means_its_units_without_a_cut(scheme, left):
    base = (left + 1) // 2
    options = np.arange(l3.HEADS[scheme]["units"])
    meant = l3.units_of(scheme, options, one(left), one(base))
    plain = options + 1 if scheme == "direct" else base + options - l3.UNITS
    assert l3.units_mask(scheme, one(left), one(base))[0].tolist() == (meant == plain).tolist()
    assert meant.min() >= 1 and meant.max() <= max(left, 1)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    scheme=st.sampled_from(SCHEMES),
    price=st.integers(0, 70),
    low=st.integers(1, 50),
    span=st.integers(0, 15),
    above=st.integers(0, 15),
)
def test_no_option_comes_nearer_to_a_price(scheme, price, low, span, above):
    range_ = one(low), one(low + span), one(low + min(above, span))
    chosen = l3.price_option(scheme, one(price), *range_)
    options = np.arange(l3.HEADS[scheme]["price"])
    off = np.abs(l3.price_of(scheme, options, *range_) - price)
    assert off[chosen[0]] == off.min()
    preferred = l3.TENTHS if scheme == "residual" else 0
    nearest = options[off == off.min()]
    assert abs(chosen[0] - preferred) == np.abs(nearest - preferred).min()


@pytest.mark.parametrize(
    ("buys", "left", "money", "price", "most", "expected"),
    [
        (False, 7, 0.0, 10, 30, (7, 4)),  # who sells needs no money
        (True, 7, 1000.0, 10, 30, (7, 4)),
        (True, 7, 29.0, 10, 30, (7, 2)),
        (True, 7, -5.0, 10, 30, (7, 0)),
        (True, 0, 1000.0, 10, 30, (0, 0)),
        (False, 40, 0.0, 10, 30, (30, 15)),  # no offer may have more
        (True, 5, 100.0, 0, 30, (5, 3)),  # a price of 0 is no price
    ],
)
def test_what_l1_allows_and_would_offer_on_a_day(buys, left, money, price, most, expected):
    by_day = np.zeros((1, DAYS), int)
    by_day[0, 3] = left
    limits = l3.OfferLimits(one(buys), by_day, one(money), one(9), one(11), one(price), one(most))
    assert tuple(int(found[0]) for found in limits.on(one(3))) == expected
    assert [int(found[0]) for found in limits.on(one(4))] == [0, 0]


# --- priorities ----------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_weights_are_a_softmax_and_orders_a_stable_sort_of_each_decision(sizes, seed):
    first = np.cumsum([0, *sizes])
    scores = np.random.default_rng(seed).integers(-2, 3, first[-1]).astype(np.float32)
    found = priorities(scores, first)
    for start, stop in pairwise(first):
        own = scores[start:stop].astype(float)
        share = np.exp(own) / np.exp(own).sum() if len(own) else own
        assert found.weight[start:stop] == pytest.approx(share, rel=1e-6)
        assert (
            found.order[start:stop].tolist() == (start + np.argsort(-own, kind="stable")).tolist()
        )


def test_the_teacher_likes_what_is_soon_dear_useful_and_late():
    def score(**features):
        thread = np.zeros((1, len(f.THREAD)), np.float32)
        for name, value in features.items():
            thread[0, list(f.THREAD).index(name)] = value
        return float(teacher_scores(thread)[0])

    assert score(is_heard=1, ahead=0.2, gain=0.5, safe_share=1, round=0.4) == pytest.approx(
        0.8 + 2 * 0.5 + 1.5 + 0.5 * 0.4
    )
    assert score(ahead=0.2, gain=0.5, safe_share=1, round=0.4) == pytest.approx(0.2)


def test_weights_without_l2_have_no_goals_for_any_number_of_days():
    shipped = read_checkpoint(SHIPPED)
    layers = {name: layer for name, layer in shipped.layers.items() if name != "l2"}
    policy = HRLPolicy(Checkpoint(layers, replace(shipped.about, goals=False)))
    columns = SimpleNamespace(facts=np.zeros((3, NUM_FACTS)))
    assert policy.goals(columns, None).tolist() == [[0.0] * NUM_GOALS] * 3
