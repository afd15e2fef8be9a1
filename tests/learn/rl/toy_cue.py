"""A game that needs a memory: a cue is shown at first, and asked for some steps later.

Nobody's choice touches the other player's result: each wins for itself, with the right answer, or
loses. Without a memory the answer is a guess among CUES.
"""

import numpy as np

from understudy.data.samples import decisions
from understudy.learn.rl.env import Observation, StepResult

CUES, WAIT = 3, 4
"""Steps between the cue and the question."""
_SHOWN = {f"cue{k}": f"1 if cue {k} is shown" for k in range(CUES)} | {"asked": "1 if asked"}
CUE = decisions("arena", "moves", 1, _SHOWN, {"answer": CUES})


class ToyCue:
    num_players = 2

    def __init__(self, num_matches, pseudo_reward=0.0):
        self.cue = np.zeros((num_matches, 2), np.int64)
        self.step_of = np.zeros(num_matches, np.int64)
        self.over = np.ones(num_matches, bool)
        self.chosen = np.zeros((num_matches, 2), np.int64)

    def reset(self, which, seeds):
        self.cue[which] = seeds[:, None] // np.array([1, CUES]) % CUES
        self.step_of[which], self.over[which] = 0, False

    def observe(self):
        seen = np.zeros((len(self.over), 2, CUES + 1), np.float32)
        shown = np.eye(CUES, dtype=np.float32)[self.cue]
        seen[..., :CUES] = shown * (self.step_of == 0)[:, None, None]
        seen[..., CUES] = (self.step_of >= WAIT)[:, None]
        return Observation(seen, np.ones((len(self.over), 2, CUES), bool))

    def set_actions(self, which, slot, options):
        self.chosen[which, slot] = options[:, 0]

    def script(self, player, which, slot):
        self.chosen[which, slot] = 0

    def step(self):
        running = ~self.over
        terminated = running & (self.step_of == WAIT)
        self.step_of += running
        self.over |= terminated
        right = np.where(self.chosen == self.cue, 1.0, -1.0)
        score = np.where(terminated[:, None], right, 0.0).astype(np.float32)
        return StepResult(score, score, terminated, np.zeros(len(running), bool))

    def state(self):
        return {name: array.copy() for name, array in vars(self).items()}

    def restore(self, state):
        for name, array in state.items():
            getattr(self, name)[:] = array
