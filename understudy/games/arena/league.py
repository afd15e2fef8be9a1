"""Leagues of the arena: how a lesson is given, and how large they are."""

from dataclasses import replace

from understudy.games import PlayerRef
from understudy.games.arena.improve import MEMORY, improve
from understudy.games.arena.pairings import play_pairings
from understudy.games.arena.recipes import refine
from understudy.league.hooks import League, Learnt, Lesson
from understudy.league.payoff import Tally
from understudy.league.recipe import three_roles, with_baselines
from understudy.learn.matches import SELF


def give(lesson: Lesson) -> Learnt:
    """Refine the lesson's player against its opponents, kept near to the imitation."""
    assert lesson.start.weights is not None
    # A learner that has a critic from its last lesson need not begin one.
    knows = (lesson.start.weights / MEMORY).is_file()
    recipe = replace(refine, decay=False, critic_first=0 if knows else refine.critic_first)
    players = [one.player for one in lesson.opponents]
    refs = [PlayerRef(one.name, one.weights) if one else PlayerRef(SELF) for one in players]
    shares = [one.probability for one in lesson.opponents]
    improved = improve(
        lesson.start.weights,
        dict(zip(refs, shares, strict=True)),
        lesson.agent_steps,
        lesson.seed,
        lesson.out,
        teacher=lesson.imitation.weights,
        recipe=recipe,
    )
    tallies = {name: Tally(*map(float, counts)) for name, counts in improved.tally.items()}
    return Learnt(improved.agent_steps, tallies, improved.metrics)


def league() -> League:
    """`quick` ends in minutes; `full` takes hours."""
    quick = three_roles(
        description="eight rounds in minutes",
        rounds=8,
        agent_steps=1_500_000,
        matches=40,
        exploiter_steps=750_000,
    )
    full = three_roles(
        description="forty rounds in hours",
        rounds=40,
        agent_steps=10_000_000,
        matches=100,
        exploiter_steps=10_000_000,
    )
    return League(
        give,
        {**with_baselines("quick", quick), **with_baselines("full", full)},
        scripted=("expert", "rusher", "kiter"),
        start="imitate",
        play=play_pairings,
    )
