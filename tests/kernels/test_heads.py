"""The compiled heads against the same in torch and float64: values, gradients, samples."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from understudy.kernels import heads
from understudy.learn.distributions import Layout

JUST_BELOW_1 = float(np.nextafter(np.float32(1), np.float32(0)))
BLOCK = heads.LANES


def drawn(sizes, rows, seed, scale):
    """Logits [O N] of float32, masks that leave some heads nothing, and actions, illegal too."""
    chance = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(sum(sizes), rows, generator=chance)
    legal = torch.rand(rows, sum(sizes), generator=chance) < 0.6
    action = torch.rand(rows, len(sizes), generator=chance) * torch.tensor(sizes)
    return logits, legal, action.long()


def judged(layout, logits, legal, action, teacher):
    """What is said, and the gradient of a sum in which each part has a weight of its own."""
    own = logits.clone().requires_grad_()
    found = layout.judge(own, legal, action, teacher=teacher)
    chance = torch.Generator().manual_seed(99)
    parts = [part for part in found if part is not None]
    total = sum((torch.randn(x.shape, generator=chance) * x).sum() for x in parts)
    (gradient,) = torch.autograd.grad(total, own)
    return found, gradient


cases = given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    rows=st.sampled_from([1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3]),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.0, 1.0, 10.0, 50.0, 1e4]),
    has_teacher=st.booleans(),
)


@settings(max_examples=60)
@cases
@example([3, 1, 4], BLOCK + 1, 0, 50.0, True)
def test_judging_and_its_gradient_equal_torch_in_double(sizes, rows, seed, scale, has_teacher):
    layout, (logits, legal, action) = Layout(sizes), drawn(sizes, rows, seed, scale)
    teacher = drawn(sizes, rows, seed + 1, scale)[0] if has_teacher else None
    found, gradient = judged(layout, logits, legal, action, teacher)
    doubled = None if teacher is None else teacher.double()
    expected, slope = judged(layout, logits.double(), legal, action, doubled)
    assert (found.kl is None) == (expected.kl is None) == (not has_teacher)
    # A float32 holds differences of logits to 1e-7 of their size, so no better is to be had.
    near = {"rtol": 1e-6, "atol": 1e-6 * max(1.0, scale / 10)}
    for one, other in zip(found, expected, strict=True):
        if one is not None:
            torch.testing.assert_close(one.double(), other, **near)
    assert (gradient.T[~legal] == 0).all()
    # The weights are about 1, so where all cancels there is left what a float32 leaves of 1.
    rounding = 1e-7 * (rows * len(sizes)) ** 0.5
    assert (gradient.double() - slope).norm() <= 3e-7 * slope.norm() + rounding


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
def test_common_logits_are_judged_to_what_a_float32_holds(scale):
    """To about a ten-millionth of their length, values and gradients."""
    layout, (logits, legal, action) = Layout((9, 5, 3, 2)), drawn((9, 5, 3, 2), 4096, 1, scale)
    teacher = drawn((9, 5, 3, 2), 4096, 2, scale)[0]
    found, gradient = judged(layout, logits, legal, action, teacher)
    exact, slope = judged(layout, logits.double(), legal, action, teacher.double())
    assert (gradient.double() - slope).norm() < 1.5e-7 * slope.norm()
    possible = exact.log_prob > -100
    off = (found.log_prob.double() - exact.log_prob)[possible]
    assert off.norm() < 1.5e-7 * exact.log_prob[possible].norm()
    assert (found.entropy.double() - exact.entropy).norm() < 1.5e-7 * exact.entropy.norm()


def test_without_a_teacher_nothing_pulls():
    """Else the gradient by an output that nobody looks at would still be counted in."""
    layout, (logits, legal, action) = Layout((4, 3)), drawn((4, 3), 9, 0, 1.0)
    own = logits.clone().requires_grad_()
    judgement = layout.judge(own, legal, action)
    assert judgement.kl is None
    (0.0 * judgement.log_prob.sum() + 0.0 * judgement.entropy.sum()).backward()
    assert (own.grad == 0).all()


def test_a_teacher_is_not_taught():
    layout, (logits, legal, action) = Layout((4, 3)), drawn((4, 3), 9, 0, 1.0)
    own, teacher = logits.clone().requires_grad_(), logits.flip(1).clone().requires_grad_()
    layout.judge(own, legal, action, teacher=teacher).kl.sum().backward()
    assert own.grad.abs().sum() > 0 and teacher.grad is None


def borders_of(layout, logits, legal):
    """Where the shares of each head end, [N H M], and the shares, in double."""
    shares = layout.distribution(logits.T.double(), legal)._shares()
    return shares.cumsum(2), shares


@settings(max_examples=60)
@cases
def test_samples_are_legal_and_equal_torchs_but_for_rounding(sizes, rows, seed, scale, has_teacher):
    layout, (logits, legal, _) = Layout(sizes), drawn(sizes, rows, seed, scale)
    uniform = torch.rand(rows, len(sizes), generator=torch.Generator().manual_seed(seed))
    if has_teacher:  # not asked here: then the ends of the interval
        uniform = torch.where(uniform < 0.5, 0.0, JUST_BELOW_1)
    action, log_prob = layout.sample(logits, legal, uniform)
    exact = layout.distribution(logits.T.double(), legal)
    ends, shares = borders_of(layout, logits, legal)
    assert (shares.gather(2, action[..., None]) > 0).all()  # legal, and possible at all
    wanted = exact.sample(uniform.double())
    low, high = torch.minimum(action, wanted), torch.maximum(action, wanted)
    # Where they differ, all borders between the two lie within rounding of the number drawn.
    number = torch.arange(ends.shape[2])
    between = (number >= low[..., None]) & (number < high[..., None])
    assert ((ends - uniform[..., None].double()).abs()[between] < 2e-6).all()
    near = {"rtol": 1e-6, "atol": 1e-6 * max(1.0, scale / 10)}
    torch.testing.assert_close(log_prob.double(), exact.log_prob_by_head(action), **near)


@pytest.mark.parametrize(("uniform", "expected"), [(0.0, 1), (JUST_BELOW_1, 3), (1.0, 3)])
def test_the_ends_of_the_interval_are_the_first_and_last_legal_option(uniform, expected):
    legal = torch.tensor([[False, True, True, True, False]])
    action, _ = Layout((5,)).sample(torch.zeros(5, 1), legal, torch.full((1, 1), uniform))
    assert action.item() == expected


def test_a_number_on_a_border_means_the_option_behind_it():
    action, log_prob = Layout((4,)).sample(
        torch.zeros(4, 4),
        torch.ones(4, 4, dtype=torch.bool),
        torch.tensor([[0.0, 0.25, 0.5, 0.75]]).T,
    )
    assert action[:, 0].tolist() == [0, 1, 2, 3]
    torch.testing.assert_close(log_prob, torch.full((4, 1), 0.25).log())


def test_a_head_without_a_legal_option_is_even():
    legal = torch.tensor([[False] * 4 + [True, False]]).expand(4, -1)
    action, log_prob = Layout((4, 2)).sample(
        torch.tensor([[9.0, -9.0, 1.0, 0.0, 3.0, 7.0]]).T.expand(6, 4).contiguous(),
        legal.contiguous(),
        torch.tensor([[0.1, 0.3, 0.6, 0.9], [0.0, 0.3, 0.6, 0.99]]).T.contiguous(),
    )
    assert action.tolist() == [[0, 0], [1, 0], [2, 0], [3, 0]]
    torch.testing.assert_close(log_prob[:, 0], torch.full((4,), 0.25).log())
    assert (log_prob[:, 1] == 0).all()


def test_samples_are_as_frequent_as_their_probabilities():
    """A chi-square test, once; 27.9 is passed by chance once in a thousand (9 degrees)."""
    rows, layout = 50_000, Layout((6, 5))
    logits, legal, _ = drawn((6, 5), 1, 3, 1.0)
    legal[:] = True
    uniform = torch.rand(rows, 2, generator=torch.Generator().manual_seed(4))
    everywhere = legal.expand(rows, -1).contiguous()
    action, _ = layout.sample(logits.expand(-1, rows).contiguous(), everywhere, uniform)
    expected = rows * layout.distribution(logits.T, legal).probabilities()[0]
    counts = torch.cat([action[:, 0].bincount(minlength=6), action[:, 1].bincount(minlength=5)])
    assert ((counts - expected) ** 2 / expected).sum() < 27.9


@pytest.mark.parametrize("seed", range(3))
def test_lanes_do_not_touch_each_other(seed):
    """A decision is judged the same alone and among others, to the bit."""
    sizes, rows = (5, 3, 1), BLOCK + 3
    layout, (logits, legal, action) = Layout(sizes), drawn(sizes, rows, seed, 3.0)
    together = layout.judge(logits, legal, action, teacher=logits.flip(0).contiguous())
    for row in (0, BLOCK - 1, BLOCK, rows - 1):
        one = slice(row, row + 1)
        mine = logits[:, one].contiguous()
        alone = layout.judge(mine, legal[one], action[one], teacher=mine.flip(0).contiguous())
        for whole, part in zip(together, alone, strict=True):
            assert torch.equal(whole[one], part)
