"""Play a few matches and boil everything down to digests; run by itself, print them.

`test_world.py` runs this as plain Python and compares.
"""

import hashlib

import numpy as np
from numba import config

from tests.games.arena.acting import bot_actions, random_actions
from understudy.games.arena.codec import features
from understudy.games.arena.play.bots import BOTS
from understudy.games.arena.sim import world as w

STEPS = 200
MATCHES = 4


def digests():
    """One per pairing: views, features, masks, rewards and actions of all steps."""
    pairings = [*(("expert", name) for name in BOTS), None]
    return [_digest(number, players) for number, players in enumerate(pairings)]


def _digest(number, players):
    rng = np.random.default_rng(number)
    world = w.World(MATCHES, shaping=0.25)
    world.reset([number, 10 + number, 2**40 + number, 2**61 + number])
    total = hashlib.sha256()
    for _ in range(STEPS):
        if players is None:
            actions = random_actions(rng, MATCHES, 2)
        else:
            actions = bot_actions(world, *players)
        world.step(actions)
        views = world.view.reshape(2 * MATCHES, -1)
        for part in (actions, views, features.features(views), features.legal(views), world.reward):
            total.update(part.tobytes())
    return total.hexdigest()


if __name__ == "__main__":
    print("plain" if config.DISABLE_JIT else "compiled")
    print(*digests())
