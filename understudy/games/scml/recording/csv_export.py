"""Recorded worlds as CSV files for people who have tools for negmas' and scml's own.

A folder per world: `agents.csv`, `contracts.csv`, `negotiations.csv` and `stats.csv`, with the
columns of the files of the same names that `negmas.situated.save_stats` writes, as far as the
recording has them. What scml names by random ids is numbered here.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from scml.oneshot.common import SYSTEM_BUYER_ID, SYSTEM_SELLER_ID

from understudy.data import shards
from understudy.data.files import writing
from understudy.data.runs import CSV
from understudy.games.scml.engine.prices import TradingPrices
from understudy.games.scml.recording.tables import RECORDINGS
from understudy.names import plain_name

Row = dict[str, Any]


def write_all(folder: Path) -> int:
    """Every world recorded in a folder, shard by shard, below its `csv`; how many there are."""
    written = 0
    for path in shards.shard_paths(folder, RECORDINGS[0]):
        key = shards.shard_key(path)
        recordings = {
            table.name: shards.read_shard(shards.shard_path(folder, table, key), table)
            for table in RECORDINGS
        }
        written += write_csv(folder / CSV, recordings)
    return written


def write_csv(folder: Path, recordings: Mapping[str, pa.Table]) -> int:
    """A folder per world that is recorded in full and had a day; how many there are."""
    written = 0
    for world in recordings["worlds"].to_pylist():
        days, contracts, decisions = (
            _rows(recordings[name], world["match"]) for name in ("days", "contracts", "decisions")
        )
        if not days:
            continue
        names = [f"{index:02}@{level}" for index, level in enumerate(world["levels"])]
        target = folder / plain_name(world["match"], "the name of a world")
        _write(target / "agents.csv", _agents(world, names))
        _write(target / "contracts.csv", _contracts(world, names, contracts, days))
        _write(target / "negotiations.csv", _negotiations(world, names, contracts, days, decisions))
        _write(target / "stats.csv", _stats(world, names, contracts, days))
        written += 1
    return written


def _rows(table: pa.Table, match: str) -> list[Row]:
    return table.filter(pc.equal(table["match"], match)).to_pylist()


def _write(path: Path, rows: Iterator[Row]) -> None:
    first = next(rows, None)
    with writing(path) as aside, aside.open("w", newline="") as file:
        if first is not None:
            table = csv.DictWriter(file, list(first))
            table.writeheader()
            table.writerow(first)
            table.writerows(rows)


def _agents(world: Row, names: Sequence[str]) -> Iterator[Row]:
    for index, name in enumerate(names):
        yield {
            "id": index,
            "name": name,
            "type": world["players"][index],
            "level": world["levels"][index],
            "n_lines": world["lines"][index],
            "cost": world["costs"][index],
            "initial_balance": world["balances"][index],
            "score": world["scores"][index],
            "competes": index in world["slots"],
        }


# --- contracts -----------------------------------------------------------------------------------


def _contracts(
    world: Row, names: Sequence[str], contracts: Sequence[Row], days: Sequence[Row]
) -> Iterator[Row]:
    """Those with the outside come first in scml too, concluded before the first day."""
    parties = {name: world["players"][index] for index, name in enumerate(names)}
    outside = [_contract_row(parties, *trade) for trade in _outside(names, days, world["levels"])]
    between = (
        _contract_row(
            parties,
            names[row["seller"]],
            names[row["buyer"]],
            row["product"],
            row["quantity"],
            row["unit_price"],
            row["day"],
            row["concluded"],
            row["executed"],
        )
        for row in contracts
    )
    for number, row in enumerate((*outside, *between)):
        yield {"id": number, **row}


def _outside(
    names: Sequence[str], days: Sequence[Row], levels: Sequence[int]
) -> Iterator[tuple[Any, ...]]:
    """Exogenous contracts. Where a factory has several in a day they are recorded as one."""
    last = max(levels) + 1
    for row in days:
        name, day = names[row["factory"]], row["day"]
        if quantity := row["supply_quantity"]:
            price = row["supply_price"] / quantity
            yield SYSTEM_SELLER_ID, name, 0, quantity, price, day, -1, True
        if quantity := row["sale_quantity"]:
            price = row["sale_price"] / quantity
            yield name, SYSTEM_BUYER_ID, last, quantity, price, day, -1, True


def _contract_row(
    parties: Mapping[str, str],
    seller: str,
    buyer: str,
    product: int,
    quantity: int,
    unit_price: float,
    day: int,
    concluded: int,
    executed: bool,
) -> Row:
    return {
        "seller_name": seller,
        "buyer_name": buyer,
        "seller_type": parties.get(seller, "System"),
        "buyer_type": parties.get(buyer, "System"),
        "delivery_time": day,
        "quantity": quantity,
        "unit_price": unit_price,
        "signed_at": concluded if concluded >= 0 else day,
        "concluded_at": concluded,
        "product_name": f"p{product}",
        "product": product,
        "executed_at": day if executed else -1,
    }


# --- negotiations ---------------------------------------------------------------------------------


def _negotiations(
    world: Row,
    names: Sequence[str],
    contracts: Sequence[Row],
    days: Sequence[Row],
    decisions: Sequence[Row],
) -> Iterator[Row]:
    """All pairs that met. Offers are those that somebody recorded was asked about."""
    agreements = {(row["concluded"], row["seller"], row["buyer"]): row for row in contracts}
    heard: dict[tuple[int, int, int], dict[int, tuple[int, int, int]]] = defaultdict(dict)
    rounds: dict[tuple[int, int, int], int] = defaultdict(int)
    for row in decisions:
        day, own, other = row["day"], row["factory"], row["partner"]
        pair = day, min(own, other), max(own, other)
        rounds[pair] = max(rounds[pair], row["round"] + 1)
        if row["heard_quantity"] is not None:
            offer = row["heard_quantity"], row["heard_day"], row["heard_price"]
            heard[day, other, own][row["round"]] = offer
    for number, (day, seller, buyer) in enumerate(_pairings(world["levels"], days)):
        contract = agreements.get((day, seller, buyer))
        agreed = contract and (contract["quantity"], contract["day"], contract["unit_price"])
        product = world["levels"][buyer]
        yield {
            "id": number,
            "partners": [names[buyer], names[seller]],
            "partner_types": [world["players"][buyer], world["players"][seller]],
            "sim_step": day,
            "product": product,
            "buyer": names[buyer],
            "seller": names[seller],
            "failed": contract is None,
            "agreement": agreed,
            "step": rounds[day, seller, buyer],
            "offers": {
                names[buyer]: list(heard[day, buyer, seller].values()),
                names[seller]: list(heard[day, seller, buyer].values()),
            },
        }


def _pairings(levels: Sequence[int], days: Sequence[Row]) -> Iterator[tuple[int, int, int]]:
    """Day, seller and buyer: those of neighbouring levels who are not bankrupt."""
    solvent: dict[int, list[int]] = defaultdict(list)
    for row in days:
        if not row["bankrupt"]:
            solvent[row["day"]].append(row["factory"])
    for day, present in solvent.items():
        for seller in present:
            for buyer in present:
                if levels[buyer] == levels[seller] + 1:
                    yield day, seller, buyer


# --- the days ------------------------------------------------------------------------------------


def _stats(
    world: Row, names: Sequence[str], contracts: Sequence[Row], days: Sequence[Row]
) -> Iterator[Row]:
    """A row per day, as it was in the evening."""
    prices = TradingPrices(world["catalog_prices"])
    earned = [0.0] * len(names)
    bankrupt = [False] * len(names)
    due: dict[int, list[Row]] = defaultdict(list)
    for contract in contracts:
        if contract["executed"]:
            due[contract["day"]].append(contract)
    for start in range(0, len(days), len(names)):
        today = days[start : start + len(names)]
        row: Row = {"step": today[0]["day"]}
        row |= _market(prices, due[today[0]["day"]], today, len(world["catalog_prices"]))
        for index, (name, one) in enumerate(zip(names, today, strict=True)):
            earned[index] += one["profit"]
            balance = earned[index] + world["balances"][index]
            bankrupt[index] = bankrupt[index] or balance < 0
            row |= {
                f"score_{name}": balance / world["balances"][index],
                f"balance_{name}": balance,
                f"bankrupt_{name}": bankrupt[index],
                **_factory(
                    name, one, world["lines"][index], days[start + len(names) + index :][:1]
                ),
            }
        yield row


def _market(prices: TradingPrices, due: Sequence[Row], today: Sequence[Row], count: int) -> Row:
    outside = [(0, one["supply_quantity"], one["supply_price"]) for one in today]
    outside += [(count - 1, one["sale_quantity"], one["sale_price"]) for one in today]
    sold, paid = [0] * count, [0.0] * count
    for product, quantity, money in (
        *((one["product"], one["quantity"], one["quantity"] * one["unit_price"]) for one in due),
        *outside,
    ):
        if quantity:
            prices.add_sale(product, quantity, money / quantity)
            sold[product] += quantity
            paid[product] += money
    prices.close_day()
    row: Row = {}
    for product in range(count):
        row[f"trading_price_{product}"] = prices.now[product]
        row[f"sold_quantity_{product}"] = sold[product]
        row[f"unit_price_{product}"] = paid[product] / sold[product] if sold[product] else math.nan
    return row


def _factory(name: str, day: Row, lines: int, tomorrow: Sequence[Row]) -> Row:
    return {
        f"productivity_{name}": day["produced"] / lines,
        f"shortfall_quantity_{name}": day["shortfall"],
        f"shortfall_penalty_{name}": day["shortfall"] * day["shortfall_penalty"] * day["price_out"],
        f"storage_cost_{name}": day["stored"] * day["storage_cost"] * day["price_in"],
        f"disposal_cost_{name}": day["stored"] * day["disposal_cost"] * day["price_in"],
        f"inventory_penalized_{name}": day["stored"],
        f"inventory_input_{name}": tomorrow[0]["stock"] if tomorrow else None,
        f"produced_{name}": day["produced"],
        f"bought_{name}": day["bought"],
        f"sold_{name}": day["sold"],
        f"profit_{name}": day["profit"],
    }
