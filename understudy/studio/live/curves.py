"""A `metrics.jsonl` that grows, as few lines as can be seen: what is new is read, the rest kept.

A series keeps the first, lowest, highest and last point of each stretch of steps (M4, Jugel et al.
2014): a line drawn through these is the line through all. So memory does not grow with the file,
and no spike is lost, nor the step with the least loss. Short files stay as they are.
"""

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np

from understudy.data.arrays import Array
from understudy.data.files import require_file
from understudy.data.integrity.shapes import MetricsLine
from understudy.data.runs import ModelFolder
from understudy.report.charts.axis import LARGEST

MOST_POINTS, THINNED = 16_384, 2_048
"""Of a series before it is thinned, and after; a chart shows fewer."""
PIECE = 1 << 20
"""Bytes read at a time."""
LARGE = 24 << 20
"""Unread bytes that nobody is made to wait for: until they are read, a look at parts must do."""
LOOKS, LOOK = 240, 8 << 10
"""How many parts, and how many bytes of each."""
LAST = 64 << 10
_NO_MEASURES = frozenset({"step", "crc"})
_LINE = msgspec.json.Decoder(dict[str, Any])


class Series:
    """Points of one measure, thinned as they come."""

    def __init__(self) -> None:
        self._parts: list[Array] = []
        self._count = 0
        self._is_whole = True

    def add(self, points: Array) -> None:
        """Take in more points, [n, 2]: x and y."""
        self._parts.append(points)
        self._count += len(points)
        if self._count > MOST_POINTS:
            self._parts = [thinned(np.concatenate(self._parts), THINNED)]
            self._count, self._is_whole = len(self._parts[0]), False

    def points(self) -> Array:
        """All that are kept, [n, 2], by x."""
        kept = np.concatenate(self._parts) if self._parts else np.empty((0, 2))
        if not self._is_whole:
            return thinned(kept, THINNED)
        return kept[np.argsort(kept[:, 0], kind="stable")]


def thinned(points: Array, most: int) -> Array:
    """At most about `most` points: first, lowest, highest and last of equal stretches of x."""
    points = points[np.argsort(points[:, 0], kind="stable")]
    x, y = points.T
    stretches = max(1, most // 4)
    width = (x[-1] - x[0]) / stretches or 1.0
    number = np.minimum(((x - x[0]) / width).astype(np.int64), stretches - 1)
    begins = np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
    ends = np.r_[begins[1:], len(points)] - 1
    order = np.lexsort((y, number))  # in each stretch from the lowest to the highest
    kept = np.unique(np.r_[begins, ends, order[begins], order[ends]])
    return points[kept]


class Curves:
    """The metrics of one model, read as far as they are written."""

    def __init__(self, folder: Path) -> None:
        self._path = ModelFolder(folder).metrics
        self._forget()

    def _forget(self) -> None:
        self._series = dict[str, Series]()
        self._offset, self._file, self.bad_lines = 0, (0, 0), 0
        self._rest = b""

    def unread(self) -> int:
        """Bytes that have been written since; the file may be another one by now."""
        try:
            now = self._path.stat()
        except OSError:
            return 0
        if (now.st_dev, now.st_ino) != self._file or now.st_size < self._offset:
            self._forget()  # a training that goes on writes its lines anew
            self._file = (now.st_dev, now.st_ino)
        return now.st_size - self._offset

    def read(self, most: int | None = None) -> bool:
        """Take in what is new, or so many bytes of it; whether there is more."""
        left = self.unread() if most is None else min(most, self.unread())
        with contextlib.suppress(OSError), _opened(self._path) as file:
            file.seek(self._offset)
            while left > 0 and (piece := file.read(min(PIECE, left))):
                left -= len(piece)
                self._offset += len(piece)
                whole, newline, self._rest = (self._rest + piece).rpartition(b"\n")
                self._take(whole + newline)
        return self.unread() > 0

    def _take(self, text: bytes) -> None:
        found, bad = decoded_lines(text)
        self.bad_lines += bad
        for name, points in _by_name(found, self._series).items():
            self._series.setdefault(name, Series()).add(points)

    def lines(self) -> list[MetricsLine]:
        """As lines again, a step each, those that are kept."""
        return _as_lines({name: series.points() for name, series in self._series.items()})

    def glance(self) -> list[MetricsLine]:
        """Lines from all over the file, a small part of them: quick, however long it is."""
        found = dict[str, Series]()
        size = self.unread() + self._offset
        with contextlib.suppress(OSError), _opened(self._path) as file:
            for number in range(LOOKS):
                file.seek(number * max(0, size - LOOK) // (LOOKS - 1))
                lines, _ = decoded_lines(_whole_lines(file.read(LOOK), begins=file.tell() <= LOOK))
                for name, points in _by_name(lines, found).items():
                    found.setdefault(name, Series()).add(points)
        return _as_lines({name: series.points() for name, series in found.items()})


def _opened(path: Path) -> BinaryIO:
    """A file to read; InputError where a pipe stands there, which would never end."""
    require_file(path)
    return path.open("rb")


def last_line(folder: Path) -> MetricsLine:
    """The last whole line of a model's metrics; empty where there is none."""
    with contextlib.suppress(OSError), _opened(ModelFolder(folder).metrics) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - LAST))
        lines, _ = decoded_lines(_whole_lines(file.read(LAST), begins=size <= LAST))
        return _numbers(lines[-1]) if lines else {}
    return {}


def decoded_lines(text: bytes) -> tuple[list[dict[str, Any]], int]:
    """The objects in lines of JSON, and how many lines are none."""
    try:
        return _LINE.decode_lines(text), 0
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = list[dict[str, Any]]()
        lines = text.splitlines()
        for line in lines:
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                found.append(_LINE.decode(line))
        return found, len(lines) - len(found)


def _whole_lines(text: bytes, begins: bool) -> bytes:
    """Without what is cut at its ends."""
    start = 0 if begins else text.find(b"\n") + 1
    return text[start : text.rfind(b"\n") + 1]


def _by_name(lines: Sequence[dict[str, Any]], known: Iterable[str] = ()) -> dict[str, Array]:
    """Every measure's points in some lines, [n, 2]; new ones in the order they appear in."""
    names = dict.fromkeys(known)
    if set[str]().union(*lines) - names.keys() - _NO_MEASURES:
        names |= dict.fromkeys(name for line in lines for name in line)
    step, found = _column(lines, "step"), dict[str, Array]()
    for name in names.keys() - _NO_MEASURES:
        points = np.stack([step, _column(lines, name)], axis=1)
        if len(points := points[(np.abs(points) <= LARGEST).all(axis=1)]):
            found[name] = points
    return {name: found[name] for name in names if name in found}


def _column(lines: Sequence[dict[str, Any]], name: str) -> Array:
    """One entry of each line; what is missing or no number is NaN."""
    values = [line.get(name) for line in lines]
    try:
        return np.array(values, np.float64)
    except (ValueError, TypeError, OverflowError):
        return np.array([value if _drawable(value) else np.nan for value in values], np.float64)


def _drawable(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= LARGEST  # what is no number is not


def _numbers(line: dict[str, Any]) -> MetricsLine:
    return {name: value for name, value in line.items() if _drawable(value)}


def _as_lines(series: dict[str, Array]) -> list[MetricsLine]:
    steps = dict[float, MetricsLine]()
    for name, points in series.items():
        for x, y in points.tolist():
            steps.setdefault(x, {"step": x})[name] = y
    return [steps[x] for x in sorted(steps)]


class AllCurves:
    """The curves of all models that somebody has asked for, those asked for last kept."""

    def __init__(self, most: int = 64) -> None:
        self._known = dict[Path, Curves]()
        self._most = most

    def of(self, folder: Path) -> Curves:
        """Those of one model."""
        found = self._known.pop(folder, None) or Curves(folder)
        self._known[folder] = found
        while len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return found

    def behind(self, folders: Iterable[Path]) -> list[Path]:
        """Those of some models of which a lot is still to be read."""
        return [one for one in folders if self.of(one).unread() > LARGE]
