"""Whose code failed in recorded worlds, in lines for people to read."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from understudy.data import shards
from understudy.games.scml.recording.tables import WORLDS

MOST_LINES = 5
LONGEST_ERROR = 100  # characters; some agents put all they know into their exceptions


class Failure(NamedTuple):
    """One failure, as the table of worlds writes it down."""

    factory: int
    day: int
    error: str

    @classmethod
    def read(cls, text: str) -> "Failure":
        """From FACTORY DAY ERROR."""
        factory, day, error = text.split(" ", 2)
        return cls(int(factory), int(day), error)


def failure_lines(folder: Path) -> list[str]:
    """What to tell of the failures in a folder's worlds; nothing where there are none."""
    columns = ("match", "players", "faults")
    return summary(
        world
        for path in shards.shard_paths(folder, WORLDS)
        for world in shards.read_shard(path, WORLDS, columns).to_pylist()
    )


def summary(worlds: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line per player that failed, who failed most first; only so many are named."""
    found: dict[str, list[tuple[str, Failure]]] = {}
    for world in worlds:
        for failure in map(Failure.read, world["faults"]):
            player = world["players"][failure.factory]
            found.setdefault(player, []).append((world["match"], failure))
    ranked = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = [_line(player, failures) for player, failures in ranked[:MOST_LINES]]
    if more := ranked[MOST_LINES:]:
        lines.append(f"faults: and of {len(more)} more players")
    return lines


def _line(player: str, failures: list[tuple[str, Failure]]) -> str:
    match, first = failures[0]
    worlds = len({match for match, _ in failures})
    error = " ".join(first.error.split())
    if len(error) > LONGEST_ERROR:
        error = error[: LONGEST_ERROR - 3] + "..."
    return (
        f"faults: {player} {len(failures):,} in {worlds:,} world{'s' if worlds > 1 else ''} "
        f"(first: {match}, day {first.day}, {error})"
    )
