"""One update: what it does to the gradient, at which rates, and what it tells of it."""

from copy import deepcopy
from dataclasses import dataclass, replace

import pytest
import torch

from tests.learn.rl.test_learner import REMEMBERING, TINY, learner, weights
from understudy.errors import InputError
from understudy.learn.base import Loss
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.losses.ppo import PPO


@dataclass(frozen=True)
class Loud:
    """An objective times so much."""

    inner: PPO
    volume: float
    kl_weight: float = 0.0

    def __call__(self, actor_critic, play):
        loss, metrics = self.inner(actor_critic, play)
        return Loss(self.volume * loss, metrics)


def stepped(rates=(0.01, 0.02), **changes):
    """A learner with a critic that has played and made one update; and how it was before."""
    one = learner(replace(TINY, critic=(4,), objective=PPO(), **changes), begun=REMEMBERING)
    before = deepcopy(one.actor_critic)
    jobs = one._jobs(0)
    actors = Actors(0)
    actors.start(jobs)
    one._receive(actors.finish())
    one.descent.step(next(one.replay.deal([10], (1,))), rates)
    return one, before


def norm(tensors):
    return torch.cat([tensor.flatten() for tensor in tensors]).norm().item()


@pytest.mark.parametrize("part", [0, 1], ids=["policy", "critic"])
def test_a_gradient_is_no_longer_than_it_may_be(part):
    """Adam's first moment is a tenth of the gradient it was given."""
    whole, _ = stepped(gradient_norm_max=1e9)
    free = norm([weight.grad for weight in whole.descent.groups[part]])
    bound = free / 3
    held, _ = stepped(gradient_norm_max=bound)
    moments = held.descent.optimizer.state
    group = held.descent.groups[part]
    assert norm([moments[weight]["exp_avg"] for weight in group]) == pytest.approx(
        0.1 * bound, rel=1e-4
    )
    for one, other in zip(whole.descent.groups[part], group, strict=True):
        torch.testing.assert_close(other.grad, one.grad / 3, rtol=1e-4, atol=1e-9)


def test_what_is_told_is_the_gradient_before_it_was_cut():
    whole, _ = stepped(gradient_norm_max=1e9)
    free = norm([weight.grad for weight in whole.descent.groups[0]])
    held, _ = stepped(gradient_norm_max=free / 3)
    assert held.descent.settle(0)["gradient_norm"] == pytest.approx(free, rel=1e-5)


@pytest.mark.parametrize(("rates", "moves"), [((0.0, 0.02), [0, 1]), ((0.01, 0.0), [1, 0])])
def test_the_policy_and_the_critic_have_rates_of_their_own(rates, moves):
    one, before = stepped(rates)
    now = one.actor_critic
    moved = [
        (weights(now.policy) - weights(before.policy)).abs().max().item(),
        (weights(now.critic) - weights(before.critic)).abs().max().item(),
    ]
    # Adam's first step is the rate itself, whatever the gradient.
    expected = [rate * move for rate, move in zip(rates, moves, strict=True)]
    assert moved == pytest.approx(expected, rel=0.05, abs=1e-9)


def test_sums_are_read_once():
    one, _ = stepped()
    play = next(one.replay.deal([10], (1,)))
    one.descent.settle(1)
    for _ in range(2):
        one.descent.step(play, (0.0, 0.0))
    twice = one.descent.settle(2)
    one.descent.step(play, (0.0, 0.0))
    once = one.descent.settle(3)
    assert twice == pytest.approx({name: 2 * value for name, value in once.items()})


def test_a_loss_that_is_no_number_is_told_with_its_update():
    one = learner(replace(TINY, objective=Loud(PPO(), float("inf"))))
    with pytest.raises(InputError, match=r"the loss is (nan|inf|-inf) before update 3,"):
        one.iterate(Actors(0))


@pytest.mark.parametrize(
    ("iteration", "decay", "expected"),
    [
        (0, 1.0, (0.0, 0.002)),
        (1, 1.0, (0.0, 0.0015)),
        (2, 1.0, (0.005, 0.001)),
        (3, 1.0, (0.0025, 0.0005)),
        (3, 0.0, (0.01, 0.002)),
        (2, 0.5, (0.0075, 0.0015)),
    ],
)
def test_both_rates_fall_along_a_line(iteration, decay, expected):
    rates = {"learning_rate": 0.01, "critic_learning_rate": 0.002, "decay": decay}
    one = learner(replace(TINY, iterations=4, critic=(4,), critic_first=2, **rates))
    one.iteration = iteration
    assert one.learning_rates() == pytest.approx(expected)


def test_the_rates_of_an_iteration_are_those_it_learns_at():
    one, asked = learner(replace(TINY, critic=(4,), iterations=4)), []
    step = one.descent.step

    def watched(play, rates):
        asked.append(rates)
        step(play, rates)
        assert [group["lr"] for group in one.descent.optimizer.param_groups] == [*rates]

    one.descent.step = watched
    one.run(4, Actors(0))
    lines = [(0.01 * left, 0.001 * left) for left in (1.0, 0.75, 0.5, 0.25)]
    assert asked == [pytest.approx(line) for line in lines for _ in range(TINY.updates)]
