"""Play matches between two players, many side by side, and record them."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.arena.data.tables import MATCHES, RECORDED_VIEW, RULES, STEPS, results
from understudy.games.arena.play import bots
from understudy.games.arena.play.batched import BatchedArena
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.state import View
from understudy.games.arena.sim.world import World
from understudy.learn.rl.acting.playout import Recorder, playout
from understudy.pipeline.game import Played
from understudy.pipeline.pairings import Fixture

Seats = tuple[PlayerRef, PlayerRef, int]
"""Who sits where in a match, and its seed."""


class Player(Protocol):
    """Somebody who can play many matches at once."""

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """Actions, float32 [n, 7], for the views [n, V] of the `running` matches of `world`."""
        ...


class Bot:
    """A scripted player of `bots.py`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, views: View, world: World, running: Array, slot: int) -> Array:
        """What the script says."""
        return bots.act(self.name, views, world.seed[running], world.steps[running], slot)


def player(ref: PlayerRef) -> Player:
    """The player behind a name: a bot, a trained policy, or one that somebody brought."""
    if ref.code is not None:
        from understudy.games.arena.play.policy import ArenaOwnPolicy

        return ArenaOwnPolicy(ref.code)
    if ref.weights is not None:
        from understudy.games.arena.play.policy import ArenaPolicy

        return ArenaPolicy.load(ref.weights)
    if ref.name in bots.BOTS:
        return Bot(ref.name)
    raise InputError(
        f"the arena has no player '{ref.name}'; it has {', '.join(bots.BOTS)}, "
        "and any trained model of the run"
    )


def play(fixture: Fixture) -> Played:
    """Play the fixture's matches; those that need not be kept are recorded in outline."""
    one, other = fixture.players
    num_players = [(one, other, seed) for seed in fixture.seeds]
    keep = len(num_players) if fixture.keep is None else fixture.keep
    outline, steps = play_matches(num_players, keep)
    return Played(results(outline), {"matches": outline, "steps": steps})


def play_matches(num_players: Sequence[Seats], keep: int) -> tuple[pa.Table, pa.Table]:
    """Matches of two and a seed, side by side to their end, as rows of MATCHES and of STEPS.

    A player decides for all its matches together, whoever it meets.
    """
    everybody = list(dict.fromkeys(one for *both, _ in num_players for one in both))
    number = {one: place for place, one in enumerate(everybody)}
    game = BatchedArena(len(num_players))
    choosers = [_chooser(player(one), game) for one in everybody]
    recorder = Recorder[View](
        keep,
        lambda views, which: (views[which], game.actions[which]),
        lambda result, which: (result.reward[which], game.world.events[which]),
    )
    outcome = playout(
        game,
        np.array([seed for *_, seed in num_players], np.int64),
        np.array([[number[one], number[other]] for one, other, _ in num_players]),
        choosers,
        see=lambda: game.world.view,
        recorder=recorder,
    )
    ids = np.array([f"{one.name}-{other.name}-{seed}" for one, other, seed in num_players])
    names = np.array([[one.name, other.name] for one, other, _ in num_players])
    outline = outline_of(game.world, ids, names, outcome.score[:, 0])
    return outline, steps_table(ids, *recorder.columns())


def _chooser(one: Player, game: BatchedArena) -> Callable[[View, Array, int], None]:
    """Lets a player act in some matches; views are all it needs."""

    def set_actions(views: View, which: Array, slot: int) -> None:
        game.actions[which, slot] = one.act(views[which, slot], game.world, which, slot)

    return set_actions


def outline_of(
    world: World, ids: Array, names: Array, score: Array, origin: str = "played"
) -> pa.Table:
    """One row per match."""
    both_dead: Array = np.asarray((world.events & r.KILLED).all(axis=1))
    by_kill = world.status == r.TERMINATED
    return MATCHES.build(
        {
            "match": ids,
            "seed": world.seed,
            "player_0": names[:, 0],
            "player_1": names[:, 1],
            "score": score,
            "steps": world.steps.astype(np.int32),
            "ending": np.where(both_dead, "double kill", np.where(by_kill, "kill", "timeout")),
            "layout": [r.LAYOUT_NAMES[layout] for layout in world.layout],
            "origin": [origin] * len(ids),
        },
        RULES,
    )


def steps_table(
    ids: Array, which: Array, step: Array, *parts: Array, extras: pa.Array | None = None
) -> pa.Table:
    """One row per match, step and player, in that order."""
    views, actions = (part.reshape(-1, part.shape[2]) for part in parts[:2])
    reward, events = (part.ravel() for part in parts[2:])
    return STEPS.build(
        {
            "match": np.repeat(ids[which], 2),
            "step": np.repeat(step, 2),
            "slot": np.tile(np.array([0, 1], np.int8), len(which)),
            **dict(zip(RECORDED_VIEW, views.T[: len(RECORDED_VIEW)], strict=True)),
            **dict(zip(r.ACTION, actions.T, strict=True)),
            "reward": reward,
            "events": events.astype(np.int32),
            "extras": pa.nulls(2 * len(which), pa.string()) if extras is None else extras,
        },
        RULES,
    )
