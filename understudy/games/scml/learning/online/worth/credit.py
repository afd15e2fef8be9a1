"""Which negotiation of a joint decision earned what.

What came of a joint decision is the luck and skill of all its negotiations together. Here it is
taken for the sum of what each of them drew (value decomposition, Sunehag et al. 2018), learnt from
all decisions alike; a negotiation's advantage is what its own draw is worth beyond what would have
been drawn there on average (counterfactual, Foerster et al. 2018). So the luck of its neighbours,
of partners and of the days to come is no part of it: far fewer worlds tell good draws from bad
ones. What the sum cannot say is a bias that more worlds do not cure.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import one_hot, smooth_l1_loss

from understudy.games.scml.batch.learnt.networks import STATE
from understudy.games.scml.domain import REJECT
from understudy.games.scml.learning.online.experience import Experience
from understudy.games.scml.learning.online.player import (
    GROUPS,
    Player,
    Turns,
    chosen_in,
    log_prob_of,
)
from understudy.learn.networks import linear, mlp

DRAWS = 2
"""Of what else might have been drawn. Up: less noise, more time."""
AT_ONCE = 16_384
"""Decisions."""
CUT = 5.0
"""Advantages are cut at so many spreads."""


class Judged(NamedTuple):
    """By negotiation, 0 where L3 was not asked."""

    advantage: Float[Tensor, " N"]
    before: Float[Tensor, " N"]
    """Log-probability of what was drawn as learning begins."""


class Credit(nn.Module):
    """The worth of joint decisions, as a sum over their negotiations."""

    def __init__(self, player: Player, hidden: int, seed: int) -> None:
        super().__init__()
        drawn, l3 = torch.Generator().manual_seed(seed), player.l3
        self.heads = [head.out_features for head in (l3.response, l3.day, l3.units, l3.price)]
        self.register_buffer("mean", l3.standard.mean.clone())
        self.register_buffer("std", l3.standard.std.clone())
        inputs = next(l3.torso.parameters()).shape[1]
        self.torso = mlp(inputs + sum(self.heads), (hidden, hidden), generator=drawn)
        self.worth = linear(hidden, 1, gain=0.01, generator=drawn)
        self.situation = mlp(STATE, (hidden // 2,), generator=drawn)
        self.rest = linear(hidden // 2, 1, gain=0.01, generator=drawn)
        """What the critic has missed, whatever is drawn."""

    mean: Tensor
    std: Tensor

    def forward(self, turns: Turns) -> Float[Tensor, " D"]:
        """What is to come of whole decisions, beyond what was to be expected."""
        x = ((turns.state - self.mean[:STATE]) / self.std[:STATE]).clamp(-10, 10)
        rest = self.rest(self.situation(x))[:, 0]
        each = self._each(self._read(turns), chosen_in(turns))
        return rest.index_add(0, turns.decision[turns.asked], each)

    @staticmethod
    def loss(error: Tensor) -> Tensor:
        """Far misses are luck, and count by their size alone."""
        return smooth_l1_loss(error, torch.zeros_like(error), beta=2.0)

    @torch.no_grad()
    def judge(self, seen: Experience, now: Player, actor: Player, drawn: torch.Generator) -> Judged:
        """What was drawn, beside what `now` might have drawn; by who played it, it counts as often
        as it is still likely, once at most (as in `Learner._beginning`)."""
        advantage = torch.zeros(len(seen.thread), device=seen.state.device)
        before, group = torch.zeros_like(advantage), torch.zeros_like(advantage, dtype=torch.long)
        counts = torch.zeros_like(advantage)
        for first in range(0, len(seen.kept), AT_ONCE):
            some = np.arange(first, min(first + AT_ONCE, len(seen.kept)))
            turns = seen.turns(some)
            asked, chosen, x = turns.row[turns.asked], chosen_in(turns), self._read(turns)
            heads = now.heads(turns)
            usual = torch.stack([self._each(x, _drawn(heads, drawn)) for _ in range(DRAWS)]).mean(0)
            advantage[asked] = self._each(x, chosen) - usual
            before[asked] = log_prob_of(heads, chosen)
            moved = before[asked] - log_prob_of(actor.heads(turns), chosen)
            counts[asked] = moved.exp().clamp(max=1.0)
            of_decision = seen.group[torch.from_numpy(seen.kept[some]).to(group.device)]
            group[asked] = of_decision[turns.decision[turns.asked]]
        for number in range(GROUPS):
            mine = (group == number) & (counts > 0)
            spread = advantage[mine].square().mean().sqrt() + 1e-8 if mine.any() else 1.0
            advantage[mine] = (advantage[mine] / spread).clamp(-CUT, CUT)
        return Judged(advantage * counts, before)

    def _read(self, turns: Turns) -> Float[Tensor, "A F"]:
        rows = turns.asked
        x = torch.cat([turns.state[turns.decision[rows]], turns.thread[rows], turns.turn[rows]], 1)
        return torch.cat([((x - self.mean) / self.std).clamp(-10, 10), turns.view[rows]], 1)

    def _each(self, x: Tensor, chosen: list[Tensor]) -> Float[Tensor, " A"]:
        """Of what was drawn; day, units and price matter where an offer was made."""
        offers = (chosen[0] == REJECT)[:, None]
        options = [one_hot(chosen[0], self.heads[0]).to(x)]
        for option, many in zip(chosen[1:], self.heads[1:], strict=True):
            options.append(one_hot(option, many).to(x) * offers)
        return self.worth(self.torso(torch.cat([x, *options], 1)))[:, 0]


def _drawn(heads: tuple[Tensor, ...], drawn: torch.Generator) -> list[Tensor]:
    """Something that might have been drawn; units and price as on the day that was."""
    return [torch.multinomial(head.exp(), 1, generator=drawn)[:, 0] for head in heads]
