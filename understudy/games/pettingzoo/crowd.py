"""An environment for more than two players alike, as one for two: the others choose at random.

Two seats, drawn from the match's seed, are those of the two players; everybody else takes any legal
option, by chance from the seed as well. A match and its rematch, with sides swapped, have the same
seats, so that neither player is better placed. It is over for us when both have left.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from understudy.games.pettingzoo.matches import bare, written_legal
from understudy.games.pettingzoo.spaces import action_of, heads_of

SEATS = ("first", "second")


def are_alike(env: Any) -> bool:
    """Whether all players see and do the same kinds of things."""
    kinds = [(env.observation_space(one), env.action_space(one)) for one in env.possible_agents]
    return all(kind == kinds[0] for kind in kinds)


class _Crowd:
    """What both kinds of environments share: who sits where, and what the others do."""

    possible_agents = SEATS

    def __init__(self, env: Any) -> None:
        self.env = env
        self.space = env.action_space(env.possible_agents[0])
        self.heads, self.action = heads_of(self.space), action_of(self.space)
        self.chance = random.Random(0)
        self.seats: dict[Any, Any] = {}
        """The environment's agents by ours."""

    def observation_space(self, agent: Any) -> Any:
        """Everybody's."""
        return self.env.observation_space(self.env.possible_agents[0])

    def action_space(self, agent: Any) -> Any:
        """Everybody's."""
        return self.space

    def _sit_down(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.seats = dict(zip(SEATS, self.chance.sample(self.env.possible_agents, 2), strict=True))

    def _guess(self, seen: Any, info: Any) -> Any:
        """Any legal action."""
        legal, options, first = written_legal(seen, info, sum(self.heads)), list[int](), 0
        for size in self.heads:
            able = np.flatnonzero(legal[first : first + size]).tolist()
            options.append(self.chance.choice(able) if able else 0)
            first += size
        return self.action(np.array(options, np.int64))

    def _ours(self, told: Mapping[Any, Any]) -> dict[Any, Any]:
        """What is told of our seats, by our names."""
        return {own: told[seat] for own, seat in self.seats.items() if seat in told}

    @property
    def agents(self) -> Sequence[Any]:
        """Which of our two are still there."""
        return [own for own, seat in self.seats.items() if seat in self.env.agents]


class ParallelCrowd(_Crowd):
    """All at once."""

    def reset(self, seed: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Begin a match; what our two see."""
        self._sit_down(seed)
        self.seen, self.infos = self.env.reset(seed=seed)
        return self._ours(self.seen), self._ours(self.infos)

    def step(self, actions: Mapping[Any, Any]) -> tuple[dict[Any, Any], ...]:
        """Do what our two have chosen, and what the others guess."""
        chosen = {self.seats[own]: action for own, action in actions.items()}
        for agent in self.env.agents:
            if agent not in chosen:
                chosen[agent] = self._guess(self.seen.get(agent), self.infos.get(agent))
        told = self.env.step(chosen)
        self.seen, self.infos = told[0], told[4]
        return tuple(self._ours(part) for part in told)


class AecCrowd(_Crowd):
    """One after the other."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.env = bare(env)
        self.agent_iter = env.agent_iter  # by which such environments are known
        self.rewards: dict[Any, float] = {}

    def reset(self, seed: int) -> None:
        """Begin a match, up to the first turn of one of our two."""
        self._sit_down(seed)
        self.env.reset(seed=seed)
        self.rewards = dict.fromkeys(SEATS, 0.0)
        self._let_others_play()

    def step(self, action: Any) -> None:
        """Do what one of our two has chosen, up to the next turn of one of them."""
        self.rewards = dict.fromkeys(SEATS, 0.0)
        self._do(action)
        self._let_others_play()

    def _do(self, action: Any) -> None:
        self.env.step(action)
        for own, gained in self._ours(self.env.rewards).items():
            self.rewards[own] += gained

    def _let_others_play(self) -> None:
        env, ours = self.env, set(self.seats.values())
        while env.agents and self.agents and env.agent_selection not in ours:
            agent = env.agent_selection
            gone = env.terminations[agent] or env.truncations[agent]
            self._do(None if gone else self._guess(env.observe(agent), env.infos.get(agent)))

    @property
    def agent_selection(self) -> Any:
        """Whose turn it is."""
        return next(own for own, seat in self.seats.items() if seat == self.env.agent_selection)

    @property
    def terminations(self) -> dict[Any, bool]:
        """Of our two."""
        return self._ours(self.env.terminations)

    @property
    def truncations(self) -> dict[Any, bool]:
        """Of our two."""
        return self._ours(self.env.truncations)

    @property
    def infos(self) -> dict[Any, Any]:
        """Of our two."""
        return self._ours(self.env.infos)

    def observe(self, agent: Any) -> Any:
        """What one of our two sees; nothing once it has left."""
        seat = self.seats[agent]
        return self.env.observe(seat) if seat in self.env.agents else None
