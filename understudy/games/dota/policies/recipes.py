"""Recipes of the two policies: the next item of a player, and where the next observer ward goes.

Matches are split by time; each policy stands beside the counts it must beat, with intervals drawn
by match. Decisions are read from the recordings.
"""

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
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
from understudy.games.dota.policies import next_item, purchases, wards
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
    test: int | None = None
    """The patch to test on, by OpenDota's number. None: the last fifth of matches."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"most": self.most, "test": self.test}

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
        policy = next_item.fit(train, val, most=self.most, seed=job.seed)
        save_items(job.out / ITEMS_FILE, policy)
        ours = policy.chances(test)
        counts = next_item.baseline(policy.frequencies, test)
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
        weights = dict(
            zip(
                (*next_item.FREQUENCY_TABLES, *next_item.OTHERS),
                policy.weights.tolist(),
                strict=True,
            )
        )
        return _finish(job.out, began, "hero and last item", tables, {"weights": weights})


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
    test: int | None = None
    """The patch to test on, by OpenDota's number. None: the last fifth of matches."""

    def settings(self) -> dict[str, Any]:
        """Everything but the description."""
        return {"grid": wards.GRID, "test": self.test}

    def with_options(self, name: str, options: TrainOptions) -> "WardRecipe":
        """It may test on another patch."""
        return replace(self, test=splits.asked_patch(name, options) or self.test)

    def inputs(self, run: Run) -> Inputs:
        """The recordings: decisions are read from them, not from samples."""
        return {"recordings": whole_shards(run.recordings, RECORDINGS)}

    def fit(self, job: TrainingJob) -> dict[str, Any]:
        """Into the job's folder: the policy and its evaluation."""
        began = time.perf_counter()
        rows = gathered(job.run.recordings, wards.placements)
        train, val, test = _parts(rows, _split(job.run, self.test), "observer ward")
        policy = wards.fit(train, val)
        save_wards(job.out / WARDS_FILE, policy, train)
        counts = wards.baseline(train, val, test)
        ours, number = policy.chances(test), test.match_id
        tables = {"observer wards": judged(ours, counts, test.cell, number, (1, 5, 20, 50))}
        weights = [*(f"{name}, blurred {blur:g}" for name, blur in policy.maps), "even"]
        named = dict(zip(weights, policy.weights.tolist(), strict=True))
        return _finish(job.out, began, "side and five minutes", tables, {"weights": named})


def _parts(rows: Any, split: Split, what: str) -> tuple[Any, Any, Any]:
    parts = [rows.where(np.isin(rows.match_id, part)) for part in vars(split).values()]
    if not all(len(part) for part in parts):
        raise InputError(f"the recordings hold too few matches with a {what} to split")
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


def save_items(path: Path, policy: next_item.NextItem) -> None:
    """Arrays only: keys and counts of each frequency table, and the weights."""
    arrays: dict[str, Any] = {"weights": policy.weights, "items": np.array(inventory.item_keys())}
    for number, name in enumerate(next_item.FREQUENCY_TABLES):
        table = policy.frequencies.counts[name]
        arrays[f"keys_{number}"] = np.array(list(table), np.int64)
        arrays[f"counts_{number}"] = _short(np.stack(list(table.values())))
    with writing(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def load_items(path: Path) -> next_item.NextItem:
    """The policy that `save_items` wrote."""
    arrays = _arrays(path, "items")
    if tuple(arrays["items"].tolist()) != inventory.item_keys():
        raise InputError(f"{path} knows other items. Train again: understudy train dota items")
    counts = {}
    for number, name in enumerate(next_item.FREQUENCY_TABLES):
        keys, table = arrays[f"keys_{number}"], arrays[f"counts_{number}"]
        lines = table.astype(np.float32)
        counts[name] = dict(zip(keys.tolist(), lines, strict=True))
    return next_item.NextItem(next_item.FrequencyTables(counts), arrays["weights"])


def save_wards(path: Path, policy: wards.WardSpots, train: wards.Placements) -> None:
    """Arrays only: the maps, how much each is believed, and how long wards stood in each cell."""
    ended = ~np.isnan(train.life)
    total = np.bincount(train.cell[ended], train.life[ended], wards.SIZE)
    rows = np.bincount(train.cell[ended], minlength=wards.SIZE)
    mean = np.nansum(train.life) / max(ended.sum(), 1)
    # Each cell's mean life, shrunk towards that of all as by five wards of average life.
    arrays: dict[str, Any] = {"weights": policy.weights, "life": (total + 5 * mean) / (rows + 5)}
    for number, table in enumerate(policy.counts.values()):
        arrays[f"counts_{number}"] = _short(table)
    with writing(path) as aside, aside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _short(counts: Floats) -> "np.ndarray[Any, np.dtype[np.uint16]]":
    """Counts in two bytes each; beyond 65,535, from about 12,000 matches on, they stay there."""
    return np.minimum(counts, np.iinfo(np.uint16).max).astype(np.uint16)


def load_wards(path: Path) -> tuple[wards.WardSpots, Floats]:
    """What `save_wards` wrote: the policy, and seconds a ward stands, by cell."""
    arrays = _arrays(path, "wards")
    names = list(wards.counted(_no_wards()))
    counts = {name: arrays[f"counts_{k}"].astype(np.float64) for k, name in enumerate(names)}
    return wards.WardSpots(counts, arrays["weights"]), arrays["life"]


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
