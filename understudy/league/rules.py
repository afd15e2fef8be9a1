"""When a learner is kept as an opponent for all time, and when it starts over, and from what.

A snapshot is taken first and the learner reset after it: what is kept is what was trained.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from understudy.league.manner import USUAL, Manner
from understudy.league.payoff import Payoff
from understudy.league.players import Learner, Roster

ResetTo = Literal["imitation", "past main", "adaptive"]


class Kept(NamedTuple):
    """Why a snapshot is taken."""

    reason: str
    succeeded: bool
    """It beats whom it should, rather than time being up."""


@dataclass(frozen=True)
class SnapshotRule:
    """When to freeze a copy. Steps are agent-steps since the last snapshot."""

    min_steps: int = 0
    """High: fewer snapshots, further apart, whatever the win rates."""
    max_steps: int = 0
    """A copy is frozen by then in any case."""
    beats: float | None = None
    """Also when the win rate against everybody to be beaten is surely above this; None: never."""
    confidence: float = 0.9
    """How sure: the lower bound of each pair's win rate is taken at this confidence."""

    def __call__(self, learner: Learner, roster: Roster, payoff: Payoff) -> Kept | None:
        """Whether to freeze the learner's version now, and why."""
        steps = learner.unsaved_steps
        if not steps or steps < self.min_steps:
            return None
        if self.beats is not None and (names := targets(learner, roster)):
            worst = min(
                names, key=lambda name: payoff.belief(learner.version, name, self.confidence).low
            )
            low = payoff.belief(learner.version, worst, self.confidence).low
            if low > self.beats:
                return Kept(f"beats all {len(names)}, {worst} the least: above {low:.0%}", True)
        if steps >= self.max_steps:
            return Kept(f"{steps:,} agent-steps have passed", False)
        return None


@dataclass(frozen=True)
class ResetRule:
    """What becomes of a learner after its snapshot."""

    probability: float = 0.0
    """How often it starts over rather than going on."""
    to: ResetTo = "imitation"
    """From the imitation; from the past main agent that does best against the present ones; or
    adaptive: from the imitation until a life begun there has ended without success."""

    def __call__(
        self,
        learner: Learner,
        roster: Roster,
        payoff: Payoff,
        succeeded: bool,
        dice: np.random.Generator,
    ) -> str | None:
        """Whose weights the learner starts over with; None: it goes on."""
        if dice.random() >= self.probability:
            return None
        went_well = succeeded and learner.begun_from == roster.start
        if self.to == "imitation" or (self.to == "adaptive" and went_well):
            return roster.start
        return hardest_past_main(roster, payoff)


@dataclass(frozen=True)
class RoleRules:
    """The rules for all learners of one role."""

    snapshot: SnapshotRule
    reset: ResetRule = ResetRule()
    manner: Manner = USUAL


def targets(learner: Learner, roster: Roster) -> list[str]:
    """Whom a learner should beat: main exploiters the main agents, the others all the past."""
    if learner.role == "main exploiter":
        return [main.version for main in roster.mains()]
    return [name for name in roster.opponents() if name != learner.version]


def hardest_past_main(roster: Roster, payoff: Payoff) -> str:
    """The past main agent with the best mean win rate against the present ones, or the start."""
    past = [
        name
        for name in [roster.start, *roster.snapshots("main")]
        if all(name != main.version for main in roster.mains())
    ]
    if not past:
        return roster.start
    rates = [
        np.mean([1 - payoff.belief(main.version, name).mean for main in roster.mains()])
        for name in past
    ]
    return past[int(np.argmax(rates))]
