"""Read a whole run and say what is damaged, missing, stale or foreign.

Damaged: not as it was written. Missing: others say it was there. Stale: made from what has changed
since. Foreign: nothing of ours writes such a file there.
"""

import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from understudy.data import shards
from understudy.data.files import ASIDE, digest, read_bytes, read_text, require_file
from understudy.data.integrity import seals
from understudy.data.integrity.evaluations import Evaluation
from understudy.data.integrity.json_files import DamagedError, read_json, read_lines
from understudy.data.integrity.locks import LOCK
from understudy.data.integrity.shapes import (
    ImportNote,
    LeagueMatch,
    LeagueState,
    LeagueSummary,
    MetricsLine,
    Named,
    Tasks,
)
from understudy.data.players import PlayerRef, weights_digest
from understudy.data.runs import (
    MANIFEST,
    LeagueFolder,
    ModelFolder,
    Run,
    TuningFolder,
    read_manifest,
)
from understudy.data.schema import TABLE_KEY
from understudy.errors import InputError
from understudy.league.matches import MATCHES
from understudy.pipeline.game import Game, load

DAMAGED, MISSING, STALE, FOREIGN = "damaged", "missing", "stale", "foreign"
_AGAIN = "Make it again: the command is in the manifest beside it"
_KNOWN = (
    *("tensorboard/*", "*.html", "*.log", f"*{ASIDE}", LOCK.format("*"), "*.csv", "*.ubj"),
    "followed/*",
)
"""What is let be: pages, logs, tables for other programs, and what the next command sweeps."""


class Finding(NamedTuple):
    """Something that is not as it should be."""

    kind: str
    path: Path
    what: str


class Checked(NamedTuple):
    """What came of looking through a run."""

    files: int
    sealed: int
    """Of these, files whose every byte was verified."""
    findings: list[Finding]


def check(run: Run) -> Checked:
    """Look through all files of a run."""
    found, files, sealed = list[Finding](), 0, 0
    for path in sorted(run.folder.rglob("*")):
        if path.is_dir() and not _is_read(path) and (not path.is_symlink() or _is_seen(path, run)):
            continue
        files += 1
        verified, finding = check_file(path, run.folder)
        sealed += verified
        found += [finding] if finding else []
    damaged = {finding.path for finding in found}
    for folder in sorted({path.parent for path in run.folder.rglob(MANIFEST)}):
        if folder / MANIFEST not in damaged:
            found += _unfit(run, folder)
    return Checked(files, sealed, found)


def check_file(path: Path, root: Path) -> tuple[bool, Finding | None]:
    """Read one file of the run at `root`: whether its every byte was verified, what is wrong."""
    try:
        return _read(path, root), None
    except _ForeignError as failure:
        return False, Finding(FOREIGN, path, str(failure))
    except InputError as failure:
        return False, Finding(DAMAGED, path, str(failure))
    except OSError as failure:
        what = f"cannot be read: {failure.strerror or failure}"
        return False, Finding(DAMAGED, path, what)


def _is_seen(link: Path, run: Run) -> bool:
    """Whether a link to a folder leads to what is looked at anyway, or shows a player's weights."""
    known = link.parent == LeagueFolder(link.parents[2]).watched.models
    inside = link.resolve().is_relative_to(run.folder.resolve())
    return inside or (known and link.parents[3] == run.leagues)


def _is_read(path: Path) -> bool:
    """Whether it has the name of a file that somebody reads."""
    return any(fnmatch(path.name, pattern) for pattern in _READERS)


class _ForeignError(InputError):
    """Nothing of ours writes such a file."""


# --- One file ------------------------------------------------------------------------------------


def _read(path: Path, root: Path) -> bool:
    """Read a file by its kind; whether it had a seal."""
    place = path.relative_to(root).as_posix()
    if any(fnmatch(part, known) for known in _KNOWN for part in (place, path.name)):
        return False
    if "/tensorboard/" in f"/{place}":
        return False
    require_file(path)
    for pattern, reads in _READERS.items():
        if fnmatch(path.name, pattern):
            reads(path)
            return path.suffix != ".jsonl" and seals.is_sealed(path.read_bytes())
    raise _ForeignError("nothing of ours writes such a file. Take it away if it is not yours")


def _json(shape: Any) -> Callable[[Path], None]:
    def reads(path: Path) -> None:
        read_json(path, shape, _AGAIN)

    return reads


def _manifest(path: Path) -> None:
    read_manifest(path.parent)


def _summary(path: Path) -> None:
    """Of a league, or of a search for settings."""
    _json(LeagueSummary if path.parent.parent.name == "leagues" else Named)(path)


def _lines(shape: Any) -> Callable[[Path], None]:
    def reads(path: Path) -> None:
        read_lines(path, shape, _AGAIN)

    return reads


def _shard(path: Path) -> None:
    if seals.is_broken_file(path):
        raise DamagedError(f"it does not match its seal. {_AGAIN}")
    try:
        notes = pq.read_metadata(path).metadata or {}
        stamp = notes.get(TABLE_KEY, b"").decode()
    except (pa.ArrowException, OSError, ValueError) as failure:
        reason = str(failure).split("\n", 1)[0]
        raise DamagedError(f"not a whole Parquet file ({reason}). {_AGAIN}") from failure
    if seals.is_unmarked(notes.get(seals.KEY.encode())):
        raise DamagedError(f"its seal is none. {_AGAIN}")
    game, _, name = stamp.rpartition(".")
    try:
        known = load(game)
    except InputError:
        raise _ForeignError(f"it holds '{stamp}', a table of no game here") from None
    tables = {table.name: table for table in (*known.recordings, *known.samples, known.results)}
    if name in tables:
        shards.read_shard(path, tables[name])
    else:
        pq.read_table(path, page_checksum_verification=True)  # a game may keep more of its own


def _weights(path: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    if seals.is_broken_file(path):
        raise DamagedError(f"it does not match its seal. {_AGAIN}")
    try:
        for name, values in load_file(path).items():
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise DamagedError(f"'{name}' holds what is no number. {_AGAIN}")
    except (SafetensorError, ValueError, KeyError, TypeError) as failure:
        if isinstance(failure, InputError):
            raise
        raise DamagedError(f"not a whole safetensors file ({failure}). {_AGAIN}") from failure


def _checkpoint(path: Path) -> None:
    import torch

    from understudy.learn.checkpoint import reading_checkpoint

    with reading_checkpoint(path, torch.device("cpu"), _AGAIN):
        pass


def _arrays(path: Path) -> None:
    try:
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                file[name]
    except (ValueError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as failure:
        raise DamagedError(f"not a whole file of arrays ({failure}). {_AGAIN}") from failure


def _packed(path: Path) -> None:
    try:
        json.loads(gzip.decompress(path.read_bytes()))
    except (ValueError, EOFError, RecursionError, zlib.error, gzip.BadGzipFile) as failure:
        raise DamagedError(
            f"not a whole answer ({failure}). Delete it: it is asked for again"
        ) from failure


def _text(path: Path) -> None:
    read_text(path, _AGAIN)


_READERS: Mapping[str, Callable[[Path], None]] = {
    MANIFEST: _manifest,
    "evaluation.json": _json(Evaluation),
    "league_state.json": _json(LeagueState),
    "summary.json": _summary,
    "import-*.json": _json(ImportNote),
    "tasks.json": _json(Tasks),
    "*.json": _json(Named),
    "metrics.jsonl": _lines(MetricsLine),
    "matches.jsonl": _lines(LeagueMatch),
    "*.jsonl": _lines(Named),
    "*.parquet": _shard,
    "*.safetensors": _weights,
    "checkpoint.pt": _checkpoint,
    "learner.pt": _checkpoint,
    "*.npz": _arrays,
    "*.json.gz": _packed,
    "*.txt": _text,
}


# --- What belongs together -----------------------------------------------------------------------


def _unfit(run: Run, folder: Path) -> Iterator[Finding]:
    """What a folder's manifest says that is no longer so."""
    manifest = read_manifest(folder)
    assert manifest is not None
    yield from _inputs(run, folder, manifest)
    if manifest["finished"] is None:
        return
    try:
        game = load(str(manifest["settings"].get("game", "")))
    except InputError:
        return
    facts = manifest.get("facts", {})
    if manifest["stage"] in ("record", "compete", "compact"):
        yield from _recorded(game, folder, facts)
        if isinstance(lines := facts.get("trace"), int):
            yield from _counted(run.trace, lines)
    elif manifest["stage"] == "encode":
        yield from _encoded(game, run, folder, facts)
    elif manifest["stage"] in ("train", "tune"):
        yield from _trained(folder, manifest["stage"], facts)
    elif manifest["stage"] == "league":
        yield from _league(game, folder)


def _trained(folder: Path, stage: str, facts: Mapping[str, Any]) -> Iterator[Finding]:
    """A model, or the models of a search for settings."""
    if stage == "train":
        yield from _absent(iter([ModelFolder(folder).evaluation]))
    elif isinstance(known := facts.get("trials"), int):
        yield from _counted(TuningFolder(folder).trials, known)
    for layer in sorted(path.parent for path in folder.rglob(ModelFolder(folder).metrics.name)):
        yield from _measured(layer)


def _counted(path: Path, lines: int) -> Iterator[Finding]:
    """Lines that are known to have been so many; a cut between two of them leaves no trace."""
    try:
        content = read_bytes(path) or b""
    except InputError:
        return  # it is among the damaged
    if content.count(b"\n") != lines or not content.endswith(b"\n"):
        what = f"it has not {lines} whole lines, as when it was finished. {_AGAIN}"
        yield Finding(DAMAGED, path, what)


def _measured(folder: Path) -> Iterator[Finding]:
    """A finished training has all its measurements, the last one whole."""
    paths = ModelFolder(folder)
    try:
        known = read_json(paths.evaluation, Evaluation, _AGAIN)
        lines = read_lines(paths.metrics, MetricsLine, _AGAIN)
        content = read_bytes(paths.metrics)
    except InputError:
        return  # it is among the damaged
    if known is None or content is None:
        return
    last = {**known}.get("iterations", known["steps"])
    if not content.endswith(b"\n") or not lines or lines[-1].get("step") != last:
        what = f"it does not end with step {last}, where training ended. {_AGAIN}"
        yield Finding(DAMAGED, paths.metrics, what)


def _absent(paths: Iterator[Path]) -> Iterator[Finding]:
    for path in paths:
        if not path.is_file():
            yield Finding(MISSING, path, "Run the command of its manifest again: it is made anew")


def _inputs(run: Run, folder: Path, manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Files that were read then and are other ones now."""
    for place, known in manifest["inputs"].items():
        path = run.folder / place
        if place.startswith("elsewhere/"):
            continue
        if not path.is_file():
            yield Finding(MISSING, path, f"{folder} was made from it")
        elif digest(path) != known:
            yield Finding(STALE, folder, f"{path} has changed since. Run its command with --fresh")
            return


def _recorded(game: Game, folder: Path, facts: Mapping[str, Any]) -> Iterator[Finding]:
    first = game.recordings[0]
    keys = {shards.shard_key(path) for path in folder.glob(f"{first.name}-*.parquet")}
    tables = [*game.recordings]
    if "rejected" not in facts and game.results.name in facts.get("tables", [game.results.name]):
        # played here, not imported
        keys |= {shards.shard_key(path) for path in folder.glob(f"{game.results.name}-*.parquet")}
        tables.append(game.results)
    paths = (shards.shard_path(folder, table, key) for key in sorted(keys) for table in tables)
    yield from _absent(paths)


def _encoded(game: Game, run: Run, folder: Path, facts: Mapping[str, Any]) -> Iterator[Finding]:
    """Samples beside the recordings they were made from."""
    made = dict(facts.get("inputs", {}))
    paths = (shards.shard_path(folder, table, key) for key in made for table in game.samples)
    yield from _absent(paths)
    first = game.recordings[0]
    there = {shards.shard_key(path) for path in run.recordings.glob(f"{first.name}-*.parquet")}
    again = f"Encode again: understudy encode {game.name} --out {run.folder}"
    if there and there != made.keys():
        yield Finding(STALE, folder, f"there are other recordings now. {again}")
        return
    for key in sorted(there):
        paths = (shards.shard_path(run.recordings, table, key) for table in game.recordings)
        now = [digest(path) for path in paths if path.is_file()]
        if str(made[key]).split("+")[: len(now)] != now:
            yield Finding(STALE, folder, f"recording {key} has changed since. {again}")
            return


def _league(game: Game, folder: Path) -> Iterator[Finding]:
    """A league's files, the matches of its rounds, and the weights its state knows."""
    paths = LeagueFolder(folder)
    yield from _absent(iter([paths.state, paths.summary]))
    rounds = [*folder.glob(f"{game.results.name}-*.parquet")]
    whole = [path for path in rounds if check_file(path, folder)[1] is None]
    if len(whole) == len(rounds):
        sides = sum(pq.read_metadata(path).num_rows for path in whole)
        yield from _counted(folder / MATCHES, sides // 2)
    try:
        state = read_json(paths.state, LeagueState, _AGAIN)
    except InputError:
        return  # it is among the damaged
    for name, known in (state or {"weights": {}})["weights"].items():
        if re.search(r"[/\\]", name) or not paths.player(name).is_dir():
            continue  # a player from elsewhere
        try:
            if weights_digest(PlayerRef(name, paths.player(name))) != known:
                what = "not the weights the league knows. Put a copy back, or --fresh"
                yield Finding(DAMAGED, paths.player(name), what)
        except InputError as failure:
            yield Finding(MISSING, paths.player(name), str(failure))
