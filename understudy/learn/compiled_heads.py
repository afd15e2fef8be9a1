"""Heads of many decisions in compiled passes, and their gradient, for torch on a CPU.

What `distributions.py` says in torch, many times as fast: `log_softmax` over a short last axis is
slow. Axes: N decisions, H heads, O options of all heads side by side, logits options first.
"""

from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from understudy.kernels import heads


def sample(
    logits: Float[Tensor, "O N"],
    legal: Bool[Tensor, "N O"],
    uniform: Float[Tensor, "N H"],
    borders: Int64[np.ndarray, " H1"],
) -> tuple[Int[Tensor, "N H"], Float[Tensor, "N H"]]:
    """The option into whose share each of `uniform` falls, and its log-probability, by head."""
    action = torch.empty(uniform.shape, dtype=torch.int64)
    log_prob = torch.empty(uniform.shape)
    heads.sample(
        logits.detach().numpy(),
        legal.numpy(),
        uniform.numpy(),
        borders,
        action.numpy(),
        log_prob.numpy(),
    )
    return action, log_prob


class Judge(torch.autograd.Function):
    """What the heads say of actions that were taken; gradients flow into the logits alone."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: Float[Tensor, "O N"],
        teacher: Float[Tensor, "O N"] | None,
        legal: Bool[Tensor, "N O"],
        action: Int[Tensor, "N H"],
        borders: Int64[np.ndarray, " H1"],
    ) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N H"], Float[Tensor, "N H"]]:
        """Log-probability, entropy, and KL(teacher || these), 0 without a teacher; by head."""
        rows, width = action.shape
        log_prob, entropy = torch.empty(rows, width), torch.empty(width, rows)
        kl = torch.zeros(width, rows)
        shares, logs = torch.empty_like(logits), torch.empty_like(logits)
        taught = logits.new_empty(len(logits), 0 if teacher is None else rows)
        heads.judge(
            logits.detach().numpy(),
            (taught if teacher is None else teacher).detach().numpy(),
            legal.numpy(),
            action.numpy(),
            borders,
            *(x.numpy() for x in (log_prob, entropy, kl, shares, logs, taught)),
        )
        ctx.borders = borders
        ctx.save_for_backward(legal, action, entropy, shares, logs, taught)
        return log_prob, entropy.T, kl.T

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """With respect to the logits."""
        of_log_prob, of_entropy, of_kl = gradients
        legal, action, entropy, shares, logs, taught = ctx.saved_tensors
        result = torch.empty_like(shares)
        heads.gradient(
            of_log_prob.contiguous().numpy(),
            of_entropy.T.contiguous().numpy(),
            (of_kl if taught.numel() else torch.zeros_like(of_kl)).T.contiguous().numpy(),
            legal.numpy(),
            action.numpy(),
            ctx.borders,
            *(x.numpy() for x in (entropy, shares, logs, taught, result)),
        )
        return result, None, None, None, None
