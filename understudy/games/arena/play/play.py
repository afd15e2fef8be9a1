"""Play matches between two players, many side by side, and record them."""

from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.arena.data.tables import MATCHES, STEPS, results
from understudy.games.arena.play import bots
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.state import VIEW, View
from understudy.games.arena.sim.world import World
from understudy.pipeline.game import Played
from understudy.pipeline.pairings import Fixture

Array = np.ndarray[Any, Any]
_ENDINGS = {r.TERMINATED: "kill", r.TRUNCATED: "timeout"}


class Player(Protocol):
    """Somebody who can play many matches at once."""

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """Actions, float32 [n, 7], for the views [n, V] of the `running` matches of `world`."""
        ...


class Bot:
    """A scripted player of `bots.py`."""

    def __init__(self, name: str):
        self.name = name

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """What the script says."""
        return bots.act(self.name, views, world.seed[running], world.steps[running], slot)


def player(ref: PlayerRef) -> Player:
    """The player behind a name: a bot, or a trained policy."""
    if ref.weights is not None:
        from understudy.games.arena.play.policy import PolicyPlayer

        return PolicyPlayer.load(ref.weights)
    if ref.name in bots.BOTS:
        return Bot(ref.name)
    raise InputError(
        f"the arena has no player '{ref.name}'; it has {', '.join(bots.BOTS)}, "
        "and any trained model of the run"
    )


def play(fixture: Fixture) -> Played:
    """Play the fixture's matches; those that need not be kept are recorded in outline."""
    players = [player(ref) for ref in fixture.players]
    names = [ref.name for ref in fixture.players]
    seeds = np.array(fixture.seeds, np.int64)
    ids = np.array([f"{names[0]}-{names[1]}-{seed}" for seed in seeds])
    world = World(len(seeds))
    world.reset(seeds)
    score = np.zeros(len(seeds), np.float32)
    kept = len(seeds) if fixture.keep is None else fixture.keep
    film: list[tuple[Array, ...]] = []
    while len(running := np.flatnonzero(world.status == r.RUNNING)):
        actions = np.zeros((len(seeds), 2, len(r.ACTION)), np.float32)
        for slot, one in enumerate(players):
            actions[running, slot] = one.act(world.view[running, slot], world, running, slot)
        filmed = running[running < kept]
        before = world.view[filmed], world.steps[filmed].copy()
        world.step(actions)
        score += world.reward[:, 0]
        film.append((filmed, *before, actions[filmed], world.reward[filmed], world.events[filmed]))
    outline = _outline(world, ids, names, score)
    return Played(results(outline), {"matches": outline, "steps": _steps_table(ids, film)})


def _outline(world: World, ids: Array, names: list[str], score: Array) -> pa.Table:
    """One row per match."""
    both_dead: Array = np.asarray((world.events & r.KILLED).all(axis=1))
    ending = [_ENDINGS[int(status)] for status in world.status]
    return MATCHES.build(
        {
            "match": ids,
            "seed": world.seed,
            "player_0": [names[0]] * len(ids),
            "player_1": [names[1]] * len(ids),
            "score": score,
            "steps": world.steps.astype(np.int32),
            "ending": ["double kill" if both_dead[k] else e for k, e in enumerate(ending)],
            "layout": [r.LAYOUT_NAMES[layout] for layout in world.layout],
            "origin": ["played"] * len(ids),
        }
    )


def _steps_table(ids: Array, film: list[tuple[Array, ...]]) -> pa.Table:
    """One row per match, step and player, in that order."""
    which, views, step, actions, reward, events = map(np.concatenate, zip(*film, strict=True))
    order = np.argsort(which, kind="stable")  # within a match the film is in order already
    rows = 2 * len(order)
    flat_views = views[order].reshape(rows, len(VIEW))
    flat_actions = actions[order].reshape(rows, len(r.ACTION))
    return STEPS.build(
        {
            "match": np.repeat(ids[which[order]], 2),
            "step": np.repeat(step[order], 2).astype(np.int32),
            "slot": np.tile(np.array([0, 1], np.int8), len(order)),
            **{name: flat_views[:, k] for k, name in enumerate(VIEW)},
            **{name: flat_actions[:, k] for k, name in enumerate(r.ACTION)},
            "reward": reward[order].reshape(rows),
            "events": events[order].reshape(rows).astype(np.int32),
            "extras": pa.nulls(rows, pa.string()),
        }
    )
