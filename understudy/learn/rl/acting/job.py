"""A rollout to be played, and what came of it: values that can be sent to other processes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from understudy.learn.rl.acting.opponents import Opponent, Weights
from understudy.learn.rl.env import MakeEnv
from understudy.learn.rl.trajectories import Trajectories


@dataclass(frozen=True)
class Job:
    """One rollout to be played."""

    make: MakeEnv
    player: Weights
    opponents: tuple[Opponent, ...]
    matches: int
    steps: int
    discount: float
    pseudo_reward: float
    seed: tuple[int, ...]
    draw: float = 0.0
    version: int = 0
    """How many updates the player has seen."""
    sees_others: bool = False
    """Whether to keep what the other players saw."""
    teacher: Weights | None = None
    """Somebody with a memory who looks on, so that it can be asked about these sequences."""
    state: Mapping[str, Any] = field(default_factory=dict)
    """Where the rollout before it ended; empty: all matches begin."""
    device: str = "cpu"
    """Where policies think; what they did stays there. Games are played on the processor."""


class Rollout(NamedTuple):
    """What came of a job."""

    play: dict[str, Any]
    """The fields of `Trajectories`: arrays, or tensors where it was played on a device."""
    state: dict[str, Any]
    tally: dict[str, list[int]]
    """Matches won, drawn and lost by the learner, by opponent; against itself all are told once."""
    match_steps: int
    """Steps of all matches together; in self-play one is several agent-steps."""

    def sequences(self) -> Trajectories:
        """The play as tensors."""
        return Trajectories(**{name: torch.as_tensor(x) for name, x in self.play.items()})
