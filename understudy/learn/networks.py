"""Plain networks whose first weights depend on a given generator alone."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def linear(
    inputs: int, outputs: int, *, gain: float, generator: torch.Generator | None
) -> nn.Linear:
    """A linear layer, orthogonal at first (Saxe et al. 2014, arXiv:1312.6120).

    A small `gain` makes the first outputs small, whatever the input. Without a generator all is 0,
    for weights that are about to be loaded.
    """
    # Its own __init__ would draw from torch's random numbers, which are the caller's; on "meta" it
    # does not, but takes a millisecond, and leagues make thousands.
    layer = nn.Linear.__new__(nn.Linear)
    nn.Module.__init__(layer)
    layer.in_features, layer.out_features = inputs, outputs
    layer.weight = nn.Parameter(torch.zeros(outputs, inputs))
    layer.bias = nn.Parameter(torch.zeros(outputs))
    if generator is not None:
        nn.init.orthogonal_(layer.weight, gain, generator=generator)
    return layer


def mlp(inputs: int, hidden: Sequence[int], *, generator: torch.Generator | None) -> nn.Sequential:
    """Linear layers of the widths `hidden`, each followed by a ReLU."""
    layers: list[nn.Module] = []
    for width, next_width in itertools.pairwise((inputs, *hidden)):
        layers += [linear(width, next_width, gain=math.sqrt(2), generator=generator), nn.ReLU()]
    return nn.Sequential(*layers)


class GRU(nn.Module):
    """A gated recurrent unit (Cho et al. 2014, arXiv:1406.1078) that forgets where a match begins.

    Axes: T steps of B sequences, W inputs, M units.
    """

    def __init__(self, inputs: int, units: int, *, generator: torch.Generator | None) -> None:
        super().__init__()
        self.units = units
        # Reset gate, update gate, candidate, side by side, as torch.nn.GRU has them.
        self.seen = linear(inputs, 3 * units, gain=1.0, generator=generator)
        self.kept = linear(units, 3 * units, gain=1.0, generator=generator)

    def forward(
        self,
        inputs: Float[Tensor, "T B W"],
        memory: Float[Tensor, "B M"],
        first: Bool[Tensor, "T B"],
    ) -> Float[Tensor, "T B M"]:
        """The memory after each step; `memory` is that before the first one."""
        kept = (~first).to(inputs.dtype)[..., None]
        unrolled: Tensor = _Unroll.apply(  # type: ignore[no-untyped-call]
            self.seen(inputs), kept, memory, self.kept.weight, self.kept.bias
        )
        return unrolled


class _Unroll(torch.autograd.Function):
    """The steps of a GRU, and their gradient in as many: left to torch, it would cost T times that.

    With h what is remembered, 0 where a match begins, and x and y what comes of input and memory:
    r = sigmoid(xr + yr), z = sigmoid(xz + yz), n = tanh(xn + r yn), and then h = n + z (h - n).
    """

    @staticmethod
    def forward(
        ctx: Any,
        seen: Float[Tensor, "T B M3"],
        kept: Float[Tensor, "T B 1"],
        memory: Float[Tensor, "B M"],
        weight: Float[Tensor, "M3 M"],
        bias: Float[Tensor, " M3"],
    ) -> Float[Tensor, "T B M"]:
        """The memory after each step."""
        units = memory.shape[1]
        before, after, candidates, recalled = (
            seen.new_empty(*seen.shape[:2], units) for _ in range(4)
        )
        gates = seen.new_empty(*seen.shape[:2], 2 * units)
        for t in range(len(seen)):
            torch.mul(memory, kept[t], out=before[t])
            old = torch.addmm(bias, before[t], weight.T)
            torch.add(seen[t, :, : 2 * units], old[:, : 2 * units], out=gates[t]).sigmoid_()
            recalled[t] = old[:, 2 * units :]
            reset, update = gates[t].chunk(2, 1)
            candidate = torch.addcmul(seen[t, :, 2 * units :], reset, recalled[t])
            torch.tanh(candidate, out=candidates[t])
            memory = torch.lerp(candidates[t], before[t], update, out=after[t])
        ctx.save_for_backward(kept, weight, before, gates, candidates, recalled)
        return after

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """With respect to all but `kept`."""
        kept, weight, before, gates, candidates, recalled = ctx.saved_tensors
        units = before.shape[2]
        of_seen = before.new_empty(*before.shape[:2], 3 * units)
        of_old = torch.empty_like(of_seen)
        reset, update = gates.chunk(2, 2)
        # All that does not hang on later steps, for all steps at once.
        by_update = (before - candidates) * update * (1 - update)
        by_candidate = (1 - update) * (1 - candidates.square())
        by_reset = recalled * reset * (1 - reset)
        flowing = torch.zeros_like(before[0])
        for t in reversed(range(len(before))):
            flowing = flowing + gradients[0][t]
            new = torch.mul(flowing, by_candidate[t], out=of_seen[t, :, 2 * units :])
            torch.mul(new, by_reset[t], out=of_seen[t, :, :units])
            torch.mul(flowing, by_update[t], out=of_seen[t, :, units : 2 * units])
            of_old[t, :, : 2 * units] = of_seen[t, :, : 2 * units]
            torch.mul(new, reset[t], out=of_old[t, :, 2 * units :])
            flowing = torch.addmm(flowing * update[t], of_old[t], weight) * kept[t]
        flat = of_old.flatten(0, 1)
        of_weight = flat.T @ before.flatten(0, 1)
        return of_seen, None, flowing, of_weight, flat.sum(0)
