"""Nim: take one, two or three in turn; whoever takes the last one has won.

Best play is known: leave a multiple of four. Whoever finds one has lost.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from understudy.data.samples import decisions
from understudy.games.two_player.plain import plain_game
from understudy.league.interface import League
from understudy.league.recipe import three_roles, with_baselines
from understudy.learn.rl.env import SELF, Observation, StepResult
from understudy.learn.rl.losses.vtrace import OffPolicy
from understudy.learn.rl.recipe import START, RLRecipe
from understudy.learn.supervised.awr import AdvantageWeighted
from understudy.learn.supervised.cloning import Cloning
from understudy.learn.supervised.recipe import PolicyRecipe
from understudy.pipeline.league_training import train

FEWEST, MOST = 9, 16  # that there are at first
PLAYERS = {
    "expert": "knows what to do once eight are left, and guesses before",
    "perfect": "always knows what to do",
    "guesser": "takes any number",
}
KNOWS = {"expert": 8, "perfect": MOST, "guesser": 0}  # from how many left on
SEEN = {"turn": "1 if it is mine"} | {f"left_{k}": f"1 if {k} are left" for k in range(MOST + 1)}
MOVES = decisions("nim", "moves", 1, SEEN, {"take": 4})  # one head; its option 0 is to wait


class Nim:
    """Many matches side by side; `learn.rl.env.Matches` says what each function must do."""

    num_players = 2

    def __init__(self, num_matches, pseudo_reward=0.0):
        self.left = np.zeros(num_matches, np.int64)
        self.steps = np.zeros(num_matches, np.int64)
        self.draws = np.zeros((num_matches, MOST + 1))  # for those who guess
        self.chosen = np.zeros((num_matches, 2, 1), np.int64)

    def reset(self, which, seeds):
        chance = [np.random.default_rng(seed) for seed in seeds]
        self.left[which] = [one.integers(FEWEST, MOST + 1) for one in chance]
        self.draws[which] = [one.random(MOST + 1) for one in chance]
        self.steps[which] = 0

    def turn(self):
        return (self.steps[:, None] % 2 == np.arange(2)) & (self.left[:, None] > 0)

    def observe(self):
        left, turn, option = self.left[:, None, None], self.turn()[..., None], np.arange(4)
        number = np.repeat(left == np.arange(MOST + 1), 2, axis=1)
        observation = np.concatenate([turn, number], axis=2, dtype=np.float32)
        return Observation(
            observation, np.where(turn, (option > 0) & (option <= left), option == 0)
        )

    def set_actions(self, which, slot, options):
        self.chosen[which, slot] = options

    def script(self, player, which, slot):
        left, chance = self.left[which], self.draws[which, self.steps[which]]
        guess = 1 + (chance * np.minimum(left, 3)).astype(np.int64)
        knows = (left % 4 > 0) & (left <= KNOWS[player])
        self.chosen[which, slot, 0] = np.where(knows, left % 4, guess) * self.turn()[which, slot]

    def step(self):
        turn = self.turn()
        running = turn.any(axis=1)
        self.left -= (turn * self.chosen[..., 0]).sum(axis=1)
        self.steps += running
        terminated = running & (self.left == 0)
        score = np.where(terminated[:, None], np.where(turn, 1.0, -1.0), 0.0).astype(np.float32)
        return StepResult(
            reward=score, score=score, terminated=terminated, truncated=np.zeros_like(terminated)
        )

    def state(self):
        return {name: array.copy() for name, array in vars(self).items()}

    def restore(self, state):
        vars(self).update({name: array.copy() for name, array in state.items()})


IMITATE = PolicyRecipe(
    description="clone the expert",
    decisions=MOVES,
    objective=Cloning(),
    steps=200,
    hidden=(32,),
    batch_size=256,
    learning_rate=1e-2,
)
REFINE = RLRecipe(
    description="make the clone stronger by playing",
    decisions=MOVES,
    make=Nim,
    objective=OffPolicy(),
    opponents=((SELF, 0.5), (START, 0.5)),
    iterations=40,
    rollouts=1,
    matches=128,
    steps=8,
    learning_rate=1e-2,
)
AWR = replace(
    IMITATE, description="go on by outcome", objective=AdvantageWeighted(), start="imitate"
)
QUICK = replace(IMITATE, steps=50)
RECIPES = {"imitate": IMITATE, "imitate-quick": QUICK, "awr": AWR, "refine": REFINE}


def league():
    """Every training job is a short refinement."""
    quick = three_roles(
        description="three short rounds",
        rounds=3,
        agent_steps=20_000,
        matches=20,
        exploiter_steps=10_000,
        exploiter_matches=200,
    )
    return League(partial(train, REFINE), with_baselines("quick", quick), start="imitate")


GAME = plain_game(
    name="nim",
    about="whoever takes the last one has won",
    players=PLAYERS,
    decisions=MOVES,
    make=Nim,
    recipes=lambda: RECIPES,
    league=league,
)
