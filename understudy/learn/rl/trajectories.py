"""Stretches of play, as a learner receives them.

Axes: T steps of B sequences side by side, F features, G features of the others' views, H heads,
O options of all heads. A sequence is what one player did in one place; matches follow each other
in it, and `discount` is 0 where one ends.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


class Trajectories(NamedTuple):
    """B sequences of T steps; what was seen has one entry more, from after the last step."""

    observation: Float[Tensor, "T1 B F"]
    others: Float[Tensor, "T1 B G"]
    """What the other players saw: for a critic in training, never for a policy. May have no G."""
    legal: Bool[Tensor, "T B O"]
    action: Int[Tensor, "T B H"]
    log_prob: Float[Tensor, "T B H"]
    """Of what was done, by the policy that did it."""
    reward: Float[Tensor, "T B"]
    discount: Float[Tensor, "T B"]
    """0 where the match ended with this step."""
    truncated: Bool[Tensor, "T B"]
    """The match was cut short after this step; the next one is idle and shows its last state."""
    counts: Bool[Tensor, "T B"]
    """False for idle steps, in which nobody decided anything."""
    version: Int[Tensor, " B"]
    """How many updates the policy had seen that played."""

    @property
    def steps(self) -> int:
        """T."""
        return self.reward.shape[0]

    @property
    def size(self) -> int:
        """B."""
        return self.reward.shape[1]

    def take(self, which: Int[Tensor, " N"]) -> "Trajectories":
        """Some of the sequences."""
        timed = (x.index_select(1, which) for x in self[:-1])
        return Trajectories._make((*timed, self.version[which]))

    def to(self, device: torch.device) -> "Trajectories":
        """The same there, actions as wide as torch wants them."""
        moved = Trajectories._make(x.to(device) for x in self)
        return moved._replace(action=moved.action.long())


def joined(parts: Sequence[Trajectories]) -> Trajectories:
    """Side by side."""
    if len(parts) == 1:
        return parts[0]
    *timed, version = zip(*parts, strict=True)
    return Trajectories._make((*(torch.cat(x, 1) for x in timed), torch.cat(version)))
