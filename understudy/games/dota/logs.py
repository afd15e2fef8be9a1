"""Match files to recordings: JSON, JSON lines, gzipped or not, one match or many to a file.

A file that cannot be read, and a match that cannot be learned from, costs one line that says why;
everything else is kept. Matches are handed on in batches, so a folder of any size fits in memory.
"""

import gc
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy.errors import InputError
from understudy.games import Imported
from understudy.games.dota.opendota import MatchError, Rows, is_parsed, rows_of
from understudy.games.dota.record import RECORDINGS, in_order

MATCHES_PER_BATCH = 250
UNPARSED = "its replay was never parsed: kept for its result and draft, without any minutes"
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz")


def read_logs(*sources: Path) -> Iterator[Imported]:
    """Files, and all match files below folders, in batches."""
    found = [(match_files(source), source) for source in sources]
    return batches(chain.from_iterable(matches_in(paths, source) for paths, source in found))


def match_files(source: Path) -> list[Path]:
    """The match files that `source` is or holds, by name."""
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise InputError(f"there is no file or folder {source}")
    found = sorted(p for p in source.rglob("*") if p.name.endswith(_SUFFIXES) and p.is_file())
    if not found:
        raise InputError(f"{source} holds no match files: none ends in {', '.join(_SUFFIXES)}")
    return found


Found = tuple[str, dict[str, Any] | str]
"""Where, and a match or what is wrong there."""


def matches_in(paths: Sequence[Path], root: Path) -> Iterator[Found]:
    """Every match of every file."""
    for path in paths:
        name = path.name if path == root else path.relative_to(root).as_posix()
        yield from _matches_of(path, name)


def _matches_of(path: Path, name: str) -> Iterator[Found]:
    try:
        packed = path.read_bytes()
        text = gzip.decompress(packed) if path.suffix == ".gz" else packed
    except (OSError, EOFError, zlib.error) as failure:
        yield name, f"cannot be unpacked, so it is cut off or damaged ({failure})"
        return
    if ".jsonl" in path.name or ".ndjson" in path.name:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield from _parsed(line, f"{name}:{number}")
    else:
        yield from _parsed(text, name)


def _parsed(text: bytes, name: str) -> Iterator[Found]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as failure:
        yield name, f"not JSON, so it is cut off or damaged ({failure})"
        return
    for number, match in enumerate(found if isinstance(found, list) else [found], start=1):
        where = f"{name}[{number}]" if isinstance(found, list) else name
        is_match = isinstance(match, dict)
        yield where, match if is_match else f"{type(match).__name__} where a match should be"


def batches(found: Iterable[Found], size: int = MATCHES_PER_BATCH) -> Iterator[Imported]:
    """Matches as tables, `size` at a time, with a line on each that was left out or is unparsed."""
    source, seen = iter(found), set[int]()
    while (batch := _next_batch(source, size, seen)) is not None:
        yield batch


def _next_batch(source: Iterator[Found], size: int, seen: set[int]) -> Imported | None:
    held, words = list[tuple[str, Rows]](), list[str]()
    with _collector_at_rest():
        for where, match in source:
            try:
                held.append((where, _rows(match, seen)))
            except MatchError as failure:
                words.append(f"{where}: {failure}")
                continue
            assert isinstance(match, dict)
            if not is_parsed(match):
                words.append(f"{where}: {UNPARSED}")
            if len(held) == size:
                break
        return _batch(held, words) if held or words else None


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


def _batch(held: Sequence[tuple[str, Rows]], words: list[str]) -> Imported:
    """The tables of some matches. An odd value in one of them costs that match alone."""
    last = held[-1][0] if held else "nothing"
    try:
        return Imported(last, tables_of([rows for _, rows in held]), words)
    except _ODD:
        sound = []
        for where, rows in held:
            try:
                tables_of([rows])
                sound.append(rows)
            except _ODD as failure:
                words.append(f"{where}: not as OpenDota writes it ({failure})")
        return Imported(last, tables_of(sound), words)


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
