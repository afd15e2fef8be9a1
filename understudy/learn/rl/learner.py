"""Refine a policy by playing: the learning half, and how it takes turns with the acting half.

In each iteration the actors play `rollouts` with the policy as it was at the iteration's beginning,
while the learner makes `updates` from what they played before. So play is always one iteration old
when it arrives, on however many processes, and the same seed gives the same weights: with one
process the two halves simply take turns. Everything depends on (seed, iteration), and `state` holds
all the rest: training goes on from it as if it had never stopped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from understudy.data.extras import split
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.learn.checkpoint import as_arrays, as_tensors
from understudy.learn.policy import FactoredPolicy, load_policy
from understudy.learn.rates import stage
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.job import Job, Rollout
from understudy.learn.rl.acting.opponents import Opponent, packed, unpacked
from understudy.learn.rl.acting.seating import seating
from understudy.learn.rl.actor_critic import ActorCritic, Critic
from understudy.learn.rl.descent import Descent
from understudy.learn.rl.recipe import START, RLRecipe
from understudy.learn.rl.replay_buffer import Replay
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

    def add(self, updates: int, totals: Mapping[str, float], lag_max: int) -> None:
        """Count updates in."""
        self.updates += updates
        self.lag_max = max(self.lag_max, lag_max)
        for name, value in totals.items():
            self.totals[name] = self.totals.get(name, 0.0) + value

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
        """`policy` is copied; the teacher, if the objective asks for one, is by default it too.

        With a memory or plans in the recipe, the copy gets what it lacks of them.
        """
        self.recipe, self.seed = recipe, seed
        self.opponents = tuple(opponents)
        self.device = device or torch.device("cpu")
        num_players = recipe.make(1, 0.0).num_players
        self.sequences = len(seating(recipe.matches, num_players, self.opponents).row)
        self.drawn = round(recipe.uses * recipe.rollouts * self.sequences)
        """Sequences learnt from in an iteration, those used twice counted twice."""
        if recipe.updates > self.drawn:
            raise ValueError(
                f"{recipe.updates} updates are more than the {recipe.uses} x {recipe.rollouts} x "
                f"{self.sequences} sequences of an iteration can fill"
            )
        if riding := split(policy.shape.features)[1]:
            raise InputError(
                f"it reads {', '.join(riding)} from the extras of logs, which nothing tells in "
                "play: begin with a model without"
            )
        grown = policy.extended(memory=recipe.memory, plans=recipe.plans, seed=seed)
        if teacher is not None and teacher.shape.plans not in (0, grown.shape.plans):
            raise ValueError(
                f"the teacher plays by {teacher.shape.plans} plans and the learner by "
                f"{grown.shape.plans}: they cannot follow the same one"
            )
        critic = None
        if recipe.critic is not None:
            seen = num_players * len(policy.shape.features) + grown.shape.plan_width
            critic = Critic(seen, recipe.critic, seed)
        self.actor_critic = ActorCritic(
            grown.train().to(self.device),
            teacher=_copy(teacher or policy).to(self.device),
            critic=None if critic is None else critic.to(self.device),
        )
        self.descent = Descent(self.actor_critic, recipe)
        kept = recipe.replay * recipe.rollouts * self.sequences
        self.replay = Replay(kept, recipe.staleness_max)
        self.acting_device = torch.device("cpu")
        """Where the actors think."""
        self.iteration = self.version = self.agent_steps = self.match_steps = 0
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
        self.recipe = self.recipe.lasting(iterations)
        while self.iteration < iterations:
            self.iterate(actors, last=self.iteration == iterations - 1)

    def iterate(self, actors: Actors, *, last: bool = False) -> None:
        """One iteration; after the `last` one no more play is needed."""
        if not self.arrived:
            actors.start(self._jobs(self.iteration))
            self.arrived = actors.finish()
        arrived, self.arrived = self.arrived, []
        self.matches = [rollout.state for rollout in arrived]
        ahead = self.recipe.ahead and not last
        if ahead:
            actors.start(self._jobs(self.iteration + 1))
        self._receive(arrived)
        lags = torch.stack([self.update(batch) for batch in self._batches()])
        totals = self.descent.settle(self.version) | {"lag": lags[:, 0].sum().item()}
        self.since.add(self.recipe.updates, totals, int(lags[:, 1].max()))
        self.iteration += 1
        if ahead:
            self.arrived = actors.finish()

    def _batches(self) -> Iterator[Trajectories]:
        """For the updates of an iteration, which share its sequences out: each is used as often."""
        self.replay.forget(self.version + self.recipe.updates - 1)
        ends = [number * self.drawn // self.recipe.updates for number in range(self.recipe.updates)]
        counts = np.diff([*ends, self.drawn]).tolist()
        return self.replay.deal(counts, (self.seed, _DRAWING, self.version))

    def update(self, batch: Trajectories) -> Float[Tensor, " 2"]:
        """One step of gradient descent on these sequences; their mean and largest age."""
        self.descent.step(batch, self.learning_rates())
        lag = (self.version - batch.version).double()
        self.version += 1
        return torch.stack([lag.mean(), lag.max()])

    def learning_rates(self) -> tuple[float, float]:
        """The policy's and the critic's in this iteration."""
        recipe = self.recipe
        done = self.iteration / recipe.iterations
        left = stage(recipe.rate_stages, done) if recipe.rate_stages else 1 - recipe.decay * done
        own = 0.0 if self.iteration < recipe.critic_first else recipe.learning_rate
        return left * own, left * recipe.critic_learning_rate

    def _receive(self, rollouts: Sequence[Rollout]) -> None:
        for rollout in rollouts:
            play = rollout.sequences().to(self.device)
            self.replay.add(play)
            steps = int(play.counts.sum())
            self.agent_steps += steps
            self.match_steps += rollout.match_steps
            self.since.agent_steps += steps
            self.since.met(rollout.tally)

    def _jobs(self, iteration: int) -> list[Job]:
        recipe, player = self.recipe, packed(self.policy)
        teacher = self.actor_critic.teacher
        asked = teacher is not None and teacher.shape.memory and recipe.objective.kl_weight > 0
        looking_on = packed(teacher) if teacher is not None and asked else None
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
                teacher=looking_on,
                device=str(self.acting_device),
                state=self.matches[number] if self.matches else {},
            )
            for number in range(recipe.rollouts)
        ]

    def memory(self) -> dict[str, Any]:
        """What it knows besides the policy's weights."""
        critic = self.actor_critic.critic
        return {
            "critic": None if critic is None else critic.state_dict(),
            "optimizer": self.descent.optimizer.state_dict(),
            "matches": [as_tensors(state) for state in self.matches],
        }

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on with what another refiner of the same recipe knew, or with its critic alone.

        Its matches go on, too. If all began at once, all would be learnt from at the same age.
        """
        if self.actor_critic.critic is not None and memory["critic"] is not None:
            self.actor_critic.critic.load_state_dict(memory["critic"])
        if "optimizer" in memory:
            self.descent.recall(memory["optimizer"])
        self.matches = [as_arrays(state) for state in memory.get("matches", ())]

    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as tensors and plain values."""
        return {
            "learner": self.actor_critic.state_dict(),
            "optimizer": self.descent.optimizer.state_dict(),
            "replay": self.replay.state(),
            "position": [self.iteration, self.version, self.agent_steps, self.match_steps],
            "arrived": [as_tensors(rollout._asdict()) for rollout in self.arrived],
            "matches": [as_tensors(match) for match in self.matches],
            "since": asdict(self.since),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`."""
        self.actor_critic.load_state_dict(state["learner"])
        self.descent.recall(state["optimizer"])
        self.replay.restore(state["replay"], self.device)
        self.iteration, self.version, self.agent_steps, self.match_steps = state["position"]
        self.arrived = [Rollout(**as_arrays(rollout)) for rollout in state["arrived"]]
        self.matches = [as_arrays(match) for match in state.get("matches", ())]
        self.since = Progressed(**state["since"])


def met_by(recipe: RLRecipe, start: FactoredPolicy) -> list[Opponent]:
    """The recipe's opponents, those that are not scripted with their weights or code."""
    return [_met(one, share, recipe, start) for one, share in recipe.opponents]


def _met(one: str | PlayerRef, share: float, recipe: RLRecipe, start: FactoredPolicy) -> Opponent:
    if isinstance(one, str):
        return Opponent(one, share, packed(start) if one == START else None)
    weights = None if one.weights is None else packed(load_policy(one.weights, recipe.decisions))
    return Opponent(one.name, share, weights, one.code)


def _copy(policy: FactoredPolicy) -> FactoredPolicy:
    return unpacked(packed(policy)).train()
