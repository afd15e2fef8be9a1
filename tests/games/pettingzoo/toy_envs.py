"""Small environments of PettingZoo's kind, as users would write them."""

import itertools

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

CLOCK = itertools.count()
DIGIT = spaces.Discrete(3, start=5)


class Guess(ParallelEnv):
    """Four times both name a digit and a colour; the digit shown is worth a point."""

    def __init__(self, shown=DIGIT):
        self.possible_agents = ["left", "right"]
        self.shown = shown

    def observation_space(self, agent):
        return spaces.Dict({"digit": self.shown, "past": spaces.MultiDiscrete([2, 4])})

    def action_space(self, agent):
        return spaces.MultiDiscrete([3, 2] if agent == "left" else [4, 2])

    def reset(self, seed=None, options=None):
        self.rng, self.agents, self.round = (
            np.random.default_rng(seed),
            list(self.possible_agents),
            0,
        )
        return self.look(), {agent: {} for agent in self.agents}

    def look(self):
        self.digit = int(self.rng.integers(3))
        seen = {"digit": self.digit + 5, "past": np.array([self.round % 2, min(self.round, 3)])}
        return dict.fromkeys(self.possible_agents, seen)

    def step(self, actions):
        self.round += 1
        rewards = {agent: float(chosen[0] == self.digit) for agent, chosen in actions.items()}
        over = self.round == 4
        truncations = dict.fromkeys(self.agents, over)
        if over:
            self.agents = []
        terminations = dict.fromkeys(self.possible_agents, False)
        return self.look(), rewards, terminations, truncations, {"left": {}, "right": {}}


class Countdown(AECEnv):
    """Take one or two of seven in turn; whoever takes the last has lost, and is out before."""

    def __init__(self):
        super().__init__()
        self.possible_agents = ["b", "a"]

    def observation_space(self, agent):
        return spaces.Box(0, 7, (1,), np.float32)

    def action_space(self, agent):
        return spaces.Discrete(2, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.left = list(self.possible_agents), 7
        self.agent_selection = self.agents[seed % 2]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.mask()

    def mask(self):
        self.infos = {one: {"action_mask": np.array([1, self.left > 1])} for one in self.agents}

    def observe(self, agent):
        return np.array([self.left], np.float32)

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            self.rewards = dict.fromkeys(self.agents, 3.0)  # of who is left
            return
        assert action in (1, 2) and action <= max(self.left, 1)
        mine = self.agent_selection
        other = next((agent for agent in self.agents if agent != mine), None)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.left == 0:  # the winner waves
            self.terminations[mine] = True
            return
        self.left -= action
        if self.left == 0:
            self.rewards[mine] = -1.0
            self.terminations[mine] = True
            self._skip_agent_selection = other
            self.mask()
            return
        self.agent_selection = other
        self.mask()


class Restless(Guess):
    """Draws from somewhere else than its seed."""

    def reset(self, seed=None, options=None):
        return super().reset(next(CLOCK), options)


class Crowd(Guess):
    """For three that are not alike."""

    def __init__(self):
        super().__init__()
        self.possible_agents = ["left", "right", "middle"]


class Throng(Guess):
    """For four that are alike."""

    def __init__(self):
        super().__init__()
        self.possible_agents = ["a", "b", "c", "d"]

    def action_space(self, agent):
        return spaces.MultiDiscrete([4, 2])


class Round(AECEnv):
    """Three take turns to name what is shown, twice each; one that names a 0 leaves at once."""

    def __init__(self):
        super().__init__()
        self.possible_agents = ["x", "y", "z"]

    def observation_space(self, agent):
        shown = spaces.Box(0, 3, (1,), np.float32)
        return spaces.Dict({"observation": shown, "action_mask": spaces.MultiBinary(4)})

    def action_space(self, agent):
        return spaces.Discrete(4)

    def reset(self, seed=None, options=None):
        self.rng, self.agents, self.left = np.random.default_rng(seed), list("xyz"), 6
        self.digit, self.at = int(self.rng.integers(1, 4)), 0
        self.rewards = dict.fromkeys("xyz", 0.0)
        self._cumulative_rewards = dict.fromkeys("xyz", 0.0)
        self.terminations, self.truncations = (dict.fromkeys("xyz", False) for _ in range(2))
        self.infos = {agent: {} for agent in "xyz"}
        self.agent_selection = "x"

    def observe(self, agent):
        return {"observation": np.array([self.digit]), "action_mask": np.array([1, 1, 1, 1])}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self.rewards = dict.fromkeys("xyz", 0.0)
            self.agents.remove(agent)
            self.terminations.pop(agent), self.truncations.pop(agent)
        else:
            self.rewards = {one: float(one == agent and action == self.digit) for one in "xyz"}
            self.terminations[agent] = action == 0
            self.left -= 1
            self.digit = int(self.rng.integers(1, 4))
            if self.left == 0:
                self.terminations = dict.fromkeys(self.agents, True)
        if self.agents:
            order = [one for one in "xyz" if one in self.agents]
            later = [one for one in order if one > agent]
            self.agent_selection = (later or order)[0]


class Steering(Guess):
    """Acts by numbers."""

    def action_space(self, agent):
        return spaces.Box(-1, 1, (2,), np.float32)


def pictures():
    return Guess(spaces.Box(0, 255, (84, 84, 3), np.uint8))


def words():
    return Guess(spaces.Text(5))


class Spaceless(Guess):
    """Its spaces are not written yet."""

    def observation_space(self, agent):
        raise RuntimeError("not yet")


class Failing(Guess):
    """It can be made, and not played."""

    def step(self, actions):
        raise KeyError("left")


def fails():
    """No environment comes of this."""
    return 1 / 0


def none():
    """Nor of this, which forgets to return it."""
