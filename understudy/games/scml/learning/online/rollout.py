"""A rollout: some worlds with learners in them, from the first day to the last."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Array, Floats
from understudy.games.scml.agent.checkpoint import About, Checkpoint
from understudy.games.scml.agent.policy import CLONES, HRLPolicy, policy_of
from understudy.games.scml.batch.learnt.policy import Learner, ManyDecisions, play
from understudy.games.scml.batch.setup import Seat, set_seat
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.learning.online.fields import Company, Planned, layouts
from understudy.games.scml.learning.online.rollout_buffer import (
    PLACES,
    GuideBuffer,
    Played,
    RolloutBuffer,
)
from understudy.games.scml.tuning.trials import worlds_of

Layers = dict[str, dict[str, Array]]
_OF_GUIDES: Final = 500_000
"""From this number on the worlds of a block are theirs."""


@dataclass(frozen=True, kw_only=True)
class Guide:
    """A champion's clone to be imitated while one learns by play, and where."""

    name: str
    """One of `CLONES`."""
    worlds: int
    """It plays in each rollout, among champions alone."""
    places: tuple[str, ...] = ("first",)
    """Where in the chain it is imitated."""


@dataclass(frozen=True)
class Job:
    """All that decides a rollout."""

    layers: Layers
    about: About
    company: Company
    block: int
    first: int
    worlds: int
    keep: float
    samples_order: bool
    goal_noise: float
    response_temperature: float = 1.0
    past: tuple[Layers, ...] = ()
    """Earlier selves, who play as rivals."""
    guide: Guide | None = None
    """Whose play is written down, too."""


class Rollout(NamedTuple):
    """What came of a job."""

    played: Played
    final: Floats
    """[decisions]: the score that the factory ended with."""
    scores: Floats
    """[worlds]."""
    levels: Array
    """[worlds]: of the learner, 0 the first, 1 a middle, 2 the last."""
    bankrupt: float
    guided: Played | None = None
    """What a guide decided in worlds of its own."""


def seated(planned: Sequence[Planned]) -> Array:
    """The worlds with everybody in their places, [planned] of dtype FIXED."""
    fixed = worlds_of([one.layout for one in planned])
    for row, one in zip(fixed, planned, strict=True):
        row["conserves"] = one.conserves
        for seat, number in one.learners.items():
            set_seat(row, seat, Seat(None, policy=number))
    return fixed


def clones_of(company: Company) -> list[ManyDecisions]:
    """The clones among the rivals, who play as they came with the package."""
    return [ManyDecisions(policy_of(CLONES[name])) for name in company.clones if company.cloned]


def grouped(played: Played, planned: Sequence[Planned]) -> Played:
    """Decisions told apart by the field of their world, too."""
    alone = np.array([one.field == "champions" for one in planned])
    return replace(played, group=played.level + PLACES * alone[played.world])


def collect(job: Job) -> Rollout:
    """Play a job's worlds."""
    temperature = job.response_temperature
    drawn = replace(job.about, response_temperature=temperature, offer_temperature=1.0)
    policy = HRLPolicy(Checkpoint(job.layers, drawn))
    buffer = RolloutBuffer(
        policy, keep=job.keep, samples_order=job.samples_order, goal_noise=job.goal_noise
    )
    learners: list[Learner] = [ManyDecisions(policy, explorer=buffer)]
    learners += [ManyDecisions(HRLPolicy(Checkpoint(past, drawn))) for past in job.past]
    learners += clones_of(job.company)
    planned = layouts(job.company, job.block, job.first, job.worlds, len(job.past))
    worlds = Worlds(seated(planned))
    play(worlds, learners)
    played = grouped(buffer.played(), planned)
    mine = np.array([one.layout.mine for one in planned])
    rows = np.arange(len(planned))
    return Rollout(
        played,
        worlds.scores[played.world, played.factory],
        worlds.scores[rows, mine],
        np.array([one.level for one in planned]),
        float(worlds.bankrupt[rows, mine].mean()),
        None if job.guide is None else guided(job, job.guide, policy),
    )


def guided(job: Job, guide: Guide, learner: HRLPolicy) -> Played:
    """What the guide decides in worlds of champions alone."""
    company = replace(job.company, official=0.0, places=guide.places, past=0.0)
    first = _OF_GUIDES + job.first // max(job.worlds, 1) * guide.worlds
    planned = layouts(company, job.block, first, guide.worlds, 0)
    worlds = Worlds(seated(planned))
    leads = policy_of(CLONES[guide.name])
    buffer = GuideBuffer(leads, learner, guide.worlds)
    play(worlds, [ManyDecisions(leads, explorer=buffer), *clones_of(company)])
    return grouped(buffer.played(), planned)
