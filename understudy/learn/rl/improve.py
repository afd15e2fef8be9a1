"""Make a policy stronger against given opponents, in memory: what a league asks for."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from understudy.learn.policy import FactoredPolicy
from understudy.learn.rl.acting.actors import Actors
from understudy.learn.rl.acting.opponents import Opponent
from understudy.learn.rl.learner import Learner
from understudy.learn.rl.recipe import RLRecipe


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
