"""What a player has bought and can still pay: parts at hand, what an item still takes, gold.

A thing put together takes its parts away, so that an axe inside one item does not count towards
another. Costs are those of `facts`, of the newest patch, and so a little off for older matches;
parts are today's or, where `earlier`, those up to `facts.EARLIER`.
"""

from functools import cache

import numpy as np

from understudy.data.arrays import Floats
from understudy.games.dota import facts
from understudy.games.dota.features.deaths import victims
from understudy.games.dota.features.timeline import MINUTE, Timeline

MIN_COST = 1000
"""Gold; cheaper things are bought all the time."""
NOTHING = -1
"""For the item before the first."""
START = 600
"""Gold of each player at the horn."""


@cache
def item_keys() -> tuple[str, ...]:
    """Items dear enough for a decision: sold, and no recipe."""
    sold = (item for item in facts.items().values() if item.cost >= MIN_COST and not item.neutral)
    return tuple(item.key for item in sold if not item.key.startswith("recipe_"))


@cache
def item_index() -> dict[str, int]:
    """The index of each item in `item_keys()`."""
    return {key: number for number, key in enumerate(item_keys())}


@cache
def costs(earlier: bool = False) -> Floats:
    """[I]: gold; never less than all parts."""
    parts = {key: sum(cost for _, cost in of) for key, of in needs(earlier).items()}
    return np.array([float(parts.get(key, facts.items()[key].cost)) for key in item_keys()])


@cache
def needs(earlier: bool = False) -> dict[str, tuple[tuple[str, float], ...]]:
    """For each thing put together: its parts and its recipe, with what each costs."""
    known, made_of = facts.items(), facts.made_of(earlier)
    needed: dict[str, tuple[tuple[str, float], ...]] = {}

    def price(key: str) -> float:  # a part may itself cost more than the newest patch says
        return sum(cost for _, cost in of(key)) if key in made_of else float(known[key].cost)

    def of(key: str) -> tuple[tuple[str, float], ...]:
        if key not in needed:
            parts = [(part, price(part)) for part in made_of[key]]
            if (rest := known[key].cost - sum(cost for _, cost in parts)) > 0:
                parts.append((f"recipe_{key}", rest))
            needed[key] = tuple(parts)
        return needed[key]

    return {key: of(key) for key in made_of}


@cache
def goes_into(earlier: bool = False) -> Floats:
    """[I, I]: 1 where the item of a row takes that of a column, however deep."""
    table = np.zeros((len(item_keys()), len(item_keys())))
    for part, wholes in _built_from(earlier).items():
        if part in item_index():
            table[[item_index()[whole] for whole in wholes], item_index()[part]] = 1
    return table


@cache
def depth(key: str, earlier: bool = False) -> int:
    """0 for what is bought as it is, more for what is put together: the order of one second."""
    parts = needs(earlier).get(key, ())
    return 1 + max(depth(part, earlier) for part, _ in parts) if parts else 0


@cache
def _built_from(earlier: bool) -> dict[str, frozenset[str]]:
    """For each part, the items of `item_keys()` that it goes into, however deep."""
    into: dict[str, set[str]] = {}
    for key in item_keys():
        waiting = [key]
        while waiting:
            for part, _ in needs(earlier).get(waiting.pop(), ()):
                into.setdefault(part, set()).add(key)
                waiting.append(part)
    return {part: frozenset(keys) for part, keys in into.items()}


class Inventory:
    """What a player has bought, in order."""

    def __init__(self, earlier: bool = False) -> None:
        self.earlier = earlier
        """Are parts those up to `facts.EARLIER`?"""
        size = len(item_keys())
        self.owned, self._progress = np.zeros(size, bool), np.zeros(size)
        self._missing: dict[int, list[int]] = {}
        self._stale = set[str]()  # items whose progress a purchase has changed since it was read
        self.last = self.before_last = NOTHING
        self.spent = 0.0
        self.loose: dict[str, int] = {}
        """Bought and not yet part of something else."""

    @property
    def progress(self) -> Floats:
        """[I]: share of each item's cost that parts at hand have paid for."""
        for key in self._stale:
            number = item_index()[key]
            gold, bought = self.still_takes(key)
            self._progress[number] = 1 - gold / costs(self.earlier)[number]
            self._missing[number] = [item_index()[k] for k in bought[1:] if k in item_index()]
        self._stale.clear()
        return self._progress

    @property
    def wanted(self) -> Floats:
        """[I]: of what is begun and not owned, the share paid of the furthest that lacks this."""
        progress, wanted = self.progress, np.zeros(len(item_keys()))
        for number in np.flatnonzero((progress > 0) & ~self.owned).tolist():
            for part in self._missing[number]:
                wanted[part] = max(wanted[part], progress[number])
        return wanted

    def add(self, key: str) -> None:
        """One purchase; an item of a later patch changes nothing."""
        if key not in facts.items():
            return
        into = _built_from(self.earlier)
        if (parts := needs(self.earlier).get(key)) is None:
            self.spent += facts.items()[key].cost
        else:  # paid part by part
            for part, _ in parts:
                if self.loose.get(part, 0):
                    self.loose[part] -= 1
                    self._stale |= into.get(part, frozenset())
        self.loose[key] = self.loose.get(key, 0) + 1
        self._stale |= into.get(key, frozenset())
        if (number := item_index().get(key, NOTHING)) != NOTHING and not self.owned[number]:
            self.owned[number] = True
            self.last, self.before_last = number, self.last

    def still_takes(self, key: str) -> tuple[float, list[str]]:
        """Gold left to pay for an item, and everything that is bought with it, itself included."""
        gold, bought = 0.0, [key]
        used: dict[str, int] = {}  # parts at hand that are spoken for: each counts once
        parts, loose = needs(self.earlier), self.loose
        waiting = [(key, float(facts.items()[key].cost))]
        while waiting:
            whole, cost = waiting.pop()
            if whole not in parts:
                gold += cost
                continue
            for part, price in parts[whole]:
                if loose.get(part, 0) > used.get(part, 0):
                    used[part] = used.get(part, 0) + 1
                else:
                    bought.append(part)
                    waiting.append((part, price))
        return gold, bought


class GoldEstimate:
    """Gold earned less what deaths and buybacks took, for the players of some matches.

    An estimate of cash: a match file has gold earned, not cash, and not what was sold. By the
    game's rules a death takes 1/40 of net worth, a buyback 200 gold and 1/13 of it; net worth is
    taken as all that was earned.
    """

    def __init__(self, match: Timeline) -> None:
        self.match = match
        self.lost: dict[tuple[int, int], list[tuple[int, float]]] = {}
        kills, bought = match.events["kill"], match.events["buyback"]
        for things, slots, fixed, share in (
            (kills, victims(match), 0.0, 1 / 40),
            (bought, bought.slot, 200.0, 1 / 13),
        ):
            for which, slot, t in zip(
                things.which.tolist(), slots.tolist(), things.t.tolist(), strict=True
            ):
                if slot >= 0:
                    net_worth = START + self.earned(which, slot, t)
                    self.lost.setdefault((which, slot), []).append((t, fixed + share * net_worth))

    def earned(self, which: int, slot: int, t: int) -> float:
        """Gold by the last whole minute by t; before the first that is known, as at that one."""
        match, first = self.match, self.match.first[which]
        minute = min(max(t - int(match.t[first]), 0) // MINUTE, int(match.minutes[which]) - 1)
        return float(match.players["gold"][first + minute, slot])

    def left(self, which: int, slot: int, t: int) -> float:
        """Gold at t, if nothing had been bought; losses of strictly earlier seconds count."""
        lost = sum(gold for when, gold in self.lost.get((which, slot), ()) if when < t)
        return START + self.earned(which, slot, t) - lost
