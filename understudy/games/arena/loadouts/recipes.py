"""The ways we train for the variant with loadouts, and its leagues: the arena's, sized alike."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from understudy.games.arena.league import HUNTING
from understudy.games.arena.loadouts.matches import MOVES, LoadoutArena
from understudy.games.arena.recipes import imitate_quick, imitate_small, refine_ppo
from understudy.league.interface import League
from understudy.league.recipe import LeagueRecipe, two_roles, with_baselines
from understudy.learn.recipe import Recipe
from understudy.pipeline import league_training

if TYPE_CHECKING:
    from collections.abc import Mapping

imitate = replace(imitate_small, decisions=MOVES, statistic=None, steps=3_000)
refine = replace(
    refine_ppo,
    decisions=MOVES,
    make=LoadoutArena,
    start="imitate",
    # Chosen once a match, it would settle on one loadout, which the next one beats.
    objective=replace(refine_ppo.objective, entropy_by_head={"loadout": 20.0}),
)
RECIPES: "Final[Mapping[str, Recipe]]" = {
    "imitate": imitate,
    "imitate-quick": replace(imitate_quick, decisions=MOVES, statistic=None),
    "refine": refine,
}


def sized(description: str, rounds: int, agent_steps: int, exploiter_steps: int) -> LeagueRecipe:
    """A league whose exploiter hunts the main agent anew every round."""
    return two_roles(
        description=description,
        rounds=rounds,
        agent_steps=agent_steps,
        exploiter_steps=exploiter_steps,
        exploiter_matches=1_000,
        hunting=HUNTING,
    )


def league() -> League:
    """`quick` ends in minutes, `full` in a quarter of an hour."""
    return League(
        partial(league_training.train, replace(refine, learning_rate=4e-4)),
        {
            **with_baselines("quick", sized("eight rounds in minutes", 8, 2_000_000, 2_000_000)),
            **with_baselines("full", sized("twelve longer rounds", 12, 4_000_000, 4_000_000)),
        },
        start="imitate",
    )
