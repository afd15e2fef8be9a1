"""Make an arena player stronger against given opponents, from folder to folder."""

from collections.abc import Mapping
from pathlib import Path

from understudy.games import PlayerRef, lessons
from understudy.games.arena.recipes import refine
from understudy.games.lessons import MEMORY
from understudy.learn.refine import Improved, Refinement

__all__ = ["MEMORY", "improve"]


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
    """As `lessons.improve`, by default the way that `understudy train arena refine` goes."""
    return lessons.improve(recipe, start, opponents, agent_steps, seed, out, teacher=teacher)
