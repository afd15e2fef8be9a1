"""A guide: a champion's clone that plays some worlds, to be imitated while one learns by play.

What it does is written down as the one who learns would have seen it: with the learner's own goals
and its own view of histories. So a policy can begin with what a champion knows of a place where
it is ahead, and go on from there by its own rewards (kickstarting, Schmitt et al. 2018).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.data.arrays import Array, Float32s, Ints
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.batch.learnt.networks import ManyOffers
from understudy.games.scml.batch.learnt.policy import DayStarts, Decided
from understudy.games.scml.batch.observe import Questions
from understudy.games.scml.batch.state import FACTORIES
from understudy.games.scml.domain import NUM_GOALS
from understudy.games.scml.learning.online.rollout_buffer import RolloutBuffer


@dataclass(frozen=True, kw_only=True)
class Guide:
    """Whom to imitate, and where."""

    name: str
    """One of `CLONES`."""
    worlds: int
    """It plays in each rollout, among champions alone."""
    places: tuple[str, ...] = ("first",)
    """Where in the chain it is imitated."""


class GuideBuffer(RolloutBuffer):
    """Writes down a guide's decisions with what the learner reads in the same situations."""

    def __init__(self, guide: HRLPolicy, learner: HRLPolicy, worlds: int) -> None:
        super().__init__(guide, keep=1.0, samples_order=False)
        self._guide, self._learner, self._offers = guide, learner, ManyOffers(learner.l3)
        self._read = np.zeros((worlds, FACTORIES, NUM_GOALS), np.float32)
        """The learner's goals of the day as it reads them."""

    def goals(self, state: Array, asked: Questions, fresh: Ints, start: DayStarts) -> Float32s:
        """The guide's, by which it plays; the learner's are kept."""
        read = self._learner.goal_input(start.columns, self._learner.goals(*start))
        self._read[asked.world[fresh], asked.factory[fresh]] = read
        return np.asarray(self._guide.goals(*start))

    def note(self, fixed: Array, state: Array, decided: Decided) -> None:
        """One page."""
        asked = decided.asked
        goals = self._read[asked.world, asked.factory]
        self._offers.before_turns(decided.seen, goals, asked.columns.state_of)
        told: Any = {"goals": goals, "views": self._offers.views}
        super().note(fixed, state, decided._replace(**told))
