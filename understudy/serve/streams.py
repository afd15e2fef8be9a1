"""What was decided, on disk before it is answered, as `record GAME --logs` reads it.

    arena    FOLDER/MATCH/[slot-1/]feedback_stream.jsonl, FOLDER/manifest.jsonl   docs/arena-logs.md
    others   FOLDER/MATCH.jsonl                                                   docs/plain-logs.md

A line is one write to the end of its file, so that a process that is killed has written all that it
has answered, and no half line but perhaps the last. A step that is there already is not written
again.
"""

import contextlib
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy.data.files import cannot_write
from understudy.names import fault_of, shown
from understudy.serve.messages import MessageError

MOST_OPEN = 200
FEEDBACK, MANIFEST = "feedback_stream.jsonl", "manifest.jsonl"
_TO_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


class Stream:
    """The file of one match and slot."""

    def __init__(self, path: Path, slot: int | None = None) -> None:
        """With a slot, the file is shared by both, and only lines of this one count."""
        self.path, self.slot = path, slot
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, _TO_APPEND, 0o644)
        self.last = -1
        """The last step that is written down."""
        self.ended = False
        self._look()

    def _look(self) -> None:
        """What was written before; a half line at the end is closed, so that the next is whole."""
        for line in lines_of(self.path):
            if self.slot is not None and line.get("slot") != self.slot:
                continue
            step = line.get("t", line.get("step"))
            self.last = max(self.last, step) if isinstance(step, int) else self.last
            self.ended = self.ended or "outcome" in line
        size = os.fstat(self._file).st_size
        if size:
            os.lseek(self._file, size - 1, os.SEEK_SET)
            if os.read(self._file, 1) != b"\n":
                os.write(self._file, b"\n")

    def add(self, step: int, line: Mapping[str, Any]) -> None:
        """Write a decision down; one of a step that is there already is not."""
        if step > self.last:
            write_line(self._file, self.path, line)
            self.last = step

    def end(self, line: Mapping[str, Any]) -> None:
        """Write down how it ended, once."""
        if not self.ended:
            write_line(self._file, self.path, line)
            self.ended = True

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def write_line(file: int, path: Path, line: Mapping[str, Any]) -> None:
    """One line, in one piece or not at all."""
    raw = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    try:
        before = os.fstat(file).st_size
        if os.write(file, raw) < len(raw):
            os.ftruncate(file, before)
            raise OSError(28, "no space left")
    except OSError as failure:
        raise MessageError(str(cannot_write(path, failure))) from failure


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file."""
    with path.open("rb") as file:
        for raw in file:
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(raw)
                if isinstance(line, dict):
                    yield line


class Streams:
    """The files of all matches, as many of them open as is bearable."""

    def __init__(self, folder: Path, *, live: bool) -> None:
        self.folder, self.live = folder, live
        self._open: OrderedDict[tuple[str, int], Stream] = OrderedDict()
        folder.mkdir(parents=True, exist_ok=True)
        self._ended = {
            str(line.get("runtime_feedback"))
            for line in (lines_of(self._manifest) if self._manifest.is_file() else ())
        }

    @property
    def _manifest(self) -> Path:
        return self.folder / MANIFEST

    def _path(self, match: str, slot: int) -> Path:
        if not self.live:
            return self.folder / f"{match}.jsonl"
        own = self.folder / match
        return (own if slot == 0 else own / f"slot-{slot}") / FEEDBACK

    def of(self, match: str, slot: int) -> Stream:
        """The stream of a match; both slots of a plain game share one file."""
        key = (match, slot)
        if key not in self._open:
            self._open[key] = Stream(self._path(match, slot), None if self.live else slot)
        self._open.move_to_end(key)
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1].close()
        return self._open[key]

    def last(self, match: str, slot: int) -> int:
        """The last step that is written down of a match; -1 where none is."""
        return self.of(match, slot).last if self._path(match, slot).is_file() else -1

    def lines(self, match: str, slot: int) -> list[dict[str, Any]]:
        """The decisions of a match that are written down, in order."""
        path = self._path(match, slot)
        found = lines_of(path) if path.is_file() else iter(())
        return [
            line
            for line in found
            if "outcome" not in line and (self.live or line.get("slot") == slot)
        ]

    def add(self, match: str, slot: int, step: int, line: Mapping[str, Any], player: str) -> None:
        """Write one decision down."""
        if self.live:
            told = {"event": "step", "t": step, "player": player, **line}
        else:
            told = {"match": match, "slot": slot, "player": player, "step": step, **line}
        self.of(match, slot).add(step, told)

    def end(self, match: str, slot: int, outcome: str | float, player: str) -> None:
        """Write down how a match ended for a slot, once."""
        if not self.live:
            self.of(match, slot).end({"match": match, "slot": slot, "outcome": score(outcome)})
            return
        place = self._path(match, slot).relative_to(self.folder).as_posix()
        if place in self._ended:
            return
        file = os.open(self._manifest, _TO_APPEND, 0o644)
        try:
            told = {"runtime_feedback": place, "outcome": outcome, "player": player}
            write_line(file, self._manifest, told)
        finally:
            os.close(file)
        self._ended.add(place)

    def close(self) -> None:
        """Let go of all files."""
        while self._open:
            self._open.popitem()[1].close()


_SCORES = {"win": 1.0, "draw": 0.0, "loss": -1.0}


def score(outcome: str | float) -> float:
    """An outcome as a number from +1 to -1; MessageError for another."""
    if isinstance(outcome, str):
        if outcome.lower() not in _SCORES:
            raise MessageError(f"outcome is {shown(outcome)}, not win, draw, loss or -1 to 1")
        return _SCORES[outcome.lower()]
    if not -1 <= outcome <= 1:
        raise MessageError(f"outcome is {outcome}, not between -1 and 1")
    return float(outcome)


def match_name(given: str | int) -> str:
    """The name of a match as it stands in a path; MessageError where it cannot."""
    text = str(given)
    fault = "is the name of a file of ours" if text == MANIFEST else fault_of(text)
    if fault:
        raise MessageError(f"match {shown(text)} {fault}")
    return text
