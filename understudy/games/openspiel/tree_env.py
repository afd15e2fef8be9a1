"""Matches of a small OpenSpiel game by its tree: a lookup a step, thousands at once.

They are the matches that `two_player.hosted.HostedEnv` plays of the same seeds and choices, to the
last bit; only quicker, and they can be put away and taken up again.
"""

import random

import numpy as np

from understudy.data.arrays import Array
from understudy.games.openspiel.tree import WrittenOut
from understudy.games.two_player.hosted import RANDOM, uniform
from understudy.learn.rl.env import Observation, StepResult


class TreeEnv:
    """N matches of a game that is written out."""

    num_players = 2

    def __init__(self, game: WrittenOut, num_matches: int) -> None:
        self.game, tree = game, game.tree
        waits = np.zeros((2, tree.legal.shape[1]), bool)
        waits[:, 0] = True
        self._legal = np.tile(waits, (len(tree.player), 1, 1))
        nodes = np.flatnonzero(tree.player >= 0)
        self._legal[nodes, tree.player[nodes]] = tree.legal[tree.state[nodes]]
        self._turn = tree.player[:, None] == np.arange(2)
        slots = np.broadcast_to(np.arange(2.0, dtype=np.float32), self._turn.shape)
        told = np.stack([self._turn.astype(np.float32), slots], 2)
        self._seen = np.concatenate([told, game.seen], 2)
        self.node, self.steps, self.seeds = (np.zeros(num_matches, np.int64) for _ in range(3))
        self.lots = np.zeros((num_matches, game.draws))
        """What chance does, from a match's first draw to its last."""
        self.drawn = np.zeros(num_matches, np.int64)
        self.chosen = np.zeros((num_matches, 2, 1), np.int64)
        self.node[:] = len(tree.player) - 1  # an end: none has begun

    def reset(self, which: Array, seeds: Array) -> None:
        """Begin matches of these seeds."""
        self.node[which], self.steps[which], self.drawn[which] = 0, 0, 0
        self.seeds[which] = seeds
        for place, seed in zip(which.tolist(), seeds.tolist(), strict=True):
            chance = random.Random(seed)
            self.lots[place] = [chance.random() for _ in range(self.game.draws)]
        self._let_chance_move(which)

    def _let_chance_move(self, which: Array) -> None:
        """As `random.choices` would."""
        game = self.game
        while len(which := which[game.outcomes[self.node[which]] > 0]):
            node = self.node[which]
            lot = self.lots[which, self.drawn[which]]
            total = game.chances[node, game.outcomes[node] - 1]
            passed = (game.chances[node] <= (lot * total)[:, None]).sum(1)
            self.node[which] = game.child[node, np.minimum(passed, game.outcomes[node] - 1)]
            self.drawn[which] += 1

    @property
    def turn(self) -> Array:
        """Bool [N 2]: who chooses now."""
        found: Array = self._turn[self.node]
        return found

    @property
    def seen(self) -> Array:
        """Float32 [N 2 F]: turn, slot, and what the game shows."""
        found: Array = self._seen[self.node]
        return found

    @property
    def legal(self) -> Array:
        """Bool [N 2 O]; who waits has the first option."""
        found: Array = self._legal[self.node]
        return found

    def observe(self) -> Observation:
        """What every player sees and may do now."""
        return Observation(self.seen, self.legal)

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note what some will do."""
        self.chosen[which, slot] = options

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let who guesses choose any legal option; chance is of seed, step and slot alone."""
        assert player == RANDOM, player
        legal = self._legal[self.node[which], slot]
        rank = (uniform(self.seeds[which], self.steps[which], slot) * legal.sum(1)).astype(int)
        self.chosen[which, slot, 0] = (legal.cumsum(1) > rank[:, None]).argmax(1)

    def step(self) -> StepResult:
        """Do what was chosen."""
        tree = self.game.tree
        (places,) = np.nonzero(tree.player[self.node] >= 0)
        node = self.node[places]
        options = self.chosen[places, tree.player[node], 0]
        self.node[places] = self.game.child[node, options]
        self.steps[places] += 1
        self._let_chance_move(places)
        terminated = np.zeros(len(self.node), bool)
        terminated[places] = tree.player[self.node[places]] < 0
        won = np.where(terminated, tree.score[self.node], 0.0)
        score = np.stack([won, -won], 1).astype(np.float32)
        return StepResult(
            reward=score, score=score, terminated=terminated, truncated=np.zeros_like(terminated)
        )

    def state(self) -> dict[str, Array]:
        """Where each match stands, and what chance will do in it."""
        return {name: getattr(self, name).copy() for name in _STATE}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        for name in _STATE:
            setattr(self, name, state[name].copy())


_STATE = ("node", "steps", "seeds", "lots", "drawn")
