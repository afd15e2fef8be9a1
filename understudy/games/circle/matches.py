"""Many matches side by side (`learn.rl.env.BatchedEnv`): both choose a style, then both answer."""

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
STYLE, ANSWER, OVER = range(3)
"""How far a match has come."""
_RIDDLE, _OUTCOME, _LEANS, _GUESSES = range(0, 8, 2)  # what chance is for; of slot 1, one more


def moves_of(name: str) -> Decisions:
    """What is decided: a style, then an answer by the riddle."""
    seen = {"answering": "1 once styles are chosen"}
    seen |= {f"riddle_{k}": f"1 if it is riddle {k}" for k in range(RIDDLES)}
    return decisions(name, "moves", 1, seen, {"style": STYLES, "answer": ANSWERS})


SHOWN = np.zeros((1 + RIDDLES, 1 + RIDDLES), np.float32)
"""What is seen when a style is to be chosen, then with each riddle."""
SHOWN[1:, 0] = 1.0
SHOWN[1:, 1:] = np.eye(RIDDLES)
LEGAL = np.zeros((3, STYLES + ANSWERS), bool)
"""What may be chosen, by how far a match has come; the first option where nothing is."""
LEGAL[:, [0, STYLES]] = True
LEGAL[STYLE, :STYLES] = LEGAL[ANSWER, STYLES:] = True


class Circle:
    """N matches in which style decides `share` of the odds."""

    num_players = 2

    def __init__(self, share: float, num_matches: int) -> None:
        self.share = share
        self.seeds = np.zeros(num_matches, np.int64)
        self.stage = np.full(num_matches, OVER)
        self.styles = np.zeros((num_matches, 2), np.int64)
        self.chosen = np.zeros((num_matches, 2, 2), np.int64)

    def reset(self, which: Array, seeds: Array) -> None:
        """Begin matches of these seeds."""
        self.seeds[which], self.stage[which] = seeds, STYLE

    @property
    def riddle(self) -> Array:
        """Int64 [N]: what is asked."""
        found: Array = (_lot(self.seeds, _RIDDLE) * RIDDLES).astype(np.int64)
        return found

    def observe(self) -> Observation:
        """Nothing at first, then the riddle."""
        shown = SHOWN[np.where(self.stage == ANSWER, 1 + self.riddle, 0)]
        both = (shown, LEGAL[self.stage])
        return Observation(*(np.repeat(part[:, None], 2, axis=1) for part in both))

    def set_actions(self, which: Array, slot: Array, options: Array) -> None:
        """Note what some will do."""
        self.chosen[which, slot] = options

    def script(self, player: str, which: Array, slot: int) -> None:
        """Let a scripted player choose."""
        seeds = self.seeds[which]
        style = np.searchsorted(
            np.cumsum(leaning(player))[:-1], _lot(seeds, _LEANS + slot), "right"
        )
        lot, knows = _lot(seeds, _GUESSES + slot), KNOWS.get(player, 1.0)
        wrong = 1 + ((lot - knows) / max(1 - knows, 1e-9) * (ANSWERS - 1)).astype(np.int64)
        off = np.where(lot < knows, 0, np.clip(wrong, 1, ANSWERS - 1))
        answer = (RIGHT[self.riddle[which]] + off) % ANSWERS
        stage = self.stage[which]
        chosen = np.stack([style * (stage == STYLE), answer * (stage == ANSWER)], 1)
        self.chosen[which, slot] = chosen

    def step(self) -> StepResult:
        """Styles are kept; once both have answered, the odds are drawn."""
        begun, terminated = self.stage == STYLE, self.stage == ANSWER
        self.styles[begun] = self.chosen[begun, :, 0]
        right = self.chosen[..., 1] == RIGHT[self.riddle][:, None]
        rate = win_rate(self.share, self.styles, right)
        won = np.where(_lot(self.seeds, _OUTCOME) < rate, 1.0, -1.0) * terminated
        self.stage = np.minimum(self.stage + 1, OVER)
        score = np.stack([won, -won], 1).astype(np.float32)
        return StepResult(
            reward=score, score=score, terminated=terminated, truncated=np.zeros_like(terminated)
        )

    def state(self) -> dict[str, Array]:
        """Everything."""
        return {name: getattr(self, name).copy() for name in ("seeds", "stage", "styles")}

    def restore(self, state: dict[str, Array]) -> None:
        """Go on from there."""
        for name, array in state.items():
            setattr(self, name, array.copy())


def leaning(player: str) -> Array:
    """How often a scripted player takes each style."""
    if player == "expert":
        return LEANING
    if player in KNOWS:
        return np.full(STYLES, 1 / STYLES)
    found: Array = np.eye(STYLES)[int(player.rpartition("-")[2])]
    return found


def _lot(seeds: Array, purpose: int) -> Array:
    return uniform(seeds, np.zeros(len(seeds), np.int64), purpose)
