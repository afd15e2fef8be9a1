"""The ways we train for the arena. `docs/log.md` says what came of each."""

from dataclasses import replace
from typing import Final

from understudy.games.arena.encode import MOVES
from understudy.learn.objectives.cloning import Cloning
from understudy.learn.recipe import PolicyRecipe, Recipe

imitate = PolicyRecipe(
    description="clone the recorded decisions; the teacher of all that follows",
    decisions=MOVES,
    objective=Cloning(),
    steps=6_000,
    hidden=(256, 256),
    batch_size=2_048,
    learning_rate=2e-3,
    evaluate_every=500,
    checkpoint_every=500,
)
imitate_quick = replace(
    imitate,
    description="the same in under a minute, for demos and tests",
    steps=1_200,
    hidden=(128, 128),
    evaluate_every=200,
    checkpoint_every=200,
)

RECIPES: Final[dict[str, Recipe]] = {"imitate": imitate, "imitate-quick": imitate_quick}
