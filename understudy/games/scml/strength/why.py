"""Why a player lost: the same slot, day by day, beside a rival that did better there.

Both had the same factory, the same costs and the same orders from outside. What they earned in a
day is taken apart so that the parts add up to the difference of their profits: units made and
sold, the price got for them, units bought, the price paid for them, storage, shortfall.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, NamedTuple

import pyarrow as pa

REASONS: Final = ("sales", "price got", "purchases", "price paid", "storage", "shortfall")
"""What a difference of profits is made of, in money; below 0: it speaks against the player."""


class Loss(NamedTuple):
    """A world in which somebody in the same slot did better."""

    match: str
    rival: str
    rival_match: str
    slot: int
    score: float
    rival_score: float

    @property
    def behind(self) -> float:
        """By how much."""
        return self.rival_score - self.score


@dataclass(frozen=True)
class DayGap:
    """One day of both, in one slot."""

    day: int
    gap: float
    """The player's profit less the rival's."""
    parts: Mapping[str, float]
    """By reason; they add up to the gap."""
    units: Mapping[str, tuple[int, int]]
    """The player's and the rival's: made, bought, short, stored, and lines left idle."""

    @property
    def reason(self) -> str:
        """What weighs most against the player."""
        return min(self.parts, key=lambda name: self.parts[name])


def losses(results: pa.Table, player: str, most: int) -> list[Loss]:
    """The player's worst worlds, each beside the best of its rivals in the same slot."""
    rows = [row for row in results.to_pylist() if row["competes"]]

    def place(row: Mapping[str, Any]) -> tuple[Any, ...]:
        return row["field"], row["seed"], row["run"], row["slot"]

    found = list[Loss]()
    for _, alike in groupby(sorted(rows, key=place), place):
        group = list(alike)
        rivals = [row for row in group if row["player"] != player]
        if not rivals:
            continue
        best = max(rivals, key=lambda row: (row["score"], row["player"]))
        found += [_loss(row, best) for row in group if row["player"] == player]
    return sorted((one for one in found if one.behind > 0), key=lambda one: -one.behind)[:most]


def _loss(row: Mapping[str, Any], best: Mapping[str, Any]) -> Loss:
    return Loss(
        row["match"], best["player"], best["match"], row["slot"], row["score"], best["score"]
    )


def day_gaps(
    mine: Sequence[Mapping[str, Any]],
    theirs: Sequence[Mapping[str, Any]],
    *,
    cost: int,
    lines: int,
) -> list[DayGap]:
    """Day by day from the rows of `days` of one factory in two worlds; it makes a unit at `cost`.

    Days that only one of them has played, because a failure ended the other's world, are left out.
    """
    both = zip(mine, theirs, strict=False)
    return [_gap(_Day.of(one, cost), _Day.of(other, cost), lines) for one, other in both]


@dataclass(frozen=True)
class _Day:
    day: int
    profit: float
    made: int
    revenue: float
    bought: int
    paid: float
    cost: int
    storage: float
    penalty: float
    short: int
    stored: int

    @classmethod
    def of(cls, row: Mapping[str, Any], cost: int) -> "_Day":
        storage = row["price_in"] * (row["storage_cost"] + row["disposal_cost"]) * row["stored"]
        penalty = row["price_out"] * row["shortfall_penalty"] * row["shortfall"]
        paid = row["bought_money"] + row["supply_price"]
        spent = paid + cost * row["produced"] + storage + penalty
        return cls(
            day=row["day"],
            profit=row["profit"],
            made=row["produced"],
            revenue=row["profit"] + spent,  # of what was made alone: the rest is not paid for
            bought=row["bought"] + row["supply_quantity"],
            paid=paid,
            cost=cost,
            storage=storage,
            penalty=penalty,
            short=row["shortfall"],
            stored=row["stored"],
        )


def _gap(mine: _Day, theirs: _Day, lines: int) -> DayGap:
    got, their_price = _prices(mine.revenue, mine.made, theirs.revenue, theirs.made)
    paid, their_cost = _prices(mine.paid, mine.bought, theirs.paid, theirs.bought)
    parts = {
        "sales": (mine.made - theirs.made) * (their_price - mine.cost),
        "price got": (got - their_price) * mine.made,
        "purchases": -(mine.bought - theirs.bought) * their_cost,
        "price paid": -(paid - their_cost) * mine.bought,
        "storage": theirs.storage - mine.storage,
        "shortfall": theirs.penalty - mine.penalty,
    }
    units = {
        "made": (mine.made, theirs.made),
        "bought": (mine.bought, theirs.bought),
        "short": (mine.short, theirs.short),
        "stored": (mine.stored, theirs.stored),
        "idle": (lines - mine.made, lines - theirs.made),
    }
    return DayGap(mine.day, mine.profit - theirs.profit, parts, units)


def _prices(money: float, units: int, their_money: float, their_units: int) -> tuple[float, float]:
    """Unit prices of both; who traded nothing is given the other's, so that only units differ."""
    price = money / units if units else None
    theirs = their_money / their_units if their_units else None
    first = price if price is not None else theirs if theirs is not None else 0.0
    return first, theirs if theirs is not None else first


def added_up(gaps: Iterable[DayGap]) -> dict[str, float]:
    """The parts of many days together, by reason."""
    total = dict.fromkeys(REASONS, 0.0)
    for gap in gaps:
        for name, money in gap.parts.items():
            total[name] += money
    return total


def worst_days(gaps: Mapping[Loss, Sequence[DayGap]], most: int) -> list[tuple[Loss, DayGap]]:
    """The days that cost most, in all these worlds."""
    every = [(loss, gap) for loss, days in gaps.items() for gap in days if gap.gap < 0]
    return sorted(every, key=lambda one: one[1].gap)[:most]
