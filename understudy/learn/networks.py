"""Plain networks whose first weights depend on a given generator alone."""

import itertools
import math
from collections.abc import Sequence

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
    # On "meta" nothing is drawn, so torch's own random numbers stay as the caller left them.
    layer = nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")
    nn.init.zeros_(layer.weight)
    if generator is not None:
        nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)
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
        seen, kept = self.seen(inputs), (~first).to(inputs.dtype)[..., None]
        after = list[Tensor]()
        for t in range(len(inputs)):
            memory = memory * kept[t]
            old = self.kept(memory)
            gates = torch.sigmoid(seen[t, :, : 2 * self.units] + old[:, : 2 * self.units])
            reset, update = gates.chunk(2, 1)
            candidate = torch.addcmul(seen[t, :, 2 * self.units :], reset, old[:, 2 * self.units :])
            memory = torch.lerp(torch.tanh(candidate), memory, update)
            after.append(memory)
        return torch.stack(after)
