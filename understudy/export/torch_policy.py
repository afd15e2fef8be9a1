"""A policy as an exported program of torch, for hosts that have torch and nothing of ours.

    program = torch.export.load("policy.pt2").module()
    action, probabilities, value, memory_after = program(observation, legal, uniform, plan, memory)

observation [B F], legal [B O] bool, uniform [B H], plan [B] int64, memory [B M]. A policy without
plans or memory takes zeros there, of width 0 for the memory. (TorchScript is on its way out of
torch; hosts without Python take the ONNX file.)
"""

import io
import json
from typing import Any

import torch
from torch import Tensor, nn

from understudy.export.numpy_policy import LEAST
from understudy.learn.distributions import ILLEGAL
from understudy.learn.policy import FactoredPolicy
from understudy.learn.policy_shape import SHAPE_KEY


class HostPolicy(nn.Module):
    """The policy in plain operations."""

    def __init__(self, policy: FactoredPolicy) -> None:
        super().__init__()
        self.policy = policy

    def forward(
        self, observation: Tensor, legal: Tensor, uniform: Tensor, plan: Tensor, memory: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Choose for each observation."""
        policy = self.policy
        if policy.shape.plans:
            observation = torch.cat([observation, policy.table[plan]], 1)
        hidden = policy.torso((observation - policy.mean) / policy.std)
        if policy.shape.memory:
            memory = self._remembered(hidden, memory)
            hidden = hidden + policy.recalled(memory)
        sizes = list(policy.shape.heads.values())
        logits = torch.split(policy.options(hidden), sizes, 1)
        parts = zip(logits, torch.split(legal, sizes, 1), strict=True)
        drawn = [_drawn(*part, uniform[:, head]) for head, part in enumerate(parts)]
        action = torch.stack([one for one, _ in drawn], 1)
        shares = torch.cat([share for _, share in drawn], 1)
        # A program may not hand out what it was given.
        after = memory if policy.shape.memory else memory.clone()
        return action, shares, policy.outcome(hidden)[:, 0], after

    def _remembered(self, hidden: Tensor, before: Tensor) -> Tensor:
        seen, old = self.policy.core.seen(hidden), self.policy.core.kept(before)
        reset, update, new = seen.chunk(3, 1)
        old_reset, old_update, old_new = old.chunk(3, 1)
        candidate = torch.tanh(new + torch.sigmoid(reset + old_reset) * old_new)
        return candidate + torch.sigmoid(update + old_update) * (before - candidate)


def _drawn(logits: Tensor, legal: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """One head's choice and probabilities: `learn/distributions.py`, for any number of rows."""
    log_share = torch.where(legal, logits, ILLEGAL).log_softmax(1)
    share = torch.where(log_share > float(LEAST), log_share.exp(), 0.0)
    passed = (share.cumsum(1) <= uniform[:, None]).sum(1)
    allowed = legal | ~legal.any(1, keepdim=True)
    last = torch.where(allowed, torch.arange(logits.shape[1]), -1).amax(1)
    return torch.minimum(passed, last), share


def torch_policy(policy: FactoredPolicy, about: dict[str, Any]) -> bytes:
    """The file; its shape and `about` lie in it as an extra file, `understudy.policy`."""
    shape, rows = policy.shape, 3
    example = (
        torch.zeros(rows, len(shape.features)),
        torch.ones(rows, sum(shape.heads.values()), dtype=torch.bool),
        torch.full((rows, len(shape.heads)), 0.5),
        torch.zeros(rows, dtype=torch.int64),
        torch.zeros(rows, shape.memory),
    )
    decisions = torch.export.Dim("decisions", min=1)
    with io.BytesIO() as file:
        program = torch.export.export(
            HostPolicy(policy).eval(), example, dynamic_shapes=[{0: decisions}] * len(example)
        )
        told = json.dumps({**json.loads(shape.to_json()), **about})
        torch.export.save(program, file, extra_files={SHAPE_KEY: told})
        return file.getvalue()
