"""One match of a PettingZoo environment, played in turn (AEC) or by both at once (parallel).

Whoever gathered more reward in a match has won it. What the environment calls truncated ends a
match too: who was ahead then has won.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pettingzoo.utils import wrappers

from understudy.data.arrays import Array
from understudy.games.pettingzoo.spaces import MASK, action_of, heads_of, size, writer
from understudy.games.two_player.hosted import Picture

MOST_CELLS, MOST_PLANES = 20, 4
"""Of a board that is drawn: rows or columns, and kinds of things on it."""
# They watch over what is done, and change nothing as long as it is legal: as it always is here.
_WATCHING = (
    wrappers.OrderEnforcingWrapper,
    wrappers.AssertOutOfBoundsWrapper,
    wrappers.TerminateIllegalWrapper,
)


def bare(env: Any) -> Any:
    """The environment without wrappers around it that only watch over the user: half the time."""
    while type(env) in _WATCHING:
        env = env.env
    return env


class _Sides:
    """Both agents' spaces, and what they have gathered."""

    def __init__(self, env: Any, heads: Sequence[int]) -> None:
        self.agents = list(env.possible_agents)
        self.slots = {agent: slot for slot, agent in enumerate(self.agents)}
        self.sizes = [size(env.observation_space(agent)) for agent in self.agents]
        self.writers = [writer(env.observation_space(agent)) for agent in self.agents]
        self.options = [_places(heads, heads_of(env.action_space(one))) for one in self.agents]
        self.actions = [action_of(env.action_space(agent)) for agent in self.agents]
        self.gathered = [0.0, 0.0]

    def gain(self, rewards: Mapping[Any, float]) -> tuple[float, float]:
        """Add up what a step brought."""
        one, other = (float(rewards.get(agent, 0.0)) for agent in self.agents)
        self.gathered[0] += one
        self.gathered[1] += other
        return one, other

    def score(self) -> float:
        """Who has gathered more."""
        return float(np.sign(self.gathered[0] - self.gathered[1]))

    def write(self, slot: int, seen: Any, info: Any, row: Array, legal: Array | None) -> None:
        """An observation, and the options that it or the agent's info allows; else all."""
        if seen is None:  # of an agent that is gone
            row[:] = 0.0
            return
        self.writers[slot](seen, row[: self.sizes[slot]])
        if legal is None:
            return
        mask = _mask(seen, info)
        legal[self.options[slot]] = True if mask is None else _flat(mask)


def _places(heads: Sequence[int], own: Sequence[int]) -> slice | Array:
    """Where an agent's own options lie among those of both."""
    if tuple(heads) == tuple(own):
        return slice(None)
    first = np.cumsum([0, *heads[:-1]])
    return np.concatenate([begin + np.arange(n) for begin, n in zip(first, own, strict=True)])


def _mask(seen: Any, info: Any) -> Any:
    """The mask in an observation or an agent's info; None where there is none."""
    mask = seen.get(MASK) if isinstance(seen, Mapping) else None
    return info.get(MASK) if mask is None and info else mask


def written_legal(seen: Any, info: Any, options: int) -> Array:
    """Which of an agent's options it has now."""
    mask = _mask(seen, info)
    return np.ones(options, bool) if mask is None else _flat(mask).astype(bool)


def _flat(mask: Any) -> Array:
    """A mask of one head, or one for each."""
    return np.concatenate(mask) if isinstance(mask, tuple) else np.ravel(mask)


def picture_of(seen: Any, options: int) -> Picture:
    """A small board of few planes, as connect four and tic-tac-toe show it; else nothing."""
    planes = np.asarray(seen.get("observation") if isinstance(seen, Mapping) else seen)
    if planes.ndim != 3 or max(planes.shape[:2]) > MOST_CELLS or planes.shape[2] > MOST_PLANES:
        return Picture()
    marks = np.where(planes.any(axis=2), planes.astype(bool).argmax(axis=2) + 1, 0)
    columns = marks.shape[1]
    if options == columns:
        return Picture(board=marks.tolist(), options=[f"column {k + 1}" for k in range(columns)])
    return Picture(board=marks.tolist())


class AecMatch:
    """One agent after the other."""

    def __init__(self, env: Any, heads: Sequence[int]) -> None:
        self.env, self.sides = bare(env), _Sides(env, heads)
        self.score = self.sides.score
        self.heads = heads
        self.over = False

    def reset(self, seed: int) -> None:
        """Begin a match; the environment's chance comes from the seed."""
        self.env.reset(seed=seed % 2**31)
        self.sides.gathered = [0.0, 0.0]
        self._bury()

    def _bury(self) -> tuple[float, float]:
        """Take agents that are done off the board while others play on; what that brought."""
        one = other = 0.0
        env = self.env
        self.over = self._all_done()
        while not self.over and self._done(env.agent_selection):
            env.step(None)
            gained = self.sides.gain(env.rewards)
            one, other = one + gained[0], other + gained[1]
            self.over = self._all_done()
        return one, other

    def _done(self, agent: Any) -> bool:
        return bool(self.env.terminations[agent] or self.env.truncations[agent])

    def _all_done(self) -> bool:
        return all(map(self._done, self.env.agents))

    def turn(self) -> Sequence[int]:
        """The one whose turn it is."""
        return () if self.over else (self.sides.slots[self.env.agent_selection],)

    def see(self, slot: int, features: Array, legal: Array | None) -> None:
        """What this agent observes now."""
        env, agent = self.env, self.sides.agents[slot]
        info = env.infos.get(agent) if agent in env.agents else None
        self.sides.write(slot, env.observe(agent), info, features, legal)

    def picture(self, slot: int) -> Picture:
        """Its board, from this agent's side."""
        agent = self.sides.agents[slot]
        return picture_of(self.env.observe(agent), sum(self.heads))

    def step(self, options: Array) -> tuple[float, float]:
        """Do what the one whose turn it is has chosen."""
        slot = self.sides.slots[self.env.agent_selection]
        self.env.step(self.sides.actions[slot](options[slot]))
        one, other = self.sides.gain(self.env.rewards)
        more = self._bury()
        return one + more[0], other + more[1]


class ParallelMatch:
    """Both agents at once."""

    def __init__(self, env: Any, heads: Sequence[int]) -> None:
        self.env, self.sides = env, _Sides(env, heads)
        self.score = self.sides.score
        self.seen: Mapping[Any, Any] = {}
        self.infos: Mapping[Any, Any] = {}

    def reset(self, seed: int) -> None:
        """Begin a match; the environment's chance comes from the seed."""
        self.seen, self.infos = self.env.reset(seed=seed % 2**31)
        self.sides.gathered = [0.0, 0.0]

    def turn(self) -> Sequence[int]:
        """All who are still there."""
        return [self.sides.slots[agent] for agent in self.env.agents]

    def see(self, slot: int, features: Array, legal: Array | None) -> None:
        """What this agent was shown last."""
        agent = self.sides.agents[slot]
        self.sides.write(slot, self.seen.get(agent), self.infos.get(agent), features, legal)

    def step(self, options: Array) -> tuple[float, float]:
        """Do what both have chosen."""
        slots = self.turn()
        actions = {
            self.sides.agents[slot]: self.sides.actions[slot](options[slot]) for slot in slots
        }
        self.seen, rewards, _, _, self.infos = self.env.step(actions)
        return self.sides.gain(rewards)
