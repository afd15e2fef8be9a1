"""What rollouts brought, as tensors to learn from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from understudy.data.arrays import Array, Bools, Float32s, Floats, Ints
from understudy.games.scml.learning.online.player import Turns
from understudy.games.scml.learning.online.rollout import Rollout
from understudy.games.scml.learning.online.rollout_buffer import Played


class Course(NamedTuple):
    """All decisions of some rollouts, as far as what became of them goes."""

    world: Ints
    factory: Ints
    day: Ints
    level: Ints
    group: Ints
    booked: Floats
    money: Floats
    final: Floats
    """The score that the decision's factory ended with."""
    day_decision: Ints
    day_start: Float32s
    goals: Float32s


def joined(rollouts: Sequence[Rollout]) -> Course:
    """All rollouts as one."""
    parts: dict[str, list[Array]] = {name: [] for name in Course._fields}
    worlds = decisions = 0
    for rollout in rollouts:
        shifts = {"world": worlds, "day_decision": decisions}
        for name, found in parts.items():
            values = rollout.final if name == "final" else getattr(rollout.played, name)
            found.append(values + shifts[name] if name in shifts else values)
        worlds += len(rollout.scores)
        decisions += len(rollout.played.world)
    return Course(**{name: np.concatenate(found) for name, found in parts.items()})


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


def experience_of(parts: Sequence[Played], device: torch.device) -> Experience:
    """On a device, to which each part goes by itself: together they are gigabytes."""

    def there(name: str) -> Tensor:
        return torch.cat([torch.from_numpy(getattr(part, name)).to(device) for part in parts])

    kept, first, decisions, negotiations = list[Ints](), list[Ints](), 0, 0
    for part in parts:
        mine = np.flatnonzero(part.kept)
        kept.append(mine + decisions)
        first.append(np.searchsorted(part.decision, mine) + negotiations)
        decisions += len(part.world)
        negotiations += len(part.decision)
    all_kept = np.concatenate(kept)
    return Experience(
        there("state"),
        there("central"),
        there("group"),
        all_kept,
        np.append(np.concatenate(first), negotiations),
        there("thread"),
        there("turn"),
        there("view"),
        there("left"),
        there("legal"),
        there("drawn"),
        np.concatenate([part.was_asked for part in parts]),
        torch.zeros(len(all_kept), dtype=torch.bool, device=device),
    )
