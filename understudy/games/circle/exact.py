"""The circle written out: the riddle, what both choose without seeing the other, who wins."""

from functools import cache

import numpy as np
import torch

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.errors import InputError
from understudy.games.circle.matches import KNOWS, LEANING, moves_of
from understudy.games.circle.rules import ANSWERS, RIDDLES, RIGHT, STYLES, win_rate
from understudy.league.analysis.game_tree import CHANCE, END, GameTree
from understudy.league.interface import Exact
from understudy.learn.policy import load_policy

OPTIONS = STYLES * ANSWERS
"""A style and an answer together, answers of one style side by side."""


def exact(share: float) -> Exact:
    """For leagues: exploitability."""
    return Exact(lambda: tree(share), lambda one: table_of(share, one))


@cache
def tree(share: float) -> GameTree:
    """Nodes by depth: the root, a riddle each, the first one's choice, the second one's."""
    option = np.arange(OPTIONS)
    counts = 1, RIDDLES, RIDDLES * OPTIONS, RIDDLES * OPTIONS**2
    first = np.cumsum([0, *counts])
    above = [first[depth - 1] + np.arange(counts[depth]) // (OPTIONS, RIDDLES)[depth == 1]
             for depth in (1, 2, 3)]
    riddle, one, other = (
        part.ravel() for part in np.meshgrid(np.arange(RIDDLES), option, option, indexing="ij")
    )
    both = np.stack([one, other], 1)
    rate = win_rate(share, both // ANSWERS, both % ANSWERS == RIGHT[riddle][:, None])
    asked = np.arange(RIDDLES)
    return GameTree(
        parent=np.concatenate([[0], *above]),
        choice=np.concatenate([[0], asked, np.tile(option, RIDDLES), other]),
        player=np.repeat([CHANCE, 0, 1, END], counts),
        state=np.concatenate(
            [[-1], asked, RIDDLES + np.repeat(asked, OPTIONS), np.full(counts[3], -1)]
        ),
        chance=np.repeat([1.0, 1 / RIDDLES, 1.0, 1.0], counts),
        score=np.concatenate([np.zeros(first[3]), 2 * rate - 1]),
        legal=np.ones((2 * RIDDLES, OPTIONS), bool),
    )


def table_of(share: float, player: PlayerRef) -> Array:
    """How often a player chooses what, by riddle; the same in both seats."""
    style, answer = _scripted(player.name) if player.weights is None else _learnt(share, player)
    both = (style[:, :, None] * answer[:, None, :]).reshape(RIDDLES, OPTIONS)
    return np.tile(both / both.sum(1, keepdims=True), (2, 1))


def _scripted(name: str) -> tuple[Array, Array]:
    style = LEANING if name == "expert" else np.full(STYLES, 1 / STYLES)
    if name not in KNOWS:
        style = np.eye(STYLES)[int(name.rpartition("-")[2])]
    knows = KNOWS.get(name, 1.0)
    answer = np.full((RIDDLES, ANSWERS), (1 - knows) / (ANSWERS - 1))
    answer[range(RIDDLES), RIGHT] = knows
    return np.tile(style, (RIDDLES, 1)), answer


def _learnt(share: float, player: PlayerRef) -> tuple[Array, Array]:
    assert player.weights is not None
    policy = load_policy(player.weights, moves_of(f"circle:{share:g}"))
    if policy.shape.memory or policy.shape.plans:
        raise InputError(f"{player.weights} remembers or plans: no table can tell how it plays")
    with torch.inference_mode():
        shown, legal = torch.eye(RIDDLES), torch.ones(RIDDLES, STYLES + ANSWERS, dtype=torch.bool)
        found: Array = policy.probabilities(shown, legal).double().numpy()
    return found[:, :STYLES], found[:, STYLES:]
