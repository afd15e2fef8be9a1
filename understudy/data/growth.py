"""Recordings that grow: how many matches there will be, and where earlier calls had stopped.

What was recorded stays as it is. More of it is cut into tasks of its own, so the manifest keeps at
which sizes it was cut (`parts`), and the same command finds the same tasks again.
"""

from pathlib import Path
from typing import NamedTuple

from understudy.data.runs import read_manifest
from understudy.errors import InputError

PARTS = "parts"


class Size(NamedTuple):
    """How large a recording is to be."""

    total: int
    parts: tuple[int, ...] = ()
    """How large it was before it grew, each time."""


def grown(folder: Path, name: str, asked: int, more: int | None, resume: bool = True) -> Size:
    """The size of a recording by the setting `name`: as asked, or so many more than there are.

    While a recording is not finished, asking for more finishes it: the same command goes on.
    """
    if more is not None and more < 1:
        raise InputError(f"--more must be at least 1, not {more}")
    manifest = read_manifest(folder) if resume else None
    known = {} if manifest is None else manifest["settings"]
    there, parts = known.get(name), tuple(known.get(PARTS, ()))
    if not isinstance(there, int):
        return Size(asked if more is None else more)
    if more is not None:
        asked = there if manifest and manifest["finished"] is None else there + more
    if asked == there:
        return Size(asked, parts)
    return Size(asked, (*parts, there) if asked > there else ())


def cuts(size: Size) -> list[tuple[int, int]]:
    """From which to which number each part goes."""
    ends = [*size.parts, size.total]
    return list(zip([0, *ends[:-1]], ends, strict=True))
