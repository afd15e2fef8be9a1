"""How live models are trained: on recorded matches, by what a running match would have told.

The last fifth of matches judges models of the first 70 %, beside a regression that reads gold and
experience of both sides, and one that reads the score alone. What is kept is then fitted on all
matches: nothing is tuned, so no part of them is left to choose by.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import ModelFolder, Run
from understudy.data.shards import whole_shards
from understudy.data.stats import paired_difference
from understudy.games.dota.facts import patch_name
from understudy.games.dota.features.encode import HORIZON, all_features
from understudy.games.dota.features.samples import Samples, samples_of
from understudy.games.dota.features.timeline import MINUTE, Timeline, build_timeline
from understudy.games.dota.live.report import PLAYER
from understudy.games.dota.live.sight import TOLD, columns_of, names_of, own_columns, save_live
from understudy.games.dota.policies.recipes import gathered, outline_of
from understudy.games.dota.sources.tables import RECORDINGS
from understudy.games.dota.value import metrics, splits
from understudy.games.dota.value.drift import RANGED
from understudy.games.dota.value.linear import fit_logistic, seven, standard_errors
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions

RIDGE = 30.0
"""Weight of the prior in matches, as of the shipped value model."""
SCORE_ALONE = 1e-6
"""Penalty of the baselines: too small to matter."""


@dataclass(frozen=True)
class LiveRows:
    """R minutes of recorded matches after the horn, with what each source would have told."""

    match_id: Ints
    won: Floats
    """1 where Radiant won."""
    both_sides: Floats
    """[R, C]: columns of the sources that see both, side by side in the order of TOLD."""
    own: Floats
    """[R, 10, C]: those of a client that plays, for each slot."""
    seven: Floats
    """[R, 7]: gold and experience of both sides, the baseline of the value models."""
    score: Floats
    """[R, 3]: the lead in kills, times and over the minutes."""
    ranged: Floats
    """[R, 4]: RANGED."""

    def where(self, rows: Any) -> "LiveRows":
        """Some rows."""
        return LiveRows(**{name: values[rows] for name, values in vars(self).items()})


def rows_of(tables: Mapping[str, Any]) -> LiveRows:
    """Of the recordings of one shard; rows as `encode` keeps them, without those at the horn."""
    match = build_timeline(tables)
    samples = _samples(match)
    last = match.first[match.which] + match.minutes[match.which] - 1
    here = np.arange(len(match.t))
    kept = (here + HORIZON // MINUTE <= last) & (match.t > 0)
    outcome = dict(
        zip(
            tables["matches"]["match_id"].to_pylist(),
            tables["matches"]["radiant_win"].to_pylist(),
            strict=True,
        )
    )
    won = np.array([float(outcome[number]) for number in match.match_id.tolist()])[match.which]
    rows = LiveRows(
        match_id=match.match_id[match.which],
        won=won,
        both_sides=np.concatenate([columns_of(source, samples) for source in TOLD], axis=1),
        own=np.stack([own_columns(match, samples, slot) for slot in range(10)], axis=1),
        seven=seven(samples),
        score=_score(samples),
        ranged=np.stack([samples.column(name) for name in RANGED], axis=1),
    )
    return rows.where(kept)


def _samples(match: Timeline) -> Samples:
    columns = dict(all_features(match, {}))
    blank = np.zeros(len(match.t), np.int64)
    columns |= {"match_id": match.match_id[match.which], "patch": blank, "start_time": blank}
    return samples_of(columns)


def _score(samples: Samples) -> Floats:
    minute, kills = samples.column("t_min"), samples.column("kills")
    return np.stack([kills, kills * minute / 30, kills / np.maximum(minute, 1.0)], axis=1)


def fit_chance(columns: Floats, won: Floats, match_id: Ints, ridge: float) -> tuple[Floats, Floats]:
    """Weights in the columns' own units, the constant last, and their standard errors."""
    _, match, count = np.unique(match_id, return_inverse=True, return_counts=True)
    weight = 1.0 / count[match]  # every match weighs 1
    scale = np.sqrt((columns**2).mean(axis=0))
    scale[scale == 0] = 1.0
    known, penalty = columns / scale, np.full(columns.shape[1], ridge)
    found = fit_logistic(known, won, weight, penalty)
    errors = standard_errors(known, found, weight, penalty)
    scale = np.append(scale, 1.0)
    return found / scale, errors / scale


def chance_of(columns: Floats, weights: Floats) -> Floats:
    """By a dot product, through the logistic function."""
    score = columns @ weights[:-1] + weights[-1]
    return np.asarray(1 / (1 + np.exp(-score)))


@dataclass(frozen=True, kw_only=True)
class LiveRecipe:
    """Train and judge the models of all sources."""

    description: str
    ridge: float = RIDGE
    """Penalty on weights of standardised columns."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"ridge": self.ridge}

    def with_options(self, name: str, options: TrainOptions) -> "LiveRecipe":
        """As it is: it takes no options."""
        options.taken_by(name)
        return self

    def inputs(self, run: Run) -> Inputs:
        """The recordings."""
        return {"recordings": whole_shards(run.recordings, RECORDINGS)}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Into the job's folder: the models and their evaluation."""
        began = time.perf_counter()
        outline = outline_of(job.run.recordings)
        split = splits.by_time(outline)
        rows = gathered(job.run.recordings, rows_of)
        train, test = (
            rows.where(np.isin(rows.match_id, part)) for part in (split.train, split.test)
        )
        used = np.concatenate([split.train, split.val, split.test])
        every = rows.where(np.isin(rows.match_id, used))
        fitted = {
            source: fit_chance(*_asked(every, source), self.ridge) for source in (PLAYER, *TOLD)
        }
        of_used = np.isin(outline.match_id, used)
        patches = [patch_name(patch) for patch in np.unique(outline.patch[of_used]).tolist()]
        seen = {
            name: (float(values.min()), float(values.max()))
            for name, values in zip(RANGED, every.ranged.T, strict=True)
        }
        save_live(job.out, fitted, patches, len(np.unique(every.match_id)), seen)
        evaluation = {
            "policy": self._judged(train, test),
            "counts": "LR-7, which reads gold and experience of both sides",
            "steps": 1,
            "seconds": round(time.perf_counter() - began, 1),
            "matches": {"train": len(split.train), "test": len(split.test), "kept": len(used)},
        }
        write_json(ModelFolder(job.out).evaluation, evaluation)
        return evaluation

    def _judged(self, train: LiveRows, test: LiveRows) -> dict[str, Any]:
        """Each source beside LR-7, and beside the score alone."""
        baselines = {}
        for name in ("seven", "score"):
            weights, _ = fit_chance(getattr(train, name), train.won, train.match_id, SCORE_ALONE)
            baselines[name] = chance_of(getattr(test, name), weights)
        tables: dict[str, Any] = {}
        for source in (PLAYER, *TOLD):
            weights, _ = fit_chance(*_asked(train, source), self.ridge)
            columns, won, match_id = _asked(test, source)
            ours = chance_of(columns, weights)
            for name, title in (("seven", source), ("score", f"{source}, beside the score alone")):
                beside = _of_all(baselines[name], source)
                tables[title] = _compared(ours, beside, won, match_id)
        return tables


def _asked(rows: LiveRows, source: str) -> tuple[Floats, Floats, Ints]:
    """Columns, outcome and match of a source; of a playing client each of the ten, in turn."""
    if source == PLAYER:
        width = rows.own.shape[2]
        won = np.repeat(rows.won[:, None], 10, axis=1)
        won[:, 5:] = 1 - won[:, 5:]
        return rows.own.reshape(-1, width), won.ravel(), rows.match_id.repeat(10)
    widths = [len(names_of(name)) for name in TOLD]
    ends = np.cumsum(widths)
    place = list(TOLD).index(source)
    return rows.both_sides[:, ends[place] - widths[place] : ends[place]], rows.won, rows.match_id


def _of_all(chance: Floats, source: str) -> Floats:
    """Radiant's chance, as the rows of a source ask for it."""
    if source != PLAYER:
        return chance
    ten = np.repeat(chance[:, None], 10, axis=1)
    ten[:, 5:] = 1 - ten[:, 5:]
    return ten.ravel()


def _compared(ours: Floats, beside: Floats, won: Floats, match_id: Ints) -> dict[str, Any]:
    loss, other = (metrics.log_losses(won, chance) for chance in (ours, beside))
    return {
        "decisions": len(won),
        "log loss": {
            "ours": float(loss.mean()),
            "counts": float(other.mean()),
            "beside": paired_difference(loss, other, match_id).named(),
        },
    }
