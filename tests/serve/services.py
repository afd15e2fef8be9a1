"""Small policies that are served, and observations to ask them about."""

import numpy as np

from understudy.export.numpy_policy import NumpyPolicy
from understudy.games.arena.codec.actions import HEADS
from understudy.games.arena.codec.features import FEATURES
from understudy.learn.policy_shape import PolicyShape
from understudy.serve.codecs import codec_for
from understudy.serve.decider import Decider
from understudy.serve.service import Service
from understudy.serve.streams import Streams

ARENA = PolicyShape(tuple(FEATURES), dict(HEADS), (16,))
PLAIN = PolicyShape(("turn", "second", "seen_0"), {"action": 4}, (8,))


def weights(shape, seed=0):
    """Weights that all count, without torch."""
    rng = np.random.default_rng(seed)
    inputs = len(shape.features) + shape.plan_width
    width = (inputs, *shape.hidden)[-1]
    sizes = {"options": (sum(shape.heads.values()), width), "outcome": (1, width)}
    for number, (i, o) in enumerate(zip((inputs, *shape.hidden), shape.hidden, strict=False)):
        sizes[f"torso.{2 * number}"] = (o, i)
    if shape.memory:
        sizes |= {"core.seen": (3 * shape.memory, width), "recalled": (width, shape.memory)}
        sizes["core.kept"] = (3 * shape.memory, shape.memory)
    found = {"mean": np.zeros(inputs, np.float32), "std": np.ones(inputs, np.float32)}
    for name, size in sizes.items():
        found[f"{name}.weight"] = rng.normal(0, 1, size).astype(np.float32)
        found[f"{name}.bias"] = rng.normal(0, 1, size[0]).astype(np.float32)
    if shape.plans:
        found["table"] = rng.normal(0, 1, (shape.plans, shape.plan_width)).astype(np.float32)
    return found


def service(game="arena", shape=ARENA, folder=None, **told):
    """A policy that answers; with a folder it writes down what it decides."""
    codec = codec_for(game, shape)
    streams = None if folder is None else Streams(folder, live=codec.live)
    decider = Decider(NumpyPolicy(shape, weights(shape)), **told)
    return Service(game, "served", codec, decider, streams)


def view(number=0):
    """What a player of the arena sees, as an object."""
    return {"position": [-8 + 0.1 * number, 1.5], "health": 100 - number, "magazine": 3}
