"""The recurrent unit against torch's own, and that it forgets where a match begins."""

import pytest
import torch

from understudy.learn.networks import GRU

STEPS, SEQUENCES, INPUTS, UNITS = 7, 4, 3, 5


def units():
    """Ours and torch's with the same weights, in double."""
    ours = GRU(INPUTS, UNITS, generator=torch.Generator().manual_seed(1)).double()
    torchs = torch.nn.GRU(INPUTS, UNITS).double()
    with torch.no_grad():
        ours.seen.bias.normal_(generator=torch.Generator().manual_seed(2))
        ours.kept.bias.normal_(generator=torch.Generator().manual_seed(3))
        torchs.weight_ih_l0.copy_(ours.seen.weight)
        torchs.weight_hh_l0.copy_(ours.kept.weight)
        torchs.bias_ih_l0.copy_(ours.seen.bias)
        torchs.bias_hh_l0.copy_(ours.kept.bias)
    return ours, torchs


def sequences(seed=0):
    chance = torch.Generator().manual_seed(seed)
    inputs = torch.randn(STEPS, SEQUENCES, INPUTS, generator=chance, dtype=torch.float64)
    memory = torch.randn(SEQUENCES, UNITS, generator=chance, dtype=torch.float64)
    return inputs, memory, torch.zeros(STEPS, SEQUENCES, dtype=torch.bool)


def gradients(output, *leaves):
    """Of a sum in which every number has a weight of its own."""
    weight = torch.randn(output.shape, generator=torch.Generator().manual_seed(9))
    return torch.autograd.grad((weight * output).sum(), leaves)


def same(one, other):
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_it_is_torchs_own_where_nothing_begins():
    (ours, torchs), (inputs, memory, first) = units(), sequences()
    inputs.requires_grad_(), memory.requires_grad_()
    found, expected = ours(inputs, memory, first), torchs(inputs, memory[None])[0]
    same(found, expected)
    own = (ours.seen.weight, ours.kept.weight, ours.seen.bias, ours.kept.bias)
    for one, other in zip(
        gradients(found, inputs, memory, *own),
        gradients(expected, inputs, memory, *torchs.parameters()),
        strict=True,
    ):
        same(one, other)


@pytest.mark.parametrize("begins", [0, 1, 4, STEPS - 1])
def test_a_match_that_begins_knows_nothing_of_the_one_before(begins):
    """The second match as a sequence of its own, in one sequence of four; gradients as well."""
    (ours, _), (inputs, memory, first) = units(), sequences()
    first[begins, 2] = True
    inputs.requires_grad_(), memory.requires_grad_()
    whole = ours(inputs, memory, first)
    nothing = torch.zeros(1, UNITS, dtype=torch.float64)
    before, after = inputs[:begins, 2:3], inputs[begins:, 2:3]
    parts = [ours(after, nothing, first[begins:, 2:3] & False)]
    if begins:
        parts.insert(0, ours(before, memory[2:3], first[:begins, 2:3]))
    expected = torch.cat(parts)
    same(whole[:, 2:3], expected)
    own = (inputs, *ours.parameters())
    found = gradients(whole[:, 2:3], *own)
    for one, other in zip(found, gradients(expected, *own), strict=True):
        same(one, other)
    untouched = [0, 1, 3]  # its neighbours go on
    same(whole[:, untouched], ours(inputs, memory, first & False)[:, untouched])


def test_no_gradient_crosses_a_beginning():
    (ours, _), (inputs, memory, first) = units(), sequences()
    first[3] = True
    inputs.requires_grad_(), memory.requires_grad_()
    of_inputs, of_memory = gradients(ours(inputs, memory, first)[3:], inputs, memory)
    assert (of_inputs[:3] == 0).all() and (of_memory == 0).all()
    assert (of_inputs[3:] != 0).any()
