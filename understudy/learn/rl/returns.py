"""Turn rewards into targets. Pure functions over time-major tensors.

Axes: T steps of B matches side by side. `value[t]` predicts the return from step t on, and
`bootstrap` is the value of the state after the last step. `discount[t]` is 0 where a match ends at
step t, so nothing flows across that border.

A match that is cut short, by a limit that is no part of its rules, is not over: it keeps its
discount, `cut[t]` is true, and `value[t + 1]` is the value of the last state that was seen. The
return then ends in that value, and what comes after it belongs to another match.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Truncated = Bool[Tensor, "T B"] | None


class VTrace(NamedTuple):
    """What V-trace gives."""

    target: Float[Tensor, "T B"]
    """For the value."""
    advantage: Float[Tensor, "T B"]
    """For the policy; already weighted by the clipped ratio."""


@torch.no_grad()
def discounted_returns(
    reward: Float[Tensor, "T B"], discount: Float[Tensor, "T B"], bootstrap: Float[Tensor, " B"]
) -> Float[Tensor, "T B"]:
    """The sum of the rewards still to come, each discounted, and the bootstrap after the last."""
    return _backwards(reward, discount, bootstrap)


@torch.no_grad()
def lambda_returns(
    reward: Float[Tensor, "T B"],
    discount: Float[Tensor, "T B"],
    value: Float[Tensor, "T B"],
    bootstrap: Float[Tensor, " B"],
    *,
    lambda_: float | Float[Tensor, "T B"],
    truncated: Truncated = None,
) -> Float[Tensor, "T B"]:
    """TD(lambda) targets (Sutton and Barto 2018, eq. 12.2).

    `lambda_`: 0 asks the value of the next state, 1 waits for what really comes. As a
    tensor, `lambda_[t]` says how far to trust the return from step t + 1 on.
    """
    kept = _kept(value, lambda_, truncated)
    following = _following(value, bootstrap)
    return _backwards(reward + discount * (1 - kept) * following, discount * kept, bootstrap)


@torch.no_grad()
def gae(
    reward: Float[Tensor, "T B"],
    discount: Float[Tensor, "T B"],
    value: Float[Tensor, "T B"],
    bootstrap: Float[Tensor, " B"],
    *,
    lambda_: float,
    truncated: Truncated = None,
) -> Float[Tensor, "T B"]:
    """Generalised advantages (Schulman et al. 2016, arXiv:1506.02438): sums of TD errors."""
    td_error = reward + discount * _following(value, bootstrap) - value
    return _backwards(
        td_error, discount * _kept(value, lambda_, truncated), torch.zeros_like(bootstrap)
    )


@torch.no_grad()
def vtrace(
    log_ratio: Float[Tensor, "T B"],
    reward: Float[Tensor, "T B"],
    discount: Float[Tensor, "T B"],
    value: Float[Tensor, "T B"],
    bootstrap: Float[Tensor, " B"],
    *,
    lambda_: float = 1.0,
    rho_max: float = 1.0,
    c_max: float = 1.0,
    truncated: Truncated = None,
) -> VTrace:
    """Value targets corrected for who played (Espeholt et al. 2018, arXiv:1802.01561).

    `log_ratio` is log pi(a|s) of the policy being trained minus that of the one that played.
    """
    ratio = log_ratio.exp()
    rho, kept = ratio.clamp(max=rho_max), _kept(value, lambda_, truncated)
    following = _following(value, bootstrap)
    td_error = rho * (reward + discount * following - value)
    carried = discount * ratio.clamp(max=c_max) * kept
    target = value + _backwards(td_error, carried, torch.zeros_like(bootstrap))
    # The same blend of the next target and the next value that the target itself is made of.
    expected = kept * _following(target, bootstrap) + (1 - kept) * following
    return VTrace(target, rho * (reward + discount * expected - value))


@torch.no_grad()
def upgo(
    reward: Float[Tensor, "T B"],
    discount: Float[Tensor, "T B"],
    value: Float[Tensor, "T B"],
    bootstrap: Float[Tensor, " B"],
    *,
    truncated: Truncated = None,
) -> Float[Tensor, "T B"]:
    """Upgoing returns (Vinyals et al. 2019, AlphaStar): follow what came as long as it was good.

    Good means that one step later the play looked at least as well as foreseen; otherwise the
    return ends in the value, as if the player had done its usual.
    """
    one_step = reward + discount * _following(value, bootstrap)
    good = (one_step >= value).to(value.dtype)
    lambda_ = torch.cat(
        [good[1:], torch.ones_like(good[:1])]
    )  # after the last step nothing differs
    return lambda_returns(reward, discount, value, bootstrap, lambda_=lambda_, truncated=truncated)


def _following(value: Float[Tensor, "T B"], bootstrap: Float[Tensor, " B"]) -> Float[Tensor, "T B"]:
    """The value of the state that each step led to."""
    return torch.cat([value[1:], bootstrap[None]])


def _kept(
    value: Float[Tensor, "T B"], lambda_: float | Float[Tensor, "T B"], truncated: Truncated
) -> Float[Tensor, "T B"]:
    """How far what follows each step is trusted: not at all across a cut."""
    kept = lambda_ if isinstance(lambda_, Tensor) else torch.full_like(value, lambda_)
    return kept if truncated is None else kept.masked_fill(truncated, 0.0)


def _backwards(
    gain: Float[Tensor, "T B"], carried: Float[Tensor, "T B"], last: Float[Tensor, " B"]
) -> Float[Tensor, "T B"]:
    """x[t] = gain[t] + carried[t] * x[t + 1], from the end."""
    result = torch.empty_like(gain)
    for t in reversed(range(len(gain))):
        last = torch.addcmul(gain[t], carried[t], last, out=result[t])
    return result
