"""A policy at play in many matches at once: chance, memory and plans of each.

All chance is of the seed, the match, the slot and the step, so that a question asked again, because
its answer was lost, is answered as before. What a policy remembers of a match is kept here; of one
that began before this process, it is made again from what was written down.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from understudy.data.arrays import Array, Bools, Float32s
from understudy.export.numpy_policy import Decided, NumpyPolicy

MOST_MATCHES = 20_000
"""Of which something is remembered; those unseen for longest are forgotten first."""
_PLAN = -1  # stands for the step at which the plan of a match is drawn


class Question(NamedTuple):
    """One decision to make."""

    match: str
    slot: int
    step: int
    features: Float32s
    legal: Bools
    uniform: Float32s | None = None


@dataclass
class Decider:
    """Weights, and what is remembered of each match."""

    policy: NumpyPolicy
    seed: int = 0
    greedy: bool = False
    """Always the likeliest option, instead of a draw."""
    _memory: OrderedDict[tuple[str, int], Float32s] = field(default_factory=OrderedDict)

    @property
    def remembers(self) -> bool:
        """Whether decisions of a match hang together."""
        return bool(self.policy.shape.memory)

    def knows(self, match: str, slot: int) -> bool:
        """Whether something is remembered of a match."""
        return (match, slot) in self._memory

    def forget(self, match: str, slot: int) -> None:
        """It has ended, or begins again."""
        self._memory.pop((match, slot), None)

    def decide(self, asked: Sequence[Question]) -> Decided:
        """All of them at once; those of one match in turn, where it remembers."""
        if not self.remembers or len({(one.match, one.slot) for one in asked}) == len(asked):
            return self._decide(asked)
        parts = [self._decide([one]) for one in asked]
        return Decided(*(np.concatenate(values) for values in zip(*parts, strict=True)))

    def _decide(self, asked: Sequence[Question]) -> Decided:
        heads = len(self.policy.shape.heads)
        uniform = [
            chance(self.seed, one.match, one.slot, one.step, heads)
            if one.uniform is None
            else one.uniform
            for one in asked
        ]
        found = self.policy.decide(
            np.stack([one.features for one in asked]),
            np.stack([one.legal for one in asked]),
            np.stack(uniform),
            self._plans(asked),
            self._recalled(asked),
        )
        self._keep(asked, found.memory)
        return found._replace(action=self._likeliest(asked, found)) if self.greedy else found

    def _likeliest(self, asked: Sequence[Question], found: Decided) -> Array:
        parts = np.split(found.probabilities, self.policy.borders[1:-1], axis=1)
        return np.stack([part.argmax(axis=1) for part in parts], axis=1)

    def _plans(self, asked: Sequence[Question]) -> Array | None:
        if not (plans := self.policy.shape.plans):
            return None
        lots = [chance(self.seed, one.match, one.slot, _PLAN, 1)[0] for one in asked]
        return np.minimum((np.array(lots) * plans).astype(np.int64), plans - 1)

    def _recalled(self, asked: Sequence[Question]) -> Float32s | None:
        if not self.remembers:
            return None
        blank = np.zeros(self.policy.shape.memory, np.float32)
        return np.stack([self._memory.get((one.match, one.slot), blank) for one in asked])

    def _keep(self, asked: Sequence[Question], memory: Float32s) -> None:
        if not self.remembers:
            return
        for one, kept in zip(asked, memory, strict=True):
            self._memory[one.match, one.slot] = kept
            self._memory.move_to_end((one.match, one.slot))
        while len(self._memory) > MOST_MATCHES:
            self._memory.popitem(last=False)


def chance(seed: int, match: str, slot: int, step: int, count: int) -> Float32s:
    """Numbers of [0, 1) that depend on these alone."""
    found = b""
    while len(found) < 4 * count:
        text = f"{seed}/{match}/{slot}/{step}/{len(found)}"
        found += hashlib.blake2b(text.encode()).digest()
    whole = np.frombuffer(found[: 4 * count], np.uint32)
    return (whole >> 8).astype(np.float32) / np.float32(1 << 24)
