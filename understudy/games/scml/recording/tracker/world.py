"""The tracker files of one world as rows of our tables, as far as they say it."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from understudy.data.arrays import Ints
from understudy.games.scml.domain import DAYS, LINES, RULES
from understudy.games.scml.engine.prices import price_range
from understudy.games.scml.recording.tables import CONTRACTS, DAY_LEDGER, DECISIONS, LOGGED, WORLDS
from understudy.games.scml.recording.tracker.factory import Place, Said, Signed, Tracked

Rows = dict[str, list[dict[str, Any]]]
_NO_OFFER = (None, None, None)


class Logged(NamedTuple):
    """A world of which some factories were tracked."""

    world: str
    """Its id."""
    factories: Sequence[Tracked]
    """Each once."""

    @property
    def match(self) -> str:
        """What it is called here."""
        return _match_of(self.world)

    def rows(self) -> Rows:
        """Of each table."""
        players, levels = self._everybody()
        return {
            WORLDS.name: [self._world(players, levels)],
            CONTRACTS.name: self._contracts(),
            DAY_LEDGER.name: [row for one in self.factories for row in self._days(one)],
            DECISIONS.name: self._decisions(),
        }

    def missing(self) -> Counter[str]:
        """What could not be known or was left out, by its name."""
        players, _ = self._everybody()
        total = sum((one.missing for one in self.factories), Counter[str]())
        unknown = len(players) - len(self.factories)
        total["factories that were not tracked"] += unknown
        for one in self.factories:
            total["proposals that were never sent"] += len(one.said) - len(self._sent(one))
        return +total

    def _everybody(self) -> tuple[list[str], list[int]]:
        """Players and levels of all factories that somebody mentions, or that must lie between."""
        known = {one.place.number: one.place for one in self.factories}
        for one in self.factories:
            met = [signed.partner for signed in one.signed] + [said.partner for said in one.said]
            for place in met:
                known.setdefault(place.number, place)
        names = {one.place.number: one.player for one in self.factories}
        players, levels = list[str](), list[int]()
        for number in range(max(known) + 1):
            place = known.get(number, Place(number, "", levels[-1] if levels else 0))
            players.append(names.get(number, f"unknown {place.code}".strip()))
            levels.append(place.level)
        return players, levels

    def _world(self, players: Sequence[str], levels: Sequence[int]) -> dict[str, Any]:
        first = self.factories[0]
        own = {one.place.number: one for one in self.factories}
        prices = first.status[min(first.status)]["trading_prices"]

        def by_factory(value: Any, otherwise: Any) -> list[Any]:
            return [value(own[k]) if k in own else otherwise for k in range(len(players))]

        def mean(name: str) -> list[float]:
            return by_factory(
                lambda one: sum(s[name] for s in one.status.values()) / len(one.status), 0.0
            )

        costs = ("storage_cost", "disposal_cost", "shortfall_penalty")
        return {
            "match": self.match,
            "seed": self._configuration(),
            "run": 0,
            "field": LOGGED,
            "track": "std",
            "steps": first.steps,
            "conserve_stock": False,
            "players": list(players),
            "slots": sorted(own),
            "levels": list(levels),
            "lines": by_factory(lambda one: one.lines, LINES),
            "costs": by_factory(lambda one: one.cost, 0),
            "balances": by_factory(lambda one: int(_first(one)["initial_balance"]), 0),
            **{f"{name}_means": mean(name) for name in costs},
            **{f"{name}_deviations": [0.0] * len(players) for name in costs},
            "catalog_prices": [round(price) for price in prices],
            "scores": by_factory(_score, 0.0),
            "faults": [],
        }

    def _configuration(self) -> int:
        """Worlds of one configuration share luck and so a split: a number from their names."""
        common = self.world.split("_", 1)[0]
        return int(hashlib.sha1(common.encode()).hexdigest()[:15], 16)

    def _contracts(self) -> list[dict[str, Any]]:
        found = dict[str, tuple[Signed, Place]]()
        for one in self.factories:
            for signed in one.signed:
                found.setdefault(signed.key, (signed, one.place))
        ordered = sorted(found.values(), key=lambda pair: (pair[0].day, pair[0].stamp))
        return [self._contract(number, *pair) for number, pair in enumerate(ordered)]

    def _contract(self, number: int, signed: Signed, owner: Place) -> dict[str, Any]:
        seller, buyer = (signed.partner, owner) if signed.buys else (owner, signed.partner)
        return {
            "match": self.match,
            "number": number,
            "seller": seller.number,
            "buyer": buyer.number,
            "product": seller.level + 1,
            "quantity": signed.quantity,
            "day": signed.due,
            "unit_price": signed.price,
            "concluded": signed.day,
            "executed": signed.due < self.factories[0].steps,
        }

    def _days(self, one: Tracked) -> Iterator[dict[str, Any]]:
        for day, due in one.books():
            if day not in one.status:
                continue
            status, after = one.status[day], one.status.get(day + 1)
            ended = one.settle(day, one.cost)
            level, prices = one.place.level, status["trading_prices"]
            profit = ended.profit if after is None else after["balance"] - status["balance"]
            yield {
                "match": self.match,
                "day": day,
                "factory": one.place.number,
                "bankrupt": status["balance"] < 0,
                "supply_quantity": status["exo_input_qty"],
                "supply_price": int(status["exo_input_price"]),
                "sale_quantity": status["exo_output_qty"],
                "sale_price": int(status["exo_output_price"]),
                "stock": status["inventory_input"],
                "balance": float(status["balance"]),
                "price_in": prices[level],
                "price_out": prices[level + 1],
                **_range("in", prices[level] if level else _first(one)["trading_prices"][0]),
                **_range("out", prices[level + 1]),
                **{name: status[name] for name in ("storage_cost", "disposal_cost")},
                "shortfall_penalty": status["shortfall_penalty"],
                **_commitments(due, day),
                "bought": ended.bought,
                "bought_money": int(ended.paid),
                "sold": ended.sold,
                "sold_money": int(ended.owed),
                "produced": ended.produced,
                "shortfall": ended.shortfall,
                "stored": ended.stored,
                "profit": float(profit),
            }

    def _decisions(self) -> list[dict[str, Any]]:
        calls = sorted({(said.stamp, one.place) for one in self.factories for said in one.said})
        moment = {call: number for number, call in enumerate(calls)}
        return [
            self._decision(one, said, moment[said.stamp, one.place])
            for one in self.factories
            for said in self._sent(one)
            if said.day in one.status
        ]

    def _sent(self, one: Tracked) -> list[Said]:
        """All decisions, but of several proposals in one negotiation the one that was sent."""
        partners = {other.place: other for other in self.factories}
        chosen = dict[tuple[int, Place], Said]()
        for said in one.said:
            if said.call != "first_proposals":
                continue
            place = said.day, said.partner
            other = partners.get(said.partner)
            arrived = other.first_heard.get((said.day, one.place)) if other else None
            known = chosen.setdefault(place, said)
            if arrived is not None and known.offered != arrived == said.offered:
                chosen[place] = said
        sent = set(map(id, chosen.values()))
        return [said for said in one.said if said.call != "first_proposals" or id(said) in sent]

    def _decision(self, one: Tracked, said: Said, moment: int) -> dict[str, Any]:
        needs = _needs(one, said)
        heard, offered = said.heard or _NO_OFFER, said.offered or _NO_OFFER
        return {
            "match": self.match,
            "moment": moment,
            "day": said.day,
            "factory": one.place.number,
            "call": said.call,
            "partner": said.partner.number,
            "round": said.round,
            "heard_quantity": heard[0],
            "heard_day": heard[1],
            "heard_price": heard[2],
            "answer": said.answer,
            "omitted": said.omitted,
            "offered_quantity": offered[0],
            "offered_day": offered[1],
            "offered_price": offered[2],
            "needed_supplies": needs[0],
            "needed_sales": needs[1],
            "contracts": said.signed,
        }


@lru_cache(maxsize=64)
def _match_of(world: str) -> str:
    return f"log-{hashlib.sha1(world.encode()).hexdigest()[:12]}"


def _first(one: Tracked) -> Mapping[str, Any]:
    return one.status[min(one.status)]


def _score(one: Tracked) -> float:
    """Final over initial balance; the last day is settled by the rules."""
    last = max(one.status)
    balance = one.status[last]["balance"] + one.settle(last, one.cost).profit
    return float(balance / max(1.0, _first(one)["initial_balance"]))


def _needs(one: Tracked, said: Said) -> tuple[int, int]:
    """Units still to be bought and sold for today, as the simulator shows them."""
    status, (came, went) = one.status[said.day], said.due
    held = status["exo_input_qty"] + status["inventory_input"] + came
    spare = held - went - status["exo_output_qty"]
    last = len(status["trading_prices"]) - 2
    return (-spare if one.place.level else 0), (spare if one.place.level < last else 0)


def _range(side: str, price: float) -> dict[str, int]:
    """Which unit prices could be offered; those of the first product are never renewed."""
    low, high = price_range(price, RULES["std"].price_share)
    return {f"lowest_{side}": low, f"highest_{side}": high}


def _commitments(due: Ints, day: int) -> dict[str, list[int]]:
    ahead = slice(day, day + DAYS)
    return {
        f"{name}{kind}": due[side, place, ahead].tolist()
        for side, name in enumerate(("sales", "supplies"))
        for place, kind in enumerate(("", "_money"))
    }


def tables_of(worlds: Sequence[Logged]) -> dict[str, pa.Table]:
    """The rows of all these worlds."""
    rows: Rows = {table.name: [] for table in (WORLDS, CONTRACTS, DAY_LEDGER, DECISIONS)}
    for world in worlds:
        for name, some in world.rows().items():
            rows[name] += some
    return {
        table.name: table.build(
            {
                column.name: pa.array([row[column.name] for row in rows[table.name]], column.type)
                for column in table.columns
            }
        )
        for table in (WORLDS, CONTRACTS, DAY_LEDGER, DECISIONS)
    }
