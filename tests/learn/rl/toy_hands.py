"""Rock-paper-scissors: once, or twice in a row where only a hand that is kept counts.

In the long game both show a hand in each of two steps and see only the clock. Who shows the same
hand in both has committed to it. Of two who committed the better hand wins; who committed beats
who did not; two who did not draw. So equilibrium is to commit to each hand in a third of the
matches. Whoever draws each step by itself, with or without a memory, commits in a third of the
matches at most or leans to a hand, and some commitment then wins by 2/3 a match or more: it takes
a plan, drawn once for a match.
"""

import numpy as np
import torch

from understudy.data.samples import decisions
from understudy.learn.rl.env import Observation, StepResult

LONG = 2
HANDS = decisions("arena", "moves", 1, {"clock": "the part that is over"}, {"hand": 3})
ROCK, PAPER, SCISSORS = range(3)


def beats(hand, other):
    """+1 where a hand wins, -1 where it loses."""
    return np.array([0, 1, -1])[(hand - other) % 3]


class ToyHands:
    num_players = 2

    def __init__(self, num_matches, pseudo_reward=0.0, steps=LONG):
        self.steps = steps
        self.shown = np.zeros((num_matches, 2, steps), np.int64)
        self.step_of = np.zeros(num_matches, np.int64)
        self.over = np.ones(num_matches, bool)
        self.seed = np.zeros(num_matches, np.int64)
        self.chosen = np.zeros((num_matches, 2), np.int64)

    def reset(self, which, seeds):
        self.shown[which], self.step_of[which], self.over[which] = 0, 0, False
        self.seed[which] = seeds

    def observe(self):
        clock = (self.step_of / self.steps).astype(np.float32)
        seen = np.repeat(clock[:, None, None], 2, 1)
        return Observation(seen, np.ones((len(self.over), 2, 3), bool))

    def set_actions(self, which, slot, options):
        self.chosen[which, slot] = options[:, 0]

    def script(self, player, which, slot):
        """The one called rocky shows rock in half of its matches, the others in a quarter each."""
        hand = np.array([ROCK, ROCK, PAPER, SCISSORS])[self.seed[which] % 4]
        named = {"rock": ROCK, "paper": PAPER, "scissors": SCISSORS}
        self.chosen[which, slot] = hand if player == "rocky" else named[player]

    def committed(self):
        """The hand of each player who kept it so far, else -1, [N 2]."""
        known = np.arange(self.steps) < self.step_of[:, None, None]
        kept = (self.shown == self.shown[..., :1]) | ~known
        return np.where(kept.all(2), self.shown[..., 0], -1)

    def step(self):
        running = np.flatnonzero(~self.over)
        self.shown[running, :, self.step_of[running]] = self.chosen[running]
        self.step_of[running] += 1
        terminated = ~self.over & (self.step_of == self.steps)
        self.over |= terminated
        one, other = self.committed().T
        both = (one >= 0) & (other >= 0)
        lead = np.where(both, beats(one, other), (one >= 0).astype(int) - (other >= 0))
        score = (lead[:, None] * np.array([1, -1]) * terminated[:, None]).astype(np.float32)
        return StepResult(score, score, terminated, np.zeros(len(terminated), bool))

    def state(self):
        return {k: v.copy() for k, v in vars(self).items() if isinstance(v, np.ndarray)}

    def restore(self, state):
        for name, array in state.items():
            getattr(self, name)[:] = array


def shares_of_hands(policy):
    """How likely the policy commits to each hand in the long game, by plan: [plans 3]."""
    plans = max(1, policy.shape.plans)
    clock = (torch.arange(LONG) / LONG)[:, None, None].expand(LONG, plans, 1)
    inputs = policy.with_plan(clock, torch.arange(plans).expand(LONG, -1))
    first = torch.zeros(LONG, plans, dtype=torch.bool)
    hidden, _ = policy.unroll(inputs, first, torch.zeros(plans, policy.shape.memory))
    return policy.options(hidden).softmax(-1).prod(0).detach().numpy()


def exploitability(shares):
    """What the best of three commitments wins a match against who commits in these shares."""
    wavers = 1 - shares.sum()
    return max(wavers + shares[hand - 1] - shares[hand - 2] for hand in range(3))


def one_round(num_matches, pseudo_reward):
    """Plain rock-paper-scissors."""
    return ToyHands(num_matches, pseudo_reward, steps=1)
