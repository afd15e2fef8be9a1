"""All that judges play while learning: the policy, a critic that may see more, a frozen teacher.

Axes as in `trajectories.py`. Only the policy ever plays; the critic's view of the other players
stays in training.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from understudy.learn.networks import linear, mlp
from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.trajectories import Trajectories


class ActorCriticOutput(NamedTuple):
    """What the learner thinks of some sequences."""

    log_prob: Float[Tensor, "T B H"]
    """Of what was done, by the policy as it is now."""
    entropy: Float[Tensor, "T B H"]
    """As a share of the largest possible; 1 is pure chance."""
    kl: Float[Tensor, "T B H"] | None
    """Forward divergence KL(teacher || policy); None if nobody asked.

    Forward: the student may add what the teacher never does, but is kept from giving up what the
    teacher does often."""
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
        """Look at sequences; gradients flow into all but the bootstrap.

        Beside a critic the policy's own guess does not move what its choices rest on.
        """
        policy, rows = self.policy, play.steps * play.size
        inputs = policy.with_plan(play.observation, play.plan)
        hidden = policy.unroll(inputs, play.first, play.memory)[0].flatten(0, 1)
        judged = policy.layout.judge(
            policy.logits(hidden[:rows]),
            play.legal.flatten(0, 1),
            play.action.flatten(0, 1),
            teacher=self._advice(play) if ask_teacher else None,
        )
        guessed = policy.value(hidden if self.critic is None else hidden.detach())
        own = guessed.view(play.steps + 1, play.size)
        value = own if self.critic is None else self._value(inputs, play.others)
        return ActorCriticOutput(
            judged.log_prob.view_as(play.log_prob),
            policy.layout.as_share(judged.entropy).view_as(play.log_prob),
            None if judged.kl is None else judged.kl.view_as(play.log_prob),
            value[:-1],
            value[-1].detach(),
            None if self.critic is None else own[:-1],
        )

    def _value(
        self, inputs: Float[Tensor, "T1 B I"], others: Float[Tensor, "T1 B G"]
    ) -> Float[Tensor, "T1 B"]:
        """The critic's, of every state; all players' features are brought to the same scale."""
        assert self.critic is not None
        policy, features = self.policy, len(self.policy.shape.features)
        players = others.shape[2] // features
        mean = torch.cat([policy.mean, policy.mean[:features].repeat(players)])
        std = torch.cat([policy.std, policy.std[:features].repeat(players)])
        seen = (torch.cat([inputs, others], 2) - mean) / std
        value: Tensor = self.critic(seen.flatten(0, 1))
        return value.view(seen.shape[:2])

    @torch.no_grad()
    def _advice(self, play: Trajectories) -> Float[Tensor, "O N"]:
        """The teacher's logits."""
        if self.teacher is None:
            raise ValueError("there is no teacher to keep near to: set kl_weight to 0")
        inputs = self.teacher.with_plan(play.observation[:-1], play.plan[:-1])
        hidden = self.teacher.unroll(inputs, play.first[:-1], play.teacher_memory)[0]
        return self.teacher.logits(hidden.flatten(0, 1))
