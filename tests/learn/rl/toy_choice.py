"""Rock-paper-scissors whose hand is chosen once, at the start of a long match.

In every step both also turn left or right, which changes nothing. The better hand wins in the end.
So best play is each hand in a third of the matches, and a head that decides once in LONG steps
stands beside one that always does.
"""

import numpy as np

from tests.learn.rl.toy_hands import beats
from understudy.data.samples import decisions
from understudy.learn.rl.env import Observation, StepResult

LONG = 24
CHOICE = decisions("arena", "moves", 1, {"begun": "1 after the start"}, {"hand": 3, "turn": 2})


class ToyChoice:
    num_players = 2

    def __init__(self, num_matches, pseudo_reward=0.0):
        self.hand = np.zeros((num_matches, 2), np.int64)
        self.step_of = np.zeros(num_matches, np.int64)
        self.over = np.ones(num_matches, bool)

    def reset(self, which, seeds):
        self.step_of[which], self.over[which] = 0, False

    def observe(self):
        begun = np.repeat((self.step_of > 0)[:, None], 2, 1)
        legal = np.ones((len(begun), 2, 5), bool)
        legal[..., 1:3] = ~begun[..., None]
        return Observation(begun[..., None].astype(np.float32), legal)

    def set_actions(self, which, slot, options):
        first = self.step_of[which] == 0
        self.hand[which, slot] = np.where(first, options[:, 0], self.hand[which, slot])

    def step(self):
        running = ~self.over
        self.step_of += running
        terminated = running & (self.step_of == LONG)
        self.over |= terminated
        lead = beats(*self.hand.T)[:, None] * np.array([1, -1])
        score = (lead * terminated[:, None]).astype(np.float32)
        return StepResult(score, score, terminated, np.zeros(len(running), bool))

    def state(self):
        return {name: array.copy() for name, array in vars(self).items()}

    def restore(self, state):
        for name, array in state.items():
            getattr(self, name)[:] = array
