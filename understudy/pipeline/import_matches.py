"""Recordings of matches that were not played here, part by part."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.integrity.shapes import ImportNote
from understudy.data.runs import Run, begin, finish, read_manifest
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.pipeline.game import Awaited, Game, Imported


class Imports(NamedTuple):
    """What came of reading logs."""

    files: int
    matches: int
    rejected: list[str]
    """FILE:LINE: what is wrong, for every line left out."""
    missing: Mapping[str, int] = MappingProxyType({})
    """Counts of what the logs do not say."""
    known: int = 0
    """Matches left out, as another import of the run or an earlier part of this one holds them."""


def read_logs(game: Game, run: Run, logs: Path, *, resume: bool = True) -> Imports:
    """Recordings from logs of other origin; the lines that could not be read are told apart."""
    if game.read_logs is None:
        raise InputError(f"{game.name} reads no logs of other origin")
    imports = game.read_logs(logs)  # which refuses a folder without logs
    return take_in(game, run, imports, {"logs": str(logs)}, resume=resume)


def take_in(
    game: Game,
    run: Run,
    imports: Iterable[Imported | Awaited],
    settings: Mapping[str, Any],
    *,
    resume: bool = True,
) -> Imports:
    """Write recordings that were not played here; `settings` say where they are from.

    A part that was taken in earlier, and is still the same, is not read again. Imports from
    elsewhere add up in a run; a match that an earlier one holds is left out of a later one.
    """
    place = _Import.of(game, run.recordings, settings, resume)
    begin(run.recordings, "record", place.settings, resume=resume, growing=_GROWING)
    known = place.known_matches()
    files, matches, repeated, rejected, written = 0, 0, 0, list[str](), set[Path]()
    missing = Counter[str]()
    for files, found in enumerate(imports, start=1):
        part = _Part(game, run.recordings, f"{place.prefix}{files:05d}")
        taken = part.taken(found) or part.take(found, known)
        known = pa.concat_arrays([known, part.matches()]) if taken["matches"] else known
        repeated += taken.get("known", 0)
        matches += taken["matches"]
        rejected += taken["rejected"]
        missing.update(taken.get("missing", {}))
        written |= {*part.tables.values(), part.note} if taken["matches"] else {part.note}
    for path in place.files() - written:
        path.unlink()  # its log is gone since an earlier call
    return place.finish(Imports(files, matches, rejected, missing, repeated))


_GROWING = ("imports", "added")
_IF_ANY = ("missing", "known")


@dataclass(frozen=True)
class _Import:
    """One import into a run: the first, or one that follows it."""

    outline: Table
    folder: Path
    number: int
    settings: Mapping[str, Any]
    """Of all imports of the run."""

    @classmethod
    def of(cls, game: Game, folder: Path, settings: Mapping[str, Any], resume: bool) -> "_Import":
        """The one with these settings: known to the run, or new to it."""
        asked = json.loads(json.dumps({"game": game.name, **settings}))
        manifest = read_manifest(folder) if resume else None
        old = {} if manifest is None else manifest["settings"]
        first = {name: value for name, value in old.items() if name not in _GROWING}
        added = list(old.get("added", []))
        if asked in added:
            return cls(game.recordings[0], folder, 1 + added.index(asked), old)
        # What was played here, and not read, is no import to be followed by others.
        follows = manifest is not None and "rejected" in manifest.get("facts", {})
        if not follows or first == asked or first.get("game") != game.name:
            settings = asked if not old or first != asked else old
            return cls(game.recordings[0], folder, 0, settings)
        grown = first | {"imports": 2 + len(added), "added": [*added, asked]}
        return cls(game.recordings[0], folder, 1 + len(added), grown)

    @property
    def prefix(self) -> str:
        """Before the keys of its shards."""
        return f"{self.number}-" if self.number else ""

    def _owns(self, path: Path) -> bool:
        return re.fullmatch(rf"{self.prefix}\d+", shards.shard_key(path)) is not None

    def files(self) -> set[Path]:
        """All that earlier calls of it have left."""
        every = {*self.folder.glob("*.parquet"), *self.folder.glob("import-*.json")}
        return {path for path in every if self._owns(path)}

    def known_matches(self) -> pa.Array:
        """The matches of all other imports, by what tells them apart."""
        paths = sorted(self.folder.glob(f"{self.outline.name}-*.parquet"))
        return matches_in([path for path in paths if not self._owns(path)], self.outline)

    def finish(self, here: Imports) -> Imports:
        """Note what came of it beside what came of the others; all of them together."""
        manifest = read_manifest(self.folder)
        assert manifest is not None
        before = manifest.get("facts")
        alone = {} if before is None else {"0": {"missing": {}, **before}}
        parts = dict((before or {}).get("by_import", alone))
        parts[str(self.number)] = here._asdict() | {"missing": dict(here.missing)}
        every = list(parts.values())
        missing = sum((Counter(one["missing"]) for one in every), Counter[str]())
        whole = Imports(
            sum(one["files"] for one in every),
            sum(one["matches"] for one in every),
            [line for one in every for line in one["rejected"]],
            missing,
            sum(one.get("known", 0) for one in every),
        )
        facts = whole._asdict() | {"missing": dict(missing), "by_import": parts}
        told = {name: fact for name, fact in facts.items() if fact or name not in _IF_ANY}
        if len(parts) == 1:
            del told["by_import"]
        finish(self.folder, **told)
        return whole


def matches_in(paths: Iterable[Path], outline: Table) -> pa.Array:
    """The matches of some shards, by what tells them apart."""
    key = outline.columns[0]
    found = [shards.read_shard(path, outline, [key.name])[key.name] for path in paths]
    whole = pa.chunked_array([part for some in found for part in some.chunks], type=key.type)
    return pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], key.type)


class _Part:
    """The shards that one part of an import becomes, and a note that they are whole."""

    def __init__(self, game: Game, folder: Path, key: str) -> None:
        self.outline = game.recordings[0]
        self.tables = {
            table.name: shards.shard_path(folder, table, key) for table in game.recordings
        }
        self.note = folder / f"import-{key}.json"

    def matches(self) -> pa.Array:
        """Those it holds, by what tells them apart."""
        return matches_in([self.tables[self.outline.name]], self.outline)

    def taken(self, found: Imported | Awaited) -> dict[str, Any] | None:
        """What the note says, if the part was taken in earlier and has not changed since."""
        if not isinstance(found, Awaited):
            return None
        note = read_json(self.note, ImportNote, "Delete it and run the same command again")
        if note is None or note["stamp"] != found.stamp:
            return None
        if note["matches"]:
            if not all(path.is_file() for path in self.tables.values()):
                return None
            found.remember(shards.read_shard(self.tables[self.outline.name], self.outline))
        return {**note}

    def take(self, found: Imported | Awaited, known: pa.Array) -> dict[str, Any]:
        """Write the part's recordings without matches that are known, and last the note."""
        self.note.unlink(missing_ok=True)
        tables, key = dict(found.tables), self.outline.columns[0].name
        if len(known):
            new = {name: pc.invert(pc.is_in(rows[key], known)) for name, rows in tables.items()}
            tables = {name: rows.filter(new[name]) for name, rows in tables.items()}
        matches = len(tables[self.outline.name])
        repeated = len(found.tables[self.outline.name]) - matches
        for name, path in reversed(self.tables.items()) if matches else ():
            shards.write_shard(path, tables[name])
        told: dict[str, Any] = {"matches": matches, "rejected": found.rejected}
        if found.missing:
            told["missing"] = dict(found.missing)
        if repeated:
            told["known"] = repeated
        if isinstance(found, Awaited):
            write_json(self.note, told | {"stamp": found.stamp})
        return told
