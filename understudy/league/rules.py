"""When a learner is kept as an opponent for all time, and when it starts over, and from what.

A snapshot is taken first and the learner reset after it: what is kept is what was trained.
"""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from understudy.league.payoff import Payoff
from understudy.league.population import Learner, Roster

ResetTo = Literal["imitation", "past main", "adaptive"]


@dataclass(frozen=True)
class Overrides:
    """Rates and `kl_scale` are shares of what is usual in the game."""

    rate: float = 1.0
    """Of the learning rate, when a training job begins."""
    rate_end: float = 1.0
    """Of the learning rate, when it ends; it changes along a line."""
    kl_scale: float = 1.0
    """Of the pull towards the imitation. 0: free, which may end far from how people play."""
    draw: float = 0.0
    """What a drawn match is worth, between a lost one, -1, and a won one, 1. At 0 a learner that
    cannot win yet may learn to stall, and never find out how to win."""
    magnet: float = 0.0
    """Weight of the pull towards its own last snapshot, in place of that towards the imitation: as
    in R-NaD (Perolat et al. 2022) and magnetic mirror descent (Sokota et al. 2023). Up: slower
    steps that go less in circles."""
    rivalry: float = 0.0
    """Where everybody has a score of their own: how much the opponent's counts against one's own.
    At 1 only the difference counts."""

    def __post_init__(self) -> None:
        if not (
            self.rate > 0
            and min(self.rate_end, self.kl_scale, self.magnet, self.rivalry) >= 0
            and abs(self.draw) <= 1
        ):
            raise ValueError(f"rate must be above 0, the others not below, draw within 1: {self}")

    def slowed(self, first: float, last: float) -> "Overrides":
        """The same with these shares of its rates left."""
        return replace(self, rate=self.rate * first, rate_end=self.rate_end * last)


USUAL = Overrides()


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
            rate = payoff.belief(learner.version, worst, self.confidence)
            if rate.low > self.beats:
                least = f"{worst} the least: above {rate.low:.0%} by {rate.n} matches"
                return Kept(f"beats all {len(names)}, {least}", True)
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
        rng: np.random.Generator,
    ) -> str | None:
        """Whose weights the learner starts over with; None: it goes on."""
        if rng.random() >= self.probability:
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
    overrides: Overrides = USUAL


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
        np.mean([1 - payoff.belief(main.version, name).value for main in roster.mains()])
        for name in past
    ]
    return past[int(np.argmax(rates))]
