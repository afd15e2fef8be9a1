"""What the networks read of a state, by name. `observe.py` computes it.

Amounts are in days of work (units per line), money in initial balances, days in horizons of the
Standard track, prices as places in the range that may be offered (0 lowest, 1 highest). What has no
natural bound is cut at MOST.
"""

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, Final

from understudy.games.scml.domain import DAYS

MOST: Final = 4.0
HISTORY: Final = 40
"""Offers of a negotiation that are shown, the latest; it has 20 rounds, and two speak in each."""

STATIC: Final = {
    "balance": "money",
    "free_money": "B_free of L1: what may be spent on input",
    "stock": "units of input in hand",
    "days_left": "share of the world's days that are left, today included",
    "length": "days of the world; 1 = 200",
    "days_ahead": "how far ahead a delivery can be agreed today",
    "price_in": "trading price of the input over its catalog price",
    "price_out": "trading price of the output over its catalog price",
    "margin": "trading price of the output less input and cost, as a share of it",
    "cost": "of making one unit, as a share of the output's trading price",
    "lines": "units that can be made in a day; 1 = 10",
    "range_in": "highest less lowest price when buying, as a share of the trading price",
    "range_out": "likewise when selling",
    "supply": "units of exogenous supply today",
    "supply_price": "their unit price over the trading price; 0 = none",
    "sale": "units to be delivered to the outside today",
    "sale_price": "their unit price over the trading price; 0 = none",
    "storage_cost": "of a unit left over, as a share of the input's trading price",
    "disposal_cost": "likewise where nothing can be stored",
    "shortfall_penalty": "of a unit not made, as a share of the output's trading price",
    "level": "0 = first, 1 = last",
    "levels": "how many there are; 1 = 4",
    "suppliers": "factories to buy from; 1 = 6",
    "consumers": "factories to sell to; 1 = 6",
    "opens": "1 = this factory makes the first offers",
    "perishable": "1 = nothing is stored",
    "horizon": "of the world; 1 = Standard, 0 = OneShot",
    "wealth": "initial balance over the cost of ten days of full input",
    "stock_falls": "1 = production takes from stock, as has been seen",
    "stock_log": "log of 1 + stock in days of work: beyond where `stock` is cut",
}
TEMPORAL: Final = {
    "inbound": "units that arrive",
    "outbound": "units to be delivered",
    "made": "units that will be made as things stand",
    "input": "units of input known to be there",
    "free_lines": "share of the lines without an order",
    "balance": "money in the evening as things stand",
    "premium_in": "mean price of what arrives or is offered, in tenths over the trading price",
    "premium_out": "likewise of what is to be delivered or is asked for",
    "buy_pressure": "units that sellers offer now",
    "sell_pressure": "units that buyers ask for now",
}
"""By days from now; nothing of days on which no delivery can be agreed."""
SITUATION: Final = {
    "talks_buying": "open negotiations with suppliers in this decision; 1 = 6",
    "talks_selling": "with consumers",
    "offers_buying": "of these with an offer on the table",
    "offers_selling": "likewise",
    "offered_units": "units that sellers offer in all",
    "asked_units": "units that buyers ask for in all",
    "best_buying": "the lowest price on offer; 1 = none",
    "best_selling": "the highest price on offer; 0 = none",
    "to_buy": "most units that L1 lets buy for one day",
    "to_sell": "units that L1 lets sell, mean over the days there are",
    "round": "the latest of all negotiations, as a share",
}
"""Of all negotiations of a decision; with STATIC before it, it makes up the overall features."""
MEMORY: Final = {
    "past_talks": "log of 1 + talks on earlier days; 1 = 53 talks",
    "past_agreed": "share of these that ended with a contract",
    "past_taken": "share of our offers that the partner took",
    "past_heard": "the partner's offers per talk; 1 = a round each",
    "deal_units": "units of a contract, the mean of all; so are the next three",
    "deal_ahead": "days to its delivery",
    "deal_today": "1 = delivered the same day",
    "deal_gain": "its price as we like it: 0 worst, 1 best",
    "heard_units": "units of an offer of the partner's, the mean of all; so are the next two",
    "heard_ahead": "days to its delivery",
    "heard_gain": "its price as we like it",
    "heard_most": "the most units that the partner ever offered or asked for",
}
"""Of the talks with a negotiation's partner on earlier days (`memory.py`); 0 where there is nothing
to take a share or a mean of."""
THREAD: Final = {
    "buys": "1 = we buy",
    "sells": "1 = we sell",
    "round": "share of the rounds that have passed",
    "said": "offers so far; 1 = HISTORY",
    "is_heard": "1 = an offer lies on the table; without one the next six are 0",
    "quantity": "its units",
    "ahead": "its delivery day",
    "price": "its price",
    "gain": "its price as we like it: 0 worst, 1 best",
    "safe_share": "share of its units that L1 allows",
    "is_safe": "1 = L1 allows to accept it",
    "has_offered": "1 = we have made an offer; without one the next three are 0",
    "own_quantity": "our last offer's units",
    "own_ahead": "its delivery day",
    "own_price": "its price",
    "their_way": "how far the partner's price has come our way since its first offer",
    "their_growth": "units more than in the partner's first offer",
    "own_way": "how far our price has gone the partner's way",
    "has_baseline": "1 = L1 has an offer to make; without one quantity and day are 0",
    "baseline_quantity": "its units",
    "baseline_ahead": "its delivery day",
    "baseline_price": "its price",
    "bound": "most units that L1 allows on the day under discussion: the offer's, else L1's",
    "payable": "units that B_free pays for at that price; 0 when selling",
    "rivals": "other open negotiations on this side in this decision; 1 = 6",
    "rival_units": "units that these offer or ask for",
    "better_rivals": "share of the rivals' offers with a better price for us",
    **{f"day_{name}": f"on the day under discussion: {what}" for name, what in TEMPORAL.items()},
    **MEMORY,
}
"""Of one negotiation."""
PAST_OFFER: Final = {
    "mine": "1 = our offer, 0 = the partner's",
    "quantity": "units",
    "ahead": "delivery day",
    "price": "unit price",
}
"""Of an offer in a negotiation's history."""
TURN: Final = {
    **{f"left_{day}": f"units that L1 still allows {day} days from now" for day in range(DAYS)},
    "left_payable": "units that the money left pays for at the baseline's price; 0 when selling",
    "still_safe": "1 = L1 still allows to accept what lies on the table",
    "still_share": "share of its units that L1 still allows",
    "has_base": "1 = L1 still has an offer to make; without one the next two are 0",
    "base_quantity": "its units",
    "base_ahead": "its delivery day",
    "served": "negotiations on this side that came before; 1 = 6",
    "waiting": "negotiations on this side that come after",
    "given": "units promised on this side in this decision, by those before",
    "weight": "L4's weight of this negotiation",
}
"""When a negotiation's turn comes: what the negotiations before it have left."""
OVERALL: Final = STATIC | SITUATION


def columns_of(table: Mapping[str, str]) -> Any:
    """Where each feature lies in its row: `columns.balance`. Compiled code has it as a constant."""
    return namedtuple("Columns", tuple(table))(*range(len(table)))


STATIC_AT: Final = columns_of(STATIC)
TEMPORAL_AT: Final = columns_of(TEMPORAL)
SITUATION_AT: Final = columns_of(SITUATION)
THREAD_AT: Final = columns_of(THREAD)
PAST_OFFER_AT: Final = columns_of(PAST_OFFER)
TURN_AT: Final = columns_of(TURN)
DAY_IN_THREAD: Final = THREAD_AT.day_inbound
"""Where a negotiation's row begins to say what TEMPORAL says of the day under discussion."""
