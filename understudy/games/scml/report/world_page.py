"""A recorded world as a story: everything `viewer/` shows, from the tables of its recording.

What follows from the rest is left out, so that a long world stays a small page: commitments follow
from contracts, revenue from profit and the costs beside it.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.runs import Run
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.games.scml.domain import ROUNDS, RULES, track_named
from understudy.games.scml.recording.failures import Failure
from understudy.games.scml.recording.negotiations import (
    ENDINGS,
    negotiations_by_day,
    opens,
    written,
)
from understudy.games.scml.recording.tables import CONTRACTS, DAY_LEDGER, DECISIONS, LOGGED, WORLDS
from understudy.games.scml.report.viewer import world_page, world_panel
from understudy.report.page import Panel

VERSION = 1
MAX_WORLDS = 2
"""In a report: each may take megabytes."""
CANDIDATES = 24
"""A run may hold thousands of worlds; the report chooses among the first so many."""
# Straight from the table `days`; a column of nothing but zeros is written as 0.
_PLAIN = (
    "supply_quantity",
    "supply_price",
    "sale_quantity",
    "sale_price",
    "bought",
    "bought_money",
    "sold",
    "sold_money",
    "produced",
    "shortfall",
    "stored",
    "profit",
)
_NEEDS = ("needed_supplies", "needed_sales")


class Recorded(NamedTuple):
    """A world that was recorded in full, and where."""

    folder: Path
    key: str
    """Of its shards."""
    row: dict[str, Any]
    """Of the table `worlds`."""

    def table(self, table: Table) -> pa.Table:
        """Its rows of another table."""
        rows = shards.read_shard(shards.shard_path(self.folder, table, self.key), table)
        return rows.filter(pc.equal(rows["match"], self.row["match"]))


def recorded_worlds(run: Run) -> Iterator[Recorded]:
    """Every world of a run with its days and decisions; others are recorded in outline only."""
    for folder in (run.recordings, *sorted(run.results.glob("*/"))):
        yield from worlds_in(folder)
    for folder in sorted(run.results.glob("*/*/")):  # worlds that were played again to be looked at
        yield from worlds_in(folder)


def worlds_in(folder: Path) -> Iterator[Recorded]:
    """Those of one folder."""
    for path in sorted(folder.glob(f"{WORLDS.name}-*.parquet")):
        key = shards.shard_key(path)
        recorded = _matches(shards.shard_path(folder, DAY_LEDGER, key), DAY_LEDGER)
        for row in shards.read_shard(path, WORLDS).to_pylist() if recorded else ():
            if row["match"] in recorded and row["field"] != LOGGED:
                yield Recorded(folder, key, row)


def _matches(path: Path, table: Table) -> set[str]:
    if not path.is_file():
        return set()
    return set(shards.read_shard(path, table, ["match"])["match"].unique().to_pylist())


def match_page(run: Run, match: str) -> str:
    """A page to look into one recorded world."""
    return world_page(find_world(run, match), run.title)


def find_world(run: Run, match: str) -> dict[str, Any]:
    """The story of one world by its name."""
    some: list[str] = []
    for world in recorded_worlds(run):
        if world.row["match"] == match:
            return story(world)
        if len(some) < 3 and world.row["match"] not in some:
            some.append(world.row["match"])
    raise InputError(
        f"{run.folder} has no full recording of world '{match}'. It has, for example: "
        f"{', '.join(some) or 'none at all'}"
    )


def explorer_panels(run: Run) -> list[Panel]:
    """Some worlds to look into, for the report; nothing where none is recorded in full."""
    candidates = list(islice(recorded_worlds(run), CANDIDATES))
    picked: dict[int, Recorded] = {}
    for world in sorted(candidates, key=lambda world: _dullness(run, world)):
        if len(picked) < MAX_WORLDS:
            picked.setdefault(world.row["seed"], world)  # another configuration shows more
    return [world_panel([story(world) for world in picked.values()])] if picked else []


def _dullness(run: Run, world: Recorded) -> tuple[int, int]:
    """Sorts the worlds worth seeing first: with trained players, and about 60 days long."""
    trained = sum(run.model(name).is_dir() for name in set(world.row["players"]))
    return -trained, abs(world.row["steps"] - 60)


# --- the story -----------------------------------------------------------------------------------


def story(world: Recorded) -> dict[str, Any]:
    """All that is known of a world, fit for JSON."""
    row = world.row
    days, contracts = world.table(DAY_LEDGER).to_pylist(), world.table(CONTRACTS).to_pylist()
    decisions = world.table(DECISIONS)
    num_factories = len(row["players"])
    steps = len(days) // num_factories  # fewer than planned where a failure ended the world
    by_factory = [days[factory::num_factories] for factory in range(num_factories)]
    needs = _needs(decisions, steps)
    products = _products(row["levels"], by_factory)
    return {
        "schema": "understudy.scml.world",
        "version": VERSION,
        "match": row["match"],
        "field": row["field"],
        "track": row["track"],
        "steps": steps,
        "planned": row["steps"],
        "horizon": RULES[track_named(row["track"])].horizon,
        "rounds": ROUNDS,
        "conserves_stock": row["conserve_stock"],
        "endings": ENDINGS,
        "factories": [
            {
                "player": row["players"][factory],
                "level": row["levels"][factory],
                "lines": row["lines"][factory],
                "cost": row["costs"][factory],
                "competes": factory in row["slots"],
                "opens": opens(row["levels"][factory], max(row["levels"]) + 1),
                "initial": row["balances"][factory],
                "score": round(row["scores"][factory], 6),
                "bankrupt": _bankruptcy(rows, row["scores"][factory]),
                "needs": needs.get(factory),
                "days": _columns(row, factory, rows),
            }
            for factory, rows in enumerate(by_factory)
        ],
        "faults": [list(Failure.read(text)) for text in row["faults"]],
        "products": products,
        "contracts": {
            name: [int(contract[name]) for contract in contracts]
            for name in ("seller", "buyer", "quantity", "day", "unit_price", "concluded")
        }
        | {"executed": [int(contract["executed"]) for contract in contracts]},
        "talks": _negotiations(row["levels"], decisions, contracts, products["lowest"], steps),
    }


def _columns(row: dict[str, Any], factory: int, days: list[dict[str, Any]]) -> dict[str, Any]:
    """A factory's days, column by column; balance and stock have one more, after the last day."""
    columns: dict[str, list[float]] = {name: [_short(day[name]) for day in days] for name in _PLAIN}
    columns["production_cost"] = [row["costs"][factory] * day["produced"] for day in days]
    columns["storage_cost"] = [
        _short(day["price_in"] * (day["storage_cost"] + day["disposal_cost"]) * day["stored"])
        for day in days
    ]
    columns["penalty"] = [
        _short(day["price_out"] * day["shortfall_penalty"] * day["shortfall"]) for day in days
    ]
    columns["balance"] = [
        *(_short(day["balance"]) for day in days),
        _short(row["scores"][factory] * row["balances"][factory]),
    ]
    columns["stock"] = [*(day["stock"] for day in days), _stock_after(row, days[-1])]
    return {name: values if any(values) else 0 for name, values in columns.items()}


def _stock_after(row: dict[str, Any], day: dict[str, Any]) -> int:
    """Units of input in the evening, which the table has only as the next day's start."""
    if RULES[track_named(row["track"])].perishable:
        return 0
    left = day["bought"] + day["supply_quantity"] - day["produced"]
    return int(day["stock"] + (left if row["conserve_stock"] else max(0, left)))


def _short(value: float) -> float:
    """To the cent, and whole numbers without a point."""
    rounded = round(value, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def _bankruptcy(days: list[dict[str, Any]], score: float) -> int | None:
    """The day in whose evening a factory's money was gone; None: never."""
    first = next((day["day"] for day in days if day["bankrupt"]), None)
    if first is not None:
        return int(first) - 1
    return len(days) - 1 if score < 0 else None


def _products(levels: list[int], by_factory: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Trading prices and allowed unit prices, by product and day."""
    found: dict[str, list[list[float]]] = {"price": [], "lowest": [], "highest": []}
    for product in range(max(levels) + 2):
        side, level = ("out", product - 1) if product else ("in", 0)
        rows = by_factory[levels.index(level)]
        for name, values in found.items():
            values.append([_short(day[f"{name}_{side}"]) for day in rows])
    return found


def _needs(decisions: pa.Table, steps: int) -> dict[int, list[list[int] | None]]:
    """Needed supplies and sales when a factory first and last decided, by factory and day."""
    columns = ("factory", "day", *_NEEDS)
    found: dict[int, list[list[int] | None]] = {}
    for factory, day, *needed in zip(
        *(decisions[name].to_pylist() for name in columns), strict=True
    ):
        if day == steps:
            continue  # a failure ended the world before that day did
        by_day = found.setdefault(factory, [None] * steps)
        by_day[day] = [*(by_day[day] or needed)[:2], *needed]
    return found


def _negotiations(
    levels: list[int],
    decisions: pa.Table,
    contracts: list[dict[str, Any]],
    lowest: list[list[int]],
    steps: int,
) -> list[list[list[Any]]]:
    """By day, each negotiation as [opener, other, ending, offers]; see `negotiations.written`."""
    num_levels = max(levels) + 1
    agreements = {}
    for contract in contracts:
        pair = contract["seller"], contract["buyer"]
        if not opens(levels[pair[0]], num_levels):
            pair = pair[::-1]
        offer = contract["quantity"], contract["day"], contract["unit_price"]
        agreements[contract["concluded"], *pair] = offer
    by_day = negotiations_by_day(decisions, levels, agreements)
    return [
        [
            [
                negotiation.opener,
                negotiation.other,
                negotiation.ending,
                written(
                    negotiation.offers,
                    day,
                    lowest[max(levels[negotiation.opener], levels[negotiation.other])][day],
                ),
            ]
            for negotiation in by_day.get(day, ())
        ]
        for day in range(steps)
    ]
