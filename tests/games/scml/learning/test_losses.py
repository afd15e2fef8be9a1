"""What the layers learn: targets and losses by hand, networks that begin as L1, sets as sets."""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tests.games.scml.learning.rows import rows_of
from understudy.games.scml.agent.l3_offers import TENTHS, UNITS
from understudy.games.scml.domain import ACCEPT, DAYS, NUM_GOALS, REJECT
from understudy.games.scml.learning.dataset import DayStartRows, round_reader
from understudy.games.scml.learning.goal_labels import GoalSettings, _shares
from understudy.games.scml.learning.l2 import targets
from understudy.games.scml.learning.l3 import NEVER, logits
from understudy.games.scml.learning.l4 import DecisionRows, scores
from understudy.games.scml.learning.networks import (
    LEFT_MOST,
    GoalNetwork,
    OfferNetwork,
    PriorityNetwork,
    Standardised,
)
from understudy.games.scml.learning.samples import ROUND_SAMPLES
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# --- L2 ------------------------------------------------------------------------------------------


def test_a_delivery_belongs_to_its_bucket_and_a_little_to_those_beside_it():
    # buckets: today, 1 to 2, 3 to 5, 6 to 10; half a day of softness reaches 1.5 days
    shares = _shares(np.array([0, 2, 4, 10]), GoalSettings().buckets, 0.5)
    assert shares[0] == pytest.approx([1, 1 / 3, 0, 0])
    assert shares[1] == pytest.approx([0, 1, 1 / 3, 0])
    assert shares[2] == pytest.approx([0, 0, 1, 0])
    assert shares[3] == pytest.approx([0, 0, 0, 1])
    hard = _shares(np.arange(DAYS), GoalSettings().buckets, 0.0)
    assert (hard.sum(axis=1) == 1).all() and set(hard.flat) == {0.0, 1.0}


def test_targets_are_logs_of_units_and_tenths_over_the_market():
    goals = torch.zeros(1, NUM_GOALS)
    goals[0, :4] = torch.tensor([math.e - 1, 22.0, 0.0, 44.0])
    possible = torch.ones(1, 8, dtype=torch.bool)
    possible[0, 2:] = False
    rows = DayStartRows(
        torch.zeros(1, 1), goals, goals, possible, torch.tensor([[10.0, 20.0, 40.0, 1000.0]])
    )
    found = targets(rows)
    assert found.units[0, 0].tolist() == pytest.approx([1, 0])
    assert found.price[0, 0].tolist() == pytest.approx([1, 1])
    assert found.possible.sum() == 2
    assert found.wanted.nonzero().tolist() == [[0, 0, 0]]  # nobody wants 0 units at any price


def test_what_never_varies_is_only_shifted_and_outliers_are_cut():
    standard = Standardised(3)
    standard.set(torch.tensor([1.0, 2.0, 0.0]), torch.tensor([2.0, 0.0, 0.1]))
    found = standard(torch.tensor([[5.0, 2.5, 99.0]]))
    assert found.tolist() == [[2.0, 0.5, 10.0]]


# --- L3 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["residual", "direct"])
def test_untrained_it_accepts_the_first_day_and_offers_the_baseline(scheme):
    network = OfferNetwork(scheme, (16,), 8, 1, seed=4)
    hidden = network(drawn(3, inputs.ROUND_INPUTS), drawn(3, f.HISTORY, 4), torch.tensor([0, 1, 9]))
    assert network.response(hidden).argmax(1).tolist() == [ACCEPT] * 3
    assert network.response(hidden)[:, 1:].argmax(1).tolist() == [REJECT - 1] * 3
    assert network.day(hidden).argmax(1).tolist() == [0] * 3
    on_day = network.on(hidden, torch.tensor([0, 3, 10]), torch.tensor([1, 30, 0]))
    if scheme == "residual":
        assert network.units(on_day).argmax(1).tolist() == [UNITS] * 3
        assert network.price(on_day).argmax(1).tolist() == [TENTHS] * 3


def test_beyond_twenty_units_left_nothing_changes():
    network = OfferNetwork("residual", (16,), 8, 1, seed=4)
    hidden, day = drawn(1, 16), torch.tensor([2])
    most, more, less = (network.on(hidden, day, torch.tensor([left])) for left in (20, 99, 19))
    assert torch.equal(most, more) and not torch.equal(most, less) and LEFT_MOST == 20


def test_what_l1_forbids_is_as_good_as_impossible():
    legal = np.packbits([1, 1, 0, 1, 0, *[1] * (DAYS - 2)], bitorder="little").tobytes()
    left = [3, 0, *[2] * (DAYS - 2)]
    table = rows_of(
        ROUND_SAMPLES, 4, legal=[legal] * 4, left=left, prices=[9, 11], response=REJECT,
        quantity=2, price=10, baseline=[2, 0, 10], scales=[10, 20, 40, 1000],
    )  # fmt: skip
    rows = round_reader("direct").decode(table)
    found = logits(OfferNetwork("direct", (16,), 8, 1, seed=4), rows)
    assert (found.response == NEVER).sum(1).tolist() == [1] * 4
    assert found.response[0, 2] == NEVER and found.day[0, 1] == NEVER
    assert found.units[0].gt(NEVER).nonzero().flatten().tolist() == [0, 1, 2]
    assert torch.isfinite(cross_entropy(found.units, rows.units))


def test_the_same_seed_begins_alike_and_another_otherwise():
    one, same, other = (weights(OfferNetwork("residual", (16,), 8, 1, seed=s)) for s in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    goals = [weights(GoalNetwork((8,), s)) for s in (1, 1, 2)]
    assert torch.equal(goals[0], goals[1]) and not torch.equal(goals[0], goals[2])


def weights(network):
    return torch.cat([weight.flatten() for weight in network.parameters()])


# --- L4 ------------------------------------------------------------------------------------------


@pytest.fixture
def decisions():
    """Two decisions of two negotiations and of three."""
    there = torch.zeros(2, 12, dtype=torch.bool)
    there[0, :2] = there[1, :3] = True
    score = torch.where(there, drawn(2, 12, seed=1), 0.0)
    return DecisionRows(
        drawn(2, 12, inputs.THREAD_INPUTS, seed=2), drawn(2, inputs.OVERALL_INPUTS), there, score
    )


def test_negotiations_of_other_decisions_do_not_matter(decisions):
    network = PriorityNetwork(8, seed=1)
    both = scores(network, decisions)
    for row in range(2):
        alone = scores(network, decisions.take(torch.tensor([row])))
        assert torch.allclose(alone[0], both[row])
    assert (both[~decisions.there] == NEVER).all()
    crowded = decisions._replace(thread=decisions.thread.clone())
    crowded.thread[1, 2] += 1
    assert torch.equal(scores(network, crowded)[0], both[0])
    assert not torch.equal(scores(network, crowded)[1, :2], both[1, :2])  # its own do
