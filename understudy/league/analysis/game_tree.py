"""A zero-sum game of two written out whole, and what can be computed exactly there.

A table of probabilities, one row per information state, says all of how a player plays. Against
such a table the best answer is found by going through the tree once, from the ends to the root:
whoever answers knows the table, and sees no more of a match than the rules show.
Axes: N nodes, I information states (of both players), O options.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from understudy.data.arrays import Array

CHANCE: Final = -1
END: Final = -2
Table = Float[np.ndarray, "I O"]


@dataclass(frozen=True, eq=False)
class GameTree:
    """Nodes, those nearer to the root first; the root is node 0.

    All nodes of an information state lie equally deep, and a player remembers all it has seen and
    done: both hold wherever moves are made in turn and seen, as in poker.
    """

    parent: Int[np.ndarray, " N"]
    choice: Int[np.ndarray, " N"]
    """The option, or the outcome of chance, that leads here."""
    player: Int[np.ndarray, " N"]
    """Who chooses here: 0, 1, CHANCE, or nobody at an END."""
    state: Int[np.ndarray, " N"]
    """The information state of whoever chooses here; -1 where nobody does."""
    chance: Float[np.ndarray, " N"]
    """With which probability chance leads here; 1 where a player does."""
    score: Float[np.ndarray, " N"]
    """What player 0 wins at an end, +1 to -1; 0 elsewhere."""
    legal: Bool[np.ndarray, "I O"]

    def __post_init__(self) -> None:
        depth = np.zeros(len(self.parent), np.int64)
        for node in range(1, len(depth)):
            depth[node] = depth[self.parent[node]] + 1
        if (np.diff(depth) < 0).any():
            raise ValueError("nodes must be in order of their depth")
        chosen = self.state >= 0
        spread = np.zeros((2, len(self.legal)), np.int64)
        spread[0] = np.iinfo(np.int64).max
        np.minimum.at(spread[0], self.state[chosen], depth[chosen])
        np.maximum.at(spread[1], self.state[chosen], depth[chosen])
        if (spread[0] != spread[1]).any():
            raise ValueError("an information state must lie at one depth, and have a node")
        object.__setattr__(self, "_borders", np.flatnonzero(np.diff(depth, prepend=-1)))

    @property
    def levels(self) -> list[slice]:
        """The nodes of each depth, the root's first."""
        borders: Array = self._borders  # type: ignore[attr-defined]
        ends = [*borders[1:].tolist(), len(self.parent)]
        return [slice(first, end) for first, end in zip(borders.tolist(), ends, strict=True)]

    @cached_property
    def owner(self) -> Int[np.ndarray, " I"]:
        """Whose information state it is."""
        found = np.zeros(len(self.legal), np.int64)
        chosen = self.state >= 0
        found[self.state[chosen]] = self.player[chosen]
        return found

    def even(self) -> Table:
        """The table of who chooses any legal option."""
        return self.legal / self.legal.sum(1, keepdims=True)


class BestScores(NamedTuple):
    """What the best answer to a table wins in each seat, +1 to -1."""

    first: float
    second: float

    @property
    def win_rate(self) -> float:
        """Both seats alike, draws as half: a half where nobody wins anything against the table."""
        return 0.5 + (self.first + self.second) / 4


def best_response(tree: GameTree, table: Table) -> BestScores:
    """What the best answers win against whoever plays both seats by the table."""
    _require_table(tree, table)
    return BestScores(_answered(tree, table, 0), _answered(tree, table, 1))


def expected_score(tree: GameTree, first: Table, second: Table) -> float:
    """What who plays the first seat by one table wins against the second by the other."""
    for table in (first, second):
        _require_table(tree, table)
    step = _steps(tree, np.where((tree.owner == 0)[:, None], first, second))
    reach = np.ones(len(tree.parent))
    for level in tree.levels[1:]:
        reach[level] = reach[tree.parent[level]] * step[level]
    return float(reach @ tree.score)


def mixture(tree: GameTree, tables: Sequence[Table], shares: Sequence[float]) -> Table:
    """The one table that plays as whoever draws one of several for each match (Kuhn 1953).

    In an information state it leans to those tables that are likely to lead there. What none of
    them ever reaches is played by their average.
    """
    total = np.zeros_like(tables[0])
    weights = np.zeros(len(total))
    for table, share in zip(tables, shares, strict=True):
        weight = share * (_own_reach(tree, table) + 1e-12)
        total += weight[:, None] * table
        weights += weight
    return total / weights[:, None]


def _require_table(tree: GameTree, table: Table) -> None:
    if table.shape != tree.legal.shape:
        raise ValueError(f"a table of {table.shape} for a game of {tree.legal.shape}")
    if (table[~tree.legal] != 0).any() or not np.allclose(table.sum(1), 1):
        raise ValueError("rows of a table must be probabilities of legal options")


def _steps(tree: GameTree, table: Table) -> Float[np.ndarray, " N"]:
    """With which probability one comes from each node's parent to it."""
    state = tree.state[tree.parent]
    found = tree.chance.copy()
    chosen = state >= 0
    found[chosen] = table[state[chosen], tree.choice[chosen]]
    return found


def _own_reach(tree: GameTree, table: Table) -> Float[np.ndarray, " I"]:
    """How likely a player's own choices lead to each of its information states."""
    step, found = _steps(tree, table), np.zeros(len(table))
    for seat in (0, 1):
        reach = np.ones(len(tree.parent))
        own = tree.player[tree.parent] == seat
        for level in tree.levels[1:]:
            reach[level] = reach[tree.parent[level]] * np.where(own[level], step[level], 1.0)
        mine = tree.player == seat
        found[tree.state[mine]] = reach[mine]  # the same in all nodes: it remembers what it did
    return found


def _answered(tree: GameTree, table: Table, seat: int) -> float:
    """What the best answer in a seat wins against the table in the other."""
    step = _steps(tree, table)
    own = tree.player[tree.parent] == seat
    reach = np.ones(len(tree.parent))  # by chance and the other player alone
    for level in tree.levels[1:]:
        reach[level] = reach[tree.parent[level]] * np.where(own[level], 1.0, step[level])
    value = tree.score * (1.0 if seat == 0 else -1.0)
    states, options = table.shape
    for level in reversed(tree.levels[1:]):
        parent, mine = tree.parent[level], own[level]
        np.add.at(value, parent[~mine], (value[level] * step[level])[~mine])
        state, choice = tree.state[parent[mine]], tree.choice[level][mine]
        worth = np.bincount(
            state * options + choice,
            (value[level] * reach[level])[mine],
            minlength=states * options,
        ).reshape(states, options)
        best = np.where(tree.legal, worth, -np.inf).argmax(1)
        taken = choice == best[state]
        value[parent[mine][taken]] = value[level][mine][taken]
    return float(value[0])
