"""Facts about heroes, items, patches and places, as small tables beside this file.

Source: `dotaconstants` 10.8.0 of the OpenDota project (MIT licence), which reads the game's own
files; `make.py` made them. Patches go up to 7.41; costs and parts are those of 7.41.
`earlier_parts.csv` is ours: what 25 items were made of in 7.38, read from what was bought before
them in nine of ten recorded matches or more.
`places.csv` is ours: about where things are on the map from 7.38 on.
"""

import csv
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from understudy.errors import InputError


@dataclass(frozen=True)
class Hero:
    """What a hero is called."""

    number: int
    key: str
    name: str


@dataclass(frozen=True)
class Item:
    """What an item costs and is made of."""

    number: int
    key: str
    name: str
    cost: int
    neutral: bool
    """Found in camps, never bought."""
    components: tuple[str, ...]


@dataclass(frozen=True)
class Patch:
    """A version of the game."""

    number: int
    name: str
    date: str


@cache
def heroes() -> dict[int, Hero]:
    """By number. A hero of a later patch is not among them."""
    rows = _rows("heroes.csv")
    return {int(row["id"]): Hero(int(row["id"]), row["key"], row["name"]) for row in rows}


@cache
def items() -> dict[str, Item]:
    """By key, as purchases name them. An item of a later patch is not among them."""
    return {
        row["key"]: Item(
            int(row["id"]),
            row["key"],
            row["name"],
            int(row["cost"]),
            bool(row["neutral_tier"]),
            tuple(row["components"].split()),
        )
        for row in _rows("items.csv")
    }


EARLIER = 58
"""The last patch of `earlier_parts.csv`: 7.39, of which we know no recordings, is taken as 7.38."""


@cache
def made_of(earlier: bool) -> dict[str, tuple[str, ...]]:
    """The parts of each item that is put together: today's, or those up to EARLIER."""
    parts = {key: item.components for key, item in items().items() if item.components}
    then = {row["key"]: tuple(row["components"].split()) for row in _rows("earlier_parts.csv")}
    return parts | then if earlier else parts


@cache
def patches() -> dict[int, Patch]:
    """By OpenDota's number, oldest first."""
    known = (Patch(int(row["id"]), row["name"], row["date"]) for row in _rows("patches.csv"))
    return {patch.number: patch for patch in known}


def patch_name(number: int) -> str:
    """7.38 for 57; a patch we do not know yet goes by its number."""
    known = patches().get(number)
    return known.name if known else f"patch {number}"


@dataclass(frozen=True)
class Place:
    """A place that players know by name."""

    name: str
    kind: str
    """base, tower, river, roshan, jungle or edge."""
    side: str
    """radiant, dire, or nobody's."""
    x: float
    y: float
    """In cells of the map, as wards have it; about where its middle is."""


@cache
def places() -> tuple[Place, ...]:
    """All we have names for, on the map from 7.38 on; towers stand where they stood before."""
    return tuple(
        Place(row["name"], row["kind"], row["side"], float(row["x"]), float(row["y"]))
        for row in _rows("places.csv")
    )


def place_at(x: float, y: float) -> str:
    """The name of the nearest place."""
    return min(places(), key=lambda place: (place.x - x) ** 2 + (place.y - y) ** 2).name


MAPS = (0, 52, 57)
"""The first patch of each map, by number: before 7.33, from 7.33, from 7.38."""


def map_since(patch: int) -> int:
    """The first patch that was played on the same map."""
    return max(first for first in MAPS if first <= max(patch, 0))


def patch_on(second: int) -> int:
    """The number of the newest patch that was out when a match began, by Unix time."""
    day = datetime.fromtimestamp(second, UTC).date().isoformat()
    return max(patch.number for patch in patches().values() if patch.date <= day)


def patch_number(name: str) -> int:
    """57 for 7.38 or 57."""
    if name.isdigit():
        return int(name)
    for patch in patches().values():
        if patch.name == name:
            return patch.number
    newest = list(patches().values())[-1]
    raise InputError(
        f"there is no patch '{name}'; the newest known is {newest.name}. A later one goes by "
        f"OpenDota's number, from {newest.number + 1} on"
    )


def _rows(name: str) -> list[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
