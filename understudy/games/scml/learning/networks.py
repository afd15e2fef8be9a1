"""The networks of L2, L3 and L4, for training. `numpy_networks.py` runs the same weights in play.

Axes: B rows, T offers of a negotiation, D width, K negotiations of a decision.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import layer_norm, relu, softmax

from understudy.games.scml.agent.l3_offers import HEADS, LEFT_MOST, TENTHS, UNITS, Scheme
from understudy.games.scml.domain import DAYS, NUM_GOALS
from understudy.games.scml.view import features as f
from understudy.games.scml.view import inputs
from understudy.learn.networks import linear, mlp

LENGTHS = (2, 4, 8, 16, f.HISTORY)
"""Negotiations are read in groups of about the same length, so that little of it is padding."""


class Standardised(nn.Module):
    """Inputs brought to mean 0 and standard deviation 1."""

    mean: Float[Tensor, " F"]
    std: Float[Tensor, " F"]

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("std", torch.ones(width))

    def set(self, mean: Float[Tensor, " F"], std: Float[Tensor, " F"]) -> None:
        """What inputs are measured against; one that never varies is only shifted."""
        self.mean.copy_(mean)
        self.std.copy_(torch.where(std > 1e-3, std, 1.0))

    def forward(self, x: Float[Tensor, "B F"]) -> Float[Tensor, "B F"]:
        """Far outliers are cut, so that nothing new in play upsets the network."""
        return ((x - self.mean) / self.std).clamp(-10, 10)


class GoalNetwork(nn.Module):
    """L2: a day-start state to 16 goals, units as log(1 + units), prices over the trading price."""

    def __init__(self, hidden: Sequence[int], seed: int | None) -> None:
        super().__init__()
        drawn = _drawn(seed)
        self.standard = Standardised(inputs.DAY_START_INPUTS)
        self.torso = mlp(inputs.DAY_START_INPUTS, hidden, generator=drawn)
        self.goals = linear(hidden[-1], NUM_GOALS, gain=0.01, generator=drawn)

    def forward(self, x: Float[Tensor, "B F"]) -> Float[Tensor, "B G"]:
        """By bucket: units and price, buying and selling."""
        return self.goals(self.torso(self.standard(x)))


class Attention(nn.Module):
    """One layer of a causal transformer: every offer looks at itself and those before it."""

    def __init__(self, width: int, heads: int, generator: torch.Generator | None) -> None:
        super().__init__()
        self.heads = heads
        self.mix = linear(width, 3 * width, gain=1.0, generator=generator)
        self.out = linear(width, width, gain=1.0, generator=generator)
        self.up = linear(width, 2 * width, gain=math.sqrt(2), generator=generator)
        self.down = linear(2 * width, width, gain=1.0, generator=generator)

    def forward(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        """Later offers, and the padding behind the last one, change nothing of earlier ones."""
        rows, length, width = x.shape
        parts = self.mix(layer_norm(x, (width,))).view(rows, length, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(2, 3) / math.sqrt(key.shape[3])
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        seen = softmax(scores.masked_fill(later, -torch.inf), 3) @ value
        x = x + self.out(seen.transpose(1, 2).reshape(rows, length, width))
        return x + self.down(relu(self.up(layer_norm(x, (width,)))))


class HistoryNetwork(nn.Module):
    """The offers of a negotiation, as one vector: a causal transformer's view of its end."""

    def __init__(
        self, width: int, layers: int, heads: int, generator: torch.Generator | None
    ) -> None:
        super().__init__()
        self.width = width
        self.offer = linear(len(f.PAST_OFFER), width, gain=1.0, generator=generator)
        self.ago = linear(f.HISTORY, width, gain=1.0, generator=generator)
        """Of each place, counted from the last offer."""
        self.layers = nn.ModuleList(Attention(width, heads, generator) for _ in range(layers))

    def forward(
        self, history: Float[Tensor, "B T 4"], length: Int[Tensor, " B"]
    ) -> Float[Tensor, "B D"]:
        """0 for negotiations without an offer."""
        ends = history.new_zeros(len(history), self.width)
        shortest = 0
        for longest in LENGTHS:
            rows = ((length > shortest) & (length <= longest)).nonzero()[:, 0]
            if len(rows):
                ends[rows] = self._ends(history[rows, :longest], length[rows])
            shortest = longest
        return ends

    def _ends(
        self, history: Float[Tensor, "B T 4"], length: Int[Tensor, " B"]
    ) -> Float[Tensor, "B D"]:
        index = torch.arange(history.shape[1], device=history.device)
        ago = (length[:, None] - 1 - index).clamp(min=0)
        x = self.offer(history) + self.ago.weight.T[ago] + self.ago.bias
        for layer in self.layers:
            x = layer(x)
        last = x[torch.arange(len(x), device=x.device), length.long() - 1]
        return layer_norm(last, (self.width,))


class OfferNetwork(nn.Module):
    """L3: a negotiation, all that surrounds it, and what is left for it, to choices and values."""

    def __init__(
        self,
        scheme: Scheme,
        hidden: Sequence[int] = (256, 256),
        width: int = 32,
        layers: int = 2,
        seed: int | None = 0,
    ) -> None:
        super().__init__()
        self.scheme: Scheme = scheme
        drawn = _drawn(seed)
        self.standard = Standardised(inputs.ROUND_INPUTS)
        self.history = HistoryNetwork(width, layers, 2, drawn)
        self.torso = mlp(inputs.ROUND_INPUTS + width, hidden, generator=drawn)
        sizes, last = HEADS[scheme], hidden[-1]
        self.response = linear(last, sizes["response"], gain=0.0, generator=drawn)
        self.day = linear(last, DAYS, gain=0.0, generator=drawn)
        # Units and price depend on the day chosen, and on what is left on it.
        self.offer = linear(last, 64, gain=1.0, generator=drawn)
        self.on_day = linear(DAYS + LEFT_MOST + 1, 64, gain=1.0, generator=drawn)
        self.units = linear(64, sizes["units"], gain=0.0, generator=drawn)
        self.price = linear(64, sizes["price"], gain=0.0, generator=drawn)
        self.values = linear(last, 2, gain=0.1, generator=drawn)
        self._begin_as_l1()

    @torch.no_grad()
    def _begin_as_l1(self) -> None:
        """Untrained, the likeliest choices are those of L1: accept, the first day, its baseline."""
        self.response.bias.copy_(torch.tensor([2.0, 1.0, 0.0]))
        self.day.bias.copy_(-0.1 * torch.arange(DAYS))
        if self.scheme == "residual":
            self.units.bias.copy_(-0.1 * (torch.arange(2 * UNITS + 1) - UNITS).abs())
            self.price.bias.copy_(-0.1 * (torch.arange(2 * TENTHS + 1) - TENTHS).abs())

    def forward(
        self,
        x: Float[Tensor, "B F"],
        history: Float[Tensor, "B T 4"],
        length: Int[Tensor, " B"],
    ) -> Float[Tensor, "B D"]:
        """What the heads read."""
        return self.torso(torch.cat([self.standard(x), self.history(history, length)], 1))

    def on(
        self, hidden: Float[Tensor, "B D"], day: Int[Tensor, " B"], left: Int[Tensor, " B"]
    ) -> Float[Tensor, "B 64"]:
        """What the heads of units and price read, for an offer on a day."""
        chosen = self.on_day.weight.T
        some = chosen[day] + chosen[DAYS + left.clamp(0, LEFT_MOST)] + self.on_day.bias
        return relu(self.offer(hidden) + some)


class PriorityNetwork(nn.Module):
    """L4: a set of negotiations to a score each; it does not matter in which order they lie."""

    def __init__(self, hidden: int = 64, seed: int | None = 0) -> None:
        super().__init__()
        drawn = _drawn(seed)
        self.standard = Standardised(inputs.THREAD_INPUTS + inputs.OVERALL_INPUTS)
        self.each = mlp(
            inputs.THREAD_INPUTS + inputs.OVERALL_INPUTS, (hidden, hidden), generator=drawn
        )
        self.all = linear(hidden, hidden, gain=1.0, generator=drawn)
        self.score = linear(hidden, 1, gain=0.1, generator=drawn)

    def forward(
        self, negotiations: Float[Tensor, "N F"], decision: Int[Tensor, " N"], decisions: int
    ) -> Float[Tensor, " N"]:
        """Each negotiation is read beside the mean of all negotiations of its decision."""
        own = self.each(self.standard(negotiations))
        total = own.new_zeros(decisions, own.shape[1]).index_add(0, decision, own)
        count = own.new_zeros(decisions).index_add(0, decision, torch.ones_like(own[:, 0]))
        mean = total / count.clamp(min=1)[:, None]
        return self.score(relu(own + self.all(mean)[decision]))[:, 0]


def _drawn(seed: int | None) -> torch.Generator | None:
    return None if seed is None else torch.Generator().manual_seed(seed)
