"""Leagues of the arena: how a lesson is given, and how large they are."""

from dataclasses import replace

from understudy.games import lessons
from understudy.games.arena.encode import MOVES
from understudy.games.arena.pairings import play_pairings
from understudy.games.arena.recipes import refine
from understudy.league.hooks import League, Learnt, Lesson
from understudy.league.matchmaking import ByRole
from understudy.league.recipe import three_roles, with_baselines
from understudy.learn.policy import load_policy

_STRIDE = 0.0256
"""Learning rate times width: Adam moves every weight alike, so wide layers go further."""


def give(lesson: Lesson) -> Learnt:
    """As `refine` does it, with a critic of the policy's size and a rate that fits it."""
    assert lesson.start.weights is not None
    hidden = load_policy(lesson.start.weights, MOVES).shape.hidden
    recipe = replace(refine, critic=hidden, learning_rate=_STRIDE / max(hidden))
    return lessons.give(recipe, lesson)


def league() -> League:
    """`quick` ends in minutes; `full` takes hours."""
    quick = three_roles(
        description="eight rounds in minutes",
        rounds=8,
        agent_steps=2_000_000,
        matches=40,
        shares=(0.75, 0.2, 0.05),
        keep_every=1,
        beats=0.6,
        reset="past main",
        matchmaking=ByRole(curriculum=0.0),
        opponents_max=8,
        exploiter_steps=5_000_000,
        exploiter_matches=1_000,
    )
    full = three_roles(
        description="forty rounds in hours",
        rounds=40,
        agent_steps=10_000_000,
        matches=100,
        exploiter_steps=20_000_000,
        exploiter_matches=2_000,
    )
    return League(
        give,
        {**with_baselines("quick", quick), **with_baselines("full", full)},
        scripted=("expert", "rusher", "kiter"),
        start="imitate-small",
        play=play_pairings,
    )
