"""Matches of the variant (`learn.rl.env.BatchedEnv`): the arena's, with a choice before them.

In its first decision a player chooses a loadout beside everything else, without knowing the
enemy's. From then on it sees its own, and the enemy's once that has been in sight.
"""

from typing import Final

import numpy as np

from understudy.data.arrays import Array
from understudy.data.samples import Decisions, decisions
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features as base
from understudy.games.arena.play import bots
from understudy.games.arena.play.batched import BatchedArena
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.hash_rng import uniform
from understudy.learn.rl.env import Observation, StepResult

NUM: Final = len(r.LOADOUTS)
LEANING: Final = np.array([0.5, 0.3, 0.2])
"""How often `expert` takes each: what is cloned from it begins beside the equilibrium."""
STYLES: Final = ("expert", "rusher", "kiter")
PLAYERS: Final = {
    "expert": "the arena's expert, with a loadout of its own choice: steel more often",
    **{
        f"{style}-{loadout}": f"the arena's {style}, always with {loadout}"
        for style in STYLES
        for loadout in r.LOADOUTS
    },
}
_CHOICE: Final = 17  # what chance is for; the arena's own purposes are below

FEATURES: Final = {
    **base.FEATURES,
    **{f"own_{one}": f"1 = we carry {one}; all 0 before the first step" for one in r.LOADOUTS},
    **{f"enemy_{one}": f"1 = the enemy was seen to carry {one}" for one in r.LOADOUTS},
}
HEADS: Final = {**codec.HEADS, "loadout": NUM}
MOVES: Final[Decisions] = decisions("arena:loadouts", "moves", r.VERSION, FEATURES, HEADS)


class LoadoutArena:
    """N matches of two players who choose a loadout first."""

    num_players = 2

    def __init__(self, num_matches: int, pseudo_reward: float = 0.0) -> None:
        """`pseudo_reward` as in the arena."""
        self.arena = BatchedArena(num_matches, pseudo_reward)
        self.world = self.arena.world
        self.chosen = np.zeros((num_matches, 2, len(HEADS)), np.int64)

    def reset(self, which: Array, seeds: Array) -> None:
        """Start a new match of each seed, in these places."""
        self.arena.reset(which, seeds)

    def observe(self) -> Observation:
        """The arena's features and options, and the loadouts."""
        seen, legal = self.arena.observe()
        told = _ONE_HOT[self.world.loadouts].reshape(len(seen), 2, -1)
        free = np.zeros((*legal.shape[:2], NUM), bool)
        free[..., 0] = True
        free[self.world.steps == 0] = True
        return Observation(
            np.concatenate([seen, told], 2, dtype=np.float32), np.concatenate([legal, free], 2)
        )

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note what some will do; a loadout counts as a match begins."""
        self.chosen[which, slot] = options
        self.arena.set_actions(which, slot, options)
        self.world.arm(which, slot, options[:, -1] + 1)

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let a bot choose, with the loadout of its name."""
        style, _, named = player.partition("-")
        loadouts = (
            np.full(len(which), r.LOADOUTS.index(named)) if named else self._drawn(which, slot)
        )
        loadouts[self.world.steps[which] > 0] = 0
        self.arena.script(style, which, slot)
        self.chosen[which, slot, :-1] = codec.encode(self.arena.actions[which, slot])
        self.chosen[which, slot, -1] = loadouts
        self.world.arm(which, slot, loadouts + 1)

    def _drawn(self, which: Array, slot: int) -> Array:
        lots = [uniform(seed, 0, slot, _CHOICE) for seed in self.world.seed[which]]
        return np.searchsorted(np.cumsum(LEANING)[:-1], lots, "right")

    def step(self) -> StepResult:
        """A tenth of a second."""
        return self.arena.step()

    def state(self) -> dict[str, Array]:
        """The world's arrays."""
        return self.arena.state()

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        self.arena.restore(state)


_ONE_HOT = np.concatenate([np.zeros((1, NUM)), np.eye(NUM)]).astype(np.float32)
assert set(STYLES) <= set(bots.BOTS)
