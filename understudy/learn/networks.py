"""Plain networks whose first weights depend on a given generator alone."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import nn


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
