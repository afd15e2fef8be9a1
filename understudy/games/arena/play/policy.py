"""A trained policy as a player of the arena."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from understudy.data.arrays import Array
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim.hash_rng import uniform
from understudy.games.arena.sim.state import View
from understudy.games.arena.sim.world import World
from understudy.learn.policy import FactoredPolicy, load_policy

_FIRST_PURPOSE = 8  # the purposes of random numbers below are taken by the world and the bots


class PolicyPlayer:
    """Draws each action from the policy's distribution over legal options."""

    def __init__(self, policy: FactoredPolicy) -> None:
        self.policy = policy.eval()

    @staticmethod
    def load(folder: Path) -> "PolicyPlayer":
        """The best weights in a model's folder."""
        return PolicyPlayer(load_policy(folder, MOVES))

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """One draw per head; chance depends on the match and the step, not on the batch."""
        with torch.inference_mode():
            choices = self.policy.sample(
                torch.from_numpy(features.features(views)),
                torch.from_numpy(features.legal(views)),
                torch.from_numpy(_dice(world.seed[running], world.steps[running], slot)),
            )
        return codec.decode(choices.numpy())

    def distribution(self, views: View) -> tuple[Mapping[str, Array], Array]:
        """For each head the probability of each option, [n, options]; and the value [n]."""
        with torch.inference_mode():
            observation = torch.from_numpy(features.features(views))
            legal = torch.from_numpy(features.legal(views))
            probabilities = self.policy.probabilities(observation, legal).numpy()
            value = self.policy(observation).value.numpy()
        borders = np.cumsum(list(codec.HEADS.values()))[:-1]
        parts = np.split(probabilities, borders, axis=1)
        return dict(zip(codec.HEADS, parts, strict=True)), value


def _dice(seeds: Array, steps: Array, slot: int) -> Array:
    out = np.empty((len(seeds), len(codec.HEADS)), np.float32)
    _throw(seeds, steps, slot, out)
    return out


@kernel
def _throw(seeds, steps, slot, out):  # type: ignore[no-untyped-def]
    for i in range(len(seeds)):
        for head in range(out.shape[1]):
            # Rounding to float32 must not reach 1.
            rng = uniform(seeds[i], steps[i], slot, _FIRST_PURPOSE + head)
            out[i, head] = min(rng, 0.9999999)
