"""Steward's numbers: what it may be told before a world, with what they were at first.

Agent and compiled player (`batch/players/steward.py`) both take them from here; `understudy tune
scml steward` searches better ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

NEVER: Final = 99.0
"""More rounds, units or days than there are."""
PLACES: Final = ("first", "middle", "last")
"""A level's place in the chain; each has numbers of its own."""
TUNED: Final = Path(__file__).with_name("steward_numbers.json")


@dataclass(frozen=True)
class Numbers:
    """How it buys and sells."""

    filling_days: float = 8
    """How long filling the stock goes before selling; by then suppliers have given what they
    will."""
    trial_days: float = 3
    """How far ahead it sells while it does not know whether stock lasts: a use of it soon tells."""
    largest_deal: float = 7
    """What Greedy, the best customer, takes for a day to come; only others take more."""
    firm: float = 5
    """Rounds at the best price. Then days ahead go at the discount that Greedy asks for."""
    greedy_discount: float = 0.9
    choosy: float = 10
    """Rounds in which it turns down small orders: a negotiation ends with one deal, most ask again
    for more. Then the price for today starts to fall too, to the lowest in the last round but
    one."""
    last_round: float = 18
    bids_rise: float = 5
    """Rounds until it pays the highest price for input: a missing unit costs a sale every day."""
    ask_fold: float = 3
    """Asks its suppliers for so many times what it needs, together: most say no."""
    extra_units: float = 3
    """A supplier's offer may exceed the need by so much: storing is cheaper than waiting."""
    order_margin: float = 2
    """Last level: stock above the largest order seen so far."""
    expected_use: float = 0.5
    """Share of days on which another unit of stock is taken to earn its keep; cautious."""
    fraction: float = NEVER
    """An order is no small one if it is this share of the most its buyer ever asked for."""
    supply_share: float = 0
    """First level: for each day to come it counts on this share of the mean supply so far."""
    small_from: float = NEVER
    """The round from which it offers little, and for the soonest day."""
    small_units: float = 3
    soonest: float = 0
    """1: always offers the soonest day that is free; 0: one day after the other."""
    target: float = 10
    """Units of stock to have."""
    spendable: float = 0.5
    """Share of its money that it spends on input."""
    floor: float = NEVER
    """Share of the price range that today's price may fall."""
    unknown_ask: float = NEVER
    """The most that a buyer is taken to have asked for who never asked."""
    cheap_from: float = NEVER
    """The round from which days ahead go at the lowest price: SyncRandom takes no other."""


@dataclass(frozen=True)
class Telling:
    """How it tells eager buyers from thrifty ones."""

    large: float = 5
    """A buyer is eager who ever asked for so many units."""
    eager_share: float = 0
    """Share of its buyers that must be, for them to count as eager together."""
    watch_days: float = 0
    """Days before it asks that question."""
    first_way: float = 0
    """1: until then they count as eager."""


@dataclass(frozen=True)
class Plan:
    """All its numbers for one place in the chain."""

    thrifty: Numbers = field(default_factory=Numbers)
    eager: Numbers = field(default_factory=Numbers)
    telling: Telling = field(default_factory=Telling)

    def told(self, changes: Mapping[str, float]) -> "Plan":
        """With other numbers: NAME of both ways, or thrifty.NAME, eager.NAME, telling.NAME."""
        parts = {name: dict[str, float]() for name in ("thrifty", "eager", "telling")}
        # What is said of one way comes after what is said of both.
        for name, value in sorted(changes.items(), key=lambda change: "." in change[0]):
            part, _, own = name.rpartition(".")
            for way in [part] if part else ["thrifty", "eager"]:
                parts[way][own] = value
        return replace(self, **{way: replace(getattr(self, way), **parts[way]) for way in parts})

    def flat(self) -> list[float]:
        """All of them in order: thrifty, eager, telling."""
        parts = (self.thrifty, self.eager, self.telling)
        return [float(getattr(part, f.name)) for part in parts for f in fields(part)]


Plans = Mapping[str, Plan]
"""By place in the chain."""
ORIGINAL: Final[Plans] = {place: Plan() for place in PLACES}


def place_in_chain(level: int, levels: int) -> str:
    """Which of PLACES a level is."""
    if level == 0:
        return "first"
    return "last" if level == levels - 1 else "middle"


def plans_of(told: Mapping[str, Mapping[str, float]]) -> Plans:
    """Plans from what differs from the original ones, by place."""
    return {place: Plan().told(told.get(place, {})) for place in PLACES}


@cache
def tuned() -> Plans:
    """Those that a search has found."""
    found: dict[str, Any] = json.loads(TUNED.read_text(encoding="utf-8"))
    return plans_of(found["numbers"])
