import math

import pytest
import torch

from tests.learn.toy_samples import TOY
from understudy.learn.policy import FactoredPolicy, PolicyShape
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.dataset import Batch
from understudy.learn.supervised.objective import Objective, consider


@pytest.fixture
def policy():
    """Says the same of everything: move 1/2, 1/4, 1/4; fire 4/5, 1/5; an outcome of 0.5."""
    policy = FactoredPolicy(PolicyShape(TOY.features, TOY.heads, ()))
    with torch.no_grad():
        for layer in (policy.options, policy.outcome):
            layer.weight.zero_()
        policy.options.bias[:] = torch.tensor([0.5, 0.25, 0.25, 0.8, 0.2]).log()
        policy.outcome.bias[:] = 0.5
    return policy


def batch(action, legal, outcome):
    rows = len(action)
    return Batch(
        torch.rand(rows, 3),
        torch.tensor(action),
        torch.tensor(legal, dtype=torch.bool),
        torch.tensor(outcome),
        torch.zeros(rows),
    )


TWO = batch([[0, 1], [2, 0]], [[1, 1, 1, 1, 1], [1, 0, 1, 1, 0]], [1.0, 0.0])


def test_worked_example(policy):
    # first row: 1/2 * 1/5; second: 1/4 of the 3/4 that are legal, and the only way to fire
    loss, metrics = Cloning(value_weight=0.3)(policy, TWO)
    copied = (-math.log(1 / 2 * 1 / 5) - math.log(1 / 3)) / 2
    missed = (0.5**2 + 0.5**2) / 2
    assert metrics["log_loss"].item() == pytest.approx(copied)
    assert metrics["value_error"].item() == pytest.approx(missed)
    assert loss.item() == pytest.approx(copied + 0.3 * missed)


def test_smoothing_spreads_the_target_over_legal_options_only(policy):
    rows = batch([[2, 0]], [[1, 0, 1, 1, 0]], [0.5])
    loss = Cloning(label_smoothing=0.2)(policy, rows).value.item()
    # move: 0.9 of the target on the recorded option, 0.1 on the other legal one; fire: no choice
    assert loss == pytest.approx(-0.9 * math.log(1 / 3) - 0.1 * math.log(2 / 3))


def test_the_gradient_pushes_towards_what_was_recorded(policy):
    Cloning()(policy, TWO).value.backward()
    gradient = policy.options.bias.grad
    assert gradient[4] < 0 < gradient[3]
    assert policy.outcome.bias.grad.abs().item() == pytest.approx(0)  # too high once, too low once


@pytest.mark.parametrize(
    "wrong", [{"label_smoothing": 1.0}, {"label_smoothing": -0.1}, {"value_weight": -1.0}]
)
def test_a_senseless_setting_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Cloning(**wrong)


def test_it_is_an_objective():
    assert isinstance(Cloning(), Objective)


def test_an_unknown_outcome_counts_for_nothing_in_the_value(policy):
    """Not as a draw: the error is that of the others alone, and so is the gradient."""
    known = Cloning(value_weight=1.0)(policy, TWO)
    actions, legal = [[0, 1], [2, 0], [0, 0]], [[1, 1, 1, 1, 1], [1, 0, 1, 1, 0], [1] * 5]
    more = Cloning(value_weight=1.0)(policy, batch(actions, legal, [1.0, 0.0, math.nan]))
    assert more.metrics["value_error"] == known.metrics["value_error"]
    more.value.backward()
    assert policy.outcome.bias.grad.item() == pytest.approx(0)
    drawn = Cloning(value_weight=1.0)(policy, batch(actions, legal, [1.0, 0.0, 0.0]))
    assert drawn.metrics["value_error"].item() == pytest.approx(0.25)


def test_where_no_outcome_is_known_there_is_no_error(policy):
    loss = Cloning(value_weight=1.0)(policy, TWO._replace(outcome=torch.tensor([math.nan] * 2)))
    assert loss.metrics["value_error"] == 0 and loss.value.isfinite()


def test_an_unknown_outcome_is_neither_better_nor_worse_than_expected(policy):
    seen = consider(policy, TWO._replace(outcome=torch.tensor([1.0, math.nan])))
    assert seen.advantage().tolist() == [0.5, 0.0]
