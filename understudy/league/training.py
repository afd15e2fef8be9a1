"""Plan a round's lessons, and give one: its folder is claimed, filled, and marked as finished."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import LeagueFolder, begin, finish, read_manifest
from understudy.errors import InputError
from understudy.league.interface import Improve, Learnt, Lesson, Opponent
from understudy.league.payoff import Tally
from understudy.league.state import MISSING


def opponents_of(
    shares: Mapping[str, float], learner: str, players: Mapping[str, PlayerRef]
) -> tuple[Opponent, ...]:
    """Names and shares as a lesson wants them; the learner's own name stands for itself."""
    return tuple(
        Opponent(None if name == learner else players[name], share)
        for name, share in shares.items()
    )


def give(improve: Improve, lesson: Lesson) -> Learnt:
    """Have a lesson given, unless it was given before; what came of it.

    A lesson that was stopped is given again, with what it left in its folder.
    """
    begin(lesson.out, "lesson", _settings(lesson))
    manifest = read_manifest(lesson.out)
    if manifest is not None and manifest["finished"] is not None:
        return _read(manifest["facts"])
    learnt = improve(lesson)
    if not any(lesson.out.glob("weights.*")):
        raise InputError(f"the lesson of {lesson.name} left no weights.* in {lesson.out}")
    finish(
        lesson.out,
        agent_steps=learnt.agent_steps,
        tallies={name: list(tally) for name, tally in learnt.tallies.items()},
        metrics=dict(learnt.metrics),
    )
    return learnt


def giver(improve: Improve) -> "partial[Learnt]":
    """`give` as a function of the lesson alone, fit for other processes."""
    return partial(give, improve)


def _settings(lesson: Lesson) -> dict[str, Any]:
    """All that decides what comes of a lesson; paths do not."""
    return {
        "name": lesson.name,
        "start": lesson.start.name,
        "weights": weights_digest(lesson.start, MISSING),
        "opponents": [
            [one.player.name if one.player else None, one.probability] for one in lesson.opponents
        ],
        "agent_steps": lesson.agent_steps,
        "seed": lesson.seed,
        "manner": asdict(lesson.manner),
    }


def _read(facts: Mapping[str, Any]) -> Learnt:
    tallies = {name: Tally(*map(float, tally)) for name, tally in facts["tallies"].items()}
    return Learnt(facts["agent_steps"], tallies, facts["metrics"])


def player_ref(folder: Path, start: PlayerRef, scripted: frozenset[str], name: str) -> PlayerRef:
    """A player of the league in `folder` by name."""
    if name == start.name:
        return start
    return PlayerRef(name, None if name in scripted else LeagueFolder(folder).players / name)
