"""Two players in the same factories of the same worlds: what a match is in a league of many.

A world has dozens of factories and no winner. So two players are seated at the same level of the
same world, each beside the other, and the world is played twice, the second time with their
factories swapped. In each of the two factories that is a paired comparison, all else equal: a
match, won by whoever made more of it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Floats
from understudy.data.players import PlayerRef
from understudy.data.results import both_sides, pair_results
from understudy.games.scml.agent.policy import packaged, policy_of
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat, set_seat
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.domain import RULES
from understudy.games.scml.learning.online.fields import Company
from understudy.games.scml.tuning.trials import AT_ONCE, Field, Layout, layout, worlds_of
from understudy.league.interface import Pairing

RESULTS: Final = replace(pair_results("scml"), name="duels", made_by="understudy league scml")
CLOSE: Final = 1e-9
"""Scores closer than this are a draw: at the last level two players often do the same."""


@dataclass(frozen=True)
class Duel:
    """A world with two factories of one level that are compared; `layout.mine` is the first."""

    layout: Layout
    other: int

    @property
    def seats(self) -> tuple[int, int]:
        """Both."""
        return self.layout.mine, self.other


def duel(company: Company, seed: int) -> Duel:
    """The world of a seed: official draws and worlds of rivals alone, in every place in turn."""
    rng = random.Random(f"duel/{seed}")
    field: Field = "official" if rng.random() < company.official else "champions"
    place = company.places[seed % len(company.places)]
    block, number = divmod(seed, 10**6)
    found = layout(field, place, block, number, company.rivals)
    if company.most_days is not None:
        found = replace(found, days=min(found.days, company.most_days))
    levels = [level for level, size in enumerate(found.sizes) for _ in range(size)]
    near = [seat for seat, level in enumerate(levels) if level == levels[found.mine]]
    return Duel(found, rng.choice([seat for seat in near if seat != found.mine]))


class Hands:
    """Players as seats of compiled worlds; weights are asked from outside."""

    def __init__(self, refs: Sequence[PlayerRef]) -> None:
        self.learners: list[ManyDecisions] = []
        self._seats: dict[str, Seat] = {}
        for ref in refs:
            if ref.name not in self._seats:
                self._seats[ref.name] = self._seat(ref)

    def _seat(self, ref: PlayerRef) -> Seat:
        if ref.weights is None and ref.name in NATIVE["std"]:
            return Seat(ref.name)
        path = ref.weights or packaged(ref.name, RULES["std"].horizon)
        assert path is not None  # the players of a league are native or learnt
        self.learners.append(ManyDecisions(policy_of(path)))
        return Seat(None, policy=len(self.learners) - 1)

    def of(self, ref: PlayerRef) -> Seat:
        """Where a player is asked."""
        return self._seats[ref.name]


def play_pairings(pairings: Sequence[Pairing], company: Company) -> pa.Table:
    """Each pairing in the worlds of its seeds: RESULTS, two matches a seed, two rows a match."""
    tables = [RESULTS.arrow().empty_table()]
    for pairing in pairings:
        duels = [duel(company, seed) for seed in pairing.seeds]
        scores = compared(pairing.players, duels)
        tables.append(both_sides(RESULTS, _matches(pairing, duels, scores)))
    return pa.concat_tables(tables)


def compared(players: tuple[PlayerRef, PlayerRef], duels: Sequence[Duel]) -> Floats:
    """What each made of each factory, [factories, players, duels]."""
    hands = Hands(players)
    found = np.empty((2, 2, len(duels)))
    for start in range(0, len(duels), AT_ONCE):
        some = duels[start : start + AT_ONCE]
        fixed = worlds_of([one.layout for one in some])
        rows = np.arange(len(some))
        seats = np.array([one.seats for one in some])
        for first in (0, 1):  # who has the first factory
            for row, one in zip(fixed, some, strict=True):
                for factory, player in zip(one.seats, (first, 1 - first), strict=True):
                    set_seat(row, factory, hands.of(players[player]))
            worlds = Worlds(fixed)
            play(worlds, hands.learners)
            at = slice(start, start + len(some))
            found[0, first, at] = worlds.scores[rows, seats[:, 0]]
            found[1, 1 - first, at] = worlds.scores[rows, seats[:, 1]]
    return found


def _matches(pairing: Pairing, duels: Sequence[Duel], scores: Floats) -> pa.Table:
    """A row per match; in the second the other player is `player_0`."""
    names = [ref.name for ref in pairing.players]
    rows: list[Mapping[str, object]] = []
    for index, (seed, one) in enumerate(zip(pairing.seeds, duels, strict=True)):
        for factory in (0, 1):
            mine, theirs = names[factory], names[1 - factory]
            gain = scores[factory, factory, index] - scores[factory, 1 - factory, index]
            rows.append(
                {
                    "match": f"{mine}-{theirs}-{seed}-{factory}",
                    "seed": seed,
                    "player_0": mine,
                    "player_1": theirs,
                    "score": 0.0 if abs(gain) < CLOSE else float(np.clip(gain, -1, 1)),
                    "steps": one.layout.days,
                    "ending": "two scores of one factory",
                }
            )
    return pa.Table.from_pylist(rows)
