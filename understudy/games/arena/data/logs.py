"""Logs of other origin -> the recordings of `tables.py`, file by file. See `docs/arena-logs.md`.

A name says what a file holds: `feedback_stream.jsonl` a live match, `manifest.jsonl` how live
matches ended, any other `*.jsonl` or `*.jsonl.gz` a recorder's trajectories. A line that cannot be
used is left out and told as FILE:LINE; the rest is kept.
"""

import gzip
import json
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from understudy.data.files import digest
from understudy.errors import InputError
from understudy.games.arena.data.log_lines import (
    WORK_OUT,
    LineError,
    action_of,
    extras_of,
    finite,
    flag_of,
    name_of,
    outcome_of,
    player_of,
    short,
    text_of,
    under_our_names,
    utf8,
    view_of,
)
from understudy.games.arena.data.tables import MATCHES, RECORDED_VIEW, RULES, STEPS
from understudy.games.arena.sim import rules as r
from understudy.games.arena.sim import state as v
from understudy.pipeline.game import Awaited, Imported

SKIPPED: Final = "skipped"
"""Note in the metadata of a file's matches: how many of its lines were events of other kinds."""
_FEEDBACK, _MANIFEST = "feedback_stream.jsonl", "manifest.jsonl"
_DECISIONS = ("step", "action", "feedback")  # the events of a feedback stream that are read

_FLAGS = ("terminated", "truncated", "done")
_NUMBERS: Final = (*RECORDED_VIEW, *r.ACTION, "reward")  # columns of STEPS
_LAST_STEP = 2**31 - 2


class _Outcome(NamedTuple):
    """What a manifest says of a feedback stream, and where."""

    place: str
    score: float | None
    player: str | None
    extras: dict[str, Any]


def read_logs(folder: Path) -> Iterator[Imported | Awaited]:
    """The recordings in every log in and below `folder`, by the logs' paths in order."""
    paths = sorted(p for p in folder.rglob("*") if p.name.endswith((".jsonl", ".jsonl.gz")))
    logs = {utf8(p.relative_to(folder).as_posix()): p for p in paths if p.is_file()}
    if not logs:
        raise InputError(
            f"{folder}: no logs in or below it. Give a folder with trajectories (*.jsonl.gz or "
            f"*.jsonl), live matches ({_FEEDBACK}) or their outcomes ({_MANIFEST})"
        )
    return _read_all(folder, logs)


def _read_all(folder: Path, logs: Mapping[str, Path]) -> Iterator[Imported | Awaited]:
    streams = {os.path.normpath(p.absolute()): s for s, p in logs.items() if p.name == _FEEDBACK}
    outcomes: dict[str, _Outcome] = {}
    manifests = {
        source: _read_manifest(source, path, folder, streams, outcomes)
        for source, path in logs.items()
        if path.name == _MANIFEST
    }
    for source, path in logs.items():
        if source in manifests:
            yield Imported(source, _Log(source, live=True).tables(), manifests[source])
        else:
            told = outcomes.get(source)
            yield Awaited(
                source, _stamp(source, path, told), partial(_read_matches, source, path, told)
            )


def _stamp(source: str, path: Path, outcome: _Outcome | None) -> str:
    """Changes with what a file is called and holds, and with what a manifest says of it."""
    try:
        held = digest(path)
    except (OSError, InputError):  # it has just gone; reading it will say so
        held = ""
    return f"{source} {held}" if outcome is None else f"{source} {held} {outcome[1:]}"


def _read_matches(source: str, path: Path, outcome: _Outcome | None) -> Imported:
    """A file of trajectories, or a feedback stream with the outcome that a manifest tells."""
    log, rejected, skipped = _Log(source, live=path.name == _FEEDBACK), list[str](), 0
    live = {"player": (outcome and outcome.player) or "live"}
    for number, record in _records(source, path, rejected):
        if log.live and not _is_decision(record):
            skipped += 1
            continue
        line = under_our_names(record)
        try:
            log.add({**live, **line, "slot": 0} if log.live else line, record)
        except (LineError, RecursionError) as failure:
            rejected.append(f"{source}:{number}: {failure}")
    if outcome and len(log.matches) > 1:
        many = f"{source} holds {len(log.matches)} matches; it is not said which of them"
        rejected.append(f"{outcome.place}: {many}")
    elif outcome and log.matches:
        log.end(outcome)
    return Imported(source, log.tables(skipped), rejected)


def _is_decision(record: dict[str, Any]) -> bool:
    """Take the kind of event out of a line: is it one to read? One of no kind is."""
    event = record.pop("event", None) or record.pop("type", None)
    return event is None or event in _DECISIONS


def _read_manifest(
    source: str,
    path: Path,
    folder: Path,
    streams: Mapping[str, str],
    outcomes: dict[str, _Outcome],
) -> list[str]:
    """Add to `outcomes`, by stream; the lines that could not be used."""
    rejected = list[str]()
    for number, record in _records(source, path, rejected):
        place, named = f"{source}:{number}", record.pop("runtime_feedback", None)
        if named is None:  # a match of which no feedback was kept
            continue
        try:
            stream = _stream(text_of(named, "runtime_feedback"), (folder, path.parent), streams)
            if stream in outcomes:
                raise LineError(f"{outcomes[stream].place} has told of {stream} already")
            line = under_our_names(record)
            player = player_of(line)
            score = outcome_of(line.get("outcome"))
            outcomes[stream] = _Outcome(place, score, player, extras_of(line, record))
        except (LineError, RecursionError) as failure:
            rejected.append(f"{place}: {failure}")
    return rejected


def _stream(named: str, bases: Sequence[Path], streams: Mapping[str, str]) -> str:
    """Which feedback stream is meant: the one at this path, or the only one whose path ends so."""
    wanted = PurePosixPath(named.replace("\\", "/"))
    for base in bases:  # an absolute path swallows the base
        if source := streams.get(os.path.normpath(base.absolute() / wanted)):
            return source
    alike = [s for s in streams.values() if _end_alike(PurePosixPath(s).parts, wanted.parts)]
    if len(alike) != 1:
        problem = f"could be {' or '.join(alike[:3])}" if alike else "is not among these logs"
        raise LineError(f"runtime_feedback {named!r:.200} {problem}")
    return alike[0]


def _end_alike(source: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """One is the end of the other. That all streams have the same file name means nothing."""
    shared = min(len(source), len(wanted))
    return source[-shared:] == wanted[-shared:] and (shared > 1 or len(wanted) == 1)


def _records(source: str, path: Path, rejected: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a file of JSON lines, with their line numbers. Empty lines do not matter."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                if raw.isspace():
                    continue
                try:
                    yield number, _object(raw)
                except LineError as failure:
                    rejected.append(f"{source}:{number}: {failure}")
    except (OSError, EOFError, zlib.error) as failure:
        rejected.append(f"{source}:{number + 1}: cannot be read from here on ({failure})")


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as failure:
        raise LineError(f"not UTF-8 ({failure.reason})") from failure
    except (ValueError, RecursionError) as failure:
        raise LineError(f"not JSON ({getattr(failure, 'msg', failure)})") from failure
    if not isinstance(found, dict):
        raise LineError(f"{short(found)} is no JSON object")
    return found


# --- rows ----------------------------------------------------------------------------------------


@dataclass
class _Match:
    """What a file has told of one match so far. What is kept by slot is as that player sees it."""

    number: int
    players: list[str | None] = field(default_factory=lambda: [None, None])
    seats: dict[str, int] = field(default_factory=dict)  # slots of those known by name alone
    seen: set[int] = field(default_factory=set)  # 2 * step + slot
    said: dict[int, tuple[int, float]] = field(default_factory=dict)  # latest (step, outcome)
    gained: dict[int, tuple[int, float]] = field(default_factory=dict)  # (step, reward) at the end
    flags: set[str] = field(default_factory=set)

    def score(self) -> float | None:
        """Player 0's, by what was said, else by what was gained. None: unknown, or disputed."""
        for told in (self.said, self.gained):
            if scores := [told[slot][1] * (1.0 - 2.0 * slot) for slot in sorted(told)]:
                return scores[0] if max(scores) - min(scores) < 1e-6 else None
        return None

    def ending(self, score: float | None) -> str:
        """Of the endings that MATCHES knows."""
        if "terminated" not in self.flags and "truncated" in self.flags:
            return "timeout"
        if self.flags and score in (1.0, -1.0):
            return "kill"
        return "double kill" if "terminated" in self.flags and score == 0 else "unknown"


class _Log:
    """The rows of one file."""

    def __init__(self, source: str, *, live: bool) -> None:
        self.source, self.live = source, live
        self.matches: dict[str, _Match] = {}
        self.which, self.step, self.slot = array("q"), array("i"), array("b")
        self.numbers = array("f")  # those of _NUMBERS, row after row
        self.extras: list[str | None] = []

    def add(self, line: Mapping[str, Any], rest: Mapping[str, Any]) -> None:
        """Take in one decision, whole or not at all; `rest` is what its line says besides."""
        name = self._match_name(line.get("match"))
        match = self.matches.get(name) or _Match(len(self.matches))
        slot, player, label = _seat(match, line)
        step = self._step_number(line.get("step"), match)
        if 2 * step + slot in match.seen:
            raise LineError(f"match {name!r} has step {step} of slot {slot} already")
        view, action = view_of(line.get("observation")), action_of(line.get("action"))
        numbers = finite([*view, *action, line.get("reward", 0.0)], _NUMBERS)
        flags = {flag for flag in _FLAGS if flag_of(line.get(flag), flag)}
        outcome, extras = outcome_of(line.get("outcome")), extras_of(line, rest)
        self.extras.append(json.dumps(extras) if extras else None)
        # Nothing can fail from here on.
        self.matches[name] = match
        match.seen.add(2 * step + slot)
        match.players[slot] = player or match.players[slot]
        match.flags |= flags
        if label is not None:
            match.seats[label] = slot
        if outcome is not None:
            match.said[slot] = max((step, outcome), match.said.get(slot, (-1, 0.0)))
        if flags and "reward" in line:
            gain = min(max(float(line["reward"]), -1.0), 1.0)
            match.gained[slot] = max((step, gain), match.gained.get(slot, (-1, 0.0)))
        self.which.append(match.number)
        self.step.append(step)
        self.slot.append(slot)
        self.numbers.extend(numbers)

    def _match_name(self, given: Any) -> str:
        """Unlike any of another file, because no file lies below another."""
        if given is not None:
            return name_of(f"{self.source}/{text_of(given, 'match')}", "match")
        parent = self.source.rpartition("/")[0]
        return name_of(parent if self.live and parent else self.source, "match")

    def _step_number(self, given: Any, match: _Match) -> int:
        if given is None and self.live:
            given = self.step[-1] + 1 if match.seen else 0
        if type(given) is float and given.is_integer():
            given = int(given)
        if type(given) is not int or not 0 <= given <= _LAST_STEP:
            raise LineError(f"step is {short(given)}, not a whole number from 0 to {_LAST_STEP}")
        return given

    def end(self, outcome: _Outcome) -> None:
        """The only match ended so; what else is said of it goes with its last step."""
        if outcome.score is not None:
            (match,) = self.matches.values()
            match.said = {0: (_LAST_STEP, outcome.score)}
        if outcome.extras:
            last = int(np.argmax(self.step))
            known = json.loads(self.extras[last] or "{}")
            self.extras[last] = json.dumps({**known, "manifest": outcome.extras})

    def tables(self, skipped: int = 0) -> dict[str, pa.Table]:
        """Recordings; steps by match in the order of appearance, then by step and slot."""
        which, step, slot = np.array(self.which), np.array(self.step), np.array(self.slot)
        order = np.lexsort((slot, step, which))
        numbers = np.array(self.numbers).reshape(-1, len(_NUMBERS))[order]
        work_out_reach(numbers)
        steps = {
            "match": pa.array(self.matches, pa.string()).take(pa.array(which[order])),
            "step": step[order],
            "slot": slot[order],
            **{name: numbers[:, k] for k, name in enumerate(_NUMBERS)},
            "events": np.zeros(len(order), np.int32),
            "extras": pa.array(self.extras, pa.string()).take(pa.array(order)),
        }
        return {"matches": self._outline(skipped), "steps": STEPS.build(steps, RULES)}

    def _outline(self, skipped: int) -> pa.Table:
        matches = list(self.matches.values())
        scores = [match.score() for match in matches]
        columns = {
            "match": list(self.matches),
            "seed": [None] * len(matches),
            "player_0": [match.players[0] or "unknown" for match in matches],
            "player_1": [match.players[1] or "unknown" for match in matches],
            "score": scores,
            "steps": [max(m.seen) // 2 - min(m.seen) // 2 + 1 for m in matches],
            "ending": [m.ending(score) for m, score in zip(matches, scores, strict=True)],
            "layout": ["unknown"] * len(matches),
            "origin": ["feedback" if self.live else "recorder"] * len(matches),
        }
        return MATCHES.build(columns, {**RULES, SKIPPED: str(skipped)})


def work_out_reach(numbers: "np.ndarray[Any, np.dtype[np.float32]]") -> None:
    """Fill in `in_reach` where it was not logged: is a ready station near, and of use?"""
    rows = np.flatnonzero(numbers[:, v.IN_REACH] == WORK_OUT)
    views = numbers[rows].astype(np.float64)
    offset = views[:, None, [v.X, v.Y]] - r.STATIONS
    near = (offset**2).sum(axis=2) <= r.REACH**2
    ready = views[:, v.HEALTH_OURS : v.AMMO_THEIRS + 1] > 0
    of_use = views[:, [v.HEALTH, v.RESERVE]] < (r.HEALTH, r.RESERVE)
    numbers[rows, v.IN_REACH] = (near & ready & of_use.repeat(2, axis=1)).any(axis=1)


def _seat(match: _Match, line: Mapping[str, Any]) -> tuple[int, str | None, str | None]:
    """Slot, player, and the name that tells the slot where the line does not say its number."""
    slot, label = line.get("slot"), None
    player = player_of(line)
    if slot is None or isinstance(slot, str):
        label = player if slot is None else name_of(text_of(slot, "slot"), "slot")
        if label is None:
            raise LineError("neither slot nor player")
        player, numbered = player or label, label[-2:] in ("0", "1", "_0", "_1")
        slot = int(label[-1]) if numbered else match.seats.get(label, len(match.seats))
        label = None if numbered else label
    if isinstance(slot, bool) or slot not in (0, 1):
        raise LineError(f"slot is {short(slot)}; a match has slots 0 and 1")
    if player and player != (match.players[int(slot)] or player):
        raise LineError(f"slot {slot} is {player}, but was {match.players[int(slot)]}")
    return int(slot), player, label
