"""One tracker file: what one factory saw, was asked and answered, and signed, day by day.

What the file does not say follows from what it does: commitments and needs from the contracts,
production cost from the balances. So it makes no difference whether a day's status was written
before the day's negotiations, as it was at first, or after them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from understudy.data.arrays import Ints
from understudy.games.scml.domain import DAYS, Offer
from understudy.games.scml.engine.factory import sell
from understudy.games.scml.players import catalogue

_ID = re.compile(r"(\d+)([^@#]*)@(\d+)")
_FIRST, _OMITTED = "first_proposal", "omit_in_counter_all"
_BEGIN_A_CALL = ("started", "offer_received", "offer_made", "accept", "reject")
NEEDED = ("commitments", "trading_prices", "inventory_input", "balance", "initial_balance")
"""Fields of a day's status without which it says too little."""


class Place(NamedTuple):
    """A factory by its id: 02AST@1."""

    number: int
    code: str
    """Letters of the name of its agent's class."""
    level: int


@lru_cache(maxsize=4096)
def place_of(name: str) -> Place:
    """A factory by its id; ValueError for what is none."""
    found = _ID.match(name)
    if found is None:
        raise ValueError(f"'{name}' is no factory")
    return Place(int(found[1]), found[2], int(found[3]))


class Signed(NamedTuple):
    """A contract as one side saw it."""

    key: str
    partner: Place
    buys: bool
    quantity: int
    price: int
    due: int
    day: int
    stamp: str


class Said(NamedTuple):
    """One decision about one negotiation."""

    call: str
    stamp: str
    """When the call began; the same for all of a joint one."""
    day: int
    partner: Place
    round: int
    heard: Offer | None
    answer: str | None
    omitted: bool
    offered: Offer | None
    signed: int
    """How many contracts it had by then."""
    due: tuple[int, int]
    """Units bought and sold by these for the same day."""


class Settled(NamedTuple):
    """What a day came to."""

    bought: int
    paid: float
    sold: int
    owed: float
    produced: int
    shortfall: int
    stored: int
    profit: float


@dataclass
class Tracked:
    """All that a file says."""

    place: Place
    player: str
    steps: int
    lines: int
    status: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    """By day."""
    signed: list[Signed] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    first_heard: dict[tuple[int, Place], Offer | None] = field(default_factory=dict)
    """By day and partner: what came in round 0, which an opener really sent."""
    missing: Counter[str] = field(default_factory=Counter)
    cost: int = 0

    def books(self) -> Iterator[tuple[int, Ints]]:
        """At every day's start, and once at the end: what is due on which day, int [2, 2, days].

        Sales and purchases, each as units and money.
        """
        due = np.zeros((2, 2, self.steps + DAYS), np.int64)
        made = dict[int, list[Signed]]()
        for one in self.signed:
            made.setdefault(one.day, []).append(one)
        for day in range(self.steps + 1):
            yield day, due
            for one in made.get(day, ()):
                if one.due < due.shape[2]:
                    due[int(one.buys), :, one.due] += one.quantity, one.quantity * one.price

    @cached_property
    def _deliveries(self) -> dict[int, list[Signed]]:
        found = dict[int, list[Signed]]()
        for one in self.signed:
            found.setdefault(one.due, []).append(one)
        return found

    def settle(self, day: int, cost: float) -> Settled:
        """By the rules, if making a unit costs so much."""
        status = self.status[day]
        due = self._deliveries.get(day, [])
        bought, sold = ([one for one in due if one.buys is buys] for buys in (True, False))
        units, promised = (sum(one.quantity for one in some) for some in (bought, sold))
        paid, owed = (sum(one.quantity * one.price for one in some) for some in (bought, sold))
        exo_in, exo_out = status["exo_input_qty"], status["exo_output_qty"]
        held = units + exo_in + status["inventory_input"]
        outside = (exo_out, status["exo_output_price"] / exo_out if exo_out else 0.0)
        deals = [*((one.quantity, one.price) for one in sold), outside]
        ordered, revenue = sell(deals, min(held, self.lines))
        produced = min(held, self.lines, ordered)
        shortfall, stored = ordered - produced, held - produced
        prices, level = status["trading_prices"], self.place.level
        profit = (
            revenue
            - paid
            - status["exo_input_price"]
            - cost * produced
            - prices[level] * (status["storage_cost"] + status["disposal_cost"]) * stored
            - prices[level + 1] * status["shortfall_penalty"] * shortfall
        )
        return Settled(units, paid, promised, owed, produced, shortfall, stored, profit)

    def find_cost(self) -> None:
        """Production cost: what is missing between the balances of a day with production."""
        found = list[float]()
        for day, status in self.status.items():
            if day + 1 not in self.status:
                continue
            without = self.settle(day, 0.0)
            gained = self.status[day + 1]["balance"] - status["balance"]
            if without.produced:
                found.append((without.profit - gained) / without.produced)
        self.cost = max(0, round(median(found))) if found else 0
        self.missing["factories whose production cost is not known"] += not found


def read_factory(log: Mapping[str, Any]) -> Tracked:
    """What a parsed file says; ValueError, KeyError or TypeError where it is not such a file."""
    reader = _Reader(place_of(log["agent_id"]))
    for entry in log["entries"]:
        reader.take(entry)
    return reader.finish(str(log["agent_type"]))


class _Reader:
    def __init__(self, place: Place) -> None:
        self.place, self.identity = place, dict[str, Any]()
        self.found = Tracked(place, "", 0, 0)
        self.heard = dict[Place, Offer | None]()
        self.open = False
        """Whether an action would belong to the same call as the last."""
        self.stamp = ""
        self.proposing: int | None = None
        """The day of the proposals that are being made; None: these are answers."""
        self.proposed = set[Place]()
        self.due = Counter[tuple[bool, int]]()
        """Units by side and day, of all contracts so far."""

    def take(self, entry: Mapping[str, Any]) -> None:
        event, data, day = entry["event"], entry["data"], entry["day"]
        if event == "aop_action":
            self._act(entry["timestamp"], day, data)
        elif event in _BEGIN_A_CALL:
            self.open = False
            if event == "offer_received":
                self._hear(day, data)
        elif event == "signed":
            self._sign(entry["timestamp"], day, data)
        elif event == "daily_status":
            self.found.status[day] = data
        elif event == "agent_initialized":
            self.identity = dict(data)

    def _hear(self, day: int, data: Mapping[str, Any]) -> None:
        partner, terms = place_of(data["partner"]), _offer(data["offer"])
        self.heard[partner] = terms
        if data["offer"].get("round") == 0:
            self.found.first_heard.setdefault((day, partner), terms)

    def _sign(self, stamp: str, day: int, data: Mapping[str, Any]) -> None:
        partner = place_of(data["partner"])
        key, terms = str(data["contract_id"]), (data["quantity"], int(data["price"]))
        # The role in the file may be a guess; the levels are not.
        buys, due = partner.level < self.place.level, data["delivery_day"]
        self.found.signed.append(Signed(key, partner, buys, *terms, due, day, stamp))
        self.due[buys, due] += terms[0]

    def _act(self, stamp: str, day: int, data: Mapping[str, Any]) -> None:
        if data.get("mechanism_id") is None:
            self.found.missing["proposals to partners whose negotiation was over"] += 1
            return
        partner, first = place_of(data["partner"]), data["reason"] == _FIRST
        if self._begins(first, day, partner):
            self.stamp = stamp
            self.proposed.clear()
        self.proposing = day if first else None
        self.proposed.add(partner)
        self.open = True
        offered = _offer(data["offer"]) if data["action_op"] == "REJECT" else None
        if data["action_op"] == "REJECT" and offered is None:
            self.found.missing["offers that were none: a price that is not a whole number"] += 1
        self.found.said.append(
            Said(
                call="first_proposals" if first else "counter_all",
                stamp=self.stamp,
                day=day,
                partner=partner,
                round=0 if first else data["round"],
                heard=None if first else self.heard.get(partner),
                answer=None if first else _answer(data),
                omitted=data["reason"] == _OMITTED,
                offered=offered,
                signed=len(self.found.signed),
                due=(self.due[True, day], self.due[False, day]),
            )
        )

    def _begins(self, first: bool, day: int, partner: Place) -> bool:
        """Whether an action begins a call; one that is asked for proposals again begins another."""
        if first:
            return self.proposing != day or partner in self.proposed
        return not self.open or self.proposing is not None

    def finish(self, kind: str) -> Tracked:
        found, told = self.found, self.identity
        if not found.status:
            raise ValueError("it has no daily_status")
        for name in NEEDED:
            if name not in next(iter(found.status.values())):
                raise ValueError(f"its daily_status has no {name}: too old to be read")
        first = found.status[min(found.status)]
        found.steps = int(told.get("n_steps", first["n_steps"]))
        found.lines = int(told.get("n_lines", first["n_lines"]))
        found.player = player_name(str(told.get("agent_type_base_full", "")), kind)
        if not found.said:
            found.missing["factories without decisions"] += 1
        absent = found.steps - len(found.status)
        found.missing["days without a status"] += absent
        found.find_cost()
        found.missing["days whose commitments are not those of the contracts"] += _unlike(found)
        return found


def _unlike(found: Tracked) -> int:
    """Days whose logged commitments are those of the contracts neither before nor after them."""
    books = [due.copy() for _, due in found.books()]
    count = 0
    for day, status in found.status.items():
        logged = [[int(q) for q in status["commitments"][name]] for name in ("Q_out", "Q_in")]
        count += not any(
            all(due[side, 0, day : day + len(row)].tolist() == row[: found.steps + 1 - day]
                for side, row in enumerate(logged))
            for due in books[day : day + 2]
        )  # fmt: skip
    return count


def _offer(terms: Mapping[str, Any] | None) -> Offer | None:
    """Whole numbers, or none: the simulator makes nothing of a fractional price."""
    if terms is None or terms["unit_price"] is None:
        return None
    quantity, due, price = terms["quantity"], terms["delivery_day"], terms["unit_price"]
    if quantity is None or due is None or price != int(price):
        return None
    return int(quantity), int(due), int(price)


def _answer(data: Mapping[str, Any]) -> str:
    if data["action_op"] == "ACCEPT":
        return "accept"
    return "reject" if data["response_type"] == "REJECT_OFFER" else "end"


def player_name(path: str, kind: str) -> str:
    """The catalogue's name of a class by its full path; its own where it is not there."""
    for name, known in catalogue.STD.items():
        package, _, last = known.rpartition(".")
        if path.startswith(f"{package}.") and path.endswith(f".{last}"):
            return name
    return path.rpartition(".")[2] or kind
