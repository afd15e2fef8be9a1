"""The context of one match: its timeline, gold and samples, for advice and for pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.games.dota import facts
from understudy.games.dota.features import kept_ratings
from understudy.games.dota.features import team_rating as strength
from understudy.games.dota.features.encode import all_features
from understudy.games.dota.features.inventory import GoldEstimate
from understudy.games.dota.features.samples import Samples, samples_of
from understudy.games.dota.features.timeline import Timeline, build_timeline
from understudy.games.dota.policies import recipes
from understudy.games.dota.policies.next_item import ItemPolicies
from understudy.games.dota.policies.purchases import Owners
from understudy.games.dota.policies.ward_fates import WardModel
from understudy.games.dota.sources.match_files import read_logs
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS
from understudy.games.dota.value import checkpoint

SHIPPED = kept_ratings.SHIPPED
"""Models that come with the program; `docs/log.md` says how they were made."""


@dataclass(frozen=True)
class Models:
    """All that advice rests on."""

    value: checkpoint.ValueModel
    items: ItemPolicies
    wards: Mapping[str, WardModel]
    """By kind: obs, sen."""


def load_models(folder: Path | None = None) -> Models:
    """From a run's `models`; those it has not, and all without one, come with the program."""
    folders = {"value": value_folder(folder), "items": SHIPPED, "wards": SHIPPED}
    if folder is not None:
        own = {name: folder / name for name in ("items", "wards")}
        folders |= {name: path for name, path in own.items() if path.is_dir()}
    return Models(
        checkpoint.load(folders["value"] / checkpoint.MODEL_FILE),
        recipes.load_items(folders["items"] / recipes.ITEMS_FILE),
        recipes.load_wards(folders["wards"] / recipes.WARDS_FILE),
    )


def value_folder(models: Path | None) -> Path:
    """Where the value model lies in a run's `models`, or the one that comes with the program."""
    if models is None:
        return SHIPPED
    other = models / "value-time"
    return other if other.is_dir() and not (models / "value").is_dir() else models / "value"


@dataclass(frozen=True)
class MatchContext:
    """One match that has minutes, and all that is worked out from it."""

    tables: Mapping[str, pa.Table]
    strength: strength.Strength | None
    """By earlier matches of the run, or those that the model's ratings know; None: by neither."""

    @cached_property
    def outline(self) -> dict[str, Any]:
        """Its row of the table of matches."""
        row: dict[str, Any] = self.tables[MATCHES.name].to_pylist()[0]
        return row

    @property
    def patch(self) -> str:
        """7.38 and the like."""
        return facts.patch_name(self.outline["patch"])

    @property
    def earlier(self) -> bool:
        """Are items made of the parts of earlier patches?"""
        return bool(self.outline["patch"] <= facts.EARLIER)

    @cached_property
    def timeline(self) -> Timeline:
        """Minute by minute."""
        return build_timeline(self.tables)

    @cached_property
    def gold_estimate(self) -> GoldEstimate:
        """What everybody earned and lost, as far as it is recorded."""
        return GoldEstimate(self.timeline)

    @cached_property
    def owners(self) -> Owners:
        """Who bought what first when."""
        return Owners(self.timeline)

    @cached_property
    def samples(self) -> Samples:
        """A row per minute, without labels."""
        known = {self.outline["match_id"]: self.strength} if self.strength else {}
        columns = dict(all_features(self.timeline, known))
        rows = len(self.timeline.t)
        for name in ("match_id", "patch", "start_time"):
            columns[name] = np.full(rows, self.outline[name])
        return samples_of(columns)

    def row_at(self, minute: int) -> int:
        """The row of a minute; an error that says which there are where there is none."""
        times = self.timeline.t // 60
        if minute not in times:
            raise InputError(
                f"match {self.outline['match_id']} has no minute {minute}: "
                f"it goes from {times[0]} to {times[-1]}"
            )
        return int(np.searchsorted(times, minute))

    def hero(self, slot: int) -> str:
        """Who plays a slot."""
        number = int(self.timeline.heroes[0, slot])
        known = facts.heroes().get(number)
        return known.name if known else f"hero {number}"


def open_match(match: str, models: Path | None = None) -> MatchContext:
    """MATCH as people give it: a file of OpenDota, or RUN/NUMBER of a recorded one.

    A file's teams are as strong as the ratings beside the value model of `models` say.
    """
    path = Path(match)
    if path.is_file():
        return _from_file(path, kept_ratings.of_model(value_folder(models)))
    if path.name.isdigit() and path.parent.is_dir():
        return recorded(Run(path.parent), int(path.name))
    raise InputError(f"'{match}' is neither a match file nor RUN/NUMBER of a recorded match")


def _from_file(path: Path, ratings: strength.Ratings | None) -> MatchContext:
    words = []
    for batch in read_logs(path):
        words += batch.rejected
        if len(minutes := batch.tables["state_team_minute"]):
            number = minutes["match_id"][0].as_py()
            results = strength.results_of(batch.tables["matches"])
            (own,) = (one for one in results if one.number == number)
            known = kept_ratings.strength_in(ratings, own) if ratings else None
            return _context_of(batch.tables, number, known)
    raise InputError(words[0] if words else f"{path} holds no match")


def recorded(run: Run, number: int) -> MatchContext:
    """A match of a run's recordings, with the strength that earlier ones show."""
    keys = []
    shard = None
    for path in shards.shard_paths(run.recordings, MATCHES):
        keys.append(shards.shard_key(path))
        if number in shards.read_shard(path, MATCHES, ["match_id"])["match_id"].to_pylist():
            shard = keys[-1]
    if shard is None:
        raise InputError(f"{run.recordings} holds no match {number}")
    known = kept_ratings.survey(run.recordings, keys)[shard][strength.STRENGTH]
    tables = {
        table.name: shards.read_shard(shards.shard_path(run.recordings, table, shard), table)
        for table in RECORDINGS
    }
    return _context_of(tables, number, strength.from_table(known)[number])


def _context_of(
    tables: Mapping[str, pa.Table], number: int, known: strength.Strength | None
) -> MatchContext:
    own = {name: rows.filter(pc.equal(rows["match_id"], number)) for name, rows in tables.items()}
    if not len(own["state_team_minute"]):
        raise InputError(f"match {number} was never parsed: it has no minutes to advise on")
    return MatchContext(own, known)
