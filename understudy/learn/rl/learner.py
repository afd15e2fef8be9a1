"""Refine a policy by playing: the learning half, and how it takes turns with the acting half.

In each iteration the actors play `rollouts` with the policy as it was at the iteration's beginning,
while the learner makes `updates` from what they played before. So play is always one iteration old
when it arrives, on however many processes, and the same seed gives the same weights: with one
process the two halves simply take turns. Everything depends on (seed, iteration), and `state` holds
all the rest: training goes on from it as if it had never stopped.
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from understudy.errors import InputError
from understudy.learn.checkpoint import as_arrays, as_tensors
from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.actor_critic import ActorCritic, Critic
from understudy.learn.rl.actors import Actors
from understudy.learn.rl.opponents import Opponent, packed, unpacked
from understudy.learn.rl.recipe import START, RLRecipe
from understudy.learn.rl.replay_buffer import Replay
from understudy.learn.rl.rollout import Job, Rollout, seating
from understudy.learn.rl.trajectories import Trajectories

_ACTING, _DRAWING = 0, 1  # what chance is for


@dataclass
class Progressed:
    """Sums since they were last read, for the journal."""

    updates: int = 0
    totals: dict[str, float] = field(default_factory=dict)
    lag_max: int = 0
    agent_steps: int = 0
    tally: dict[str, list[int]] = field(default_factory=dict)
    """Matches won, drawn, lost, by opponent."""

    def add(self, values: Mapping[str, Tensor], lag: Tensor) -> None:
        """Count one update in."""
        self.updates += 1
        self.lag_max = max(self.lag_max, int(lag.max()))
        for name, value in {**values, "lag": lag.double().mean()}.items():
            self.totals[name] = self.totals.get(name, 0.0) + value.item()

    def met(self, tally: Mapping[str, Sequence[int]]) -> None:
        """Count matches in."""
        for name, counts in tally.items():
            known = self.tally.get(name, [0, 0, 0])
            self.tally[name] = [a + b for a, b in zip(known, counts, strict=True)]

    def read(self) -> dict[str, float]:
        """Means, flat, as they are logged."""
        flat = {f"train/{name}": total / self.updates for name, total in self.totals.items()}
        flat |= {"lag_max": float(self.lag_max)}
        for name, (won, drawn, lost) in self.tally.items():
            flat[f"points/{name}"] = (won + drawn / 2) / (won + drawn + lost)
        return flat


class Learner:
    """A policy being refined: acts, learns, and can be put away and taken up again."""

    def __init__(
        self,
        recipe: RLRecipe,
        policy: FactoredPolicy,
        opponents: Sequence[Opponent],
        seed: int,
        *,
        teacher: FactoredPolicy | None = None,
        device: torch.device | None = None,
    ) -> None:
        """`policy` is copied; the teacher, if the objective asks for one, is by default it too."""
        self.recipe, self.seed = recipe, seed
        self.opponents = tuple(opponents)
        self.device = device or torch.device("cpu")
        num_players = recipe.make(1, 0.0).num_players
        self.sequences = len(seating(recipe.matches, num_players, self.opponents).row)
        if recipe.batch_size > recipe.rollouts * self.sequences:
            raise ValueError(
                f"batch_size {recipe.batch_size} is more than the {recipe.rollouts} x "
                f"{self.sequences} sequences of an iteration"
            )
        critic = None
        if recipe.critic is not None:
            critic = Critic(num_players * len(policy.shape.features), recipe.critic, seed)
        actor_critic = ActorCritic(_copy(policy), teacher=_copy(teacher or policy), critic=critic)
        self.actor_critic = actor_critic.to(self.device)
        if self.actor_critic.teacher is not None:
            self.actor_critic.teacher.to(self.device)
        self.groups = [[*part.parameters()] for part in (self.policy, critic) if part is not None]
        self.optimizer = torch.optim.Adam(
            [{"params": group} for group in self.groups],
            betas=recipe.betas,
            eps=recipe.epsilon,
            fused=True,
        )
        kept = recipe.replay * recipe.rollouts * self.sequences
        self.replay = Replay(kept, recipe.staleness_max)
        self.iteration = self.version = self.agent_steps = 0
        self.arrived: list[Rollout] = []
        self.matches: list[Mapping[str, Any]] = []
        """Where the play that was learnt from last ended, to go on from; empty: nowhere yet."""
        self.since = Progressed()

    @property
    def policy(self) -> FactoredPolicy:
        """As it is now."""
        return self.actor_critic.policy

    def run(self, iterations: int, actors: Actors) -> None:
        """Iterate so often, the learning rate falling over just these."""
        self.recipe = replace(self.recipe, iterations=iterations)
        while self.iteration < iterations:
            self.iterate(actors, last=self.iteration == iterations - 1)

    def iterate(self, actors: Actors, *, last: bool = False) -> None:
        """One iteration; after the `last` one no more play is needed."""
        if not self.arrived:
            actors.start(self._jobs(self.iteration))
            self.arrived = actors.finish()
        arrived, self.arrived = self.arrived, []
        self.matches = [rollout.state for rollout in arrived]
        if not last:
            actors.start(self._jobs(self.iteration + 1))
        self._receive(arrived)
        for _ in range(self.recipe.updates):
            self.update()
        self.iteration += 1
        if not last:
            self.arrived = actors.finish()

    def update(self) -> None:
        """One step of gradient descent on sequences from the replay."""
        recipe = self.recipe
        self.replay.forget(self.version)
        drawn = self.replay.draw(recipe.batch_size, (self.seed, _DRAWING, self.version))
        play = drawn.to(self.device)
        for group, rate in zip(self.optimizer.param_groups, self.learning_rates(), strict=False):
            group["lr"] = rate
        loss, metrics = recipe.objective(self.actor_critic, play)
        _require_finite("loss", loss.item(), self.version)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms = [clip_grad_norm_(group, recipe.gradient_norm_max) for group in self.groups]
        _require_finite("gradient", sum(norm.item() for norm in norms), self.version)
        self.optimizer.step()
        lag = self.version - drawn.version
        self.since.add({"loss": loss, "gradient_norm": norms[0], **metrics}, lag)
        self.version += 1

    def learning_rates(self) -> tuple[float, float]:
        """The policy's and the critic's in this iteration."""
        recipe = self.recipe
        left = 1 - recipe.decay * self.iteration / recipe.iterations
        own = 0.0 if self.iteration < recipe.critic_first else recipe.learning_rate
        return left * own, left * recipe.critic_learning_rate

    def _receive(self, rollouts: Sequence[Rollout]) -> None:
        for rollout in rollouts:
            play: Trajectories = rollout.sequences()
            self.replay.add(play)
            steps = int(play.counts.sum())
            self.agent_steps += steps
            self.since.agent_steps += steps
            self.since.met(rollout.tally)

    def _jobs(self, iteration: int) -> list[Job]:
        recipe, player = self.recipe, packed(self.policy)
        return [
            Job(
                make=recipe.make,
                player=player,
                opponents=self.opponents,
                matches=recipe.matches,
                steps=recipe.steps,
                discount=recipe.discount,
                pseudo_reward=recipe.pseudo_reward,
                draw=recipe.draw,
                seed=(self.seed, _ACTING, iteration, number),
                version=self.version,
                sees_others=recipe.critic is not None,
                state=self.matches[number] if self.matches else {},
            )
            for number in range(recipe.rollouts)
        ]

    def memory(self) -> dict[str, Any]:
        """What it knows besides the policy's weights."""
        critic = self.actor_critic.critic
        return {
            "critic": None if critic is None else critic.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "matches": [as_tensors(state) for state in self.matches],
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what another refiner of the same recipe knew, or with its critic alone.

        Its matches go on, too. If all began at once, all would be learnt from at the same age.
        """
        if self.actor_critic.critic is not None and memory["critic"] is not None:
            self.actor_critic.critic.load_state_dict(memory["critic"])
        if "optimizer" in memory:
            self.optimizer.load_state_dict(deepcopy(memory["optimizer"]))  # torch would share it
        self.matches = [as_arrays(state) for state in memory.get("matches", ())]

    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as tensors and plain values."""
        return {
            "learner": self.actor_critic.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "replay": self.replay.state(),
            "position": [self.iteration, self.version, self.agent_steps],
            "arrived": [as_tensors(rollout._asdict()) for rollout in self.arrived],
            "since": asdict(self.since),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.actor_critic.load_state_dict(state["learner"])
        self.optimizer.load_state_dict(deepcopy(state["optimizer"]))
        self.replay.restore(state["replay"])
        self.iteration, self.version, self.agent_steps = state["position"]
        self.arrived = [Rollout(**as_arrays(rollout)) for rollout in state["arrived"]]
        self.since = Progressed(**state["since"])


def met_by(recipe: RLRecipe, start: FactoredPolicy) -> list[Opponent]:
    """The recipe's opponents, those it names by a word of its own with weights."""
    return [
        Opponent(name, share, packed(start) if name == START else None)
        for name, share in recipe.opponents
    ]


def _copy(policy: FactoredPolicy) -> FactoredPolicy:
    return unpacked(packed(policy)).train()


def _require_finite(what: str, value: float, version: int) -> None:
    if not math.isfinite(value):
        raise InputError(
            f"the {what} is {value} after update {version}, so training ends. "
            "Lower the recipe's learning_rate or gradient_norm_max"
        )
