"""The circle written out: both styles, the riddle, both answers, who wins."""

from functools import cache

import numpy as np
import torch

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.circle.matches import ANSWER, KNOWS, LEGAL, SHOWN, STYLE, leaning, moves_of
from understudy.games.circle.rules import ANSWERS, RIDDLES, RIGHT, STYLES, win_rate
from understudy.league.analysis.game_tree import CHANCE, END, GameTree
from understudy.league.interface import Exact
from understudy.learn.policy import load_policy

STATES = 1 + STYLES * RIDDLES
"""Of one player: nothing is chosen yet, or a riddle is seen and the own style known."""
ROWS = np.tile(np.r_[0, np.tile(1 + np.arange(RIDDLES), STYLES)], 2)
"""What is shown in each state of both players, as a row of `matches.SHOWN`."""


def exact(share: float) -> Exact:
    """For leagues: exploitability."""
    return Exact(lambda: tree(share), lambda one: table_of(share, one))


@cache
def tree(share: float) -> GameTree:
    """Nodes by depth: style, style, riddle, answer, answer, the end; neither sees the other's."""
    sizes = (STYLES, STYLES, RIDDLES, ANSWERS, ANSWERS)
    counts = np.cumprod([1, *sizes])
    first = np.cumsum([0, *counts])
    parent = [first[d] + np.arange(counts[d + 1]) // size for d, size in enumerate(sizes)]
    choice = [np.arange(counts[d + 1]) % size for d, size in enumerate(sizes)]
    one, other, riddle = np.indices(sizes[:3]).reshape(3, -1)
    answered = np.repeat(np.arange(counts[3]), ANSWERS)
    states = [
        *([0], np.full(STYLES, STATES), np.full(counts[2], -1)),
        1 + one * RIDDLES + riddle,
        (STATES + 1 + other * RIDDLES + riddle)[answered],
        np.full(counts[5], -1),
    ]
    style, right = np.stack([one, other], 1), np.indices(sizes[3:]).reshape(2, -1).T
    style, asked = (np.repeat(part, ANSWERS**2, axis=0) for part in (style, RIGHT[riddle]))
    right = np.tile(right, (counts[3], 1)) == asked[:, None]
    rate = win_rate(share, style, right)
    legal = np.zeros((2 * STATES, STYLES), bool)
    legal[:, :ANSWERS] = legal[[0, STATES]] = True
    return GameTree(
        parent=np.concatenate([[0], *parent]),
        choice=np.concatenate([[0], *choice]),
        player=np.repeat([0, 1, CHANCE, 0, 1, END], counts),
        state=np.concatenate(states),
        chance=np.repeat([1.0, 1.0, 1.0, 1 / RIDDLES, 1.0, 1.0], counts),
        score=np.concatenate([np.zeros(first[5]), 2 * rate - 1]),
        legal=legal,
    )


def table_of(share: float, player: PlayerRef) -> Array:
    """How often a player chooses what; the same in both seats, and whatever its style."""
    style, answer = _scripted(player.name) if player.weights is None else _learnt(share, player)
    rows = np.zeros((1 + RIDDLES, STYLES))
    rows[0], rows[1:, :ANSWERS] = style, answer
    return (rows / rows.sum(1, keepdims=True))[ROWS]


def _scripted(name: str) -> tuple[Array, Array]:
    knows = KNOWS.get(name, 1.0)
    answer = np.full((RIDDLES, ANSWERS), (1 - knows) / (ANSWERS - 1))
    answer[range(RIDDLES), RIGHT] = knows
    return leaning(name), answer


def _learnt(share: float, player: PlayerRef) -> tuple[Array, Array]:
    assert player.weights is not None
    policy = load_policy(player.weights, moves_of(f"circle:{share:g}"))
    if policy.shape.memory or policy.shape.plans:
        raise InputError(f"{player.weights} remembers or plans: no table can tell how it plays")
    legal = LEGAL[[STYLE, *[ANSWER] * RIDDLES]]
    with torch.inference_mode():
        found = policy.probabilities(torch.from_numpy(SHOWN), torch.from_numpy(legal))
    chances: Array = found.double().numpy()
    return chances[0, :STYLES], chances[1:, STYLES:]
