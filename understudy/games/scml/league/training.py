"""A training job of a league: HRL-XF learns on by play among the opponents it was given.

In every world it has one factory, and beside it at the same level sits one of its opponents; the
seats of rivals are theirs as well, each drawn by its share. An exploiter is rewarded for how far it
ends above the one beside it (`Overrides.rivalry`), everybody else for its own score.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch

from understudy.data.arrays import Floats
from understudy.data.players import PlayerRef
from understudy.data.runs import WEIGHTS
from understudy.games.scml.agent.checkpoint import Checkpoint, read_checkpoint
from understudy.games.scml.agent.checkpoint import write_checkpoint as write_agent
from understudy.games.scml.agent.policy import HRLPolicy, packaged, policy_of
from understudy.games.scml.batch.learnt.policy import Learner as Player
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.players.ask import NATIVE
from understudy.games.scml.batch.setup import Seat, set_seat
from understudy.games.scml.batch.worlds import Worlds
from understudy.games.scml.domain import RULES
from understudy.games.scml.league.duels import Duel, duel
from understudy.games.scml.learning.online.fields import Company, block_of
from understudy.games.scml.learning.online.learner import Learner, LearnerSettings, Rates
from understudy.games.scml.learning.online.rollout import Rollout
from understudy.games.scml.learning.online.rollout_buffer import RolloutBuffer
from understudy.games.scml.players.steward_numbers import PLACES
from understudy.games.scml.tuning.trials import worlds_of
from understudy.league.interface import LearnerJob, Opponent, TrainingResult
from understudy.learn.checkpoint import reading_checkpoint, write_checkpoint
from understudy.pipeline.league_training import MEMORY

_CPU: Final = torch.device("cpu")


@dataclass(frozen=True, kw_only=True)
class JobSettings:
    """How a training job of a league learns."""

    learner: LearnerSettings
    company: Company
    worlds: int
    """Played in each iteration."""
    learning_rate: float
    """Of L3; the other layers stay as they are."""
    kl_weight: float
    """Of the divergence from what the league began with."""
    keep: float
    """Share of decisions that the policy learns from; the critic learns from all."""


def train(settings: JobSettings, job: LearnerJob) -> TrainingResult:
    """Learn from about so many joint decisions; weights and memory are in the job's folder.

    A job that was stopped begins again, and ends the same.
    """
    start = read_checkpoint(weights_of(job.start))
    anchor = read_checkpoint(weights_of(job.imitation))
    scheme = HRLPolicy(start).l3.scheme
    learner = Learner(settings.learner, start.layers, scheme, job.seed, _CPU, anchor.layers)
    knows = _recall(learner, job.start)
    rates = Rates(
        learning_rates={"l3": settings.learning_rate * job.overrides.rate},
        kl_weight=settings.kl_weight * job.overrides.kl_scale,
    )
    steps, worlds, iteration, metrics = 0, 0, 0, dict[str, float]()
    while steps < job.agent_steps:
        done = steps / job.agent_steps
        rate = job.overrides.rate + (job.overrides.rate_end - job.overrides.rate) * done
        now = replace(rates, learning_rates={"l3": settings.learning_rate * rate})
        acted = {**start.layers, **learner.player.layers()}
        rollout = among_opponents(settings, job, Checkpoint(acted, start.about), iteration)
        # A critic that knows nothing yet would reward at random.
        learnt = now if knows or iteration else replace(now, learning_rates={})
        rng = np.random.default_rng((job.seed, iteration))
        metrics = learner.learn([rollout], acted, learnt, rng)
        metrics["score"] = float(rollout.scores.mean())
        steps, worlds = steps + len(rollout.played.world), worlds + len(rollout.scores)
        iteration += 1
    job.out.mkdir(parents=True, exist_ok=True)
    write_checkpoint(job.out / MEMORY, learner.state())
    write_agent(
        job.out / WEIGHTS, Checkpoint({**start.layers, **learner.player.layers()}, start.about)
    )
    return TrainingResult(steps, metrics | {"worlds": float(worlds)})


def weights_of(ref: PlayerRef) -> Path:
    """The file of a player's weights; of one without, those that come with the package."""
    if ref.weights is not None:
        return ref.weights / WEIGHTS
    found = packaged(ref.name, RULES["std"].horizon)
    assert found is not None  # who is not native is learnt
    return found


def _recall(learner: Learner, start: PlayerRef) -> bool:
    """Go on with the critic and optimisers that the last job left; whether there were any."""
    if start.weights is None or not (path := start.weights / MEMORY).is_file():
        return False
    cure = f"Delete it: the player in {start.weights} then learns on without it"
    with reading_checkpoint(path, _CPU, cure) as content:
        learner.restore(content)
    return True


# --- among whom ----------------------------------------------------------------------------------


def among_opponents(
    settings: JobSettings, job: LearnerJob, acted: Checkpoint, iteration: int
) -> Rollout:
    """An iteration's worlds, played with the learner and its opponents in them."""
    block = block_of("train", job.seed, iteration)
    duels = [duel(settings.company, block * 10**6 + number) for number in range(settings.worlds)]
    fixed = worlds_of([one.layout for one in duels])
    temperature = settings.learner.response_temperature
    drawn = replace(acted.about, response_temperature=temperature, offer_temperature=1.0)
    policy = HRLPolicy(Checkpoint(acted.layers, drawn))
    buffer = RolloutBuffer(policy, keep=settings.keep, samples_order=False)
    learners: list[Player] = [ManyDecisions(policy, explorer=buffer)]
    seats = [_seat(one, learners) for one in job.opponents]
    shares = [one.probability for one in job.opponents]
    rng = random.Random(f"opponents/{block}")
    for row, one in zip(fixed, duels, strict=True):
        for factory in _rival_seats(settings.company, one):
            set_seat(row, factory, rng.choices(seats, shares)[0])
        set_seat(row, one.layout.mine, Seat(None, policy=0))
    worlds = Worlds(fixed)
    play(worlds, learners)
    return _rollout(worlds, duels, buffer, job.overrides.rivalry)


def _seat(opponent: Opponent, learners: list[Player]) -> Seat:
    """Where an opponent is asked; None stands for the learner itself, as it learns."""
    ref = opponent.player
    if ref is None:
        return Seat(None, policy=0)
    if ref.weights is None and ref.name in NATIVE["std"]:
        return Seat(ref.name)
    learners.append(ManyDecisions(policy_of(weights_of(ref))))
    return Seat(None, policy=len(learners) - 1)


def _rival_seats(company: Company, one: Duel) -> Sequence[int]:
    """The one beside the learner, and wherever rivals are."""
    rivals = (seat for seat, name in enumerate(one.layout.players) if name in company.rivals)
    return sorted({one.other, *rivals} - {one.layout.mine})


def _rollout(
    worlds: Worlds, duels: Sequence[Duel], buffer: RolloutBuffer, rivalry: float
) -> Rollout:
    played, rows = buffer.played(), np.arange(len(duels))
    mine, other = np.array([one.seats for one in duels]).T
    scores: Floats = worlds.scores
    final = scores[played.world, played.factory]
    beside = scores[rows, other][played.world]
    # Only who sits in the factory that is compared is rewarded for being above the other.
    compared = played.factory == mine[played.world]
    return Rollout(
        played,
        np.where(compared, final - rivalry * beside, final),
        scores[rows, mine],
        np.array([PLACES.index(one.layout.place) for one in duels]),
        float(worlds.bankrupt[rows, mine].mean()),
    )
