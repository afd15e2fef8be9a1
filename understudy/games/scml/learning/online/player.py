"""The layers of HRL-XF as they learn by play, and the critic that values their situations.

A joint decision is drawn in turns: L4 draws the order (Plackett and Luce), then each negotiation in
it a response and, if that is an offer, its day, units and price, all within what L1 allows. So its
log-probability is the sum of these. The transformer that reads histories stays as it is: its view
of each history is noted in play.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div, log_softmax

from understudy.data.arrays import Array
from understudy.games.scml.agent.l3_offers import HEADS, UNITS, Scheme
from understudy.games.scml.batch.learnt import choices as c
from understudy.games.scml.batch.learnt.networks import STATE
from understudy.games.scml.domain import DAYS, REJECT
from understudy.games.scml.learning.l3 import NEVER
from understudy.games.scml.learning.layer_recipe import loaded, weights_of
from understudy.games.scml.learning.networks import GoalNetwork, OfferNetwork, PriorityNetwork
from understudy.games.scml.learning.online.central import WIDTH
from understudy.games.scml.learning.online.rollout_buffer import PLACES
from understudy.games.scml.view import features as f
from understudy.learn.networks import linear, mlp

GROUPS = 2 * PLACES
"""Each place among background agents, and among champions alone."""
_AFTER_DAYS = len(f.STATIC) + DAYS * len(f.TEMPORAL)
"""Where in a state the situation and the goals begin, which L4 reads, too."""


class Turns(NamedTuple):
    """Negotiations of some decisions, those of a decision in the order of their turns."""

    decision: Int[Tensor, " N"]
    """From 0 on, falling nowhere."""
    place: Int[Tensor, " N"]
    """From 0 on in each decision."""
    state: Float[Tensor, "D S"]
    thread: Float[Tensor, "N T"]
    turn: Float[Tensor, "N U"]
    view: Float[Tensor, "N V"]
    left: Int[Tensor, "N D"]
    legal: Bool[Tensor, "N 3"]
    drawn: Int[Tensor, "N W"]
    asked: Int[Tensor, " A"]
    """Where L3 had something to choose."""


class ActionEvaluation(NamedTuple):
    """By decision."""

    offers: Float[Tensor, " D"]
    """Log-probability of what L3 drew."""
    order: Float[Tensor, " D"]
    """Of L4's order."""
    entropy: Float[Tensor, " D"]
    """Of the responses of L3."""
    heads: tuple[Tensor, ...]
    """Log-probabilities of all options, by head, of the negotiations that were asked for."""


@dataclass(frozen=True)
class Layers:
    """Weights by layer, as a checkpoint has them."""

    weights: Mapping[str, Mapping[str, Array]]
    scheme: Scheme
    response_temperature: float = 1.0
    """At which responses were drawn."""


class Player(nn.Module):
    """L2, L3 and L4."""

    def __init__(self, layers: Layers) -> None:
        super().__init__()
        weights = layers.weights
        l3, l4 = weights["l3"], weights["l4"]
        offers = OfferNetwork(
            layers.scheme, _widths(l3), l3["history.offer.bias"].shape[0], _depth(l3), None
        )
        self.l3 = loaded(offers, l3, "l3")
        self.l4 = loaded(PriorityNetwork(_widths(l4, "each")[0], None), l4, "l4")
        self.l2: GoalNetwork | None = None
        if "l2" in weights:
            self.l2 = loaded(GoalNetwork(_widths(weights["l2"]), None), weights["l2"], "l2")
        self.scheme, self.response_temperature = layers.scheme, layers.response_temperature

    def layers(self) -> dict[str, dict[str, Array]]:
        """As a checkpoint has them."""
        found = {"l3": weights_of(self.l3), "l4": weights_of(self.l4)}
        return found if self.l2 is None else {**found, "l2": weights_of(self.l2)}

    def evaluate_actions(self, turns: Turns, *, ordered: bool = True) -> ActionEvaluation:
        """How likely some decisions are; L4 need not be asked where the order does not matter."""
        decisions = len(turns.state)
        heads = self._heads(turns)
        drawn = turns.drawn[turns.asked]
        chosen = [
            drawn[:, k] for k in (c.DRAWN_RESPONSE, c.DRAWN_DAY, c.DRAWN_UNITS, c.DRAWN_PRICE)
        ]
        log_prob = _picked(heads[0], chosen[0])
        offers = chosen[0] == REJECT
        for head, option in zip(heads[1:], chosen[1:], strict=True):
            log_prob = log_prob + torch.where(offers, _picked(head, option), 0.0)
        at = turns.decision[turns.asked]
        zeros = turns.state.new_zeros(decisions)
        entropy = -(heads[0].exp() * heads[0].clamp(min=-50)).sum(1)
        return ActionEvaluation(
            zeros.index_add(0, at, log_prob),
            self._order(turns) if ordered else zeros,
            zeros.index_add(0, at, entropy),
            heads,
        )

    def _heads(self, turns: Turns) -> tuple[Tensor, ...]:
        """Log-probabilities of response, day, units and price where L3 was asked."""
        rows, l3 = turns.asked, self.l3
        x = torch.cat([turns.state[turns.decision[rows]], turns.thread[rows], turns.turn[rows]], 1)
        hidden = l3.torso(torch.cat([l3.standard(x), turns.view[rows]], 1))
        drawn, left = turns.drawn[rows], turns.left[rows]
        day, most, base = drawn[:, c.DRAWN_DAY], drawn[:, c.LEFT], drawn[:, c.BASE]
        on_day = l3.on(hidden, day, most)
        option = torch.arange(HEADS[self.scheme]["units"], device=x.device)[None]
        units = option + 1 if self.scheme == "direct" else option + (base[:, None] - UNITS)
        allowed = (units >= 1) & (units <= most.clamp(min=1)[:, None])
        # Where nothing was offered all options lie open, and count for nothing.
        offers = (drawn[:, c.DRAWN_RESPONSE] == REJECT)[:, None]
        return (
            _legal(l3.response(hidden) / self.response_temperature, turns.legal[rows]),
            _legal(l3.day(hidden), (left > 0) | ~offers),
            _legal(l3.units(on_day), allowed | ~offers),
            log_softmax(l3.price(on_day), 1),
        )

    def _order(self, turns: Turns) -> Float[Tensor, " D"]:
        """Log-probability of the order: each turn's score among those still to come."""
        decisions = len(turns.state)
        overall = torch.cat([turns.state[:, : len(f.STATIC)], turns.state[:, _AFTER_DAYS:]], 1)
        x = torch.cat([turns.thread, overall[turns.decision]], 1)
        scores = self.l4(x, turns.decision, decisions)
        longest = int(turns.place.max()) + 1 if len(turns.place) else 1
        table = scores.new_full((decisions, longest), NEVER)
        table = table.index_put((turns.decision, turns.place), scores)
        to_come = table.flip(1).logcumsumexp(1).flip(1)
        there = table > NEVER / 2
        return torch.where(there, table - to_come, 0.0).sum(1)

    def goals_log_prob(
        self, start: Float[Tensor, "B F"], said: Float[Tensor, "B G"], noise: float
    ) -> Float[Tensor, " B"]:
        """Of goals drawn around what L2 says, but for a constant."""
        assert self.l2 is not None
        return -0.5 * ((said - self.l2(start)) / noise).square().sum(1)


class Critic(nn.Module):
    """The score still to come beyond what is booked, predicted from all factories' state."""

    def __init__(self, player: Player, hidden: int, seed: int, *, central: bool) -> None:
        """Without `central` it sees what the player sees."""
        super().__init__()
        drawn = torch.Generator().manual_seed(seed)
        self.central = central
        standard = player.l3.standard
        self.register_buffer("mean", standard.mean[:STATE].clone())
        self.register_buffer("std", standard.std[:STATE].clone())
        self.register_buffer("scale", torch.ones(GROUPS, 2))
        """By group: mean and standard deviation of what is to be predicted."""
        self.torso = mlp(
            STATE + GROUPS + (WIDTH if central else 0), (hidden, hidden), generator=drawn
        )
        self.value = linear(hidden, 1, gain=0.1, generator=drawn)

    mean: Tensor
    std: Tensor
    scale: Tensor

    def forward(
        self,
        state: Float[Tensor, "B S"],
        central: Float[Tensor, "B C"],
        group: Int[Tensor, " B"],
    ) -> Float[Tensor, " B"]:
        """In scores."""
        x = ((state - self.mean) / self.std).clamp(-10, 10)
        where = torch.nn.functional.one_hot(group, GROUPS).to(x)
        parts = [x, where, central] if self.central else [x, where]
        out = self.value(self.torso(torch.cat(parts, 1)))[:, 0]
        return self.scale[group, 0] + self.scale[group, 1] * out

    @torch.no_grad()
    def measure(self, target: Float[Tensor, " B"], group: Int[Tensor, " B"]) -> None:
        """Take mean and spread from the first targets there are."""
        for number in range(GROUPS):
            some = target[group == number]
            if len(some) > 1:
                self.scale[number, 0] = some.mean()
                self.scale[number, 1] = some.std().clamp(min=1e-3)


def divergence(heads: tuple[Tensor, ...], start: tuple[Tensor, ...], offers: Tensor) -> Tensor:
    """KL(start || now) of each negotiation, summed over heads; of offers where one was made."""
    total = torch.zeros_like(heads[0][:, 0])
    for number, (now, before) in enumerate(zip(heads, start, strict=True)):
        apart = kl_div(now.clamp(min=-50), before.clamp(min=-50), reduction="none", log_target=True)
        found = apart.sum(1)
        total = total + (found if number == 0 else torch.where(offers, found, 0.0))
    return total


def _picked(head: Tensor, option: Tensor) -> Tensor:
    return -cross_entropy(head, option, reduction="none")


def _legal(scores: Tensor, legal: Tensor) -> Tensor:
    return log_softmax(torch.where(legal, scores, NEVER), 1)


def _widths(weights: Mapping[str, Array], name: str = "torso") -> tuple[int, ...]:
    names = (f"{name}.{number}.bias" for number in range(0, 9, 2))
    return tuple(weights[name].shape[0] for name in names if name in weights)


def _depth(weights: Mapping[str, Array]) -> int:
    return len({name.split(".")[2] for name in weights if name.startswith("history.layers.")})
