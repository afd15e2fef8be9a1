"""Leagues of the supply chain: a population in compiled worlds of many, and how large they are.

Members meet in the same factories of the same worlds (`duels.py`): a win rate says
how often one makes more of a factory than the other would. Opponents that often do better than us
are met more often; exploiters are rewarded for being above us in the same world.
"""

from dataclasses import replace
from functools import partial

from understudy.games.scml.agent.policy import CLONES
from understudy.games.scml.league.duels import RESULTS, play_pairings
from understudy.games.scml.league.training import JobSettings, train
from understudy.games.scml.learning.online.fields import Company
from understudy.games.scml.learning.online.learner import LearnerSettings
from understudy.league.interface import League
from understudy.league.matchmaking import ByRole
from understudy.league.recipe import LeagueRecipe, three_roles, with_baselines
from understudy.league.rules import Overrides

SETTINGS = JobSettings(
    learner=LearnerSettings(epochs=2, batch_size=2_048, entropy_weight=6e-3),
    company=Company(),
    worlds=96,
    learning_rate=3e-4,
    kl_weight=2e-3,
    keep=0.5,
)
HUNTING = Overrides(kl_scale=0.2, rivalry=1.0)
"""How exploiters learn: hardly bound to where the league began, to be above the one beside them."""
SCRIPTED = ("Steward", "TunedSteward", "Penguin", "AS0", *CLONES)
"""Whom everybody meets as well: native players, and clones of champions."""


def sized(description: str, rounds: int, agent_steps: int, matches: int) -> LeagueRecipe:
    """A league of three roles; agent-steps are joint decisions, some 500 a factory and world."""
    return three_roles(
        description=description,
        rounds=rounds,
        agent_steps=agent_steps,
        matches=matches,
        shares=(0.6, 0.3, 0.1),
        keep_every=1,
        patience=2,
        beats=0.6,
        reset="past main",
        matchmaking=ByRole(self_play=0.1, past=0.8, lost_below=0.5, curriculum=0.0),
        opponents_max=8,
        exploiter_steps=agent_steps // 3,
        exploiter_matches=4 * matches,
        hunting=HUNTING,
    )


def league() -> League:
    """`quick` ends in some ten minutes, `full` in hours."""
    quick = sized("three rounds in minutes, to see what a league is", 3, 400_000, 64)
    full = sized("twelve rounds in hours", 12, 4_000_000, 256)
    return league_of(SETTINGS, {**with_baselines("quick", quick), "full": full})


def league_of(settings: JobSettings, recipes: dict[str, LeagueRecipe]) -> League:
    """A league by these settings."""
    return League(
        partial(train, settings),
        recipes,
        scripted=SCRIPTED,
        start="HRL",
        play=partial(play_pairings, company=replace(settings.company, past=0.0, conserved=0.0)),
        results=RESULTS,
    )
