"""How exploitable a choice of loadouts is: from the small matrix of who beats whom, exactly.

Axes: L loadouts.
"""

from collections.abc import Sequence

import numpy as np
import torch

from understudy.data.arrays import Array
from understudy.data.players import PlayerRef
from understudy.games.arena.loadouts.matches import HEADS, MOVES, NUM, STYLES, LoadoutArena
from understudy.games.arena.sim import rules as r
from understudy.learn.policy import load_policy

_SEEDS = range(10**12, 10**12 + 512)  # of no recording and no competition


def chosen(player: PlayerRef) -> Array:
    """How often a policy takes each loadout [L], over layouts and places to begin."""
    assert player.weights is not None
    policy = load_policy(player.weights, MOVES)
    game = LoadoutArena(len(_SEEDS))
    game.reset(np.arange(len(_SEEDS)), np.array(_SEEDS))
    parts = (torch.from_numpy(part.reshape(-1, part.shape[2])) for part in game.observe())
    with torch.inference_mode():
        found = policy.probabilities(*parts)[:, -HEADS["loadout"] :].double().numpy()
    shares: Array = found.mean(0)
    return shares / shares.sum()


def circle(style: str = STYLES[0], matches: int = 4_000) -> Array:
    """Win rates of the row's loadout [L, L] where both players are the same bot, draws as half."""
    found = np.full((NUM, NUM), 0.5)
    for one, other in [(a, b) for a in range(NUM) for b in range(a)]:
        found[one, other] = _played(style, one, other, matches)
        found[other, one] = 1 - found[one, other]
    return found


def exploited(win_rate: Array, shares: Sequence[float] | Array) -> float:
    """What the best loadout wins against who draws one by these shares."""
    return float((win_rate @ np.asarray(shares)).max())


def _played(style: str, one: int, other: int, matches: int) -> float:
    """Half of the matches from either side."""
    half = np.arange(matches // 2)
    won = 0.0
    for seats in ((one, other), (other, one)):
        game, everyone = LoadoutArena(len(half)), half
        game.reset(everyone, half + 10**12)
        score = np.zeros(len(half))
        while len(running := np.flatnonzero(game.world.status == r.RUNNING)):
            for slot, loadout in enumerate(seats):
                game.script(f"{style}-{r.LOADOUTS[loadout]}", running, slot)
            result = game.step()
            score += np.where(result.terminated, result.score[:, seats.index(one)], 0.0)
        won += float(score.sum())
    return 0.5 + won / (4 * len(half))
