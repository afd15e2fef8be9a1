"""Recordings of SCML worlds: who played where, the contracts, the days, every decision.

A world is named by `match`, a factory by its place in the world's row, where the first level comes
first. What a factory had agreed to at any moment follows from `contracts`: a decision says how many
contracts its factory had made by then. Decisions lie one factory after the other, because so they
take two thirds of the space; `moment` puts them in the order of the world.
"""

from typing import Final

import pyarrow as pa

from understudy.data.schema import Column, Table

_MADE_BY = "understudy record scml"
LOGGED: Final = "logged"
"""The `field` of worlds that were read from logs: of factories nobody tracked little is known."""


def _list(kind: pa.DataType) -> pa.DataType:
    """By the name Parquet gives its elements, so that what is read equals what was written."""
    return pa.list_(pa.field("element", kind))


_INTS, _FLOATS = _list(pa.int32()), _list(pa.float64())

WORLDS: Final = Table(
    "scml",
    "worlds",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which world"),
        Column("seed", pa.int64(), "what its configuration was drawn from"),
        Column("run", pa.int32(), "the same configuration and players, with another random state"),
        Column("field", pa.string(), "what kind of company the players met"),
        Column("track", pa.string(), "std or oneshot"),
        Column("steps", pa.int32(), "days"),
        Column("conserve_stock", pa.bool_(), "whether production takes from stock; not in scml"),
        Column("players", _list(pa.string()), "by factory; so are most of the following"),
        Column(
            "slots", _INTS, "the factories of those that compete; the others are background agents"
        ),
        Column("levels", _INTS, "which product a factory turns into the next"),
        Column("lines", _INTS, "what a factory can make in a day"),
        Column("costs", _INTS, "of making one unit"),
        Column("balances", _list(pa.int64()), "money before the first day"),
        Column("storage_cost_means", _FLOATS, "shares of trading prices, as the owner knows them"),
        Column("disposal_cost_means", _FLOATS, "likewise"),
        Column("shortfall_penalty_means", _FLOATS, "likewise"),
        Column("storage_cost_deviations", _FLOATS, "from day to day"),
        Column("disposal_cost_deviations", _FLOATS, "from day to day"),
        Column("shortfall_penalty_deviations", _FLOATS, "from day to day"),
        Column("catalog_prices", _INTS, "by product, where trading prices begin"),
        Column("scores", _FLOATS, "final over initial balance"),
        Column("faults", _list(pa.string()), "FACTORY DAY ERROR for each failure of an agent"),
    ),
)
CONTRACTS: Final = Table(
    "scml",
    "contracts",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which world"),
        Column("number", pa.int32(), "in the order they were made"),
        Column("seller", pa.int8(), "factory"),
        Column("buyer", pa.int8(), "factory"),
        Column("product", pa.int8(), "what is sold"),
        Column("quantity", pa.int16(), "units"),
        Column("day", pa.int16(), "of delivery"),
        Column("unit_price", pa.int32(), "money"),
        Column("concluded", pa.int16(), "the day it was made"),
        Column("executed", pa.bool_(), "false: one side went bankrupt first, or the world ended"),
    ),
)
DAY_LEDGER: Final = Table(
    "scml",
    "days",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which world"),
        Column("day", pa.int16(), "the first is 0"),
        Column("factory", pa.int8(), "whose day; the following is known at its start"),
        Column("bankrupt", pa.bool_(), "no negotiations any more"),
        Column("supply_quantity", pa.int16(), "exogenous purchase"),
        Column("supply_price", pa.int32(), "its total, not per unit"),
        Column("sale_quantity", pa.int16(), "exogenous sale"),
        Column("sale_price", pa.int32(), "its total, not per unit"),
        Column("stock", pa.int32(), "units of input in hand"),
        Column("balance", pa.float64(), "money"),
        Column("price_in", pa.float64(), "trading price of the input product"),
        Column("price_out", pa.float64(), "trading price of the output product"),
        Column("lowest_in", pa.int32(), "unit price that may be offered when buying"),
        Column("highest_in", pa.int32(), "likewise"),
        Column("lowest_out", pa.int32(), "unit price that may be offered when selling"),
        Column("highest_out", pa.int32(), "likewise"),
        Column("storage_cost", pa.float64(), "per unit left over, as a share of price_in"),
        Column("disposal_cost", pa.float64(), "likewise"),
        Column("shortfall_penalty", pa.float64(), "per unit not made, as a share of price_out"),
        Column("supplies", _INTS, "units bought for today, tomorrow, ..., from the bankrupt too"),
        Column("supplies_money", _INTS, "what they cost"),
        Column("sales", _INTS, "units sold for today, tomorrow, ..., to the bankrupt too"),
        Column("sales_money", _INTS, "what they bring"),
        Column("bought", pa.int32(), "units from others; this and the following: in the evening"),
        Column("bought_money", pa.int64(), "paid for them"),
        Column("sold", pa.int32(), "units promised to others"),
        Column("sold_money", pa.int64(), "agreed for them"),
        Column("produced", pa.int32(), "units"),
        Column("shortfall", pa.int32(), "units promised but not made"),
        Column("stored", pa.int32(), "units of input left over, which cost storage or disposal"),
        Column("profit", pa.float64(), "money"),
    ),
)
DECISIONS: Final = Table(
    "scml",
    "decisions",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which world"),
        Column(
            "moment",
            pa.int32(),
            "order of the calls in a world; a joint one has a row per negotiation",
        ),
        Column("day", pa.int16(), "when"),
        Column("factory", pa.int8(), "who decides"),
        Column("call", pa.string(), "first_proposals, counter_all, propose or respond"),
        Column("partner", pa.int8(), "about whom"),
        Column("round", pa.int8(), "of the negotiation, from 0; relative time is (round + 1) / 21"),
        Column("heard_quantity", pa.int16(), "the offer on the table; none: nobody offered", True),
        Column("heard_day", pa.int16(), "its delivery day", True),
        Column("heard_price", pa.int32(), "its unit price", True),
        Column("answer", pa.string(), "accept, reject or end; none where nothing was asked", True),
        Column("omitted", pa.bool_(), "ended by saying nothing of this partner"),
        Column(
            "offered_quantity",
            pa.int16(),
            "the offer made; none: no offer, or one that the rules forbid",
            True,
        ),
        Column("offered_day", pa.int16(), "its delivery day", True),
        Column("offered_price", pa.int32(), "its unit price", True),
        Column("needed_supplies", pa.int16(), "as the simulator shows it at that moment"),
        Column("needed_sales", pa.int16(), "likewise"),
        Column("contracts", pa.int32(), "how many contracts the factory had made by then"),
    ),
)
ADVICE: Final = Table(
    "scml",
    "advice",
    1,
    _MADE_BY,
    (
        Column("match", pa.string(), "which world"),
        Column("moment", pa.int32(), "of the decision"),
        Column("partner", pa.int8(), "about whom"),
        Column("answer", pa.string(), "accept, reject or end; none where nothing was asked", True),
        Column("offered_quantity", pa.int16(), "the offer advised; none: no offer", True),
        Column("offered_day", pa.int16(), "its delivery day", True),
        Column("offered_price", pa.int32(), "its unit price", True),
    ),
)
"""What an expert would have done in the decisions of another. Not part of recordings: whoever lets
an expert look on (`dagger_labeller.py`) learns from it at once."""
RESULTS: Final = Table(
    "scml",
    "results",
    1,
    "understudy compete scml",
    (
        Column("match", pa.string(), "which world"),
        Column("seed", pa.int64(), "its configuration; worlds that share it are compared"),
        Column("player", pa.string(), "whose row this is"),
        Column("slot", pa.int8(), "factory"),
        Column("score", pa.float64(), "final over initial balance"),
        Column("run", pa.int32(), "the same configuration and players, with another random state"),
        Column("field", pa.string(), "what kind of company the players met"),
        Column("level", pa.int8(), "of the factory"),
        Column("levels", pa.int8(), "how many the world has"),
        Column("competes", pa.bool_(), "false: a background agent"),
        Column("steps", pa.int32(), "days"),
        Column("bankrupt", pa.bool_(), "at the end"),
        Column("talks", pa.int32(), "in all"),
        Column("agreements", pa.int32(), "negotiations that ended with a contract"),
        Column("promised", pa.int32(), "units to be delivered, to the outside too"),
        Column("shortfall", pa.int32(), "units of these that could not be made"),
        Column("sales", pa.int32(), "contracts as the seller"),
        Column(
            "unsafe", pa.int32(), "of these, beyond what was known to suffice: see safety_audit.py"
        ),
        Column("over_lines", pa.int32(), "of these, beyond the lines whatever arrives"),
        Column("produced", pa.int32(), "units"),
        Column("faults", pa.int32(), "failures of the agent's code"),
    ),
)
RECORDINGS: Final = (WORLDS, CONTRACTS, DAY_LEDGER, DECISIONS)
