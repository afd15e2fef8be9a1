"""Decisions to buy: each first purchase of a dearer item by a player, and what was known before.

A decision knows only purchases of strictly earlier seconds: an item that is put together shows up
in the same second as its last part, and would otherwise be given away.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Floats, Ints
from understudy.games.dota import facts
from understudy.games.dota.features.inventory import (
    NOTHING,
    GoldEstimate,
    Inventory,
    depth,
    item_index,
    item_keys,
)
from understudy.games.dota.features.timeline import Timeline, build_timeline


@dataclass(frozen=True)
class Decisions:
    """D decisions. Items go by their index in `item_keys()`."""

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
    """[D, I]: share of each item's cost that parts at hand have paid for."""
    cash: Floats
    """Earned less spent and lost, about; what was sold is not known."""

    def __len__(self) -> int:
        return len(self.chosen)

    def where(self, rows: Any) -> "Decisions":
        """Some of them."""
        return Decisions(**{name: values[rows] for name, values in vars(self).items()})


@cache
def completed() -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """[I]: is it put together from parts, rather than a part?"""
    return np.array([bool(facts.items()[key].components) for key in item_keys()])


def decisions(recordings: Mapping[str, pa.Table]) -> Decisions:
    """Of all players of some matches."""
    match = build_timeline(recordings)
    matches = recordings["matches"]
    starts = dict(
        zip(matches["match_id"].to_pylist(), matches["start_time"].to_pylist(), strict=True)
    )
    gold_estimate = GoldEstimate(match)
    rows = [row for player in _players(match) for row in _of_one(gold_estimate, *player)]
    columns = list(zip(*rows, strict=True)) or [()] * 9
    which, slot, t, chosen, last, before, owned, progress, cash = columns
    index = np.array(which, np.int64)
    seat = np.array(slot, np.int64)
    numbers = match.match_id[index]
    size = len(item_keys())
    return Decisions(
        match_id=numbers,
        start_time=np.array([starts[n] for n in numbers.tolist()], np.int64),
        slot=seat,
        hero=match.heroes[index, seat],
        t=np.array(t, np.int64),
        chosen=np.array(chosen, np.int64),
        last=np.array(last, np.int64),
        before_last=np.array(before, np.int64),
        owned=np.array(owned, bool).reshape(-1, size),
        progress=np.array(progress, np.float64).reshape(-1, size),
        cash=np.array(cash, np.float64),
    )


def _players(match: Timeline) -> Iterator[tuple[int, int, list[tuple[int, str]]]]:
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
        yield which, slot, sorted(things, key=lambda thing: (thing[0], depth(thing[1]), thing[1]))


def _of_one(
    gold_estimate: GoldEstimate, which: int, slot: int, things: list[tuple[int, str]]
) -> Iterator[tuple[Any, ...]]:
    held, waiting = Inventory(), list[str]()
    now = None
    for t, key in things:
        if t != now:  # only now is what was bought in the second before known
            for earlier in waiting:
                held.add(earlier)
            waiting, now = [], t
        number = item_index().get(key, NOTHING)
        # Neither owned before nor bought earlier in this same second: the first of its item.
        if number != NOTHING and not held.owned[number] and key not in waiting:
            cash = gold_estimate.left(which, slot, t) - held.spent
            owned, progress = held.owned.copy(), held.progress.copy()
            yield which, slot, t, number, held.last, held.before_last, owned, progress, cash
        waiting.append(key)
