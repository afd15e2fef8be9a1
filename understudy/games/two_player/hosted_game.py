"""A hosted environment as a whole game: its tables, the ways to train for it, its leagues."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from understudy.data.samples import Decisions, decisions
from understudy.games.two_player.hosted import RANDOM, Host
from understudy.games.two_player.plain import plain_game
from understudy.pipeline.game import Game

if TYPE_CHECKING:  # torch takes seconds to import
    from understudy.league.interface import League
    from understudy.learn.recipe import Recipe
    from understudy.learn.rl.recipe import RLRecipe

PLAYERS = {RANDOM: "chooses any legal option"}


def hosted_game(host: Host, about: str, *, entropy: float = 0.01) -> Game:
    """All that the pipeline needs of it; up with `entropy`, and players stay less predictable."""
    moves = moves_of(host)
    return plain_game(
        name=host.name,
        about=about,
        players=PLAYERS,
        decisions=moves,
        make=host,
        recipes=partial(recipes, host, entropy),
        league=partial(league, host, entropy),
    )


def moves_of(host: Host) -> Decisions:
    """The decisions of a host's players."""
    seen = {"turn": "1 if it is mine", "second": "1 for the second player"}
    seen |= {f"seen_{k}": f"number {k} of what the environment shows" for k in range(host.features)}
    names = ["action"] if len(host.heads) == 1 else [f"action_{k}" for k in range(len(host.heads))]
    return decisions(host.name, "moves", 1, seen, dict(zip(names, host.heads, strict=True)))


@cache
def recipes(host: Host, entropy: float) -> "Mapping[str, Recipe]":
    """Clone, go on by outcome, go on by play; sized for environments in Python."""
    from understudy.learn.supervised.awr import AdvantageWeighted
    from understudy.learn.supervised.cloning import Cloning
    from understudy.learn.supervised.recipe import PolicyRecipe

    imitate = PolicyRecipe(
        description="clone the recorded decisions",
        decisions=moves_of(host),
        objective=Cloning(),
        steps=2_000,
        hidden=(128, 128),
        batch_size=1_024,
        learning_rate=2e-3,
    )
    awr = replace(
        imitate,
        description="on from a clone: decisions count by how much better than expected it ended",
        objective=AdvantageWeighted(),
        start="imitate",
        learning_rate=1e-3,
    )
    refine = refinement(host, entropy)
    quick = {"imitate-quick": replace(imitate, steps=300)}
    quick["awr-quick"] = replace(awr, steps=300, start="imitate-quick")
    return {
        "imitate": imitate,
        "awr": awr,
        **quick,
        "refine": refine,
        "refine-quick": replace(refine.lasting(20), start="imitate-quick"),
    }


def refinement(host: Host, entropy: float) -> "RLRecipe":
    """By PPO, mostly against itself."""
    from understudy.learn.rl.env import SELF
    from understudy.learn.rl.losses.ppo import PPO
    from understudy.learn.rl.recipe import START, RLRecipe

    return RLRecipe(
        description="make the clone stronger by playing, mostly against itself (PPO)",
        decisions=moves_of(host),
        make=host,
        objective=PPO(value_weight=1.0, entropy_weight=entropy),
        opponents=((SELF, 0.8), (START, 0.2)),
        iterations=100,
        rollouts=2,
        updates=32,
        ahead=False,
        uses=8.0,
        matches=128,
        steps=32,
        learning_rate=1e-3,
        log_every=5,
        checkpoint_every=10,
    )


def league(host: Host, entropy: float) -> "League":
    """Three roles; `quick` ends in minutes where a step takes some ten microseconds."""
    from understudy.league.interface import League
    from understudy.league.matchmaking import ByRole
    from understudy.league.recipe import three_roles, with_baselines
    from understudy.pipeline.league_training import train

    quick = three_roles(
        description="four rounds in minutes",
        rounds=4,
        agent_steps=600_000,
        matches=40,
        shares=(0.6, 0.3, 0.1),
        keep_every=1,
        patience=2,
        beats=0.6,
        reset="past main",
        matchmaking=ByRole(self_play=0.4),
        opponents_max=4,
        exploiter_steps=300_000,
        exploiter_matches=200,
    )
    full = replace(quick, description="sixteen longer rounds", rounds=16, agent_steps=3_000_000)
    return League(
        partial(train, refinement(host, entropy)),
        {**with_baselines("quick", quick), **with_baselines("full", full)},
        scripted=(RANDOM,),
        start="imitate",
    )
