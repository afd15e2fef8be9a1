"""Logs that grow, followed: whole lines are copied to the run, and its recordings are kept up.

A stream is known by its inode, so that one that is renamed when it grows too long (rotated) is read
to its end, and what follows at its old place is read on as the same stream. Half lines wait for
their other half. A process that was stopped anywhere goes on where it was: what was copied beyond
what is noted is cut off again, so that no line is taken twice.

    RUN/followed/logs/PATH   lines of each stream     RUN/followed/state.json   how far it was read
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from understudy.data.integrity.json_files import read_json, write_json
from understudy.data.runs import Run
from understudy.errors import InputError
from understudy.pipeline.game import Game
from understudy.pipeline.import_matches import Imports, read_logs

EVERY = 2.0  # seconds between two looks
_ENDING = ".jsonl"
_CHUNK = 1 << 20


class Tail(msgspec.Struct, kw_only=True):
    """How far a file was read."""

    stream: str
    """Where its lines are copied to, as a path below `logs`."""
    offset: int = 0
    """Bytes of it that were copied: whole lines."""


class FollowState(msgspec.Struct, kw_only=True):
    """What is known of all files."""

    source: str
    """The folder that is followed."""
    tails: dict[str, Tail] = {}
    """By device and inode."""
    copied: dict[str, int] = {}
    """By stream: bytes of the copy."""


@dataclass
class Follower:
    """One folder that is followed into one run."""

    source: Path
    run: Run
    state: FollowState = field(init=False)

    def __post_init__(self) -> None:
        if not self.source.is_dir():
            raise InputError(f"there is no folder {self.source} to follow")
        self.state = self._read_state()
        for copy in [path for path in self.logs.rglob("*") if path.is_file()]:
            noted = self.state.copied.get(copy.relative_to(self.logs).as_posix(), 0)
            if copy.stat().st_size > noted:
                os.truncate(copy, noted)  # copied, and then killed before it was noted

    @property
    def logs(self) -> Path:
        """Copies of all streams."""
        return self.run.followed / "logs"

    @property
    def _state_file(self) -> Path:
        return self.run.followed / "state.json"

    def _read_state(self) -> FollowState:
        cure = "Follow into another run (--out)"
        known: Any = read_json(self._state_file, FollowState, cure)
        here = str(self.source.resolve())
        if known is None:
            return FollowState(source=here)
        state = msgspec.convert(known, FollowState)
        if state.source != here:
            raise InputError(f"{self.run.folder} follows {state.source}, not {here}. {cure}")
        return state

    def _copy(self, stream: str) -> Path:
        return self.logs / stream

    def look(self) -> int:
        """Copy what is new; how many lines that was."""
        lines = sum(self._take(path) for path in self._files())
        if lines:
            write_json(self._state_file, msgspec.to_builtins(self.state))
        return lines

    def _files(self) -> Iterator[Path]:
        """What to read: first files that were renamed, then those at their own place."""
        every = [path for path in self.source.rglob("*") if path.is_file()]
        known = [path for path in every if _key(path) in self.state.tails]
        new = [p for p in every if p not in known and p.name.endswith(_ENDING)]
        renamed = [p for p in known if self.state.tails[_key(p)].stream != self._name(p)]
        kept = [path for path in known if path not in renamed]
        return iter([*sorted(renamed), *sorted(kept), *sorted(new)])

    def _name(self, path: Path) -> str:
        return path.relative_to(self.source).as_posix()

    def _take(self, path: Path) -> int:
        """Copy the whole lines that have come; how many."""
        tail = self.state.tails.setdefault(_key(path), Tail(stream=self._name(path)))
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size < tail.offset:
                tail.offset = 0  # it was emptied, and begins anew
            file.seek(tail.offset)
            count = 0
            while chunk := _whole_lines(file):
                self._append(tail.stream, chunk)
                tail.offset += len(chunk)
                count += chunk.count(b"\n")
                file.seek(tail.offset)
        return count

    def _append(self, stream: str, chunk: bytes) -> None:
        copy = self._copy(stream)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("ab") as file:
            file.write(chunk)
        self.state.copied[stream] = self.state.copied.get(stream, 0) + len(chunk)


def _whole_lines(file: BinaryIO) -> bytes:
    """The next whole lines: some of a long file, and one at least, however long it is."""
    chunk = file.read(_CHUNK)
    if b"\n" not in chunk:
        chunk += file.readline()
    return chunk[: chunk.rfind(b"\n") + 1]


def _key(path: Path) -> str:
    found = path.stat()
    return f"{found.st_dev}:{found.st_ino}"


def follow(
    game: Game,
    run: Run,
    source: Path,
    *,
    every: float = EVERY,
    once: bool = False,
    tell: Callable[[Imports, int], None] = lambda imports, lines: None,
) -> None:
    """Keep a run's recordings up with logs that grow, until it is stopped; or once."""
    game.require()
    follower = Follower(source, run)
    behind = not run.recordings.is_dir()
    while True:
        lines = follower.look()
        if (lines or behind) and any(follower.logs.rglob("*")):
            tell(read_logs(game, run, follower.logs), lines)
            behind = False
        if once:
            return
        time.sleep(every)
