"""All that judges play while learning: the policy, a critic that may see more, a frozen teacher.

Axes as in `trajectories.py`. Only the policy ever plays; the critic's view of the other players
stays in training.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from understudy.learn.distributions import MaskedCategorical
from understudy.learn.networks import linear, mlp
from understudy.learn.policy import FactoredPolicy, Output
from understudy.learn.rl.trajectories import Trajectories


class ActorCriticOutput(NamedTuple):
    """What the learner thinks of some sequences; the rows of choices are T * B."""

    distribution: MaskedCategorical
    teacher: MaskedCategorical | None
    """What the teacher would have done."""
    log_prob: Float[Tensor, "T B H"]
    """Of what was done, by the policy as it is now."""
    value: Float[Tensor, "T B"]
    bootstrap: Float[Tensor, " B"]
    """The value after the last step."""
    forecast: Float[Tensor, "T B"] | None
    """The policy's own guess of the value, where a critic gives `value`."""


class Critic(nn.Module):
    """Values a state by what all players see."""

    def __init__(self, seen: int, hidden: tuple[int, ...], seed: int) -> None:
        super().__init__()
        drawn = torch.Generator().manual_seed(seed)
        self.torso = mlp(seen, hidden, generator=drawn)
        self.outcome = linear((seen, *hidden)[-1], 1, gain=0.1, generator=drawn)

    def forward(self, seen: Float[Tensor, "N S"]) -> Float[Tensor, " N"]:
        """The return it expects."""
        return self.outcome(self.torso(seen))[:, 0]


class ActorCritic(nn.Module):
    """A policy in training and those who judge it."""

    def __init__(
        self,
        policy: FactoredPolicy,
        *,
        teacher: FactoredPolicy | None = None,
        critic: Critic | None = None,
    ) -> None:
        super().__init__()
        self.policy, self.critic = policy, critic
        self._teacher = [] if teacher is None else [teacher.eval().requires_grad_(False)]

    @property
    def teacher(self) -> FactoredPolicy | None:
        """Kept out of this module's own weights: it is frozen."""
        return self._teacher[0] if self._teacher else None

    def evaluate_actions(self, play: Trajectories, *, ask_teacher: bool) -> ActorCriticOutput:
        """Look at sequences; gradients flow into `choices`, `log_prob` and the values."""
        rows = play.steps * play.size
        observation = play.observation.flatten(0, 1)
        legal = play.legal.flatten(0, 1)
        output = self._look(observation)
        distribution = self.policy.layout.distribution(output.logits[:rows], legal)
        log_prob = distribution.log_prob_by_head(play.action.flatten(0, 1))
        own = output.value.view(play.steps + 1, play.size)
        value = own if self.critic is None else self._value(play)
        return ActorCriticOutput(
            distribution,
            self._advice(observation[:rows], legal) if ask_teacher else None,
            log_prob.view_as(play.log_prob),
            value[:-1],
            value[-1].detach(),
            None if self.critic is None else own[:-1],
        )

    def _look(self, observation: Float[Tensor, "N F"]) -> Output:
        """As the policy does; beside a critic its own guess does not move what choices rest on."""
        policy = self.policy
        hidden = policy.torso((observation - policy.mean) / policy.std)
        guessed = policy.outcome(hidden if self.critic is None else hidden.detach())
        return Output(policy.options(hidden), guessed[:, 0])

    def _value(self, play: Trajectories) -> Float[Tensor, "T1 B"]:
        """The critic's, of every state; all players' features are brought to the same scale."""
        assert self.critic is not None
        mean, std = self.policy.mean, self.policy.std
        players = 1 + play.others.shape[2] // len(mean)
        everything = torch.cat([play.observation, play.others], 2)
        seen = (everything - mean.repeat(players)) / std.repeat(players)
        value: Tensor = self.critic(seen.flatten(0, 1))
        return value.view(play.steps + 1, play.size)

    @torch.no_grad()
    def _advice(self, observation: Float[Tensor, "N F"], legal: Tensor) -> MaskedCategorical:
        if self.teacher is None:
            raise ValueError("there is no teacher to keep near to: set kl_weight to 0")
        return self.teacher.distribution(observation, legal)
