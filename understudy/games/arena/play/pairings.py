"""Play many pairings at once: a player decides for all its matches together, whoever it meets.

A league lets dozens of pairs meet for a few matches each. One pair after the other, as `match.play`
does it, nearly all the time goes into calling networks for a handful of rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.players import PlayerRef
from understudy.games.arena.data.tables import RESULTS
from understudy.games.arena.play.play import player
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim.world import World
from understudy.league.interface import Pairing

MATCHES_AT_ONCE = 4096
Array = np.ndarray[Any, Any]
Seats = tuple[PlayerRef, PlayerRef, int]


def play_pairings(pairings: Sequence[Pairing]) -> pa.Table:
    """The results of all pairings, each seed from both sides; rows as `match.play` gives them."""
    seats: list[Seats] = [
        (*sides, seed)
        for pairing in pairings
        for sides in (pairing.players, pairing.players[::-1])
        for seed in pairing.seeds
    ]
    tables = [
        _play(seats[first : first + MATCHES_AT_ONCE])
        for first in range(0, len(seats), MATCHES_AT_ONCE)
    ]
    return pa.concat_tables([RESULTS.arrow().empty_table(), *tables])


def _play(seats: Sequence[Seats]) -> pa.Table:
    """Matches side by side to their end."""
    everybody = list(dict.fromkeys(one for *sides, _ in seats for one in sides))
    players = [player(one) for one in everybody]
    number = {one: place for place, one in enumerate(everybody)}
    who: Array = np.array([[number[one], number[other]] for one, other, _ in seats])
    world = World(len(seats))
    world.reset(np.array([seed for *_, seed in seats], np.int64))
    score = np.zeros(len(seats), np.float32)
    actions = np.zeros((len(seats), 2, len(r.ACTION)), np.float32)
    while len(running := np.flatnonzero(world.status == r.RUNNING)):
        for slot in (0, 1):
            theirs = who[running, slot]
            for place in np.unique(theirs):
                mine = running[theirs == place]
                views = world.view[mine, slot]
                actions[mine, slot] = players[place].act(views, world, mine, slot)
        world.step(actions)
        score += world.reward[:, 0]
    return _results(seats, world, score)


def _results(seats: Sequence[Seats], world: World, score: Array) -> pa.Table:
    """Two rows per match, one from each side."""
    both_dead = np.asarray((world.events & r.KILLED).all(axis=1))
    by_kill = world.status == r.TERMINATED
    ending = np.where(both_dead, "double kill", np.where(by_kill, "kill", "timeout"))
    names = np.array([[one.name, other.name] for one, other, _ in seats])
    matches = [f"{one.name}-{other.name}-{seed}" for one, other, seed in seats]
    return RESULTS.build(
        {
            "match": np.repeat(matches, 2),
            "seed": np.repeat(world.seed, 2),
            "player": names.ravel(),
            "slot": np.tile(np.array([0, 1], np.int8), len(seats)),
            "opponent": names[:, ::-1].ravel(),
            "score": (score[:, None] * np.array([1, -1], np.float32)).ravel(),
            "steps": np.repeat(world.steps, 2).astype(np.int32),
            "ending": np.repeat(ending, 2),
        }
    )
