"""Many matches side by side (`learn.rl.env.BatchedEnv`): one step each, both choose at once."""

import numpy as np

from understudy.data.arrays import Array
from understudy.data.samples import Decisions, decisions
from understudy.games.circle.rules import ANSWERS, RIDDLES, RIGHT, STYLES, win_rate
from understudy.games.two_player.hosted import uniform
from understudy.learn.rl.env import Observation, StepResult

LEANING = np.exp(np.linspace(1.5, -1.5, STYLES))
LEANING /= LEANING.sum()
"""How often the expert takes each style."""
KNOWS = {"expert": 0.6, "guesser": 1 / ANSWERS}
"""How often a scripted player answers rightly; who has a style of its own always does."""
PLAYERS = {
    "expert": "leans to the first styles, and answers six riddles of ten",
    "guesser": "any style, any answer",
    **{f"style-{k}": f"always style {k}, and the right answer" for k in range(STYLES)},
}
_RIDDLE, _OUTCOME, _STYLE, _ANSWER = range(0, 8, 2)  # what chance is for; of a slot, one beside it


def moves_of(name: str) -> Decisions:
    """What is decided: a style and an answer, by the riddle."""
    seen = {f"riddle_{k}": f"1 if it is riddle {k}" for k in range(RIDDLES)}
    return decisions(name, "moves", 1, seen, {"style": STYLES, "answer": ANSWERS})


class Circle:
    """N matches in which style decides `share` of the odds."""

    num_players = 2

    def __init__(self, share: float, num_matches: int) -> None:
        self.share = share
        self.seeds = np.zeros(num_matches, np.int64)
        self.running = np.zeros(num_matches, bool)
        self.chosen = np.zeros((num_matches, 2, 2), np.int64)

    def reset(self, which: Array, seeds: Array) -> None:
        """Begin matches of these seeds."""
        self.seeds[which], self.running[which] = seeds, True

    @property
    def riddle(self) -> Array:
        """Int64 [N]: what is asked."""
        found: Array = (self._lot(self.seeds, _RIDDLE) * RIDDLES).astype(np.int64)
        return found

    def _lot(self, seeds: Array, purpose: int) -> Array:
        return uniform(seeds, np.zeros(len(seeds), np.int64), purpose)

    def observe(self) -> Observation:
        """The riddle, and everything may be chosen; once it is over the first style and answer."""
        shown = (self.riddle[:, None] == np.arange(RIDDLES)) & self.running[:, None]
        legal = np.zeros((len(shown), STYLES + ANSWERS), bool)
        legal[:, [0, STYLES]] = True
        legal |= self.running[:, None]
        return Observation(
            np.repeat(shown[:, None].astype(np.float32), 2, axis=1),
            np.repeat(legal[:, None], 2, axis=1),
        )

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note what some will do."""
        self.chosen[which, slot] = options

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let a scripted player choose."""
        lot = self._lot(self.seeds[which], _STYLE + slot)
        if player in KNOWS:
            leaning = LEANING if player == "expert" else np.full(STYLES, 1 / STYLES)
            style = np.searchsorted(np.cumsum(leaning)[:-1], lot, "right")
        else:
            style = np.full(len(which), int(player.rpartition("-")[2]))
        lot, knows = self._lot(self.seeds[which], _ANSWER + slot), KNOWS.get(player, 1.0)
        wrong = 1 + ((lot - knows) / max(1 - knows, 1e-9) * (ANSWERS - 1)).astype(np.int64)
        off = np.where(lot < knows, 0, np.clip(wrong, 1, ANSWERS - 1))
        answer = (RIGHT[self.riddle[which]] + off) % ANSWERS
        chosen = np.stack([style, answer], 1)
        self.chosen[which, slot] = np.where(self.running[which, None], chosen, 0)

    def step(self) -> StepResult:
        """The odds are drawn, and the match is over."""
        right = self.chosen[..., 1] == RIGHT[self.riddle][:, None]
        rate = win_rate(self.share, self.chosen[..., 0], right)
        won = np.where(self._lot(self.seeds, _OUTCOME) < rate, 1.0, -1.0)
        terminated = self.running.copy()
        won = np.where(terminated, won, 0.0)
        self.running[:] = False
        score = np.stack([won, -won], 1).astype(np.float32)
        return StepResult(
            reward=score, score=score, terminated=terminated, truncated=np.zeros_like(terminated)
        )

    def state(self) -> dict[str, Array]:
        """Everything."""
        return {"seeds": self.seeds.copy(), "running": self.running.copy()}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        self.seeds, self.running = state["seeds"].copy(), state["running"].copy()
