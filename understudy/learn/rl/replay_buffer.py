"""Trajectories of play on their way to the learner: each used about equally often, none too old."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from understudy.learn.rl.env import Array
from understudy.learn.rl.trajectories import Trajectories, joined


class Replay:
    """The newest sequences, in the order they came."""

    def __init__(self, capacity: int, staleness_max: int) -> None:
        """Room for `capacity` sequences; those whose policy is over `staleness_max` updates old go.

        Both bounds drop what is oldest: whole rollouts, but never the newest.
        """
        if capacity < 1 or staleness_max < 0:
            raise ValueError(f"no replay of {capacity} sequences, {staleness_max} updates old")
        self.capacity, self.staleness_max = capacity, staleness_max
        self.parts: list[Trajectories] = []
        self.uses: list[torch.Tensor] = []

    @property
    def size(self) -> int:
        """How many sequences it holds."""
        return sum(part.size for part in self.parts)

    def add(self, play: Trajectories) -> None:
        """Put in a rollout; the oldest ones go when there is no more room."""
        self.parts.append(play)
        self.uses.append(torch.zeros(play.size, dtype=torch.long))
        while len(self.parts) > 1 and self.size > self.capacity:
            del self.parts[0], self.uses[0]

    def forget(self, version: int) -> int:
        """Drop rollouts too stale for the policy of this version; how many sequences that were."""
        before = self.size
        fresh = [version - int(part.version.min()) <= self.staleness_max for part in self.parts]
        self.parts = [part for part, keep in zip(self.parts, fresh, strict=True) if keep]
        self.uses = [uses for uses, keep in zip(self.uses, fresh, strict=True) if keep]
        return before - self.size

    def deal(self, counts: Sequence[int], seed: Sequence[int]) -> Iterator[Trajectories]:
        """Batches of so many sequences, one after the other, each from those used least so far.

        Chance decides among equals. All that is dealt counts as used at once.
        """
        if max(counts) > self.size:
            raise ValueError(f"cannot draw {max(counts)} of {self.size} sequences")
        everything, uses = joined(self.parts), torch.cat(self.uses).numpy()
        chosen = _least_used(uses, sum(counts), np.random.default_rng(seed))
        uses += np.bincount(chosen, minlength=len(uses))
        borders = np.cumsum([part.size for part in self.parts])[:-1]
        self.uses = [torch.from_numpy(part.copy()) for part in np.split(uses, borders)]
        dealt = everything.take(torch.from_numpy(chosen))
        ends = np.cumsum(counts).tolist()
        return (dealt.part(end - count, end) for end, count in zip(ends, counts, strict=True))

    def state(self) -> dict[str, Any]:
        """Everything in it, as tensors."""
        parts = [[x.cpu() for x in part] for part in self.parts]
        return {"parts": parts, "uses": list(self.uses)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`; it comes back in main memory, wherever it was."""
        self.parts = [Trajectories._make(x.cpu() for x in part) for part in state["parts"]]
        self.uses = [torch.as_tensor(uses).cpu().clone() for uses in state["uses"]]


def _least_used(uses: Array, count: int, rng: np.random.Generator) -> Array:
    """The places of the next `count` to be used: who has been used least goes first, each time."""
    passes, first = list[Array](), uses.min()
    while sum(map(len, passes)) < count:
        ready = np.flatnonzero(uses <= first)  # those used more often are not yet due again
        passes.append(rng.permutation(ready))
        first += 1
    return np.concatenate(passes)[:count]
