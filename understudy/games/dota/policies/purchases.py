"""Decisions to buy: each first purchase of a dearer item by a player, and what was known before.

A decision knows only purchases of strictly earlier seconds: an item that is put together shows up
in the same second as its last part, and would otherwise be given away.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.dota import facts
from understudy.games.dota.features.inventory import (
    NOTHING,
    GoldEstimate,
    Inventory,
    depth,
    goes_into,
    item_index,
    item_keys,
)
from understudy.games.dota.features.timeline import MINUTE, Timeline, build_timeline

Shares = np.ndarray[Any, np.dtype[np.float32]]
Counts = np.ndarray[Any, np.dtype[np.integer[Any]]]


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
    owned: Bools
    """[D, I]: bought before."""
    progress: Shares
    """[D, I]: share of each item's cost that parts at hand have paid for."""
    wanted: Shares
    """[D, I]: `Inventory.wanted`: how far the item is on which each is missing."""
    cash: Floats
    """Earned less spent and lost, about; what was sold is not known."""
    rank: Ints
    """How many of its side had earned more by the last whole minute, 0 to 4."""
    mates: Counts
    """[D, I]: how many others of its side have bought each."""
    foes: Counts
    """[D, I]: how many of the other side have."""
    earlier: Bools
    """Are items made of the parts of earlier patches (`facts.made_of`)?"""

    def __len__(self) -> int:
        return len(self.chosen)

    def where(self, rows: Any) -> "Decisions":
        """Some of them."""
        return Decisions(**{name: values[rows] for name, values in vars(self).items()})


def joined(parts: Sequence[Decisions]) -> Decisions:
    """The decisions of all parts."""
    return Decisions(**{n: np.concatenate([getattr(p, n) for p in parts]) for n in vars(parts[0])})


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
    owners = Owners(match)
    patches = dict(zip(matches["match_id"].to_pylist(), matches["patch"].to_pylist(), strict=True))
    then = np.array([patches[n] <= facts.EARLIER for n in match.match_id.tolist()], bool)
    players = _players(match, then)
    rows = [row for player in players for row in _of_one(gold_estimate, owners, *player)]
    columns = list(zip(*rows, strict=True)) or [()] * 13
    which, slot, t, chosen, last, before, owned, progress, wanted, cash, *rest = columns
    rank, mates, foes = rest
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
        progress=np.array(progress, np.float32).reshape(-1, size),
        wanted=np.array(wanted, np.float32).reshape(-1, size),
        cash=np.array(cash, np.float64),
        rank=np.array(rank, np.int64),
        mates=np.array(mates, np.int8).reshape(-1, size),
        foes=np.array(foes, np.int8).reshape(-1, size),
        earlier=then[index],
    )


NEVER = 2**31


class Owners:
    """When each player of some matches first bought each item, and how rich they were."""

    def __init__(self, match: Timeline) -> None:
        self.match = match
        bought = match.events["purchase"]
        self.first = np.full((len(match.match_id), 10, len(item_keys())), NEVER)
        things = zip(
            bought.which.tolist(), bought.slot.tolist(), bought.t.tolist(),
            bought.key.to_pylist(), strict=True,
        )  # fmt: skip
        for which, slot, t, key in things:
            if (number := item_index().get(key)) is not None:
                self.first[which, slot, number] = min(self.first[which, slot, number], t)

    def before(self, which: int, slot: int, t: int) -> tuple[int, Ints, Ints]:
        """Rank by gold of the last whole minute, and how many mates and foes own each item."""
        match, side = self.match, slot // 5
        row = int(match.first[which]) + min(
            max(t - 1 - int(match.t[match.first[which]]), 0) // MINUTE,
            int(match.minutes[which]) - 1,
        )
        gold = match.players["gold"][row].reshape(2, 5)[side]
        owned = self.first[which] < t
        own = owned[5 * side : 5 * side + 5].sum(axis=0) - owned[slot]
        foes = owned[5 - 5 * side : 10 - 5 * side].sum(axis=0)
        return int((gold > gold[slot % 5]).sum()), own, foes


def _players(
    match: Timeline, earlier: Bools
) -> Iterator[tuple[int, int, Inventory, list[tuple[int, str]]]]:
    """(match, slot, nothing held yet, what was bought when) of everybody who bought anything."""
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
        held = Inventory(bool(earlier[which]))
        yield which, slot, held, in_order(things, held.earlier)


def in_order(things: Iterable[tuple[int, str]], earlier: bool) -> list[tuple[int, str]]:
    """By time; of one second, parts before what they go into."""
    return sorted(things, key=lambda thing: (thing[0], depth(thing[1], earlier), thing[1]))


def _of_one(
    gold_estimate: GoldEstimate,
    owners: Owners,
    which: int,
    slot: int,
    held: Inventory,
    things: list[tuple[int, str]],
) -> Iterator[tuple[Any, ...]]:
    waiting = list[str]()
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
            shares = (held.progress.astype(np.float32), held.wanted.astype(np.float32))
            known = (held.owned.copy(), *shares)
            more = owners.before(which, slot, t)
            yield which, slot, t, number, held.last, held.before_last, *known, cash, *more
        waiting.append(key)


# --- ends and parts ------------------------------------------------------------------------------

BUILT = 600
"""Seconds within which a part is built into something."""
_LEAST = 20
"""Purchases below which what an item is made of says whether it is a part."""


def ends(rows: Decisions) -> Bools:
    """[I]: which items are kept; of the others most are built into something in ten minutes."""
    bought, soon = np.zeros(len(item_keys())), np.zeros(len(item_keys()))
    for player in _by_player(rows):
        chosen, t = rows.chosen[player], rows.t[player]
        takes = goes_into(bool(rows.earlier[player[0]]))
        into = takes[np.ix_(chosen, chosen)].T > 0  # [part, whole]
        after = (t[None, :] >= t[:, None]) & (t[None, :] <= t[:, None] + BUILT)
        np.add.at(bought, chosen, 1)
        np.add.at(soon, chosen, (into & after).any(axis=1))
    rule = goes_into().sum(axis=0) == 0
    return np.where(bought >= _LEAST, soon < bought / 2, rule)


def towards(rows: Decisions, kept: Bools) -> Decisions:
    """The same decisions with what they led to chosen: the next item bought that is kept.

    Those after which nothing of the kind was bought are left out.
    """
    goal = np.full(len(rows), NOTHING)
    for player in _by_player(rows):
        following = NOTHING
        for row in player[::-1].tolist():
            following = int(rows.chosen[row]) if kept[rows.chosen[row]] else following
            goal[row] = following
    led = goal != NOTHING
    return replace(rows.where(led), chosen=goal[led])


def _by_player(rows: Decisions) -> Iterator[Ints]:
    """The rows of each player of each match, in the order of time."""
    order = np.lexsort((np.arange(len(rows)), rows.t, rows.slot, rows.match_id))
    new = np.flatnonzero(np.diff(rows.match_id[order] * 10 + rows.slot[order]))
    yield from np.split(order, new + 1) if len(rows) else ()
