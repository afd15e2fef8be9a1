"""Recipes of the two policies: the next item of a player, and where the next observer ward goes.

Matches are split by time; each policy stands beside the counts it must beat, with intervals drawn
by match. Decisions are read from the recordings.
"""

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from understudy.data import shards
from understudy.data.arrays import Floats, Ints
from understudy.data.files import writing
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import ModelFolder, Run
from understudy.data.shards import whole_shards
from understudy.data.stats import paired_difference
from understudy.errors import InputError
from understudy.games.dota.features import inventory
from understudy.games.dota.features.samples import Outline
from understudy.games.dota.policies import next_item, purchases, ward_counts, ward_fates, wards
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS
from understudy.games.dota.value import splits
from understudy.games.dota.value.splits import Split
from understudy.learn.recipe import Inputs, TrainingJob, TrainOptions

ITEMS_FILE, WARDS_FILE = "items.npz", "wards.npz"
TRACKED = 80
"""Items that the counting baselines of the literature are measured on."""


def gathered(folder: Path, read: Callable[[Mapping[str, Any]], Any]) -> Any:
    """What `read` makes of each shard of recordings, joined."""
    parts = []
    for path in shards.shard_paths(folder, MATCHES):
        key = shards.shard_key(path)
        tables = {
            table.name: shards.read_shard(shards.shard_path(folder, table, key), table)
            for table in RECORDINGS
        }
        parts.append(read(tables))
    kind = type(parts[0])
    return kind(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in vars(parts[0])})


def outline_of(folder: Path) -> Outline:
    """All recorded matches in the order they began."""
    columns = ["match_id", "patch", "start_time"]
    parts = [shards.read_shard(p, MATCHES, columns) for p in shards.shard_paths(folder, MATCHES)]
    values = [np.concatenate([part[name].to_numpy() for part in parts]) for name in columns]
    order = np.lexsort((values[0], values[2]))
    return Outline(*(value[order] for value in values))


def _split(run: Run, test: int | None) -> Split:
    matches = outline_of(run.recordings)
    return splits.by_time(matches) if test is None else splits.by_patch(matches, test)


@dataclass(frozen=True, kw_only=True)
class ItemRecipe:
    """Train and judge the next-item policy."""

    description: str
    most: int = 12_000
    """Decisions the weights are fitted on. Up: slower, steadier."""
    everything: bool = False
    """Count the test's matches as well, once they have judged: to be used, not compared."""
    test: int | None = None
    """The patch to test on, by OpenDota's number. None: the last fifth of matches."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"most": self.most, "test": self.test, "everything": self.everything}

    def with_options(self, name: str, options: TrainOptions) -> "ItemRecipe":
        """It may test on another patch."""
        return replace(self, test=splits.asked_patch(name, options) or self.test)

    def inputs(self, run: Run) -> Inputs:
        """The recordings: decisions are read from them, not from samples."""
        return {"recordings": whole_shards(run.recordings, RECORDINGS)}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Into the job's folder: the policy and its evaluation."""
        began = time.perf_counter()
        rows = gathered(job.run.recordings, purchases.decisions)
        train, val, test = _parts(rows, _split(job.run, self.test), "purchase of a dearer item")
        policies = fit_items(train, val, self.most, job.seed)
        ours = policies.next.chances(test)
        counts = next_item.baseline(policies.next.frequencies, test)
        number = test.match_id
        kinds = {
            "all items": np.ones(len(test), bool),
            "completed items": purchases.completed()[test.chosen],
            "parts": ~purchases.completed()[test.chosen],
        }
        tables = {
            name: judged(ours[rows], counts[rows], test.chosen[rows], number[rows], (1, 5, 20))
            for name, rows in kinds.items()
        }
        tables[f"{TRACKED} items"] = _tracked(train, ours, counts, test)
        tables["what is bought to be kept"] = _goals(policies, test)
        if self.everything:
            policies = counted_anew(policies, [train, val, test])
        save_items(job.out / ITEMS_FILE, policies)
        weights = {
            what: dict(zip(names, policy.weights.tolist(), strict=True))
            for what, policy in (("next", policies.next), ("goal", policies.goal))
            for names in [(*next_item.FREQUENCY_TABLES, *next_item.OTHERS)]
        }
        return _finish(job.out, began, "hero and last item", tables, {"weights": weights})


def fit_items(
    train: purchases.Decisions, val: purchases.Decisions, most: int, seed: int
) -> next_item.ItemPolicies:
    """Both policies; what is kept is seen in what was trained on."""
    kept = purchases.ends(train)
    led = [purchases.towards(rows, kept) for rows in (train, val)]
    return next_item.ItemPolicies(
        next_item.fit(train, val, most=most, seed=seed),
        next_item.fit(*led, most=most, seed=seed),
        kept,
    )


def counted_anew(
    policies: next_item.ItemPolicies, parts: list[purchases.Decisions]
) -> next_item.ItemPolicies:
    """The same weights over counts of all decisions."""
    rows = purchases.joined(parts)
    led = purchases.towards(rows, policies.kept)
    return next_item.ItemPolicies(
        replace(policies.next, frequencies=next_item.count(rows)),
        replace(policies.goal, frequencies=next_item.count(led)),
        policies.kept,
    )


def _goals(policies: next_item.ItemPolicies, test: purchases.Decisions) -> dict[str, Any]:
    rows = purchases.towards(test, policies.kept)
    ours = policies.goal.chances(rows)
    counts = next_item.baseline(policies.goal.frequencies, rows)
    return judged(ours, counts, rows.chosen, rows.match_id, (1, 3, 5))


def _tracked(train: Any, ours: Floats, counts: Floats, test: Any) -> dict[str, Any]:
    """Only among the items bought most, as counting baselines are usually measured."""
    often = np.bincount(train.chosen, minlength=ours.shape[1])
    kept = np.zeros(ours.shape[1], bool)
    kept[np.argsort(-often)[:TRACKED]] = True
    rows = kept[test.chosen]

    # Both are set to 0 outside the items kept and scaled to sum to 1, so neither has an edge.
    def among(chance: Floats) -> Floats:
        some = chance[rows] * kept
        return some / np.maximum(some.sum(axis=1, keepdims=True), 1e-300)

    chosen = test.chosen[rows]
    return judged(among(ours), among(counts), chosen, test.match_id[rows], (1, 5, 20))


@dataclass(frozen=True, kw_only=True)
class WardRecipe:
    """Train and judge the ward policy."""

    description: str
    everything: bool = False
    """Count the test's matches as well, once they have judged: to be used, not compared."""
    test: int | None = None
    """The patch to test on, by OpenDota's number. None: the last fifth of matches."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"grid": wards.GRID, "test": self.test, "everything": self.everything}

    def with_options(self, name: str, options: TrainOptions) -> "WardRecipe":
        """It may test on another patch."""
        return replace(self, test=splits.asked_patch(name, options) or self.test)

    def inputs(self, run: Run) -> Inputs:
        """The recordings: decisions are read from them, not from samples."""
        return {"recordings": whole_shards(run.recordings, RECORDINGS)}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Into the job's folder: the policy and its evaluation."""
        began = time.perf_counter()
        split = _split(job.run, self.test)
        models, tables, named = (
            dict[str, ward_fates.WardModel](),
            dict[str, Any](),
            dict[str, Any](),
        )
        for kind, name in WARD_KINDS.items():
            try:
                models[kind], scores = self._of_kind(job.run.recordings, split, kind, name)
            except TooFewError:
                if kind == "obs":
                    raise
                continue  # recordings without sentries still say where observers go
            tables |= scores
            spots = models[kind].spots
            names = [*(f"{part}, blurred {blur:g}" for part, blur in spots.maps), "even"]
            named[name] = dict(zip(names, spots.weights.tolist(), strict=True))
        save_wards(job.out / WARDS_FILE, models)
        return _finish(job.out, began, "side and five minutes", tables, {"weights": named})

    def _of_kind(
        self, recordings: Path, split: Split, kind: str, name: str
    ) -> tuple[ward_fates.WardModel, dict[str, Any]]:
        """The model of one kind of ward, and its scores as asked to the second and the minute."""
        rows = gathered(recordings, partial(wards.placements, kind=kind))
        asked = gathered(recordings, partial(wards.placements, kind=kind, whole_minutes=True))
        train, val, test = _parts(rows, split, name)
        kept = wards.newest_map(wards.joined(train, val))  # older maps are other places
        if kept[: len(train)].any() and kept[len(train) :].any():
            train, val = train.where(kept[: len(train)]), val.where(kept[len(train) :])
        spots = wards.fit(train, val)
        early = wards.WardSpots(wards.counted(train), spots.weights, wards.PLAIN)
        later = _parts(asked, split, name)[1:]
        same = later[0].where(np.isin(later[0].match_id, val.match_id))
        minute = wards.weigh(early, wards.drawn(same))
        plain, sizes = ward_counts.baseline(train, val), (1, 5, 20, 50)
        counts, asked_test = plain.chances(test), later[1]
        scores = {}
        for what, some, near in (("", test, None), (", asked at the minute", asked_test, minute)):
            chances = spots.chances(some, near)
            scores[f"{name}s{what}"] = judged(chances, counts, test.cell, test.match_id, sizes)
        ours, simple = (
            ward_counts.counting_on(policy.counts, asked_test, split.test, chances_by)
            for policy, chances_by in (
                (spots, lambda known, rows: replace(spots, counts=known).chances(rows, minute)),
                (plain, lambda known, rows: replace(plain, counts=known).chances(rows)),
            )
        )
        judgement = judged(ours, simple, test.cell, test.match_id, sizes)
        scores[f"{name}s, the same, counting on"] = judgement
        used = wards.joined(train, val)
        if self.everything:
            used = wards.joined(used, test)
            spots = replace(spots, counts=wards.counted(used))
        return ward_fates.WardModel(spots, minute, ward_fates.fates(used, kind)), scores


WARD_KINDS = {"obs": "observer ward", "sen": "sentry ward"}


class TooFewError(InputError):
    """Nothing of a kind to train on, or to judge by."""


def _parts(rows: Any, split: Split, what: str) -> tuple[Any, Any, Any]:
    parts = [rows.where(np.isin(rows.match_id, part)) for part in vars(split).values()]
    if not all(len(part) for part in parts):
        raise TooFewError(f"the recordings hold too few matches with a {what} to split")
    return parts[0], parts[1], parts[2]


def judged(
    ours: Floats, counts: Floats, chosen: Ints, match_id: Ints, sizes: tuple[int, ...]
) -> dict[str, Any]:
    """Hit rates and log loss of a policy beside counts, with the difference's interval.

    Nothing but their number where there are no decisions: a rate of none is no figure.
    """
    scores: dict[str, Any] = {"decisions": len(chosen)}
    if not len(chosen):
        return scores
    here = np.arange(len(chosen))
    ranks = {"ours": next_item.ranks(ours, chosen), "counts": next_item.ranks(counts, chosen)}
    for size in sizes:
        hit = {name: (rank < size).astype(np.float64) for name, rank in ranks.items()}
        scores[f"hit@{size}"] = {
            **{name: float(values.mean()) for name, values in hit.items()},
            "beside": paired_difference(hit["ours"], hit["counts"], match_id).named(),
        }
    loss = {
        name: -np.log(np.maximum(chance[here, chosen], 1e-9))
        for name, chance in (("ours", ours), ("counts", counts))
    }
    scores["log loss"] = {
        **{name: float(values.mean()) for name, values in loss.items()},
        "beside": paired_difference(loss["ours"], loss["counts"], match_id).named(),
    }
    return scores


def _finish(
    out: Path, began: float, counts: str, tables: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    seconds = round(time.perf_counter() - began, 1)
    evaluation = {"policy": dict(tables), "counts": counts, "steps": 1, "seconds": seconds, **more}
    write_json(ModelFolder(out).evaluation, evaluation)
    return evaluation


# --- on disk -------------------------------------------------------------------------------------


def save_items(path: Path, policies: next_item.ItemPolicies) -> None:
    """Arrays only: keys and counts of each frequency table, the weights, and what is kept."""
    arrays: dict[str, Any] = {"items": np.array(inventory.item_keys()), "kept": policies.kept}
    for what, policy in (("next", policies.next), ("goal", policies.goal)):
        arrays[f"{what}_weights"] = policy.weights
        for number, name in enumerate(next_item.FREQUENCY_TABLES):
            table = policy.frequencies.counts[name]
            arrays[f"{what}_keys_{number}"] = np.array(list(table), np.int64)
            arrays[f"{what}_counts_{number}"] = _short(np.stack(list(table.values())))
    with writing(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_items(path: Path) -> next_item.ItemPolicies:
    """The policies that `save_items` wrote."""
    arrays = _arrays(path, "items")
    if tuple(arrays["items"].tolist()) != inventory.item_keys():
        raise InputError(f"{path} knows other items. Train again: understudy train dota items")
    if "kept" not in arrays:
        raise InputError(f"{path} is of an older make. Train again: understudy train dota items")
    return next_item.ItemPolicies(_policy(arrays, "next"), _policy(arrays, "goal"), arrays["kept"])


def _policy(arrays: Mapping[str, Any], what: str) -> next_item.NextItem:
    counts = {}
    for number, name in enumerate(next_item.FREQUENCY_TABLES):
        keys, table = arrays[f"{what}_keys_{number}"], arrays[f"{what}_counts_{number}"]
        lines = table.astype(np.float32)
        counts[name] = dict(zip(keys.tolist(), lines, strict=True))
    return next_item.NextItem(next_item.FrequencyTables(counts), arrays[f"{what}_weights"])


def save_wards(path: Path, models: Mapping[str, ward_fates.WardModel]) -> None:
    """Arrays only: by kind, maps, how much each is believed, and how wards fared in each cell."""
    arrays: dict[str, Any] = {}
    for kind, model in models.items():
        arrays[f"{kind}_weights"], arrays[f"{kind}_near"] = model.spots.weights, model.spots.near
        arrays[f"{kind}_asked"] = model.asked
        arrays[f"{kind}_stands"] = model.fates.stands.astype(np.float32)
        arrays[f"{kind}_taken"] = model.fates.taken.astype(np.float32)
        for number, table in enumerate(model.spots.counts.values()):
            arrays[f"{kind}_counts_{number}"] = _short(table)
    with writing(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _short(counts: Floats) -> "np.ndarray[Any, np.dtype[np.uint16]]":
    """Counts in two bytes each; beyond 65,535, from about 12,000 matches on, they stay there."""
    return np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)


def load_wards(path: Path) -> dict[str, ward_fates.WardModel]:
    """What `save_wards` wrote, by kind."""
    arrays = _arrays(path, "wards")
    if "obs_near" not in arrays or len(arrays["obs_near"]) != len(wards.PLAIN):
        raise InputError(f"{path} is of an older make. Train again: understudy train dota wards")
    names = list(wards.counted(_no_wards()))
    models = {}
    for kind in (kind for kind in WARD_KINDS if f"{kind}_near" in arrays):
        counts = {n: arrays[f"{kind}_counts_{k}"].astype(np.float64) for k, n in enumerate(names)}
        spots = wards.WardSpots(counts, arrays[f"{kind}_weights"], arrays[f"{kind}_near"])
        fates = ward_fates.Fates(
            *(arrays[f"{kind}_{n}"].astype(np.float64) for n in ("stands", "taken"))
        )
        models[kind] = ward_fates.WardModel(spots, arrays[f"{kind}_asked"], fates)
    return models


def _no_wards() -> wards.Placements:
    from understudy.games.dota.sources.match_files import tables_of

    return wards.placements(tables_of([]))


def _arrays(path: Path, recipe: str) -> dict[str, Any]:
    """All arrays of a file; InputError where it is damaged or holds what is no number."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        for name, values in arrays.items():
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise ValueError(f"'{name}' holds what is no number")
        return arrays
    except (OSError, ValueError, EOFError, AttributeError, BadZipFile, zlib.error) as failure:
        raise InputError(
            f"{path} cannot be read ({failure}). Train it: understudy train dota {recipe}"
        ) from failure
