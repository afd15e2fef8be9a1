"""Make a policy stronger against given opponents, in memory: what a league asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.opponents import Opponent
from understudy.learn.rl.learner import Learner
from understudy.learn.rl.recipe import RLRecipe

CRITIC_PART = 4
"""A new critic learns alone for at most one in so many iterations: the policy is to learn as well,
however short the training."""


class Improved(NamedTuple):
    """What came of improving a policy."""

    policy: FactoredPolicy
    agent_steps: int
    match_steps: int
    tally: dict[str, list[int]]
    """Matches won, drawn and lost on the way, by opponent."""
    metrics: dict[str, float]
    """Means over all updates."""
    memory: dict[str, Any]
    """What a learner keeps besides its policy: critic and optimiser, as tensors."""


def improve(
    recipe: RLRecipe,
    policy: FactoredPolicy,
    opponents: Sequence[Opponent],
    agent_steps: int,
    seed: int,
    *,
    teacher: FactoredPolicy | None = None,
    memory: Mapping[str, Any] | None = None,
    actors: Actors | None = None,
) -> Improved:
    """Train a policy against these opponents for about so many agent-steps.

    The same arguments give the same weights. A league calls this; `train.py` trains to files.
    `memory` is that of an earlier call whose policy this is, so that its critic goes on as well;
    or only somebody's critic.
    """
    learner = Learner(recipe, policy, opponents, seed, teacher=teacher)
    if memory is not None:
        learner.recall(memory)
    per_iteration = recipe.rollouts * learner.sequences * recipe.steps
    iterations = max(1, round(agent_steps / per_iteration))
    learner.recipe = replace(recipe, critic_first=critic_alone(recipe.critic_first, iterations))
    learner.run(iterations, actors or Actors(0))
    since = learner.since
    return Improved(
        policy=learner.policy.cpu().eval(),
        agent_steps=learner.agent_steps,
        match_steps=learner.match_steps,
        tally=since.tally,
        metrics=since.read(),
        memory=learner.memory(),
    )


def critic_alone(critic_first: int, iterations: int) -> int:
    """For how many of so many iterations a new critic learns alone."""
    return min(critic_first, iterations // CRITIC_PART)
