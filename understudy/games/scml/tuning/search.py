"""Successive halving, generation after generation, each in worlds that chose nothing before.

A generation changes a few numbers of the best plan so far, many times, plays all of these in a few
worlds, the better half of a half in more, and the best of them in all. What is then surely better
is the best plan of the next generation. In the end the plan found meets the original once, in
worlds of their own.
"""

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from understudy import workers
from understudy.data.arrays import Floats
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.shapes import SearchState
from understudy.data.stats import Estimate, student
from understudy.errors import InputError
from understudy.games.scml.tuning.space import choices
from understudy.games.scml.tuning.trials import Field, Trial, scores

RUNGS: Final = (8, 2, 1)
"""All candidates play 1 / 8 of the worlds, the best quarter 1 / 2, the best of these all."""
KEPT: Final = (4, 4)
"""Of how many one goes on."""
SURE: Final = 1.5
"""Standard errors by which a candidate must be better."""
PER_TASK: Final = 64
"""Worlds of one task."""
CONFIRMING: Final = 10**6
"""The block of worlds that confirm; generations have those before it."""


@dataclass(frozen=True)
class Settings:
    """What is searched, and how much."""

    field: Field
    place: str
    generations: int
    candidates: int
    worlds: int
    seed: int
    start: tuple[tuple[str, float], ...] = ()
    """Numbers to begin with, where other than the original ones."""


@dataclass(frozen=True)
class Generation:
    """What came of one."""

    number: int
    told: dict[str, float]
    """The best plan after it."""
    gain: float
    error: float
    """Of its best candidate over the plan before, and the standard error of that."""
    accepted: bool
    tried: dict[str, float]
    """What that candidate changed."""


@dataclass(frozen=True)
class Found:
    """What came of a search."""

    told: dict[str, float]
    generations: list[Generation]
    confirmed: Estimate
    """The plan over the original, in worlds that chose nothing."""


Play = Callable[[Sequence[Trial]], list[Floats]]


def search(
    settings: Settings,
    folder: Path,
    *,
    worker: str | int | None,
    resume: bool = True,
    quiet: bool = False,
    tell: Callable[[Generation], None] = lambda generation: None,
) -> Found:
    """Search, or go on with a search that was begun with the same settings."""
    _check(settings)
    play = _player(worker, quiet)
    done = _begun(settings, folder) if resume else []
    told = done[-1].told if done else dict(settings.start)
    for number in range(len(done), settings.generations):
        generation = _generation(settings, number, told, play)
        told = generation.told
        done.append(generation)
        state = {"settings": _plain(settings), "generations": [asdict(one) for one in done]}
        write_json(folder / "search.json", state, indent=1)
        tell(generation)
    found = Found(told, done, _confirm(settings, told, play))
    write_json(folder / "numbers.json", _report(settings, found), indent=1)
    return found


def _check(settings: Settings) -> None:
    for name in ("generations", "candidates", "worlds"):
        if getattr(settings, name) < 1:
            raise InputError(f"--{name} must be at least 1, not {getattr(settings, name)}")
    choices(settings.place)


def _plain(settings: Settings) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    del plain["generations"]  # a search can be made longer
    return plain


def _begun(settings: Settings, folder: Path) -> list[Generation]:
    cure = "Delete it, or begin anew with --fresh"
    state = read_json(folder / "search.json", SearchState, cure)
    if state is None:
        return []
    if state["settings"] != _plain(settings):
        raise InputError(
            f"{folder} holds a search with other settings; choose another --out, or begin anew "
            "with --fresh"
        )
    return [Generation(**one) for one in state["generations"]][: settings.generations]


def _generation(
    settings: Settings, number: int, told: Mapping[str, float], play: Play
) -> Generation:
    rng = random.Random(f"{settings.seed}/{number}")
    block = 1 + settings.seed * 1000 + number
    alive = [_changed(settings.place, told, rng) for _ in range(settings.candidates)]
    gains = [np.empty(0) for _ in alive]
    before = 0
    for rung, share in enumerate(RUNGS):
        until = max(before + 1, settings.worlds // share)
        trials = [_trial(settings, block, before, until, plan) for plan in (told, *alive)]
        base, *found = play(trials)
        gains = [np.append(a, b - base) for a, b in zip(gains, found, strict=True)]
        before = until
        if rung < len(KEPT):
            best = np.argsort([-gain.mean() for gain in gains], kind="stable")
            chosen = best[: max(1, len(best) // KEPT[rung])]
            alive, gains = [alive[i] for i in chosen], [gains[i] for i in chosen]
    gain, error = float(gains[0].mean()), float(gains[0].std() / math.sqrt(len(gains[0])))
    accepted = gain > SURE * error
    tried = {name: value for name, value in alive[0].items() if told.get(name) != value}
    return Generation(number, alive[0] if accepted else dict(told), gain, error, accepted, tried)


def _changed(place: str, told: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """The plan with one to three numbers changed."""
    values = choices(place)
    names = rng.sample(sorted(values), rng.choice((1, 1, 2, 2, 3)))
    return {**told, **{name: rng.choice(values[name]) for name in names}}


def _trial(
    settings: Settings, block: int, first: int, last: int, told: Mapping[str, float]
) -> Trial:
    return Trial(settings.field, settings.place, block, first, last, dict(told))


def _player(worker: str | int | None, quiet: bool) -> Play:
    """Plays trials on workers, each cut into tasks."""

    def play(trials: Sequence[Trial]) -> list[Floats]:
        tasks = {
            f"{number:03d}/{first:06d}": Trial(
                trial.field,
                trial.place,
                trial.block,
                first,
                min(first + PER_TASK, trial.last),
                trial.told,
            )
            for number, trial in enumerate(trials)
            for first in range(trial.first, trial.last, PER_TASK)
        }
        outcomes = workers.run(scores, tasks, workers=worker, title="trials", quiet=quiet)
        found: list[list[float]] = [[] for _ in trials]
        for outcome in outcomes:
            if outcome.error is not None:
                raise InputError(f"a trial could not be played: {outcome.error}")
            found[int(outcome.key.split("/")[0])] += outcome.value
        return [np.array(values) for values in found]

    return play


def _confirm(settings: Settings, told: Mapping[str, float], play: Play) -> Estimate:
    block = CONFIRMING + settings.seed
    plans: tuple[Mapping[str, float], ...] = {}, told
    old, new = play([_trial(settings, block, 0, settings.worlds, plan) for plan in plans])
    return student((new - old).tolist())


def _report(settings: Settings, found: Found) -> dict[str, Any]:
    gain = found.confirmed
    return {
        "numbers": {settings.place: found.told},
        "confirmed": {"gain": gain.value, "low": gain.low, "high": gain.high, "worlds": gain.n},
        "settings": _plain(settings),
    }
