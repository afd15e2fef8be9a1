"""Decisions to buy: each first purchase of a dearer item by a player, and what was known before.

A decision knows only purchases of strictly earlier seconds: an item that is put together shows up
in the same second as its last part, and would otherwise be given away.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.games.dota import facts
from understudy.games.dota.state import Course, Floats, Ints, course

WORTH = 1000
"""Gold; cheaper things are bought all the time."""
NOTHING = -1
"""For the item before the first."""
START = 600
"""Gold of each player at the horn."""


@dataclass(frozen=True)
class Decisions:
    """D decisions. Items go by their place in `item_keys()`."""

    match_id: Ints
    start_time: Ints
    slot: Ints
    hero: Ints
    t: Ints
    chosen: Ints
    last: Ints
    """The dearer item bought before this one."""
    before_last: Ints
    owned: "np.ndarray[Any, np.dtype[np.bool_]]"
    """[D, I]: bought before."""
    progress: Floats
    """[D, I]: share of each item's cost whose parts were bought before."""
    cash: Floats
    """Earned less spent, about: deaths and buybacks are not in it."""

    def __len__(self) -> int:
        return len(self.chosen)

    def where(self, rows: Any) -> "Decisions":
        """Some of them."""
        return Decisions(**{name: values[rows] for name, values in vars(self).items()})


@cache
def item_keys() -> tuple[str, ...]:
    """Items worth a decision: sold, dear enough, and no recipe."""
    sold = (item for item in facts.items().values() if item.cost >= WORTH and not item.neutral)
    return tuple(item.key for item in sold if not item.key.startswith("recipe_"))


@cache
def completed() -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """[I]: is it put together from parts, rather than a part?"""
    return np.array([bool(facts.items()[key].components) for key in item_keys()])


@cache
def costs() -> Floats:
    """[I]: gold."""
    return np.array([float(facts.items()[key].cost) for key in item_keys()])


@cache
def _parts() -> tuple[dict[str, list[tuple[int, float, int]]], dict[str, int]]:
    """For each thing sold, which items it is a part of, by which share, how often; items by key."""
    known, place = facts.items(), {key: k for k, key in enumerate(item_keys())}
    parts: dict[str, list[tuple[int, float, int]]] = {}
    for key, number in place.items():
        item = known[key]
        for part in {*item.components}:
            share = known[part].cost / max(item.cost, 1)
            parts.setdefault(part, []).append((number, share, item.components.count(part)))
        spent = sum(known[part].cost for part in item.components)
        if item.components and spent < item.cost:  # the rest is the recipe
            parts.setdefault(f"recipe_{key}", []).append((number, 1 - spent / item.cost, 1))
    return parts, place


def decisions(recordings: Mapping[str, pa.Table]) -> Decisions:
    """Of all players of some matches."""
    match = course(recordings)
    matches = recordings["matches"]
    starts = dict(
        zip(matches["match_id"].to_pylist(), matches["start_time"].to_pylist(), strict=True)
    )
    found = [row for player in _players(match) for row in _of_one(match, *player)]
    columns = list(zip(*found, strict=True)) or [()] * 9
    which, slot, t, chosen, last, before, owned, progress, cash = columns
    place = np.array(which, np.int64)
    seat = np.array(slot, np.int64)
    numbers = match.match_id[place]
    size = len(item_keys())
    return Decisions(
        match_id=numbers,
        start_time=np.array([starts[n] for n in numbers.tolist()], np.int64),
        slot=seat,
        hero=match.heroes[place, seat],
        t=np.array(t, np.int64),
        chosen=np.array(chosen, np.int64),
        last=np.array(last, np.int64),
        before_last=np.array(before, np.int64),
        owned=np.array(owned, bool).reshape(-1, size),
        progress=np.array(progress, np.float64).reshape(-1, size),
        cash=np.array(cash, np.float64),
    )


def _players(match: Course) -> Iterator[tuple[int, int, list[tuple[int, str]]]]:
    """(match, slot, what was bought when) of everybody who bought anything."""
    bought = match.events["purchase"]
    lists: dict[tuple[int, int], list[tuple[int, str]]] = {}
    for which, slot, t, key in zip(
        bought.which.tolist(),
        bought.slot.tolist(),
        bought.t.tolist(),
        bought.key.to_pylist(),
        strict=True,
    ):
        lists.setdefault((which, slot), []).append((t, key))
    for (which, slot), things in lists.items():
        yield which, slot, sorted(things)


class Inventory:
    """What a player has bought, in order."""

    def __init__(self) -> None:
        size = len(item_keys())
        self.owned, self.progress = np.zeros(size, bool), np.zeros(size)
        self.last = self.before_last = NOTHING
        self.spent, self.bought = 0.0, Counter[str]()

    def add(self, key: str) -> None:
        """One purchase; an item of a later patch changes nothing."""
        parts, place = _parts()
        item = facts.items().get(key)
        if item is not None and not item.components:
            self.spent += item.cost
        self.bought[key] += 1
        for number, share, most in parts.get(key, ()):
            if self.bought[key] <= most:
                self.progress[number] = min(1.0, self.progress[number] + share)
        if (number := place.get(key, NOTHING)) != NOTHING and not self.owned[number]:
            self.owned[number] = True
            self.last, self.before_last = number, self.last


def _of_one(
    match: Course, which: int, slot: int, things: list[tuple[int, str]]
) -> Iterator[tuple[Any, ...]]:
    held, waiting, place = Inventory(), list[str](), _parts()[1]
    now = None
    for t, key in things:
        if t != now:
            for earlier in waiting:
                held.add(earlier)
            waiting, now = [], t
        number = place.get(key, NOTHING)
        if number != NOTHING and not held.owned[number] and key not in waiting:
            cash = START + earned(match, which, slot, t) - held.spent
            owned, progress = held.owned.copy(), held.progress.copy()
            yield which, slot, t, number, held.last, held.before_last, owned, progress, cash
        waiting.append(key)


def earned(match: Course, which: int, slot: int, t: int) -> float:
    """Gold a player had earned at the last whole minute by t."""
    row = match.first[which] + min(max(t, 0) // 60, int(match.minutes[which]) - 1)
    return float(match.players["gold"][row, slot])
