"""Plan a round's training jobs, and do one: its folder is claimed, filled, marked as finished."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from understudy.data.integrity.locks import release
from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import PART, LeagueFolder, begin, finish, read_manifest
from understudy.errors import InputError
from understudy.league.interface import Improve, LearnerJob, Opponent, TrainingResult
from understudy.league.state import MISSING


def opponents_of(
    shares: Mapping[str, float], learner: str, players: Mapping[str, PlayerRef]
) -> tuple[Opponent, ...]:
    """Names and shares as a training job wants them; the learner's own name stands for itself."""
    return tuple(
        Opponent(None if name == learner else players[name], share)
        for name, share in shares.items()
    )


def train(improve: Improve, job: LearnerJob) -> TrainingResult:
    """Have a training job done, unless it was done before; what came of it.

    A training job that was stopped is done again, with what it left in its folder.
    """
    begin(job.out, PART, _settings(job))
    manifest = read_manifest(job.out)
    if manifest is not None and manifest["finished"] is not None:
        release(job.out)
        return _read(manifest["facts"])
    outcomes = improve(job)
    if not any(job.out.glob("weights.*")):
        raise InputError(f"the training job of {job.name} left no weights.* in {job.out}")
    finish(
        job.out,
        agent_steps=outcomes.agent_steps,
        match_steps=outcomes.match_steps,
        metrics=dict(outcomes.metrics),
    )
    return outcomes


def trainer(improve: Improve) -> "partial[TrainingResult]":
    """`train` as a function of the training job alone, fit for other processes."""
    return partial(train, improve)


def _settings(job: LearnerJob) -> dict[str, Any]:
    """All that decides what comes of a training job; paths do not."""
    return {
        "name": job.name,
        "start": job.start.name,
        "weights": weights_digest(job.start, MISSING),
        "opponents": [
            [one.player.name if one.player else None, one.probability] for one in job.opponents
        ],
        "agent_steps": job.agent_steps,
        "seed": job.seed,
        "overrides": asdict(job.overrides),
        "magnet": job.magnet and job.magnet.name,
    }


def _read(facts: Mapping[str, Any]) -> TrainingResult:
    return TrainingResult(facts["agent_steps"], facts["metrics"], facts["match_steps"])


def player_ref(folder: Path, frozen: Mapping[str, PlayerRef], name: str) -> PlayerRef:
    """A player of the league in `folder` by name; `frozen` are those it did not make itself."""
    return frozen.get(name) or PlayerRef(name, LeagueFolder(folder).player(name))
