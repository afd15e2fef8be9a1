"""What rollouts brought, as tensors to learn from."""

from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from understudy.data.arrays import Array, Bools, Floats, Ints
from understudy.games.scml.learning.online.player import Turns
from understudy.games.scml.learning.online.rollout import Rollout
from understudy.games.scml.learning.online.rollout_buffer import Played

_OF_DECISIONS = ("decision", "day_decision")


def joined(rollouts: Sequence[Rollout]) -> tuple[Played, Floats]:
    """All rollouts as one, and the final scores of the decisions' factories."""
    parts: dict[str, list[Array]] = {one.name: [] for one in fields(Played)}
    worlds = decisions = 0
    for rollout in rollouts:
        for name, found in parts.items():
            values = getattr(rollout.played, name)
            shift = worlds if name == "world" else decisions if name in _OF_DECISIONS else 0
            found.append(values + shift if shift else values)
        worlds += len(rollout.scores)
        decisions += len(rollout.played.world)
    together = {name: np.concatenate(found) for name, found in parts.items()}
    return Played(**together), np.concatenate([rollout.final for rollout in rollouts])


class Experience(NamedTuple):
    """Decisions and their negotiations, on the device that learns."""

    state: Float[Tensor, "D S"]
    central: Float[Tensor, "D C"]
    group: Int[Tensor, " D"]
    kept: Ints
    """Decisions that the policy learns from."""
    first: Ints
    """[kept + 1]: where the negotiations of each begin."""
    thread: Tensor
    turn: Tensor
    view: Tensor
    left: Tensor
    legal: Tensor
    drawn: Tensor
    was_asked: Bools
    """[negotiations]: L3 had something to choose."""
    guided: Tensor
    """[kept]: a guide leads there; see `GuideBuffer`."""

    def turns(self, some: Ints) -> Turns:
        """Of some of the kept decisions, by index among them."""
        count = self.first[some + 1] - self.first[some]
        decision = np.repeat(np.arange(len(some)), count)
        place = np.arange(len(decision)) - np.repeat(np.cumsum(count) - count, count)
        device = self.state.device
        at = self.first[some][decision] + place
        rows = torch.from_numpy(at).to(device)
        return Turns(
            torch.from_numpy(decision).to(device),
            torch.from_numpy(place).to(device),
            self.state[torch.from_numpy(self.kept[some]).to(device)],
            self.thread[rows],
            self.turn[rows],
            self.view[rows],
            self.left[rows],
            self.legal[rows],
            self.drawn[rows],
            # Found here, not on a card, which would have to be waited for.
            torch.from_numpy(np.flatnonzero(self.was_asked[at])).to(device),
        )


def experience_of(played: Played, device: torch.device) -> Experience:
    """On a device."""

    def there(values: Array) -> Tensor:
        return torch.from_numpy(values).to(device)

    kept = np.flatnonzero(played.kept)
    first = np.searchsorted(played.decision, np.append(kept, len(played.world)))
    return Experience(
        there(played.state),
        there(played.central),
        there(played.group),
        kept,
        first,
        there(played.thread),
        there(played.turn),
        there(played.view),
        there(played.left),
        there(played.legal),
        there(played.drawn),
        played.was_asked,
        torch.zeros(len(kept), dtype=torch.bool, device=device),
    )
