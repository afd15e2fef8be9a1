"""Leagues of the arena: how a training job is done, and how large they are."""

from dataclasses import replace

from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.play.pairings import play_pairings
from understudy.games.arena.recipes import refine_ppo
from understudy.league.interface import League, LearnerJob, TrainingResult
from understudy.league.recipe import LeagueRecipe, two_roles, with_baselines
from understudy.league.rules import Overrides
from understudy.learn.policy import load_policy
from understudy.pipeline import league_training

_STRIDE = 0.0256
"""Learning rate times width: Adam moves every weight alike, so wide layers go further."""


def train(job: LearnerJob) -> TrainingResult:
    """As `refine-ppo` does it, with a critic of the policy's size and a rate that fits it."""
    assert job.start.weights is not None
    hidden = load_policy(job.start.weights, MOVES).shape.hidden
    recipe = replace(refine_ppo, critic=hidden, learning_rate=_STRIDE / max(hidden))
    return league_training.train(recipe, job)


HUNTING = Overrides(kl_scale=0.2, draw=-1.0)
"""How exploiters learn: hardly bound to the imitation, and with no use for a draw. Those that stay
as near to it as main agents, or are content with draws, learn to stall and never win."""


def sized(description: str, rounds: int, agent_steps: int, exploiter_steps: int) -> LeagueRecipe:
    """A league whose exploiter hunts the main agent anew every round, from what that was."""
    return two_roles(
        description=description,
        rounds=rounds,
        agent_steps=agent_steps,
        exploiter_steps=exploiter_steps,
        exploiter_matches=1_000,
        hunting=HUNTING,
    )


def league() -> League:
    """`demo` ends in two minutes, `quick` in ten, `full` in twenty; `long` takes hours."""
    demo = sized("four rounds, to see what a league is", 4, 1_000_000, 1_000_000)
    quick = sized("eight rounds in minutes", 8, 3_000_000, 5_000_000)
    full = sized("twelve rounds, each longer", 12, 4_000_000, 8_000_000)
    long = sized("forty rounds in hours", 40, 10_000_000, 20_000_000)
    return League(
        train,
        {
            "demo": demo,
            **with_baselines("quick", quick),
            **with_baselines("full", full),
            "long": long,
        },
        scripted=("expert", "rusher", "kiter"),
        start="imitate-small",
        play=play_pairings,
    )
