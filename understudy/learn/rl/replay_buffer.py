"""Trajectories of play on their way to the learner: each used about equally often, none too old."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

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

    def draw(self, count: int, seed: Sequence[int]) -> Trajectories:
        """`count` of those used least so far, by chance among equals; counts them as used."""
        if count > self.size:
            raise ValueError(f"cannot draw {count} of {self.size} sequences")
        chance = np.random.default_rng(seed).random(self.size)
        order = np.lexsort((chance, torch.cat(self.uses).numpy()))
        chosen = np.sort(order[:count])
        drawn, start = list[Trajectories](), 0
        for part, uses in zip(self.parts, self.uses, strict=True):
            here = chosen[(chosen >= start) & (chosen < start + part.size)] - start
            start += part.size
            if len(here):
                which = torch.from_numpy(here)
                uses[which] += 1
                drawn.append(part.take(which))
        return joined(drawn)

    def state(self) -> dict[str, Any]:
        """Everything in it, as tensors."""
        parts = [[x.cpu() for x in part] for part in self.parts]
        return {"parts": parts, "uses": list(self.uses)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`; it comes back in main memory, wherever it was."""
        self.parts = [Trajectories._make(x.cpu() for x in part) for part in state["parts"]]
        self.uses = [torch.as_tensor(uses).cpu().clone() for uses in state["uses"]]
