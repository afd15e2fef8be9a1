"""Many policies of one shape at play in the same matches, as one player: their weights lie stacked.

A league lets dozens meet for a few matches each. One policy after the other, nearly all the time
goes into calling networks for a handful of rows. Axes: N matches, S slots, P policies, R rows of
the one that has most, F features, O options.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor, nn

from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.acting.opponents import PolicyPlayer
from understudy.learn.rl.env import Array

_ROWS_MAX = 128
"""Of a policy, beyond which calling each costs less than rows that are only there to fill up."""


class Crowd:
    """Memoryless policies of one shape; acts as `PolicyPlayer` does."""

    remembers = False

    def __init__(self, policies: Sequence[FactoredPolicy], who: Int[np.ndarray, "N S"]) -> None:
        """`who`: the number of the policy in each seat; others' seats are never asked for."""
        self.policies, self.who = tuple(policies), who
        with torch.no_grad():
            self.mean = torch.stack([one.mean for one in policies])[:, None]
            self.std = torch.stack([one.std for one in policies])[:, None]
            layers = [[*_linear(one)] for one in policies]
            self.layers = [
                (
                    torch.stack([layer.weight.T for layer in same]),
                    torch.stack([layer.bias for layer in same])[:, None],
                )
                for same in zip(*layers, strict=True)
            ]

    def act(
        self, seen: Iterable[Array], uniform: Tensor, which: Array, slot: Array
    ) -> Int64[np.ndarray, "n H"]:
        """Choose in these matches, each from its slot; all chance lies in `uniform`."""
        observation, legal = (torch.from_numpy(x) for x in seen)
        present, place, count = np.unique(
            self.who[which, slot], return_inverse=True, return_counts=True
        )
        if count.max() > _ROWS_MAX:
            return self._one_by_one(present, place, observation, legal, uniform)
        order = np.argsort(place, kind="stable")
        rank = np.empty(len(place), np.int64)
        rank[order] = np.arange(len(place)) - np.repeat(np.cumsum(count) - count, count)
        seats = torch.from_numpy(place), torch.from_numpy(rank)
        logits = self._logits(torch.from_numpy(present), seats, observation, int(count.max()))
        action, _ = self.policies[0].layout.sample(logits.T.contiguous(), legal, uniform)
        return action.numpy()

    @torch.no_grad()
    def _logits(
        self,
        present: Tensor,
        seats: tuple[Tensor, Tensor],
        observation: Float[Tensor, "n F"],
        rows: int,
    ) -> Float[Tensor, "n O"]:
        """All policies at once, each on its rows and on empty ones."""
        mean, std, *layers = self._of(present)
        x = mean.repeat(1, rows, 1)  # also of features that are not told, as `with_usual` has them
        x[(*seats, slice(observation.shape[1]))] = observation
        x = (x - mean) / std
        *hidden, (weight, bias) = zip(layers[::2], layers[1::2], strict=True)
        for inner, shift in hidden:
            x = torch.baddbmm(shift, x, inner).relu_()
        return torch.baddbmm(bias, x, weight)[seats]

    def _of(self, present: Tensor) -> list[Tensor]:
        """What is stacked, of those who are asked."""
        stacked = [self.mean, self.std, *(part for layer in self.layers for part in layer)]
        return stacked if len(present) == len(self.policies) else [x[present] for x in stacked]

    def _one_by_one(
        self,
        present: Array,
        place: Array,
        observation: Float[Tensor, "n F"],
        legal: Bool[Tensor, "n O"],
        uniform: Float[Tensor, "n H"],
    ) -> Int64[np.ndarray, "n H"]:
        action = np.empty(uniform.shape, np.int64)
        for number, one in enumerate(present):
            rows, policy = np.flatnonzero(place == number), self.policies[one]
            told, blank = policy.with_usual(observation[rows]), observation.new_zeros(len(rows), 0)
            action[rows] = policy.act(told, legal[rows], uniform[rows], blank).action.numpy()
        return action


def crowded(
    trained: Mapping[int, FactoredPolicy], who: Int[np.ndarray, "N S"]
) -> tuple[dict[int, PolicyPlayer | Crowd], Int[np.ndarray, "N S"]]:
    """Who plays for each of these, by place, and whose each seat is: a crowd sits as its first.

    Whoever remembers something of a match, plays by plans, or is alone of its shape stays apart.
    """
    alike = dict[str, list[int]]()
    for place, one in trained.items():
        apart = f" {place}" if one.shape.memory or one.shape.plans else ""
        alike.setdefault(one.shape.to_json() + apart, []).append(place)
    found, seats = dict[int, PolicyPlayer | Crowd](), who.copy()
    for places in alike.values():
        policies = [trained[place] for place in places]
        if len(places) > 1:
            player: PolicyPlayer | Crowd = Crowd(policies, np.searchsorted(places, who))
        else:
            player = PolicyPlayer(policies[0], *who.shape)
        found |= dict.fromkeys(places, player)
        seats[np.isin(who, places)] = places[0]
    return found, seats


def _linear(policy: FactoredPolicy) -> Iterable[nn.Linear]:
    return (x for x in (*policy.torso, policy.options) if isinstance(x, nn.Linear))
