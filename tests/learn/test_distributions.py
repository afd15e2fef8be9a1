import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.learn.distributions import ILLEGAL, Layout

SIZES = (3, 1, 4, 2)


def spans(sizes):
    ends = torch.tensor(sizes).cumsum(0).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def draw(sizes, seed, rows=6, scale=3.0):
    """Random logits, and masks that leave each head at least one option."""
    chance = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(rows, sum(sizes), generator=chance)
    legal = torch.rand(rows, sum(sizes), generator=chance) < 0.5
    for span, size in zip(spans(sizes), sizes, strict=True):
        kept = torch.randint(size, (rows,), generator=chance)
        legal[torch.arange(rows), span.start + kept] = True
    return logits, legal


def slow_probabilities(sizes, logits, legal):
    """The definition: exp of each legal logit over their sum, head by head, in double."""
    expected = torch.zeros(logits.shape, dtype=torch.float64)
    for row in range(len(logits)):
        for span in spans(sizes):
            weight = logits[row, span].double().exp() * legal[row, span]
            expected[row, span] = weight / weight.sum()
    return expected


cases = given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([0.0, 1.0, 30.0]),
)


@settings(max_examples=60, deadline=None)
@cases
def test_probabilities_match_the_definition_and_illegal_ones_are_zero(sizes, seed, scale):
    logits, legal = draw(sizes, seed, scale=scale)
    found = Layout(sizes).distribution(logits, legal).probabilities()
    torch.testing.assert_close(
        found.double(), slow_probabilities(sizes, logits, legal), atol=1e-6, rtol=1e-4
    )
    assert (found[~legal] == 0).all()
    for span in spans(sizes):
        torch.testing.assert_close(found[:, span].sum(1), torch.ones(len(found)))


@settings(max_examples=60, deadline=None)
@cases
def test_a_sample_is_legal_whatever_is_drawn(sizes, seed, scale):
    logits, legal = draw(sizes, seed, scale=scale)
    distribution = Layout(sizes).distribution(logits, legal)
    chance = torch.Generator().manual_seed(seed)
    for uniform in (0.0, 0.5, 0.9999999, 1.0, None):
        drawn = torch.rand(len(logits), len(sizes), generator=chance)
        action = distribution.sample(drawn if uniform is None else torch.full_like(drawn, uniform))
        for head, span in enumerate(spans(sizes)):
            assert legal[:, span].gather(1, action[:, head, None]).all()


def test_samples_are_as_frequent_as_their_probabilities():
    logits, legal = draw(SIZES, seed=1, rows=1, scale=1.0)
    rows = 20_000
    distribution = Layout(SIZES).distribution(logits.expand(rows, -1), legal.expand(rows, -1))
    uniform = torch.rand(rows, len(SIZES), generator=torch.Generator().manual_seed(2))
    action = distribution.sample(uniform)
    for head, (span, size) in enumerate(zip(spans(SIZES), SIZES, strict=True)):
        share = action[:, head].bincount(minlength=size) / rows
        torch.testing.assert_close(share, distribution.probabilities()[0, span], atol=0.015, rtol=0)


def test_a_sample_is_the_option_whose_share_is_hit():
    # shares 0.2, 0.3, 0.5 end at 0.2, 0.5, 1
    logits = torch.tensor([[0.2, 0.3, 0.5]]).log().expand(4, -1)
    distribution = Layout((3,)).distribution(logits, torch.ones(4, 3, dtype=torch.bool))
    action = distribution.sample(torch.tensor([[0.1], [0.3], [0.49], [0.51]]))
    assert action[:, 0].tolist() == [0, 1, 1, 2]


def test_the_ends_of_the_interval_mean_the_first_and_last_option_that_can_be():
    logits = torch.tensor([[0.0, -300.0, 1.0, 1.0, -300.0, 0.0]])  # two too unlikely to be numbers
    legal = torch.tensor([[False, True, True, True, True, False]])
    distribution = Layout((6,)).distribution(logits, legal)
    assert distribution.probabilities()[0, 1] == 0
    assert distribution.sample(torch.zeros(1, 1)).item() == 2
    assert distribution.sample(torch.full((1, 1), 1.1)).item() == 4  # beyond all shares, yet legal


def test_log_prob_matches_the_definition():
    logits, legal = draw(SIZES, seed=3)
    distribution = Layout(SIZES).distribution(logits, legal)
    expected = slow_probabilities(SIZES, logits, legal)
    action = distribution.sample(torch.rand(6, 4, generator=torch.Generator().manual_seed(0)))
    for row in range(6):
        by_head = [
            expected[row, span][action[row, head]].log().item()
            for head, span in enumerate(spans(SIZES))
        ]
        assert distribution.log_prob_by_head(action)[row].tolist() == pytest.approx(
            by_head, abs=1e-5
        )
        assert distribution.log_prob(action)[row].item() == pytest.approx(sum(by_head), abs=1e-5)


def test_entropy_divergence_and_mean_match_their_definitions():
    logits, legal = draw(SIZES, seed=4)
    layout = Layout(SIZES)
    one, other = layout.distribution(logits, legal), layout.distribution(logits.flip(0), legal)
    p, q = one.probabilities().double(), other.probabilities().double()
    entropy = -torch.where(legal, p * p.log(), 0).sum(1)
    divergence = torch.where(legal, p * (p.log() - q.log()), 0).sum(1)
    torch.testing.assert_close(one.entropy().double(), entropy, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(one.kl(other).double(), divergence, atol=1e-5, rtol=1e-5)
    mean = sum(
        torch.where(legal[:, s], p[:, s].log(), 0).sum(1) / legal[:, s].sum(1) for s in spans(SIZES)
    )
    torch.testing.assert_close(one.mean_log_prob().double(), mean, atol=1e-5, rtol=1e-5)


@settings(max_examples=40, deadline=None)
@cases
def test_divergence_is_never_negative_and_none_from_oneself(sizes, seed, scale):
    logits, legal = draw(sizes, seed, scale=scale)
    layout = Layout(sizes)
    one, other = layout.distribution(logits, legal), layout.distribution(logits.flip(0), legal)
    assert (one.kl(other) >= -1e-4).all()
    assert (one.kl(one) == 0).all()


def test_even_odds_have_the_entropy_of_their_number():
    layout = Layout((4, 2))
    distribution = layout.distribution(torch.zeros(1, 6), torch.ones(1, 6, dtype=torch.bool))
    assert distribution.entropy().item() == pytest.approx(math.log(4) + math.log(2))


@pytest.mark.parametrize("what", ["log_prob", "entropy", "kl", "mean"])
def test_no_gradient_reaches_an_illegal_option(what):
    logits, legal = draw(SIZES, seed=5)
    logits.requires_grad_()
    layout = Layout(SIZES)
    distribution = layout.distribution(logits, legal)
    target = {
        "log_prob": lambda: distribution.log_prob(distribution.best()),
        "entropy": distribution.entropy,
        "kl": lambda: distribution.kl(layout.distribution(logits.detach().flip(0), legal)),
        "mean": distribution.mean_log_prob,
    }[what]()
    target.sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[~legal] == 0).all()
    assert (logits.grad[legal] != 0).any()


def test_a_head_without_a_legal_option_is_even_and_teaches_nothing():
    logits = torch.tensor([[5.0, -5.0, 1.0, 2.0, 3.0]], requires_grad=True)
    legal = torch.tensor([[False, False, True, True, False]])
    distribution = Layout((2, 3)).distribution(logits, legal)
    assert distribution.probabilities()[0, :2].tolist() == [0.5, 0.5]
    assert distribution.sample(torch.tensor([[0.7, 0.0]])).tolist() == [[1, 0]]
    distribution.log_prob(torch.tensor([[0, 0]])).sum().backward()
    assert logits.grad[0, :2].tolist() == [0, 0]


def test_an_illegal_choice_is_hopeless_yet_finite():
    distribution = Layout((2,)).distribution(torch.zeros(1, 2), torch.tensor([[True, False]]))
    assert distribution.log_prob(torch.tensor([[1]])).item() == pytest.approx(ILLEGAL)


def test_the_best_option_is_the_likeliest_legal_one():
    logits, legal = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([[True, False, True]])
    assert Layout((3,)).distribution(logits, legal).best().tolist() == [[2]]


@pytest.mark.parametrize("sizes", [(), (2, 0)])
def test_a_head_without_options_is_refused(sizes):
    with pytest.raises(ValueError, match="every head needs an option"):
        Layout(sizes)


def test_a_wrong_shape_is_refused():
    with pytest.raises(TypeError, match="legal"):
        Layout((2,)).distribution(torch.zeros(3, 2), torch.ones(2, 2, dtype=torch.bool))
