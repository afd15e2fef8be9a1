"""Gradient descent on play: the loss, its gradient, clipping and Adam, one update after the other.

On a card an update is one graph (`cuda_graphs.py`), and nobody waits for its result: what is logged
is summed there and read once an iteration.
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from understudy.errors import InputError
from understudy.learn.cuda_graphs import Graphed
from understudy.learn.rl.actor_critic import ActorCritic
from understudy.learn.rl.recipe import RLRecipe
from understudy.learn.rl.trajectories import Trajectories


class Descent:
    """Makes an actor-critic better at an objective, one batch of sequences at a time."""

    def __init__(self, actor_critic: ActorCritic, recipe: RLRecipe) -> None:
        self.actor_critic, self.recipe = actor_critic, recipe
        parts = (actor_critic.policy, actor_critic.critic)
        self.groups = [[*part.parameters()] for part in parts if part is not None]
        self.device = self.groups[0][0].device
        on_card = self.device.type == "cuda"
        # A recorded update reads its rates from the card's memory.
        rates = [torch.zeros((), device=self.device) if on_card else 0.0 for _ in self.groups]
        self.optimizer = torch.optim.Adam(
            [{"params": g, "lr": rate} for g, rate in zip(self.groups, rates, strict=True)],
            betas=recipe.betas,
            eps=recipe.epsilon,
            fused=True,
            capturable=on_card,
        )
        self.names: tuple[str, ...] = ()
        self.total: Tensor | None = None
        self._step = self._graphed() if on_card else self._descend

    def step(self, play: Trajectories, rates: Sequence[float]) -> None:
        """One update, at these learning rates of the policy and the critic."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=False):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        (measured,) = self._step(play[:-1])
        self.total = measured.clone() if self.total is None else self.total.add_(measured)

    def settle(self, version: int) -> dict[str, float]:
        """Sums of what was measured since the last call; InputError if learning has failed."""
        assert self.total is not None
        totals = dict(zip(self.names, self.total.tolist(), strict=True))
        self.total = None
        for what in ("loss", "gradient_norm"):
            if not math.isfinite(totals[what]):
                raise InputError(
                    f"the {what.replace('_', ' ')} is {totals[what]} before update {version}, so "
                    "training ends. Lower the recipe's learning_rate or gradient_norm_max"
                )
        return totals

    def recall(self, state: Mapping[str, Any]) -> None:
        """Go on with an optimiser's state; rates stay where a recorded update looks for them."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        self.optimizer.load_state_dict(deepcopy(dict(state)))  # torch would share it
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate

    def _descend(self, fields: Sequence[Tensor]) -> tuple[Tensor]:
        """An update; what it measured, side by side in the order of `names`."""
        loss, metrics = self.recipe.objective(self.actor_critic, _trajectories(fields))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms = [clip_grad_norm_(group, self.recipe.gradient_norm_max) for group in self.groups]
        self.optimizer.step()
        measured = {"loss": loss, "gradient_norm": norms[0], **metrics}
        self.names = tuple(measured)
        return (torch.stack([value.detach().double() for value in measured.values()]),)

    def _graphed(self) -> Graphed:
        """The same, recorded; the runs it takes to record it leave no trace."""

        def remember() -> object:
            return deepcopy((self.actor_critic.state_dict(), self.optimizer.state_dict()["state"]))

        def rewind(before: Any) -> None:
            weights, moments = before
            self.actor_critic.load_state_dict(weights)
            state = self.optimizer.state_dict()["state"]
            for number, tensors in state.items():
                for name, tensor in tensors.items():
                    known = moments.get(number, {}).get(name)
                    tensor.zero_() if known is None else tensor.copy_(known)

        return Graphed(self._descend, remember=remember, rewind=rewind)


def _trajectories(fields: Sequence[Tensor]) -> Trajectories:
    """Without their versions, which no objective asks for."""
    return Trajectories._make((*fields, torch.empty(0, dtype=torch.long)))
