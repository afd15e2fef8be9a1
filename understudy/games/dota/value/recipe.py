"""The value recipe: compare models by match, calibrate the best on few matches, keep it.

Chances are scored on rows after the horn, 0 < t; changes also with the row at t = 0, as the
seed has it. The baseline is the regression on seven features, so it stands beside everything.
"""

import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from understudy.data.arrays import Bools, Floats
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import ModelFolder, Run
from understudy.data.shards import whole_shards
from understudy.data.stats import paired_difference, percentile
from understudy.errors import InputError
from understudy.games.dota.facts import patch_name
from understudy.games.dota.features import kept_ratings
from understudy.games.dota.features.encode import VALUE
from understudy.games.dota.features.samples import Samples, read_samples
from understudy.games.dota.sources.tables import MATCHES
from understudy.games.dota.value import metrics, splits
from understudy.games.dota.value.blend import Best
from understudy.games.dota.value.calibration import METHODS, bias, row_weights
from understudy.games.dota.value.checkpoint import MODEL_FILE, errors_of, load, save
from understudy.games.dota.value.drift import drift, ranges
from understudy.games.dota.value.linear import CHANGES, Constant, Fitted, Model, Seven
from understudy.games.dota.value.splits import LEFT, SIZES, Split, asked_patch, draw, write_split
from understudy.games.dota.value.trees import V0, V1, Trees, import_xgboost
from understudy.learn.base import read_evaluation
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions

BASELINE = "LR-7"
OURS = "best"


def _compared_models() -> dict[str, Model]:
    return {
        "constant": Constant(),
        BASELINE: Seven(),
        "XGBoost v0": Trees(V0),
        "XGBoost v1": Trees(V1),
        OURS: Best(),
    }


def quick_models() -> dict[str, Model]:
    """The same models with few trees."""
    small = Trees(V0, rounds=20, rate=0.3)
    models = _compared_models()
    models |= {"XGBoost v0": small, "XGBoost v1": replace(small, names=V1), OURS: Best().quick()}
    return models


@dataclass(frozen=True, kw_only=True)
class ValueRecipe:
    """How value models are trained and judged."""

    description: str
    split: str
    """patch: the newest patch is the test; time: the last fifth; files: RUN/splits/*.txt."""
    test: int | None = None
    """The patch to test on, by OpenDota's number, whatever `split` says. None: as `split` says."""
    models: Mapping[str, Model] = field(default_factory=_compared_models)
    refit: Literal["no", "all"] = "no"
    """all: our regression is fitted once more, on tuning and test matches as well, after it was
    judged; for use, as nothing is left to judge it on."""
    turns: int = 20
    """Draws of few matches for each size of the few-shot curve. Up: smoother, slower."""

    measure: ClassVar = ("split", "test")
    """Settings that change what the validation loss measures."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        models = {name: _settings_of(model) for name, model in self.models.items()}
        return {
            "split": self.split,
            "test": self.test,
            "turns": self.turns,
            "refit": self.refit,
            "models": models,
        }

    def with_options(self, name: str, options: TrainOptions) -> "ValueRecipe":
        """It may test on another patch."""
        return replace(self, test=asked_patch(name, options) or self.test)

    def inputs(self, run: Run) -> Inputs:
        """The samples, and the files that split them where a person wrote some."""
        import_xgboost()  # before anything is written
        samples = whole_shards(run.samples, [VALUE])
        recordings = whole_shards(run.recordings, [MATCHES])  # for ratings of teams
        by_files = self.split == "files" and self.test is None
        files = splits.split_files(run.splits) if by_files else []
        return {"samples": samples, "recordings": recordings, "splits": files}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """The evaluation of all models; it and our best lie in the job's folder afterwards."""
        out, seed, progress = job.out, job.seed, job.progress
        if (done := read_evaluation(out)) is not None:
            return done
        began = time.perf_counter()
        known = read_samples(job.run.samples)
        split = self._split(known, job.run)
        write_split(ModelFolder(out).splits, split, seed)
        train, val, test = (known.of(part) for part in (split.train, split.val, split.test))
        fitted: dict[str, Fitted] = {}
        for number, (name, model) in enumerate(self.models.items(), start=1):
            # Our best leaves out t = 0 where it must: its trees of changes learn from that row.
            start = train if name == OURS else train.begun()
            fitted[name] = model.fit(start, val.begun(), seed)
            if progress:
                progress(number, len(self.models) + 1, {})
        own = self.models[OURS]
        scored = val.begun()
        chance = fitted[OURS].predict("y_win", scored)  # before it may learn from these matches
        evaluation: dict[str, Any] = {"val": _scored(scored, chance)}
        missed = errors_of(fitted[OURS], scored) if isinstance(own, Best) else None
        watched = _drift("validation", chance, scored, train, seed)
        evaluation |= judge(fitted, test, seed)
        begun = test.begun()
        chance = fitted[OURS].predict("y_win", begun)
        evaluation |= {
            "few_shot": self._few_shot(fitted[OURS], test, job),
            "drift": watched + _drift("test", chance, begun, train, seed),
            "split": _described(known, split),
            "steps": len(self.models),
        }
        if self.refit == "all" and isinstance(own, Best):
            train = known.of(np.concatenate([split.train, split.val, split.test]))
            fitted[OURS] = own.refit(fitted[OURS], train, seed)
        save(out, fitted[OURS], train, seed, missed)
        if results := kept_ratings.recorded_results(job.run.recordings):
            kept_ratings.save(out, kept_ratings.learnt(results, kept_ratings.shipped()))
        evaluation["seconds"] = round(time.perf_counter() - began, 1)
        if progress:
            progress(len(self.models) + 1, len(self.models) + 1, {})
        write_json(ModelFolder(out).evaluation, evaluation)
        return evaluation

    def judge(self, job: TrainingJob, split: str) -> dict[str, Any]:
        """How good the model's chances are on the matches of one part of its split."""
        if split == "val" and (done := read_evaluation(job.out)) is not None and "val" in done:
            return {split: done["val"]}  # the model as it is may have learnt from them since
        matches = splits.read_split(ModelFolder(job.out).splits)
        begun = read_samples(job.run.samples).of(getattr(matches, split)).begun()
        if not len(begun):
            raise InputError(f"{job.run.samples} holds none of the matches to {split} on")
        model = load(job.out / MODEL_FILE)
        if split == "test" and np.isin(begun.match_id, model.trained_on).any():
            raise InputError(f"{job.out} has learnt from its test since (refit=all)")
        return {split: _scored(begun, model.chance(begun))}

    def _few_shot(self, model: Fitted, test: Samples, job: TrainingJob) -> list[dict[str, Any]]:
        """By draws, or as a person's files draw them."""
        if self.split == "files" and self.test is None:
            drawn = splits.read_few_shot(job.run.splits)
            return few_shot_of_files(model, test, drawn)
        return few_shot(model, test, job.seed, self.turns)

    def _split(self, known: Samples, run: Run) -> Split:
        if self.split == "patch" or self.test is not None:
            return splits.by_patch(known.outline(), self.test)
        if self.split == "time":
            return splits.by_time(known.outline())
        return splits.read_split(run.splits)


def _settings_of(model: Any) -> dict[str, Any]:
    """A model's settings, with a hash of the many names of features."""
    settings = {"kind": type(model).__name__, **asdict(model)}
    trees = settings.get("trees", settings)
    if "names" in trees:
        digest = zlib.crc32(" ".join(trees["names"]).encode())
        trees["names"] = f"{len(trees['names'])} features, {digest:08x}"
    return settings


def _described(known: Samples, split: Split) -> dict[str, Any]:
    outline = known.outline()
    parts: dict[str, Any] = {}
    for name, numbers in (("train", split.train), ("val", split.val), ("test", split.test)):
        patches = np.unique(outline.patch[np.isin(outline.match_id, numbers)]).tolist()
        if not patches:
            raise InputError(f"none of the matches to {name} on has samples")
        parts[name] = {"matches": len(numbers), "patches": [patch_name(p) for p in patches]}
    return parts


# --- judging -------------------------------------------------------------------------------------


def judge(fitted: Mapping[str, Fitted], test: Samples, seed: int) -> dict[str, Any]:
    """Scores of every model on the test matches, each beside the baseline."""
    begun = test.begun()
    won, numbers = begun.labels["y_win"], begun.match_id
    chances = {name: model.predict("y_win", begun) for name, model in fitted.items()}
    losses = {name: metrics.log_losses(won, chance) for name, chance in chances.items()}
    table = {
        name: {
            **_chance_scores(begun, chances[name], losses[name]),
            "beside_bar": paired_difference(
                losses[name], losses[BASELINE], numbers, seed=seed
            ).named(),
            **_change_scores(fitted[name], test, begun),
        }
        for name in fitted
    }
    minute = begun.column("t_min")
    bands = {
        band: {
            "rows": int(rows.sum()),
            "auc": {name: metrics.auc(won[rows], chances[name][rows]) for name in fitted},
            "log_loss": {name: float(losses[name][rows].mean()) for name in fitted},
            "beside_bar": paired_difference(
                losses[OURS][rows], losses[BASELINE][rows], numbers[rows], seed=seed
            ).named(),
        }
        for band, rows in metrics.bands(minute).items()
    }
    curve = metrics.reliability(won, chances[OURS], begun.weights())
    return {
        "line_up": table,
        "bands": bands,
        "reliability": curve,
        "calibration_error": metrics.calibration_error(curve),
        "rows": len(begun),
        "matches": len(np.unique(numbers)),
    }


def _scored(begun: Samples, chance: Floats) -> dict[str, Any]:
    losses = metrics.log_losses(begun.labels["y_win"], chance)
    return {"rows": len(begun), **_chance_scores(begun, chance, losses)}


def _chance_scores(test: Samples, chance: Floats, loss: Floats) -> dict[str, float]:
    weight = test.weights()
    return {
        "log_loss": float(loss.mean()),
        "log_loss_by_match": float(weight @ loss / weight.sum()),
        "auc": metrics.auc(test.labels["y_win"], chance),
    }


def _change_scores(model: Fitted, test: Samples, begun: Samples) -> dict[str, float]:
    scores = {}
    for label in CHANGES:
        name = label.removeprefix("y_").removesuffix("_adv")
        guess = model.predict(label, test)
        scores[f"{name}_rmse"] = metrics.rmse(test.labels[label], guess)
        scores[f"{name}_mae"] = float(np.abs(test.labels[label] - guess).mean())
        later = test.column("t") > 0
        scores[f"{name}_rmse_begun"] = metrics.rmse(begun.labels[label], guess[later])
    return scores


def few_shot(model: Fitted, test: Samples, seed: int, turns: int) -> list[dict[str, Any]]:
    """What so many matches of the test patch buy, by each method; `turns` draws of each size."""
    begun = test.begun()
    chance = model.predict("y_win", begun)
    guesses = {label: model.predict(label, begun) for label in CHANGES}
    numbers = np.unique(begun.match_id)
    table = []
    for size in SIZES:
        if size + LEFT > len(numbers):  # too few would be left to score on
            break
        rows = [_turn(begun, chance, guesses, numbers, size, seed, turn) for turn in range(turns)]
        table.append({"matches": size, **_summed_up(rows)})
    return table


def _turn(
    begun: Samples,
    chance: Floats,
    guesses: Mapping[str, Floats],
    numbers: Any,
    size: int,
    seed: int,
    turn: int,
) -> dict[str, float]:
    """One draw: each method's loss on the matches not drawn, less that of zero-shot."""
    drawn, _ = draw(numbers, size, seed, turn)
    few = np.isin(begun.match_id, drawn)
    return _calibrated(begun, chance, guesses, few, ~few)


def few_shot_of_files(
    model: Fitted, test: Samples, drawn: Mapping[int, tuple[Any, Any]]
) -> list[dict[str, Any]]:
    """The same for one draw of each size, as `test_calib_N` and `test_eval_N` say."""
    begun = test.begun()
    chance = model.predict("y_win", begun)
    guesses = {label: model.predict(label, begun) for label in CHANGES}
    table = []
    for size, (calibrate, evaluate) in drawn.items():
        few, left = (np.isin(begun.match_id, part) for part in (calibrate, evaluate))
        if not few.any() or not left.any():
            raise InputError(f"test_calib_{size} or test_eval_{size} names no match of the test")
        table.append(
            {"matches": size, **_summed_up([_calibrated(begun, chance, guesses, few, left)])}
        )
    return table


def _calibrated(
    begun: Samples, chance: Floats, guesses: Mapping[str, Floats], few: Bools, left: Bools
) -> dict[str, float]:
    """Fitted on some matches, scored on others."""
    won = begun.labels["y_win"]
    weight = row_weights(begun.match_id[few])
    losses = {}
    zero = metrics.log_losses(won[left], chance[left])
    for name, method in METHODS.items():
        better = method(won[few], chance[few], weight, begun.match_id[few])(chance[left])
        losses[name] = float((metrics.log_losses(won[left], better) - zero).mean())
    losses["zero-shot"] = float(zero.mean())
    for label, guess in guesses.items():
        truth = begun.labels[label]
        plain, shrunk = bias(truth[few], guess[few], begun.match_id[few])
        short = label.removeprefix("y_").removesuffix("_adv")
        before = metrics.rmse(truth[left], guess[left])
        losses[f"{short} bias"] = metrics.rmse(truth[left], guess[left] + plain) - before
        losses[f"{short} shrunk"] = metrics.rmse(truth[left], guess[left] + shrunk) - before
    return losses


def _summed_up(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Means over draws, with the middle 95 %."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {
        name: percentile(float(values.mean()), values).named() for name, values in columns.items()
    }


def _drift(
    part: str, chance: Floats, begun: Samples, train: Samples, seed: int
) -> list[dict[str, Any]]:
    """On matches the model had not learnt from."""
    lines = drift(begun, chance, ranges(train), seed=seed)
    return [{**line, "part": part} for line in lines]  # a patch may have matches in both
