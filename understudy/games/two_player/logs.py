"""Logs of other origin -> recordings of any plain game. `docs/plain-logs.md` says how they look.

A log is a table with a row per decision, as JSON lines (`*.jsonl`, `*.jsonl.gz`) or as Parquet; a
row that cannot be used is left out and told as FILE:ROW. A match lies whole in one log.
"""

import gzip
import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from understudy.data.files import digest
from understudy.data.samples import Decisions, pack_legal
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.names import fault_of_place, shown
from understudy.pipeline.game import Awaited, Imported

_ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
UNKNOWN = "unknown"
"""A player that no row names."""


def read_logs(matches: Table, steps: Table, decisions: Decisions, given: Path) -> Iterator[Awaited]:
    """The recordings in every log in and below a folder, or in one log, in the order of names."""
    paths = [given] if given.is_file() else sorted(given.rglob("*"))
    logs = [path for path in paths if path.name.endswith(_ENDINGS) and path.is_file()]
    if not logs:
        raise InputError(f"{given}: no logs ({', '.join(_ENDINGS)}) in or below it")
    return _parts(_Reading(matches, steps, decisions), given, logs)


def _parts(reading: "_Reading", given: Path, logs: Iterable[Path]) -> Iterator[Awaited]:
    for path in logs:
        source = path.name if path == given else path.relative_to(given).as_posix()
        yield Awaited(source, digest(path), partial(reading.read, source, path), reading.remember)


@dataclass
class _Match:
    """What rows say of one match."""

    players: list[str] = field(default_factory=lambda: [UNKNOWN, UNKNOWN])
    score: float | None = None
    """Of slot 0."""
    rows: dict[tuple[int, int], tuple[Any, ...]] = field(default_factory=dict)
    """By step and slot: features, choices, legal, reward."""


@dataclass
class _Reading:
    """All that is known while logs are read one after the other."""

    matches: Table
    steps: Table
    decisions: Decisions
    known: set[str] = field(default_factory=set)
    """Matches of earlier logs."""

    def remember(self, outline: pa.Table) -> None:
        """These matches have been read."""
        self.known.update(outline["match"].to_pylist())

    def read(self, source: str, path: Path) -> Imported:
        """One log."""
        found, rejected = dict[str, _Match](), list[str]()
        try:
            for number, row in _rows(path):
                try:
                    self._take(found, row)
                except (ValueError, TypeError, KeyError) as mistake:
                    rejected.append(f"{source}:{number}: {_said(mistake)}")
        except (OSError, EOFError, zlib.error, pa.ArrowException) as failure:
            rejected.append(f"{source}: cannot be read on: {failure}")
        tables = {"matches": self._outline(found), "steps": self._steps(found)}
        self.remember(tables["matches"])
        return Imported(source, tables, rejected)

    def _take(self, found: dict[str, _Match], row: Any) -> None:
        """A row into its match; ValueError, TypeError or KeyError for one that is no decision."""
        if isinstance(row, ValueError):
            raise row
        name, slot = str(row["match"]), row["slot"]
        _check_name(name, "match")
        _check_name(str(row.get("player") or UNKNOWN), "player")
        if name in self.known:
            raise ValueError(f"match '{name}' was in an earlier log")
        if slot not in (0, 1):
            raise ValueError(f"slot is {slot}, not 0 or 1")
        match = found.get(name) or _Match()
        if name in found and _tells_only_the_end(row):
            match.score = _outcome(row["outcome"]) * (1 - 2 * slot)
            return
        step = len(match.rows) if row.get("step") is None else int(row["step"])
        if not 0 <= step < 2**31 or (step, slot) in match.rows:
            raise ValueError(f"step {step} of slot {slot} is there already, or no step")
        outcome = None if row.get("outcome") is None else _outcome(row["outcome"])
        match.rows[step, slot] = self._decision(row)
        if outcome is not None:
            match.score = outcome * (1 - 2 * slot)
        match.players[slot] = str(row.get("player") or match.players[slot])
        found[name] = match

    def _decision(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Features, choices, legal and reward of a row."""
        features = _listed(row, "features", self.decisions.features)
        seen = [float(value) for value in features]
        if not isfinite(sum(seen)):
            raise ValueError("a feature is not a finite number")
        chosen = [int(option) for option in _listed(row, "actions", list(self.decisions.heads))]
        for option, (head, options) in zip(chosen, self.decisions.heads.items(), strict=True):
            if not 0 <= option < options:
                raise ValueError(f"'{head}' is {option}; it has the options 0 to {options - 1}")
        legal = row.get("legal")
        if legal is None:
            legal = [True] * self.decisions.options
        elif len(legal) != self.decisions.options:
            raise ValueError(f"'legal' has {len(legal)} entries, not {self.decisions.options}")
        return seen, chosen, [bool(one) for one in legal], float(row.get("reward") or 0.0)

    def _outline(self, found: Mapping[str, _Match]) -> pa.Table:
        every = list(found.values())
        return self.matches.build(
            {
                "match": list(found),
                "seed": [_seed(name) for name in found],
                "player_0": [match.players[0] for match in every],
                "player_1": [match.players[1] for match in every],
                "score": [math.nan if match.score is None else match.score for match in every],
                "steps": [1 + max(step for step, _ in match.rows) for match in every],
                "ending": [
                    "imported, outcome unknown" if match.score is None else "imported"
                    for match in every
                ],
            }
        )

    def _steps(self, found: Mapping[str, _Match]) -> pa.Table:
        """Rows match by match, in each step by step."""
        keys = [(name, *key) for name, match in found.items() for key in sorted(match.rows)]
        rows = [found[name].rows[step, slot] for name, step, slot in keys]
        features, heads = self.decisions.features, self.decisions.heads
        seen = np.array([row[0] for row in rows], np.float32).reshape(len(rows), len(features))
        chosen = np.array([row[1] for row in rows], np.int64).reshape(len(rows), len(heads))
        legal = np.array([row[2] for row in rows], bool).reshape(len(rows), self.decisions.options)
        return self.steps.build(
            {
                "match": [name for name, _, _ in keys],
                "step": [step for _, step, _ in keys],
                "slot": [slot for _, _, slot in keys],
                **dict(zip(features, seen.T, strict=True)),
                **dict(zip(heads, chosen.T, strict=True)),
                "legal": pack_legal(legal),
                "reward": [row[3] for row in rows],
            }
        )


def _tells_only_the_end(row: Mapping[str, Any]) -> bool:
    """Whether it is no decision, but how its match ended."""
    return row.get("outcome") is not None and row.keys() <= {"match", "slot", "player", "outcome"}


def _outcome(given: float) -> float:
    if not -1 <= given <= 1:
        raise ValueError(f"outcome is {given}, not between -1 and 1")
    return float(given)


def _listed(row: Mapping[str, Any], together: str, names: Iterable[str]) -> list[Any]:
    """Values by their names, or all of them as one list, in that order."""
    if (listed := row.get(together)) is None:
        return [row[name] for name in names]
    if len(listed) != len(list(names)):
        raise ValueError(f"'{together}' has {len(listed)} entries, not {len(list(names))}")
    return list(listed)


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Rows with their numbers, from 1; a ValueError in place of one that is none."""
    if path.suffix == ".parquet":
        yield from enumerate(_parquet_rows(path), start=1)
        return
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, _json_row(line)


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(8_192):
            yield from batch.to_pylist()


def _json_row(line: bytes) -> Any:
    try:
        row = json.loads(line)
    except ValueError:  # also what is no text
        return ValueError("not JSON")
    return row if isinstance(row, dict) else ValueError("not an object")


def _check_name(name: str, what: str) -> None:
    if fault := fault_of_place(name):
        raise ValueError(f"{what} {shown(name)} {fault}")


def _said(mistake: Exception) -> str:
    return f"no {mistake}" if isinstance(mistake, KeyError) else str(mistake)


def _seed(match: str) -> int:
    """A number for a match that nobody drew; matches of one name share their split."""
    return int.from_bytes(hashlib.blake2b(match.encode(), digest_size=8).digest()) >> 1
