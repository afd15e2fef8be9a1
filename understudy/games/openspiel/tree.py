"""A small OpenSpiel game written out: its tree, and what players see in every node."""

from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from understudy.data.arrays import Array
from understudy.games.openspiel.matches import shown
from understudy.league.analysis.game_tree import CHANCE, END, GameTree

if TYPE_CHECKING:  # which imports this module
    from understudy.games.openspiel.family import OpenSpiel


MOST_NODES = 50_000
"""Of a game that is written out to be played: a second, and some ten megabytes."""


@dataclass(frozen=True, eq=False)
class WrittenOut:
    """A game's tree and what goes with its nodes. Axes: N nodes, I states, F features, O options.

    A child of a node is found by its option, or by the number of chance's outcome.
    """

    tree: GameTree
    seen: Array
    """Float32 [N 2 F]: what both are shown; nothing once the match is over."""
    child: Array
    """Int64 [N K]: by option or outcome; -1 where there is none."""
    chances: Array
    """Float64 [N K]: outcomes of chance summed up from the first on, then infinity."""
    outcomes: Array
    """Int64 [N]: how many outcomes chance has here; 0 where it has no say."""
    first: Array
    """Int64 [I]: a node of each information state."""
    draws: int
    """How often chance has its say in a match, at most."""


@cache
def is_small(host: "OpenSpiel") -> bool:
    """Whether a game is worth writing out: players move in turn, and there are not many nodes."""
    spiel = host.spiel
    in_turn = spiel.get_type().dynamics.name == "SEQUENTIAL"
    return in_turn and tree_size(spiel, most=MOST_NODES) <= MOST_NODES


def tree_size(game: Any, probes: int = 200, most: float = np.inf) -> float:
    """About how many states a game tree has, by random descents (Knuth 1975).

    Infinite where it is certain that there are more than `most`.
    """
    rng = np.random.default_rng(0)
    total = 0.0
    for _ in range(probes):
        state, paths = game.new_initial_state(), 1.0
        while not state.is_terminal():
            options = state.legal_actions()
            paths *= len(options)
            total += paths
            if total > most * probes:
                return np.inf
            state.apply_action(int(rng.choice(options)))
    return total / probes


@cache
def written_out(host: "OpenSpiel") -> WrittenOut:
    """The whole game; takes some ten microseconds a node."""
    return _Writer(host).write()


class _Writer:
    """Goes through the game level by level."""

    def __init__(self, host: "OpenSpiel") -> None:
        self.host, self.spiel = host, host.spiel
        self.scale = self.spiel.max_utility() - self.spiel.min_utility()
        self.options = int(self.spiel.num_distinct_actions())
        self.numbers: dict[tuple[int, str], int] = {}
        self.legal: list[Array] = []
        self.first: list[int] = []
        self.rows: list[tuple[int, int, int, int, float, float]] = []
        self.seen: list[list[list[float]]] = []
        self.summed: dict[int, list[float]] = {}

    def write(self) -> WrittenOut:
        level: list[tuple[int, int, float, Any]] = [(0, 0, 1.0, self.spiel.new_initial_state())]
        while level:
            level = [below for above in level for below in self._node(*above)]
        parent, choice, player, state, chance, score = map(np.array, zip(*self.rows, strict=True))
        tree = GameTree(parent, choice, player, state, chance, score, np.array(self.legal))
        width = max(self.options, 1 + int(choice.max()))
        child = np.full((len(parent), width), -1, np.int64)
        child[parent[1:], choice[1:]] = np.arange(1, len(parent))
        chances = np.full((len(parent), width), np.inf)
        outcomes = np.zeros(len(parent), np.int64)
        for node, summed in self.summed.items():
            chances[node, : len(summed)], outcomes[node] = summed, len(summed)
        drawn = np.zeros(len(parent), np.int64)
        for depth in tree.levels[1:]:
            drawn[depth] = drawn[parent[depth]] + (outcomes[parent[depth]] > 0)
        seen, first = np.array(self.seen, np.float32), np.array(self.first)
        return WrittenOut(tree, seen, child, chances, outcomes, first, int(drawn.max()))

    def _node(
        self, parent: int, choice: int, chance: float, state: Any
    ) -> list[tuple[int, int, float, Any]]:
        """Write a node down; the children that are to follow."""
        node = len(self.rows)
        if state.is_terminal():
            one, other = state.returns()
            self.rows.append((parent, choice, END, -1, chance, (one - other) / self.scale))
            self.seen.append([[0.0] * self.host.features] * 2)
            return []
        self.seen.append([shown(state, slot, self.host.shows_past) for slot in (0, 1)])
        if state.is_chance_node():
            self.rows.append((parent, choice, CHANCE, -1, chance, 0.0))
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            self.summed[node] = [*accumulate(weights)]
            below = enumerate(zip(actions, weights, strict=True))
            return [(node, number, p, state.child(action)) for number, (action, p) in below]
        player = state.current_player()
        number = self._state(player, state, node)
        self.rows.append((parent, choice, player, number, chance, 0.0))
        return [(node, action, 1.0, state.child(action)) for action in state.legal_actions()]

    def _state(self, player: int, state: Any, node: int) -> int:
        """The number of an information state."""
        key = player, state.information_state_string(player)
        if key not in self.numbers:
            self.numbers[key] = len(self.numbers)
            legal = np.zeros(self.options, bool)
            legal[state.legal_actions()] = True
            self.legal.append(legal)
            self.first.append(node)
        return self.numbers[key]
