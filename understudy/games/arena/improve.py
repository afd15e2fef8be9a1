"""Make an arena player stronger against given opponents, from folder to folder.

What a league or a script needs in one call: weights in, weights out, and how it went.
"""

from collections.abc import Mapping
from pathlib import Path

import torch

from understudy.games import PlayerRef
from understudy.games.arena.encode import MOVES
from understudy.games.arena.recipes import refine
from understudy.learn.checkpoint import reading_checkpoint, write_checkpoint
from understudy.learn.matches import SELF, Opponent, packed
from understudy.learn.policy import load_policy, save_policy
from understudy.learn.refine import Improved, Refinement
from understudy.learn.refine import improve as improve_policy

MEMORY = "learner.pt"
"""Beside the weights: critic and optimiser, for the next lesson of the same player."""


def improve(
    start: Path,
    opponents: Mapping[PlayerRef, float],
    agent_steps: int,
    seed: int,
    out: Path,
    *,
    teacher: Path | None = None,
    recipe: Refinement = refine,
) -> Improved:
    """Train the policy in `start` for about so many agent-steps; leave weights and memory in `out`.

    `PlayerRef("self")` is the learner as it learns. The same arguments give the same weights.
    """
    met = [_opponent(ref, probability) for ref, probability in opponents.items()]
    memory = None
    if (start / MEMORY).is_file():
        cure = f"Delete it: the player in {start} then learns on without it"
        with reading_checkpoint(start / MEMORY, torch.device("cpu"), cure) as content:
            memory = content
    improved = improve_policy(
        recipe,
        load_policy(start, MOVES),
        met,
        agent_steps,
        seed,
        teacher=None if teacher is None else load_policy(teacher, MOVES),
        memory=memory,
    )
    write_checkpoint(out / MEMORY, improved.memory)
    save_policy(out, improved.policy)
    return improved


def _opponent(ref: PlayerRef, probability: float) -> Opponent:
    if ref.name == SELF or ref.weights is None:
        return Opponent(ref.name, probability)
    return Opponent(ref.name, probability, packed(load_policy(ref.weights, MOVES)))
