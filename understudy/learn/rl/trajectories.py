"""Stretches of play, as a learner receives them.

Axes: T steps of B sequences side by side, F features, G features of the others' views, H heads,
O options of all heads, M numbers of memory (R of the teacher's). A sequence is what one player did
in one place; matches follow each other in it, and `discount` is 0 where one ends.
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
    first: Bool[Tensor, "T1 B"]
    """A match begins here: what a policy remembers of the one before is forgotten first."""
    plan: Int[Tensor, "T1 B"]
    """The number of the match's plan, of those the policy has; 0 where it plays without."""
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
    memory: Float[Tensor, "B M"]
    """What the policy that played remembered before the first step; M is 0 without a memory."""
    teacher_memory: Float[Tensor, "B R"]
    """The same of the teacher, who looked on."""
    version: Int[Tensor, " B"]
    """How many updates the policy had seen that played. Stays in main memory."""

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
        there = which.to(self.reward.device)
        timed = (x.index_select(1, there) for x in self[:-_UNTIMED])
        memories = (x.index_select(0, there) for x in self[-_UNTIMED:-1])
        return Trajectories._make((*timed, *memories, self.version[which]))

    def part(self, start: int, end: int) -> "Trajectories":
        """The sequences from `start` on, before `end`."""
        timed = (x[:, start:end] for x in self[:-_UNTIMED])
        return Trajectories._make((*timed, *(x[start:end] for x in self[-_UNTIMED:])))

    def to(self, device: torch.device) -> "Trajectories":
        """The same there."""
        return Trajectories._make((*(x.to(device) for x in self[:-1]), self.version))


_UNTIMED = 3
"""The last fields have one entry for a whole sequence."""


def joined(parts: Sequence[Trajectories]) -> Trajectories:
    """Side by side."""
    if len(parts) == 1:
        return parts[0]
    fields = list(zip(*parts, strict=True))
    timed = (torch.cat(x, 1) for x in fields[:-_UNTIMED])
    return Trajectories._make((*timed, *(torch.cat(x) for x in fields[-_UNTIMED:])))
