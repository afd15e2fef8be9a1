"""Learning by play to files, exactly the same however often it is stopped.

out/checkpoint.pt         all that is needed to go on; the only file read when resuming
out/weights.safetensors   the agent as of the last checkpoint, or the running mean of it where there
                          is one; in the end the one that was chosen
out/metrics.jsonl         one line per iteration; out/tensorboard/ has the same
out/stages/NAME.safetensors   the agent as it was after each stage
out/evaluation.json       each stage beside the one before, in worlds that trained nothing
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data.arrays import Array, Floats
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import WEIGHTS, ModelFolder
from understudy.errors import InputError
from understudy.games.scml.agent.checkpoint import Checkpoint
from understudy.games.scml.agent.checkpoint import write_checkpoint as write_agent
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.domain import SafetySettings
from understudy.games.scml.learning.online.fields import Company, block_of
from understudy.games.scml.learning.online.learner import Learner, LearnerSettings, Rates
from understudy.games.scml.learning.online.measure import HABITS, Candidate, Seats, compared
from understudy.games.scml.learning.online.rollout import Guide, Job, Layers, Rollout, collect
from understudy.learn.base import usable_device
from understudy.learn.checkpoint import as_arrays, as_tensors, reading_checkpoint, write_checkpoint
from understudy.learn.metrics_log import MetricsLogger
from understudy.learn.recipe import START_OVER, TrainingJob
from understudy.learn.rl.acting.actors import Actors

PLACE_NAMES = ("first", "middle", "last")
AVERAGED = "averaged"
"""Called like a stage: the running mean of the weights."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Some iterations in which the same layers learn."""

    name: str
    iterations: int
    """Up: this stage lasts longer."""
    rates: Rates
    days: int | None = None
    """The most days of its worlds; None: as the league has them."""


@dataclass(frozen=True, kw_only=True)
class OnlineSettings:
    """All that decides what comes out beside the weights to begin with."""

    stages: tuple[Stage, ...]
    learner: LearnerSettings
    company: Company
    worlds: int
    """Played in each iteration."""
    rollouts: int
    """Into which an iteration's worlds are dealt: so many workers can play at once."""
    keep: float
    """Share of decisions that the policy learns from; the critic learns from all."""
    critic_first: int
    """Iterations in which only the critic learns."""
    snapshot_every: int
    """Iterations after which an earlier self joins the rivals."""
    most_past: int
    """Of earlier selves that are kept; the oldest leaves first."""
    choosing: int
    """Worlds in which each stage is compared with the one before."""
    guide: Guide | None = None
    """Whom stages with a `guide_weight` imitate beside learning by play."""
    thrifty: bool = True
    """A second set of the weights to begin with, for thrifty buyers, plays its part and stays what
    it is; else it is left out, and one set learns everything."""
    averaging: float = 0.0
    """Of a running mean of the weights, what stays of it in an iteration; as they are when all is
    played it is compared with the stages. Up: over more iterations; 0: there is none."""
    risk: float | None = None
    """That L1 takes with supplies to come (`SafetySettings`), here and whenever the result plays.
    None: as the weights to begin with."""

    @property
    def iterations(self) -> int:
        """In all."""
        return sum(stage.iterations for stage in self.stages)

    def lasting(self, iterations: int) -> "OnlineSettings":
        """With so many iterations in all, shared out as they are; each stage has one at least."""
        if iterations < len(self.stages):
            stages = f"{len(self.stages)} stages need as many iterations"
            raise InputError(f"{stages}, not {iterations}: say --iterations {len(self.stages)}")
        ends = np.cumsum([stage.iterations for stage in self.stages]) / self.iterations
        cuts = [0, *(round(end * iterations) for end in ends)]
        for number in range(1, len(cuts)):
            cuts[number] = max(cuts[number], cuts[number - 1] + 1)
        for number in reversed(range(1, len(cuts))):
            cuts[number] = min(cuts[number], iterations - (len(cuts) - 1 - number))
        counts = np.diff(cuts).tolist()
        stages_ = zip(self.stages, counts, strict=True)
        return replace(self, stages=tuple(replace(one, iterations=n) for one, n in stages_))

    def stage_at(self, iteration: int) -> Stage:
        """Whose turn it is."""
        return self._turn(iteration)[0]

    def rates_at(self, iteration: int) -> Rates:
        """What learns, and how fast."""
        stage, done = self._turn(iteration)
        if iteration < self.critic_first:
            return replace(stage.rates, learning_rates={})
        return stage.rates.at(done)

    def _turn(self, iteration: int) -> tuple[Stage, float]:
        """Whose it is, and the share of it that is over."""
        for stage in self.stages:
            if iteration < stage.iterations:
                return stage, iteration / stage.iterations
            iteration -= stage.iterations
        raise IndexError(iteration)


class OnlineTraining:
    """A learner with a folder: plays, learns, and can be stopped at any time."""

    def __init__(self, settings: OnlineSettings, start: Checkpoint, job: TrainingJob) -> None:
        start = start.needs("l3", "l4")
        self.start = start if settings.thrifty else start.with_thrifty(None)
        self.settings, self.job = settings, job
        taken = start.about.risk if settings.risk is None else settings.risk
        self.about = replace(start.about, risk=SafetySettings(risk=taken).risk)
        self.device = usable_device(job.device)
        scheme = HRLPolicy(start).l3.scheme
        self.learner = Learner(settings.learner, start.layers, scheme, job.seed, self.device)
        self.iteration, self.seconds, self.decisions, self.worlds = 0, 0.0, 0, 0
        self.acted = self._layers()
        """Who played what is learnt from next."""
        self.mean = self.acted
        """Their running mean."""
        self._arrived: list[Rollout] = []
        self.past: list[Layers] = []

    def run(self) -> dict[str, Any]:
        """To the end; what `evaluation.json` holds."""
        self._resume()
        out, total = self.job.out, self.settings.iterations
        with (
            Actors(self.job.workers or 0, play=collect) as actors,
            MetricsLogger(out, self.iteration) as logger,
        ):
            while self.iteration < total:
                began = time.perf_counter()
                metrics = self._iterate(actors)
                self.seconds += time.perf_counter() - began
                # The line first: one that no checkpoint follows is dropped, and comes again.
                logger.write(self.iteration, metrics | {"seconds": self.seconds})
                self._save()
                if self.job.progress is not None:
                    self.job.progress(self.iteration, total, metrics)
        return self._conclude()

    def _iterate(self, actors: Actors) -> dict[str, float]:
        """Learn from what was played while the iteration before learned, and play on meanwhile.

        So play is always one iteration old when it is learnt from, on however many workers.
        """
        stage, acted = self.settings.stage_at(self.iteration), self.acted
        if not self._arrived:
            actors.start(self._jobs(self.iteration, acted))
            self._arrived = actors.finish()
        rollouts, self.acted = self._arrived, self._layers()
        is_last = self.iteration + 1 == self.settings.iterations
        self._remember_self()
        if not is_last:
            actors.start(self._jobs(self.iteration + 1, self.acted))
        rates = self.settings.rates_at(self.iteration)
        rng = np.random.default_rng((self.job.seed, self.iteration))
        metrics = self.learner.learn(rollouts, acted, rates, rng)
        self._average()
        self._arrived = [] if is_last else actors.finish()
        self.iteration += 1
        self.decisions += sum(len(rollout.played.world) for rollout in rollouts)
        self.worlds += sum(len(rollout.scores) for rollout in rollouts)
        self._keep_stage(stage)
        return _scores_of(rollouts) | metrics | {"worlds": float(self.worlds)}

    def _average(self) -> None:
        """What was learnt now counts in the mean."""
        share = 1 - self.settings.averaging
        self.mean = {
            layer: {name: _towards(self.mean[layer][name], one, share) for name, one in of.items()}
            for layer, of in self._layers().items()
        }

    def _remember_self(self) -> None:
        """Now and then the one who plays next joins its own rivals."""
        settings = self.settings
        if settings.company.past > 0 and (self.iteration + 1) % settings.snapshot_every == 0:
            self.past = [*self.past, self.acted][-settings.most_past :]

    def _keep_stage(self, stage: Stage) -> None:
        """The agent as it is when a stage ends."""
        total = self.settings.iterations
        if self.iteration == total or self.settings.stage_at(self.iteration) != stage:
            self._write(self._stage_file(stage.name))
        if self.iteration == total and self.settings.averaging:
            self._write(self._stage_file(AVERAGED), self.mean)

    def _jobs(self, iteration: int, layers: Layers) -> list[Job]:
        settings, stage = self.settings, self.settings.stage_at(iteration)
        cuts = np.linspace(0, settings.worlds, settings.rollouts + 1).astype(int).tolist()
        return [
            Job(
                layers=layers,
                about=self.about,
                company=replace(settings.company, most_days=stage.days),
                block=block_of("train", self.job.seed, iteration),
                first=first,
                worlds=last - first,
                keep=settings.keep,
                samples_order="l4" in stage.rates.learning_rates,
                goal_noise=stage.rates.goal_noise,
                response_temperature=settings.learner.response_temperature,
                past=tuple(self.past),
                guide=settings.guide if stage.rates.guide_weight else None,
            )
            for first, last in pairwise(cuts)
        ]

    def _layers(self) -> Layers:
        """The agent as it is: what it learns, and what stays as it was."""
        return {**_plain(self.start.layers), **self.learner.player.layers()}

    # --- files

    def _stage_file(self, name: str) -> Path:
        return self.job.out / "stages" / f"{name}.safetensors"

    def _write(self, path: Path, layers: Layers | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_agent(path, Checkpoint(layers or self._layers(), self.about))

    def _save(self) -> None:
        content = {
            "seed": self.job.seed,
            "position": [self.iteration, self.decisions, self.worlds],
            "seconds": self.seconds,
            "learner": self.learner.state(),
            "acted": as_tensors(self.acted),
            "past": as_tensors(dict(enumerate(self.past))),
            "mean": as_tensors(self.mean),
        }
        write_checkpoint(ModelFolder(self.job.out).checkpoint, content)
        self._write(self.job.out / WEIGHTS, self.mean if self.settings.averaging else None)

    def _resume(self) -> None:
        path = ModelFolder(self.job.out).checkpoint
        if not path.is_file():
            return
        with reading_checkpoint(path, self.device, START_OVER) as content:
            if content["seed"] != self.job.seed:
                seeds = f"begun with seed {content['seed']}, now {self.job.seed}"
                raise InputError(f"{path}: {seeds}. {START_OVER}")
            self.learner.restore(content["learner"])
            self.iteration, self.decisions, self.worlds = content["position"]
            self.seconds, self.acted = content["seconds"], as_arrays(content["acted"])
            self.past = [*as_arrays(content["past"]).values()]
            self.mean = as_arrays(content["mean"])

    def _conclude(self) -> dict[str, Any]:
        """Compare the stages on worlds that trained nothing; the best by these is the result."""
        candidates = [Candidate("start", _plain(self.start.layers), self.start.about)]
        names = [stage.name for stage in self.settings.stages]
        for name in [*names, AVERAGED] if self.settings.averaging else names:
            candidates.append(Candidate.read(name, self._stage_file(name)))
        seats = Seats(
            self.settings.company, block_of("choose", self.job.seed), 0, self.settings.choosing
        )
        with Actors(self.job.workers or 0, play=compared) as actors:
            found = measure(actors, candidates, seats, self.settings.rollouts)
        best = max(candidates, key=lambda one: found[one.name]["mean"])
        assert best.layers is not None and best.about is not None
        write_agent(self.job.out / WEIGHTS, Checkpoint(best.layers, best.about))
        evaluation = {
            "steps": self.iteration,
            "seconds": round(self.seconds, 3),
            "worlds": self.worlds,
            "decisions": self.decisions,
            "chosen": best.name,
            "stages": found,
        }
        write_json(ModelFolder(self.job.out).evaluation, evaluation)
        return evaluation


def measure(
    actors: Actors, candidates: Sequence[Candidate], seats: Seats, parts: int
) -> dict[str, dict[str, Any]]:
    """What candidates score in the same seats, each beside the one before it, with intervals."""
    cuts = np.linspace(0, seats.worlds, parts + 1).astype(int).tolist()
    some = [
        replace(seats, first=seats.first + first, worlds=last - first)
        for first, last in pairwise(cuts)
    ]
    actors.start([(one, part) for one in candidates for part in some])
    taken = actors.finish()
    found, past = dict[str, dict[str, Any]](), list[Floats]()
    for index, one in enumerate(candidates):
        mine = taken[index * parts : (index + 1) * parts]
        scores = np.concatenate([part.scores for part in mine])
        levels = np.concatenate([part.levels for part in mine])
        habits = np.concatenate([part.habits for part in mine])
        there = {
            name: levels == place
            for place, name in enumerate(PLACE_NAMES)
            if (levels == place).any()
        }
        found[one.name] = {
            "mean": float(scores.mean()),
            "places": {name: float(scores[rows].mean()) for name, rows in there.items()},
            "bankrupt": float(np.mean([part.bankrupt for part in mine])),
            "habits": {
                name: dict(zip(HABITS, habits[rows].mean(0).tolist(), strict=True))
                for name, rows in there.items()
            },
        }
        if past:
            over = scores - past[0]
            found[one.name] |= _gain(scores - past[-1])
            found[one.name]["over_start"] = {
                name: _gain(over[rows]) for name, rows in there.items() if rows.sum() > 1
            }
        past.append(scores)
    return found


def _gain(apart: Floats) -> dict[str, float]:
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    return {"gain": float(apart.mean()), "standard_error": float(error)}


def _towards(mean: Array, now: Array, share: float) -> Array:
    """Nearer to it; what has not moved stays as it is to the last bit."""
    return mean if np.array_equal(mean, now) else (mean + share * (now - mean)).astype(now.dtype)


def _scores_of(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Mean scores while it learned, by place."""
    scores = np.concatenate([rollout.scores for rollout in rollouts])
    levels = np.concatenate([rollout.levels for rollout in rollouts])
    found = {"score": float(scores.mean())}
    for place, name in enumerate(PLACE_NAMES):
        if (levels == place).any():
            found[f"score/{name}"] = float(scores[levels == place].mean())
    return found


def _plain(layers: Mapping[str, Mapping[str, Array]]) -> dict[str, dict[str, Array]]:
    return {name: dict(weights) for name, weights in layers.items()}
