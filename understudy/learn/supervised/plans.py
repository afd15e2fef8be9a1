"""Plans made of recorded matches: what a player did in a match, in a few numbers, as its goal.

Axes: N rows, L numbers, P plans. AlphaStar's z (Vinyals et al. 2019). In training each row sees the
numbers of its own match, so a policy learns to play as told; in play it is told the numbers of a
training match, one drawn for each match from a table, and so keeps to one way of playing.

The numbers look ahead by design: they sum up the whole match, also what comes after the row. They
are a goal and not an observation. So figures of validation with plans say how well a policy does as
it is told, and do not compare with those without.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from jaxtyping import Float
from torch import Tensor

from understudy.learn.supervised.dataset import KEYS, Batch, Batches
from understudy.learn.supervised.sequences import by_player


@dataclass(frozen=True)
class Statistic:
    """What one player did in one recorded match, as the game sums it up."""

    names: tuple[str, ...]
    of: Callable[[Batch], Sequence[float]]
    """The numbers, of all decisions of the player in the match, in their order."""

    def beside(self, keys: pa.Table, rows: Batch) -> Float[Tensor, "N L"]:
        """For each row the numbers of its player in its match; `keys` say which rows those are."""
        found = torch.empty(len(rows.action), len(self.names))
        decided = by_player(keys)
        for which in np.split(decided.order, decided.begins[1:]):
            own = torch.from_numpy(which)
            found[own] = torch.tensor(self.of(rows.take(own)), dtype=torch.float32)
        if not found.isfinite().all():
            raise ValueError(f"a statistic of {', '.join(self.names)} is not finite")
        return found

    def table(self, train: Batches, plans: int, seed: int) -> Float[Tensor, "P L"]:
        """Of players' matches in rows that have it beside, as many as there are plans, or all."""
        found = list[Tensor]()
        for shard in train.shards:
            decided = by_player(train.read(shard.path, KEYS))
            last = train.decode(shard.path).observation[:, -len(self.names) :]
            found.append(last[torch.from_numpy(decided.order[decided.begins])])
        known = torch.cat(found)
        drawn = np.random.default_rng(seed).permutation(len(known))[:plans]
        return known[torch.from_numpy(drawn)]

    def settings(self) -> dict[str, Any]:
        """As plain values."""
        return {"names": self.names, "of": getattr(self.of, "__qualname__", repr(self.of))}
