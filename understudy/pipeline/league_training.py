"""Make a player stronger against given opponents, from folder to folder, whatever the game.

What a league or a script needs in one call: weights in, weights out, and how it went. A game whose
players are policies (`learn.policy`) and that can be refined has leagues with
`League(partial(train, RECIPE), ...)`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from understudy.data.players import PlayerRef
from understudy.league.interface import LearnerJob, TrainingResult
from understudy.league.interface import Opponent as Met
from understudy.learn.checkpoint import reading_checkpoint, write_checkpoint
from understudy.learn.policy import load_policy, save_policy
from understudy.learn.rl.acting.opponents import Opponent, packed
from understudy.learn.rl.env import SELF
from understudy.learn.rl.improve import Improved
from understudy.learn.rl.improve import improve as improve_policy
from understudy.learn.rl.recipe import RLRecipe

MEMORY = "learner.pt"
"""Beside the weights: critic and optimiser, for the next training job of the same player."""


def train(recipe: RLRecipe, job: LearnerJob) -> TrainingResult:
    """Refine the job's player against its opponents, with the overrides of the job."""
    assert job.start.weights is not None
    memory = recalled(job.start.weights) or _critic_of(job.opponents)
    first = recipe.critic_first
    if memory is not None:  # a known critic need not begin, a borrowed one gets used to its player
        first = 0 if "optimizer" in memory else first // 3
    overrides, objective = job.overrides, recipe.objective
    kl_weight, teacher = objective.kl_weight * overrides.kl_scale, job.imitation
    if overrides.magnet:
        kl_weight, teacher = overrides.magnet, job.magnet or job.start
    refs = [one.player or PlayerRef(SELF) for one in job.opponents]
    shares = [one.probability for one in job.opponents]
    improved = improve(
        replace(
            recipe,
            critic_first=first,
            objective=replace(objective, kl_weight=kl_weight),
            learning_rate=recipe.learning_rate * overrides.rate,
            decay=1 - overrides.rate_end / overrides.rate,
            draw=overrides.draw,
        ),
        job.start.weights,
        dict(zip(refs, shares, strict=True)),
        job.agent_steps,
        job.seed,
        job.out,
        teacher=teacher.weights,
        memory=memory,
    )
    return TrainingResult(improved.agent_steps, improved.metrics, improved.match_steps)


def improve(
    recipe: RLRecipe,
    start: Path,
    opponents: Mapping[PlayerRef, float],
    agent_steps: int,
    seed: int,
    out: Path,
    *,
    teacher: Path | None = None,
    memory: Mapping[str, Any] | None = None,
) -> Improved:
    """Train the policy in `start` for about so many agent-steps; leave weights and memory in `out`.

    `PlayerRef("self")` is the learner as it learns. The same arguments give the same weights.
    """
    decisions = recipe.decisions

    def opponent(ref: PlayerRef, probability: float) -> Opponent:
        if ref.name == SELF or ref.weights is None:
            return Opponent(ref.name, probability, code=ref.code)
        return Opponent(ref.name, probability, packed(load_policy(ref.weights, decisions)))

    improved = improve_policy(
        recipe,
        load_policy(start, decisions),
        [opponent(ref, probability) for ref, probability in opponents.items()],
        agent_steps,
        seed,
        teacher=None if teacher is None else load_policy(teacher, decisions),
        memory=memory,
    )
    write_checkpoint(out / MEMORY, improved.memory)
    save_policy(out, improved.policy)
    return improved


def recalled(folder: Path) -> Mapping[str, Any] | None:
    """What the last training of the player in `folder` left beside its weights; None: nothing."""
    if not (folder / MEMORY).is_file():
        return None
    cure = f"Delete it: the player in {folder} then learns on without it"
    with reading_checkpoint(folder / MEMORY, torch.device("cpu"), cure) as content:
        return {**content}


def _critic_of(opponents: Sequence[Met]) -> Mapping[str, Any] | None:
    """The critic of the likeliest opponent that has one: it has judged the same matches."""
    for one in sorted(opponents, key=lambda one: -one.probability):
        if one.player is not None and one.player.weights is not None:
            memory = recalled(one.player.weights)
            if memory is not None and memory["critic"] is not None:
                return {"critic": memory["critic"]}
    return None
