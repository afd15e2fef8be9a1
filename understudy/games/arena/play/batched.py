"""Arena matches as a learner plays them (`learn.rl.env.BatchedEnv`).

A match that runs out of time is drawn by the rules of the game, so it has ended like any other:
there is nothing more to be gained in it.
"""

import numpy as np

from understudy.data.arrays import Array
from understudy.games.arena.codec import features as observe
from understudy.games.arena.codec.actions import AIM_LEVELS, MOVE_LEVELS
from understudy.games.arena.kernels import kernel
from understudy.games.arena.play import bots
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World
from understudy.learn.rl.env import Observation, StepResult


class BatchedArena:
    """N matches of two players."""

    num_players = 2

    def __init__(self, num_matches: int, pseudo_reward: float = 0.0) -> None:
        """`pseudo_reward`: per full health bar of damage dealt less damage taken."""
        self.world = World(num_matches, shaping=pseudo_reward)
        self.actions = np.zeros((num_matches, 2, len(r.ACTION)), np.float32)

    def reset(self, which: Array, seeds: Array) -> None:
        """Start a new match of each seed, in these places."""
        self.world.reset(seeds, which)

    def observe(self) -> Observation:
        """Features and legal options of both players."""
        n = self.world.num_matches
        views = self.world.view.reshape(2 * n, -1)
        return Observation(
            observe.features(views).reshape(n, 2, -1), observe.legal(views).reshape(n, 2, -1)
        )

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note options as the floats that the rules take."""
        _decode(which, slot, options, self.actions)

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let a bot choose."""
        world = self.world
        views = world.view[which, slot]
        done = bots.act(player, views, world.seed[which], world.steps[which], slot)
        self.actions[which, slot] = done

    def step(self) -> StepResult:
        """A tenth of a second."""
        world = self.world
        before = world.status == r.RUNNING
        world.step(self.actions)
        terminated = before & (world.status != r.RUNNING)
        score = np.zeros_like(world.reward)
        if terminated.any():  # in most steps nothing ends
            killed = (world.events & r.KILLED) > 0
            score = (killed[:, 0].astype(np.float32) - killed[:, 1])[:, None] * _SIDES
        return StepResult(world.reward.copy(), score, terminated, np.zeros_like(terminated))

    def state(self) -> dict[str, Array]:
        """The world's arrays."""
        return self.world.state()

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        self.world.restore(state)


_SIDES = np.array([1.0, -1.0], np.float32)


@kernel
def _decode(which, slot, options, actions):  # type: ignore[no-untyped-def]
    """As `actions.decode`, into the places of these players."""
    for k in range(len(which)):
        action, chosen = actions[which[k], slot[k]], options[k]
        action[r.MOVE_X], action[r.MOVE_Y] = MOVE_LEVELS[chosen[0]], MOVE_LEVELS[chosen[1]]
        action[r.AIM_X], action[r.AIM_Y] = AIM_LEVELS[chosen[2]], AIM_LEVELS[chosen[3]]
        action[r.FIRE], action[r.ABILITY] = chosen[4], chosen[5]
        action[r.INTERACT] = chosen[6]
