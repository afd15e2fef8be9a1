"""From samples to tensors: yesterday's goals, what L1 left, decisions and their negotiations."""

import numpy as np
import pytest
import torch

from tests.games.scml.learning.rows import rows_of
from understudy.errors import InputError
from understudy.games.scml.agent.numpy_networks import Goals
from understudy.games.scml.domain import ACCEPT, DAYS, END, NUM_GOALS, REJECT
from understudy.games.scml.learning.backfill import _filled, goals_of
from understudy.games.scml.learning.dataset import (
    day_start_reader,
    lists,
    moments,
    offer_limits,
    round_input,
    round_reader,
)
from understudy.games.scml.learning.l4 import MAX_NEGOTIATIONS, decision_reader
from understudy.games.scml.learning.layer_recipe import weights_of
from understudy.games.scml.learning.networks import GoalNetwork
from understudy.games.scml.learning.samples import DAY_START_SAMPLES, ROUND_SAMPLES
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs

SCALES = [10, 20, 40, 1000]
"""Lines, trading prices, initial balance."""


def feature(group, **values):
    found = np.zeros(len(group))
    for name, value in values.items():
        found[list(group).index(name)] = value
    return found


# --- day starts -----------------------------------------------------------------------------------


def test_goals_of_yesterday_are_of_the_same_factory_the_day_before():
    keys = [("m", 0, 0), ("m", 0, 1), ("m", 0, 3), ("m", 1, 4), ("n", 1, 5), ("n", 1, 6)]
    match, slot, day = zip(*keys, strict=True)
    goals = np.arange(1, 7)[:, None] * np.ones(NUM_GOALS)
    table = rows_of(
        DAY_START_SAMPLES, 6, match=match, slot=slot, day=day, goals=goals, scales=SCALES
    )
    rows = day_start_reader("goals").decode(table)
    assert rows.before[:, 0].tolist() == [0, 1, 0, 0, 0, 5]
    assert rows.goals[:, 3].tolist() == [1, 2, 3, 4, 5, 6]


def test_there_are_two_tellings_of_goals():
    table = rows_of(DAY_START_SAMPLES, 2, goals=np.ones(NUM_GOALS), intent=np.full(NUM_GOALS, 7))
    assert (day_start_reader("goals").decode(table).goals == 1).all()
    assert (day_start_reader("intent").decode(table).goals == 7).all()


# --- rounds --------------------------------------------------------------------------------------


def rounds(count=1, **columns):
    """We sell; L1 leaves 8 units today and 5 tomorrow, and would offer 4 at 42."""
    plain = {
        "role": [0, 1],
        "scales": SCALES,
        "static": feature(f.STATIC, horizon=1),
        "left": [8, 5, *[0] * (DAYS - 2)],
        "prices": [36, 44],
        "baseline": [4, 0, 42],
        "money": 500.0,
        "response": REJECT,
        "quantity": 6,
        "ahead": 1,
        "price": 42,
    }
    return rows_of(ROUND_SAMPLES, count, **plain | columns)


def decoded(scheme="residual", **columns):
    rows = round_reader(scheme).decode(rounds(**columns))
    return type(rows)(*(column[0] for column in rows))


@pytest.mark.parametrize(
    ("scheme", "units", "price"),
    [("residual", 15 + 5 - 3, 10), ("direct", 5 - 1, 7)],  # tomorrow at most 5; 36 + 0.7 * 8
)
def test_an_offer_is_told_as_choices_within_what_l1_leaves(scheme, units, price):
    row = decoded(scheme)
    assert (row.day, row.units, row.price) == (1, units, price)
    assert row.offers and row.allowed[units]
    assert row.done.tolist() == [6, 1, 42]


@pytest.mark.parametrize(
    ("columns", "offers"),
    [
        ({}, True),
        ({"ahead": 2}, False),  # L1 leaves nothing on that day
        ({"response": ACCEPT}, False),
        ({"response": END}, False),
    ],
)
def test_only_an_offer_that_l1_allows_is_learnt_from(columns, offers):
    assert bool(decoded(**columns).offers) is offers


def test_of_oneshot_an_offer_has_at_most_a_days_work():
    assert decoded().limits[5] == 30
    assert decoded(static=feature(f.STATIC, horizon=0)).limits[5] == 10


def test_the_own_offer_before_is_read_back_from_the_features():
    thread = feature(f.THREAD, own_quantity=0.7, own_ahead=0.3, own_price=0.25)
    assert decoded(thread=thread).last.tolist() == [7, 3, 38]
    assert decoded().last[0] == 0


def test_limits_are_as_they_were_put_in():
    row = round_reader("residual").decode(rounds(2, role=[[1, 0], [0, 1]]))
    limits = offer_limits(row.limits.numpy(), row.left.numpy())
    assert limits.buys.tolist() == [True, False]
    assert (limits.low[0], limits.high[0], limits.base_price[0], limits.most[0]) == (36, 44, 42, 30)
    assert limits.money.tolist() == [500, 500] and limits.left[0].tolist()[:3] == [8, 5, 0]


def test_l3_reads_all_its_features_in_the_order_of_play():
    table = rounds(static=np.full(len(f.STATIC), 2), turn=np.full(len(f.TURN), 3))
    x = round_input(table)[0]
    assert len(x) == inputs.ROUND_INPUTS
    assert (x[: len(f.STATIC)] == 2).all() and (x[-len(f.TURN) :] == 3).all()
    assert not x[len(f.STATIC) : -len(f.TURN)].any()


# --- decisions -----------------------------------------------------------------------------------


def test_a_decision_holds_its_negotiations_and_the_scores_of_the_teacher():
    many = MAX_NEGOTIATIONS + 3
    moment = [0, 0, 1, *[2] * many, 2]
    slot = [0] * (len(moment) - 1) + [1]  # the same moment of another factory is its own decision
    late = np.linspace(0, 1, len(moment))
    thread = np.stack([feature(f.THREAD, round=value) for value in late])
    table = rounds(len(moment), match="m", moment=moment, slot=slot, thread=thread)
    rows = decision_reader().decode(table)
    assert rows.there.sum(1).tolist() == [2, 1, MAX_NEGOTIATIONS, 1]
    assert decision_reader().count(table) == 4
    assert rows.score[0, :3].tolist() == pytest.approx([0, late[1] / 2, 0])


def test_moments_are_the_mean_and_std_of_all_rows():
    parts = [torch.randn(n, 3, generator=torch.Generator().manual_seed(n)) for n in (5, 9)]

    class Parts:
        def in_order(self, size):
            return iter(parts)

    whole = torch.cat(parts)
    mean, std = moments(Parts(), lambda batch: batch)
    assert torch.allclose(mean, whole.mean(0)) and torch.allclose(std, whole.std(0, correction=0))
    first, _ = moments(Parts(), lambda batch: batch, most=5)  # enough is enough
    assert torch.allclose(first, parts[0].mean(0))


# --- goals filled in -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def l2():
    network = GoalNetwork((8,), seed=1)
    with torch.no_grad():
        network.goals.weight += 0.2
    return Goals(weights_of(network))


def test_each_decision_gets_the_goals_of_its_factorys_day_start(l2):
    role = [[0, 1], [1, 0], [1, 1]]
    day_starts = rows_of(
        DAY_START_SAMPLES, 3, match="m", slot=[0, 1, 1], day=[2, 2, 3], role=role, scales=SCALES
    )
    filled = _filled(rounds(3, match="m", slot=[1, 0, 1], day=[2, 2, 3]), day_starts, l2, "stamp")
    goals = goals_of(day_starts, l2)
    assert len({tuple(row) for row in goals.tolist()}) == 3
    assert (lists(filled, "goal_hat") == goals[[1, 0, 2]]).all()
    assert filled.schema.metadata[b"goals"] == b"stamp"
    assert goals_of(day_starts.slice(0, 0), l2).shape == (0, NUM_GOALS)


def test_a_decision_without_its_day_start_says_what_to_do(l2):
    day_starts = rows_of(DAY_START_SAMPLES, 1, match="m", day=1)
    with pytest.raises(InputError, match=r"without its start\. Encode again: understudy encode"):
        _filled(rounds(match="m", day=2), day_starts, l2, "stamp")
