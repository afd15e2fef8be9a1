"""The usual ways to train for a plain game of two, and its usual leagues: nothing is to be chosen.

Sized for environments in Python; a game of its own may say better.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from understudy.data.samples import Decisions

if TYPE_CHECKING:  # torch takes seconds to import
    from understudy.league.interface import Exact, League
    from understudy.learn.recipe import Recipe
    from understudy.learn.rl.env import MakeEnv
    from understudy.learn.rl.recipe import RLRecipe


@dataclass(frozen=True, eq=False)
class Usual:
    """What is usual, for these decisions in these matches."""

    decisions: Decisions
    make: "MakeEnv"
    scripted: tuple[str, ...] = ()
    """Who is in the leagues from the beginning."""
    entropy: float = 0.01
    """Up: players stay less predictable."""
    graded: bool = False
    exact: "Callable[[], Exact | None]" = lambda: None
    """Both as in `league.interface.League`."""

    def recipes(self) -> "Mapping[str, Recipe]":
        """Clone, go on by outcome, go on by play."""
        from understudy.learn.supervised.awr import AdvantageWeighted
        from understudy.learn.supervised.cloning import Cloning
        from understudy.learn.supervised.recipe import PolicyRecipe

        imitate = PolicyRecipe(
            description="clone the recorded decisions",
            decisions=self.decisions,
            objective=Cloning(),
            steps=2_000,
            hidden=(128, 128),
            batch_size=1_024,
            learning_rate=2e-3,
        )
        awr = replace(
            imitate,
            description="on from a clone: what ended better than expected counts for more",
            objective=AdvantageWeighted(),
            start="imitate",
            learning_rate=1e-3,
        )
        refine = self.refinement()
        quick = {"imitate-quick": replace(imitate, steps=300)}
        quick["awr-quick"] = replace(awr, steps=300, start="imitate-quick")
        return {
            "imitate": imitate,
            "awr": awr,
            **quick,
            "refine": refine,
            "refine-quick": replace(refine.lasting(20), start="imitate-quick"),
        }

    def refinement(self) -> "RLRecipe":
        """By PPO, mostly against itself."""
        from understudy.learn.rl.env import SELF
        from understudy.learn.rl.losses.ppo import PPO
        from understudy.learn.rl.recipe import START, RLRecipe

        return RLRecipe(
            description="make the clone stronger by playing, mostly against itself (PPO)",
            decisions=self.decisions,
            make=self.make,
            objective=PPO(value_weight=1.0, entropy_weight=self.entropy),
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

    def league(self) -> "League":
        """A main agent and its exploiter; `quick` takes minutes, at ten microseconds a step."""
        from understudy.league.interface import League
        from understudy.league.recipe import two_roles, with_baselines
        from understudy.pipeline.league_training import train

        quick = two_roles(
            description="four rounds in minutes",
            rounds=4,
            agent_steps=600_000,
            opponents_max=4,
            exploiter_steps=300_000,
            exploiter_matches=200,
        )
        full = replace(quick, description="sixteen longer rounds", rounds=16, agent_steps=3_000_000)
        return League(
            partial(train, self.refinement()),
            {**with_baselines("quick", quick), **with_baselines("full", full)},
            scripted=self.scripted,
            start="imitate",
            graded=self.graded,
            exact=self.exact(),
        )
