"""A game whose best play is known: name the number you are shown, and do not shout when hoarse.

Both players are shown numbers of their own, from 0 to 2, four times. After the last one, whoever
named more of them right has won. Shouting costs nothing but is forbidden every other step; it
makes a point more likely to nobody. `limit` cuts matches short without a result.
"""

import numpy as np

from understudy.data.samples import decisions
from understudy.learn.rl.env import Observation, StepResult

ROUNDS = 4
SHOWN = {"zero": "1 if 0 is shown", "one": "1 if 1 is shown", "two": "1 if 2 is shown"}
NUMBERS = decisions("arena", "moves", 1, SHOWN, {"name": 3, "shout": 2})


class ToyMatches:
    num_players = 2

    def __init__(self, num_matches, pseudo_reward=0.0, limit=None):
        self.pseudo_reward, self.limit = pseudo_reward, limit
        self.numbers = np.zeros((num_matches, 2, ROUNDS), np.int64)
        self.right = np.zeros((num_matches, 2), np.int64)
        self.step_of = np.zeros(num_matches, np.int64)
        self.over = np.ones(num_matches, bool)
        self.seed = np.zeros(num_matches, np.int64)
        self.chosen = np.zeros((num_matches, 2, 2), np.int64)

    def reset(self, which, seeds):
        digits = 3 ** np.arange(2 * ROUNDS).reshape(2, ROUNDS)
        self.numbers[which] = seeds[:, None, None] // digits % 3
        self.right[which], self.step_of[which], self.over[which] = 0, 0, False
        self.seed[which] = seeds

    def shown(self):
        at = np.minimum(self.step_of, ROUNDS - 1)
        return np.take_along_axis(self.numbers, at[:, None, None], 2)[..., 0]

    def observe(self):
        legal = np.ones((len(self.over), 2, 5), bool)
        legal[..., 4] = (self.step_of % 2 == 0)[:, None]
        return Observation(np.eye(3, dtype=np.float32)[self.shown()], legal)

    def set_actions(self, which, slot, options):
        self.chosen[which, slot] = options

    def script(self, player, which, slot):
        right = self.shown()[which, slot]
        self.chosen[which, slot, 0] = right if player == "right" else 0
        self.chosen[which, slot, 1] = 0

    def step(self):
        running = ~self.over
        gain = (self.chosen[..., 0] == self.shown()) & running[:, None]
        self.right += gain
        self.step_of += running
        terminated = running & (self.step_of == ROUNDS)
        truncated = running & ~terminated & (self.step_of == (self.limit or -1))
        self.over |= terminated | truncated
        lead = np.sign(self.right[:, 0] - self.right[:, 1]).astype(np.float32)
        score = lead[:, None] * np.array([1.0, -1.0], np.float32)
        reward = np.where(terminated[:, None], score, 0.0) + self.pseudo_reward * gain
        return StepResult(reward.astype(np.float32), score, terminated, truncated)

    def state(self):
        return {k: v.copy() for k, v in vars(self).items() if isinstance(v, np.ndarray)}

    def restore(self, state):
        for name, array in state.items():
            getattr(self, name)[:] = array


def toy_with_limit(num_matches, pseudo_reward):
    """Truncated short after two of the four numbers."""
    return ToyMatches(num_matches, pseudo_reward, limit=2)
