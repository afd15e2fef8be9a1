"""A trained policy as a player of the arena."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from understudy.data.arrays import Array
from understudy.data.own_code import OwnCode
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features
from understudy.games.arena.data.encode import MOVES
from understudy.games.arena.kernels import kernel
from understudy.games.arena.sim.hash_rng import uniform
from understudy.games.arena.sim.state import View
from understudy.games.arena.sim.world import World
from understudy.learn.policy import FactoredPolicy, load_policy
from understudy.learn.rl.acting.opponents import PolicyPlayer, plans_of
from understudy.learn.rl.acting.own_policy import OwnPolicy

_FIRST_PURPOSE = 8  # the purposes of random numbers below are taken by the world and the bots
_PLAN_PURPOSE = 31


class ArenaPolicy:
    """Draws each action from a policy's distribution over legal options."""

    def __init__(self, policy: FactoredPolicy) -> None:
        self.policy = policy.eval()
        self.playing: PolicyPlayer | None = None

    @staticmethod
    def load(folder: Path) -> "ArenaPolicy":
        """The best weights in a model's folder."""
        return ArenaPolicy(load_policy(folder, MOVES))

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """One draw per head; chance depends on the match and the step, not on the batch.

        A policy that remembers must see its matches from their beginning.
        """
        if self.playing is None or len(self.playing.plan) != world.num_matches:
            self.playing = PolicyPlayer(self.policy, world.num_matches, 2)
        if self.playing.remembers:
            beginning = running[world.steps[running] == 0]
            self.playing.begin(beginning, slot, _lots(world.seed[beginning], slot))
        with torch.inference_mode():
            seen = features.features(views), features.legal(views)
            chance = torch.from_numpy(_dice(world.seed[running], world.steps[running], slot))
            slots = np.full(len(running), slot)
            return codec.decode(self.playing.act(seen, chance, running, slots))

    def distribution(
        self, views: View, seed: int = 0, slot: int = 0
    ) -> tuple[Mapping[str, Array], Array]:
        """Over a match from its beginning: probabilities by head [n, options], and the value [n].

        Seed and slot decide on its plan, where it plays by plans.
        """
        policy = self.policy
        lot = _lots(np.array([seed]), slot)
        with torch.inference_mode():
            observation = torch.from_numpy(features.features(views))
            plan = torch.from_numpy(plans_of(lot, policy.shape)).expand(len(views))
            first = torch.zeros(len(views), 1, dtype=torch.bool)
            hidden = policy.unroll(
                policy.with_plan(observation, plan)[:, None],
                first,
                torch.zeros(1, policy.shape.memory),
            )[0][:, 0]
            legal = torch.from_numpy(features.legal(views))
            options = policy.layout.distribution(policy.options(hidden), legal)
            probabilities = options.probabilities().numpy()
            value = policy.value(hidden).numpy()
        borders = np.cumsum(list(codec.HEADS.values()))[:-1]
        parts = np.split(probabilities, borders, axis=1)
        return dict(zip(codec.HEADS, parts, strict=True)), value


class ArenaOwnPolicy:
    """A policy that somebody brought, as a player of the arena."""

    def __init__(self, code: OwnCode) -> None:
        self.policy = OwnPolicy(code, codec.HEADS)

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """Its options; chance depends on the match and the step, as for a trained one."""
        chance = _dice(world.seed[running], world.steps[running], slot)
        seen = features.features(views), features.legal(views)
        return codec.decode(self.policy.choose(*seen, chance))


def _lots(seeds: Array, slot: int) -> Array:
    """A number of [0, 1) for each match: which plan the player in this slot follows in it."""
    return np.array([uniform(seed, 0, slot, _PLAN_PURPOSE) for seed in seeds])


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
