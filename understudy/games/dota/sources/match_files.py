"""Match files to recordings: JSON, JSON lines, gzipped or not, one match or many to a file.

A file that cannot be read, and a match that cannot be learned from, costs one line that says why;
everything else is kept. Matches are handed on in lots, so a folder of any size fits in memory, and
a lot is only read if it must be: an import that was stopped goes on after the last one written.
"""

import gc
import gzip
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import pyarrow as pa

from understudy.errors import InputError
from understudy.games.dota.sources.opendota import MatchError, Rows, is_parsed, rows_of
from understudy.games.dota.sources.soundness import faults, without
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS, in_order
from understudy.pipeline.game import Awaited, Imported

MATCHES_PER_BATCH = 250
UNPARSED = "its replay was never parsed: kept for its result and draft, without any minutes"
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


def read_logs(*sources: Path) -> Iterator[Awaited]:
    """Files, and all match files below folders, in lots."""
    return _lots([(path, source) for source in sources for path in match_files(source)])


def match_files(source: Path) -> list[Path]:
    """The match files that `source` is or holds, by name."""
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise InputError(f"there is no file or folder {source}")
    paths = sorted(p for p in source.rglob("*") if p.name.endswith(_SUFFIXES) and p.is_file())
    if not paths:
        raise InputError(f"{source} holds no match files: none ends in {', '.join(_SUFFIXES)}")
    return paths


MatchOrFault = tuple[str, dict[str, Any] | str]
"""Where, and a match or what is wrong there."""


class Piece(NamedTuple):
    """A file, or some lines of one."""

    path: Path
    name: str
    lines: tuple[int, int, int] | None
    """From the first, 0 at least, up to but without the last, of how many; None: all at once."""


def _lots(files: Sequence[tuple[Path, Path]]) -> Iterator[Awaited]:
    """Pieces of files as lots, each with a stamp that also changes with those before."""
    seen, reader, stamp = set[int](), _Lines(), ""
    for lot in _cut(files):
        state = [(piece, piece.path.stat()) for piece in lot]
        known = [(p.name, p.lines, was.st_size, was.st_mtime_ns) for p, was in state]
        versions = [table.version for table in RECORDINGS]
        # The stamp before goes in: what was read earlier decides borders and repeated matches.
        stamp = blake2b(repr((stamp, versions, known)).encode(), digest_size=16).hexdigest()
        load = partial(_read, lot, reader, seen)
        yield Awaited(lot[-1].name, stamp, load, partial(_remember, seen))


def _remember(seen: set[int], outline: pa.Table) -> None:
    seen.update(outline["match_id"].to_pylist())


def _cut(files: Sequence[tuple[Path, Path]]) -> Iterator[list[Piece]]:
    """As many files, or lines of them, to a lot as it may hold matches."""
    lot, size = list[Piece](), 0
    for path, root in files:
        name = path.name if path == root else path.relative_to(root).as_posix()
        for piece in _pieces(path, name, MATCHES_PER_BATCH - size):
            lot.append(piece)
            size += piece.lines[1] - piece.lines[0] if piece.lines else 1
            if size == MATCHES_PER_BATCH:
                yield lot
                lot, size = [], 0
    if lot:
        yield lot


def _pieces(path: Path, name: str, room: int) -> Iterator[Piece]:
    """Of one file: the first no longer than `room`, the others as long as a lot."""
    lines = _line_count(path)
    if lines is None:
        yield Piece(path, name, None)
        return
    start, end = 0, min(lines, room)
    while start < lines:
        yield Piece(path, name, (start, end, lines))
        start, end = end, min(lines, end + MATCHES_PER_BATCH)


_BROKEN = (OSError, EOFError, zlib.error)


def _line_count(path: Path) -> int | None:
    """Of a file with a match a line; None for other files, and those that cannot be read."""
    if ".jsonl" not in path.name and ".ndjson" not in path.name:
        return None
    try:
        with _opened(path) as file:
            return sum(1 for _ in file)
    except _BROKEN:
        return None


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


class _Lines:
    """Lines of one file after another; goes on where the last call stopped."""

    def __init__(self) -> None:
        self.path: Path | None = None
        self.file: IO[bytes] = io.BytesIO()
        self.at = 0

    def between(self, path: Path, first: int, last: int, of: int) -> Iterator[tuple[int, bytes]]:
        """Each with its number, from 1 on."""
        if path != self.path or first < self.at:  # lines are counted from a file's beginning
            self.file.close()
            self.path, self.file, self.at = path, _opened(path), 0
        for line in islice(self.file, first - self.at, last - self.at):
            first += 1
            yield first, line
        self.at = last
        if last == of:
            self.file.close()
            self.path = None


def _matches_of(piece: Piece, reader: _Lines) -> Iterator[MatchOrFault]:
    try:
        if piece.lines is not None:
            for number, line in reader.between(piece.path, *piece.lines):
                if line.strip():
                    yield from _parsed(line, f"{piece.name}:{number}")
            return
        with _opened(piece.path) as file:
            text = file.read()
    except _BROKEN as failure:
        yield piece.name, f"cannot be unpacked, so it is cut off or damaged ({failure})"
        return
    yield from _parsed(text, piece.name)


def _parsed(text: bytes, name: str) -> Iterator[MatchOrFault]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as failure:
        yield name, f"not JSON, so it is cut off or damaged ({failure})"
        return
    for number, match in enumerate(content if isinstance(content, list) else [content], start=1):
        where = f"{name}[{number}]" if isinstance(content, list) else name
        is_match = isinstance(match, dict)
        yield where, match if is_match else f"{type(match).__name__} where a match should be"


def _read(lot: Sequence[Piece], reader: _Lines, seen: set[int]) -> Imported:
    """A lot as tables, with a line on each match that was left out or is unparsed."""
    held, words = list[tuple[str, Rows]](), list[str]()
    with _collector_at_rest():
        for where, match in (pair for piece in lot for pair in _matches_of(piece, reader)):
            try:
                held.append((where, _rows(match, seen)))
            except MatchError as failure:
                words.append(f"{where}: {failure}")
                continue
            assert isinstance(match, dict)
            if not is_parsed(match):
                words.append(f"{where}: {UNPARSED}")
        return _batch(lot[-1].name, held, words, seen)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Rows hold no cycles; to look through a million of them takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _rows(match: dict[str, Any] | str, seen: set[int]) -> Rows:
    if isinstance(match, str):
        raise MatchError(match)
    rows = rows_of(match)
    number = match["match_id"]
    if type(number) is not int:
        raise MatchError(f"match_id is {number!r}, not a whole number")
    if number in seen:
        raise MatchError(f"match {number} was read before; the first stays")
    seen.add(number)
    return rows


def _batch(
    last: str, held: Sequence[tuple[str, Rows]], words: list[str], seen: set[int]
) -> Imported:
    """The tables of some matches. An odd value in one of them costs that match alone."""
    wrong: dict[str, str] = {}
    try:
        tables = tables_of([rows for _, rows in held])
    except _ODD:
        wrong = {where: fault for where, rows in held if (fault := _fault_of(rows))}
        tables = tables_of([rows for where, rows in held if where not in wrong])
    by_number = faults(tables)
    numbers = {where: rows[MATCHES.name][0][0] for where, rows in held}
    for where, number in numbers.items():
        if said := wrong.get(where) or by_number.get(number):
            words.append(f"{where}: not as OpenDota writes it ({said})")
            seen.discard(number)  # a sound copy may follow
    return Imported(last, without(tables, by_number), words)


def _fault_of(rows: Rows) -> str:
    """Why a match does not fit our tables; nothing where it does."""
    try:
        tables_of([rows])
    except _ODD as failure:
        return str(failure).splitlines()[0][:200] or type(failure).__name__
    return ""


_ODD = (pa.ArrowException, TypeError, ValueError, OverflowError)


def tables_of(matches: Sequence[Rows]) -> dict[str, pa.Table]:
    """The rows of some matches as the tables of a recording, in their order."""
    tables = {}
    for table in RECORDINGS:
        names = [column.name for column in table.columns]
        rows = [row for match in matches for row in match.get(table.name, ())]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        built = table.build(dict(zip(names, columns, strict=True)))
        for column in table.columns:
            if not column.optional and built[column.name].null_count:
                raise ValueError(f"{table.name}: {column.name} is missing")
        tables[table.name] = in_order(table, built)
    return tables
