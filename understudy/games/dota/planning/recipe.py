"""The recipe of the world model: fitted on earlier matches, judged on the last fifth."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data import shards
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import ModelFolder, Run
from understudy.data.shards import whole_shards
from understudy.errors import InputError
from understudy.games.dota.features import kept_ratings, team_rating
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.planning import world_model
from understudy.games.dota.planning.judging import judge_futures, judge_plans
from understudy.games.dota.planning.moments import Moments, moments
from understudy.games.dota.policies.recipes import outline_of
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS
from understudy.games.dota.value import splits
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.games.dota.value.linear import Linear
from understudy.games.dota.value.symmetric import Symmetric
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions


@dataclass(frozen=True, kw_only=True)
class WorldRecipe:
    """Train and judge the world model."""

    description: str
    every: int = 3
    """Minutes between the moments of a match that futures are taken from. Down: more of them."""
    asked: int = 5
    """Minutes between the moments of a match that it is judged at."""
    test: int | None = None
    """The patch to test on, by OpenDota's number. None: the last fifth of matches."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"every": self.every, "asked": self.asked, "test": self.test}

    def with_options(self, name: str, options: TrainOptions) -> "WorldRecipe":
        """It may test on another patch."""
        return replace(self, test=splits.asked_patch(name, options) or self.test)

    def inputs(self, run: Run) -> Inputs:
        """The recordings: futures go on to a match's end, samples do not."""
        return {"recordings": whole_shards(run.recordings, RECORDINGS)}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Into the job's folder: the world model and its evaluation."""
        began = time.perf_counter()
        outline = outline_of(job.run.recordings)
        split = splits.by_patch(outline, self.test) if self.test else splits.by_time(outline)
        earlier = np.concatenate([split.train, split.val])
        train = _moments(job.run.recordings, earlier, self.every)
        test = _moments(job.run.recordings, split.test, self.asked)
        value = _value(train, job.seed)
        models = {
            "world model": world_model.fit(train, value.linear),
            "nearest neighbours": world_model.fit(train, value.linear, regress=False),
        }
        world_model.save(job.out / world_model.FILE, models["world model"])
        evaluation = {
            "futures": judge_futures(models, train, test, value, job.seed),
            "planned": judge_plans(models["world model"], test, value, job.seed),
            "matches": {"train": len(earlier), "test": len(split.test)},
            "steps": 1,
            "seconds": round(time.perf_counter() - began, 1),
        }
        write_json(ModelFolder(job.out).evaluation, evaluation)
        return evaluation


def _value(train: Moments, seed: int) -> ValueModel:
    """A value model of the same matches, so that nothing of the test is known."""
    linear = Symmetric(labels=()).fit(train.samples, train.samples, seed)
    assert isinstance(linear, Linear)
    return ValueModel(linear, (), {})


def _moments(folder: Path, matches: Any, every: int) -> Moments:
    """Of some matches in all shards."""
    keys = [shards.shard_key(path) for path in shards.shard_paths(folder, MATCHES)]
    surveyed = kept_ratings.survey(folder, keys)
    parts = []
    for key in keys:
        tables = {
            table.name: shards.read_shard(shards.shard_path(folder, table, key), table)
            for table in RECORDINGS
        }
        known = team_rating.from_table(surveyed[key][team_rating.STRENGTH])
        found = moments(tables, known, every)
        parts.append(found.where(np.isin(found.every.match_id[found.rows], matches)))
    if not sum(len(part.rows) for part in parts):
        raise InputError(f"{folder} holds no minutes of the matches that are needed")
    return _joined(parts)


def _joined(parts: list[Moments]) -> Moments:
    before = np.cumsum([0, *(len(part.every) for part in parts)])[:-1]
    rows = np.concatenate([p.rows + b for p, b in zip(parts, before, strict=True)])
    last = np.concatenate([p.last + b for p, b in zip(parts, before, strict=True)])
    names = ("features", "match_id", "patch", "start_time")
    columns: Mapping[str, Any] = {
        name: np.concatenate([getattr(p.every, name) for p in parts]) for name in names
    }
    labels = {"y_win": np.concatenate([p.every.labels["y_win"] for p in parts])}
    did = {n: np.concatenate([p.did[n] for p in parts]) for n in parts[0].did}
    return Moments(Samples(**columns, labels=labels), rows, last, did)
