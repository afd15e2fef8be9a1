"""How long a new critic learns alone, in training jobs of every length."""

from dataclasses import replace

import pytest

from understudy.games.arena.league import league
from understudy.games.arena.recipes import refine_ppo as refine


@pytest.mark.parametrize(
    ("critic_first", "iterations", "expected"),
    [(10, 1, 0), (10, 3, 0), (10, 4, 1), (10, 39, 9), (10, 40, 10), (10, 1200, 10), (0, 40, 0)],
)
def test_a_quarter_of_a_job_at_most(critic_first, iterations, expected):
    recipe = replace(refine, critic_first=critic_first).lasting(iterations)
    assert (recipe.iterations, recipe.critic_first) == (iterations, expected)


def test_in_every_job_of_the_arenas_leagues_the_policy_learns():
    """Its exploiters once got jobs shorter than their critics alone took, and never changed."""
    per_iteration = refine.rollouts * refine.matches * refine.steps
    shortest = set()
    for recipe in league().recipes.values():
        steps = [recipe.steps_of(slot) for slot in recipe.slots] + [recipe.exploiter_steps]
        for iterations in (max(1, round(one / per_iteration)) for one in steps):
            assert refine.lasting(iterations).critic_first <= iterations / 4
            shortest.add(iterations)
    assert min(shortest) < 4 * refine.critic_first  # where the usual number would be too many
