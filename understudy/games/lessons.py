"""Make a player stronger against given opponents, from folder to folder, whatever the game.

What a league or a script needs in one call: weights in, weights out, and how it went. A game whose
players are policies (`learn.policy`) and that can be refined has leagues with
`League(partial(give, RECIPE), ...)`.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from understudy.games import PlayerRef
from understudy.league.hooks import Learnt, Lesson
from understudy.league.payoff import Tally
from understudy.learn.checkpoint import reading_checkpoint, write_checkpoint
from understudy.learn.matches import SELF, Opponent, packed
from understudy.learn.policy import load_policy, save_policy
from understudy.learn.refine import Improved, Refinement
from understudy.learn.refine import improve as improve_policy

MEMORY = "learner.pt"
"""Beside the weights: critic and optimiser, for the next lesson of the same player."""


def give(recipe: Refinement, lesson: Lesson) -> Learnt:
    """Refine the lesson's player against its opponents, kept near to the imitation.

    The learning rate stays as it is: falling, it would begin anew with every lesson.
    """
    assert lesson.start.weights is not None
    # A learner that has a critic from its last lesson need not begin one.
    knows = (lesson.start.weights / MEMORY).is_file()
    chosen = replace(recipe, decay=False, critic_first=0 if knows else recipe.critic_first)
    players = [one.player for one in lesson.opponents]
    refs = [PlayerRef(one.name, one.weights) if one else PlayerRef(SELF) for one in players]
    shares = [one.probability for one in lesson.opponents]
    improved = improve(
        chosen,
        lesson.start.weights,
        dict(zip(refs, shares, strict=True)),
        lesson.agent_steps,
        lesson.seed,
        lesson.out,
        teacher=lesson.imitation.weights,
    )
    tallies = {name: Tally(*map(float, counts)) for name, counts in improved.tally.items()}
    return Learnt(improved.agent_steps, tallies, improved.metrics)


def improve(
    recipe: Refinement,
    start: Path,
    opponents: Mapping[PlayerRef, float],
    agent_steps: int,
    seed: int,
    out: Path,
    *,
    teacher: Path | None = None,
) -> Improved:
    """Train the policy in `start` for about so many agent-steps; leave weights and memory in `out`.

    `PlayerRef("self")` is the learner as it learns. The same arguments give the same weights.
    """
    decisions = recipe.decisions

    def opponent(ref: PlayerRef, probability: float) -> Opponent:
        if ref.name == SELF or ref.weights is None:
            return Opponent(ref.name, probability)
        return Opponent(ref.name, probability, packed(load_policy(ref.weights, decisions)))

    memory = None
    if (start / MEMORY).is_file():
        cure = f"Delete it: the player in {start} then learns on without it"
        with reading_checkpoint(start / MEMORY, torch.device("cpu"), cure) as content:
            memory = content
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
