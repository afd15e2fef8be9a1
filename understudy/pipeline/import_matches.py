"""Recordings of matches that were not played here, part by part."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from understudy.data import shards
from understudy.data.files import write_text
from understudy.data.runs import Run, begin, finish
from understudy.errors import InputError
from understudy.pipeline.game import Awaited, Game, Imported


class Imports(NamedTuple):
    """What came of reading logs."""

    files: int
    matches: int
    rejected: list[str]
    """FILE:LINE: what is wrong, for every line left out."""


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

    A part that was taken in earlier, and is still the same, is not read again.
    """
    begin(run.recordings, "record", {"game": game.name, **settings}, resume=resume)
    files, matches, rejected, written = 0, 0, list[str](), set[Path]()
    for files, found in enumerate(imports, start=1):
        part = _Part(game, run.recordings, f"{files:05d}")
        taken = part.taken(found) or part.take(found)
        matches += taken["matches"]
        rejected += taken["rejected"]
        written |= {*part.tables.values(), part.note} if taken["matches"] else {part.note}
    for path in {*run.recordings.glob("*.parquet"), *run.recordings.glob("import-*")} - written:
        path.unlink()  # its log is gone since an earlier call
    finish(run.recordings, matches=matches, files=files, rejected=rejected)
    return Imports(files, matches, rejected)


class _Part:
    """The shards that one part of an import becomes, and a note that they are whole."""

    def __init__(self, game: Game, folder: Path, key: str) -> None:
        self.outline = game.recordings[0]
        self.tables = {
            table.name: shards.shard_path(folder, table, key) for table in game.recordings
        }
        self.note = folder / f"import-{key}.json"

    def taken(self, found: Imported | Awaited) -> dict[str, Any] | None:
        """What the note says, if the part was taken in earlier and has not changed since."""
        if not isinstance(found, Awaited) or not self.note.is_file():
            return None
        note: dict[str, Any] = json.loads(self.note.read_text())
        if note["stamp"] != found.stamp:
            return None
        if note["matches"]:
            if not all(path.is_file() for path in self.tables.values()):
                return None
            found.remember(shards.read_shard(self.tables[self.outline.name], self.outline))
        return note

    def take(self, found: Imported | Awaited) -> dict[str, Any]:
        """Write the part's recordings, and last the note."""
        self.note.unlink(missing_ok=True)
        matches = len(found.tables[self.outline.name])
        for name, path in reversed(self.tables.items()) if matches else ():
            shards.write_shard(path, found.tables[name])
        told = {"matches": matches, "rejected": found.rejected}
        if isinstance(found, Awaited):
            write_text(self.note, json.dumps(told | {"stamp": found.stamp}, indent=2) + "\n")
        return told
