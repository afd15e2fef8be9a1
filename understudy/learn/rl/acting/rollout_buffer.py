"""What the learner did in a rollout, kept while it is played."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from understudy.learn.cuda_graphs import sent
from understudy.learn.policy import Acted
from understudy.learn.rl.acting.job import Job
from understudy.learn.rl.acting.opponents import PolicyPlayer
from understudy.learn.rl.acting.seating import Seating
from understudy.learn.rl.env import Array, Observation, StepResult


class RolloutBuffer:
    """The sequences of a rollout while it is played, [T B ...], on the device that plays."""

    def __init__(self, job: Job, seen: Observation, where: Seating) -> None:
        self.where, steps, size = where, job.steps, len(where.row)
        self.device = torch.device(job.device)
        self.rows = torch.from_numpy(where.row).to(self.device)
        features, options = seen.observation.shape[2], seen.legal.shape[2]
        heads = len(job.player.shape.heads)
        others = where.others.shape[1] * features if job.sees_others else 0

        def empty(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.empty(*shape[:1], size, *shape[1:], dtype=dtype, device=self.device)

        self.play = {
            "observation": empty(steps + 1, features),
            "others": empty(steps + 1, others),
            "plan": empty(steps + 1, dtype=torch.int16),
            "legal": empty(steps, options, dtype=torch.bool),
            "action": empty(steps, heads, dtype=torch.int16),
            "log_prob": empty(steps, heads),
            "version": torch.full((size,), job.version),
        }
        # Written by the game's side, step by step; these travel together in the end.
        self.told: dict[str, Array] = {
            "first": np.empty((steps + 1, size), bool),
            "reward": np.empty((steps, size), np.float32),
            "discount": np.empty((steps, size), np.float32),
            "truncated": np.empty((steps, size), bool),
            "counts": np.empty((steps, size), bool),
        }

    def begin(self, learner: PolicyPlayer, teacher: PolicyPlayer | None) -> None:
        """What both remember before the first step."""
        for name, one in (("memory", learner), ("teacher_memory", teacher)):
            blank = torch.zeros(len(self.rows), 0, device=self.device)
            self.play[name] = blank if one is None else one.memory.flatten(0, 1)[self.rows]

    def see(self, t: int, seen: Observation, first: Array, plan: Array) -> None:
        """What was seen before step t, or after the last one."""
        row = self.where.row
        self._put("observation", t, rows_of(seen.observation, row))
        self._put("plan", t, rows_of(plan, row))
        if self.play["others"].shape[2]:
            flat = seen.observation.reshape(-1, seen.observation.shape[2])
            self._put("others", t, flat[self.where.others].reshape(len(row), -1))
        if t < len(self.play["legal"]):
            self._put("legal", t, rows_of(seen.legal, row))
        self.told["first"][t] = first[self.where.place]

    def _put(self, name: str, t: int, array: Array) -> None:
        self.play[name][t].copy_(sent(torch.from_numpy(array), self.device), non_blocking=True)

    def act(self, t: int, acted: Acted, idle: Array) -> None:
        """What was done in step t; nothing where the match was idle."""
        self.play["action"][t] = acted.action
        self.play["log_prob"][t] = acted.log_prob
        self.told["counts"][t] = ~idle[self.where.place]

    def record_step(self, t: int, result: StepResult, job: Job, idle: Array) -> None:
        """What came of it."""
        place = self.where.place
        drawn = result.terminated[:, None] & (result.score == 0)
        reward = result.reward + job.draw * drawn if job.draw else result.reward
        self.told["reward"][t] = rows_of(reward, self.where.row)
        self.told["discount"][t] = np.where((result.terminated | idle)[place], 0.0, job.discount)
        self.told["truncated"][t] = (result.truncated & ~result.terminated)[place]

    def finish(self) -> dict[str, Any]:
        """The fields of `Trajectories`; arrays, which travel well, unless they are on a card."""
        if self.device.type == "cpu":
            return {name: tensor.numpy() for name, tensor in self.play.items()} | self.told
        moved = {name: torch.from_numpy(x).to(self.device) for name, x in self.told.items()}
        return self.play | moved


def rows_of(array: Array, row: Array) -> Array:
    """Rows of an array [N S ...], slots counted through; `row` must ascend."""
    flat = array.reshape(-1, *array.shape[2:])
    # In pure self-play the rows are all there are.
    return flat if len(row) == len(flat) else flat.take(row, 0)
