"""STATIC, TEMPORAL and SITUATION of a state, compiled: `observe.py` calls it, live and for many."""

import math

import numpy as np

from understudy.games.scml.domain import BUYING, DAYS, ROUNDS, SELLING
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.commitments import (
    CAPACITY,
    CONSERVES,
    DAYS_OPEN,
    FREE,
    IN_STOCK,
    KEEPS,
    open_book,
    remaining_by_day,
)
from understudy.games.scml.view.scales import AHEAD, CROWD, cut, position_in

_MONEY = 2
"""In the rows of `on_table`: units by side, then their money."""


@kernel
def fill_states(columns, how, book, on_table, out):  # type: ignore[no-untyped-def]
    """What L1 says before anything is promised, and the features of each state."""
    for s in range(len(columns.facts)):
        facts, commitments = columns.facts[s], columns.commitments[s]
        open_book(facts, commitments, how, book)
        out.money[s] = book.money[FREE]
        for day in range(book.limits[DAYS_OPEN]):
            out.days[s, day] = True
        remaining_by_day(book, True, out.bounds[s, BUYING])
        remaining_by_day(book, False, out.bounds[s, SELLING])
        out.can[s, BUYING] = 1.0 if facts[p.LEVEL] > 0 else 0.0
        out.can[s, SELLING] = 1.0 if facts[p.LEVEL] < facts[p.LEVELS] - 1 else 0.0
        _static(facts, book, out.static[s])
        _situation(columns, s, out.bounds[s], on_table, out.situation[s])
        _temporal(facts, commitments, book, on_table, out.temporal[s])


@kernel
def _static(facts, book, out):  # type: ignore[no-untyped-def]
    at = f.STATIC_AT
    lines, initial = facts[p.LINES], max(facts[p.INITIAL], 1.0)
    price_in, price_out = max(facts[p.PRICE_IN], 1e-9), max(facts[p.PRICE_OUT], 1e-9)
    supply, sale = facts[p.SUPPLY_QUANTITY], facts[p.SALE_QUANTITY]
    out[at.balance] = cut(facts[p.BALANCE] / initial)
    out[at.free_money] = cut(book.money[FREE] / initial)
    out[at.stock] = cut(facts[p.STOCK] / lines)
    out[at.days_left] = (facts[p.STEPS] - facts[p.DAY]) / facts[p.STEPS]
    out[at.length] = cut(facts[p.STEPS] / 200.0)
    out[at.days_ahead] = (book.limits[DAYS_OPEN] - 1) / AHEAD
    out[at.price_in] = cut(facts[p.PRICE_IN] / max(facts[p.CATALOG_IN], 1.0))
    out[at.price_out] = cut(facts[p.PRICE_OUT] / max(facts[p.CATALOG_OUT], 1.0))
    out[at.margin] = cut((facts[p.PRICE_OUT] - facts[p.PRICE_IN] - facts[p.COST]) / price_out)
    out[at.cost] = cut(facts[p.COST] / price_out)
    out[at.lines] = cut(lines / 10.0)
    out[at.range_in] = cut((facts[p.HIGH_IN] - facts[p.LOW_IN]) / price_in)
    out[at.range_out] = cut((facts[p.HIGH_OUT] - facts[p.LOW_OUT]) / price_out)
    out[at.supply] = cut(supply / lines)
    out[at.supply_price] = cut(facts[p.SUPPLY_PRICE] / supply / price_in) if supply > 0 else 0.0
    out[at.sale] = cut(sale / lines)
    out[at.sale_price] = cut(facts[p.SALE_PRICE] / sale / price_out) if sale > 0 else 0.0
    out[at.storage_cost] = cut(facts[p.STORAGE])
    out[at.disposal_cost] = cut(facts[p.DISPOSAL])
    out[at.shortfall_penalty] = cut(facts[p.SHORTFALL])
    out[at.level] = facts[p.LEVEL] / max(facts[p.LEVELS] - 1.0, 1.0)
    out[at.levels] = cut(facts[p.LEVELS] / 4.0)
    out[at.suppliers] = cut(facts[p.SUPPLIERS] / CROWD)
    out[at.consumers] = cut(facts[p.CONSUMERS] / CROWD)
    out[at.opens] = 1.0 if int(facts[p.LEVELS] - facts[p.LEVEL]) % 2 == 1 else 0.0
    out[at.perishable] = facts[p.PERISHABLE]
    out[at.horizon] = facts[p.WORLD_HORIZON] / AHEAD
    out[at.wealth] = cut(facts[p.INITIAL] / (10.0 * lines * price_in))
    out[at.stock_falls] = book.limits[CONSERVES]
    out[at.stock_log] = cut(math.log1p(facts[p.STOCK] / lines))


@kernel
def _situation(columns, s, remaining, on_table, out):  # type: ignore[no-untyped-def]
    """Of all negotiations together; units and money on the table by day go into `on_table`."""
    at = f.SITUATION_AT
    facts, days = columns.facts[s], p.agreeable_days(columns.facts[s])
    for k in range(len(on_table)):
        for day in range(DAYS):
            on_table[k, day] = 0.0
    negotiations, heard, units, best, buying_round = _side(columns, s, True, on_table)
    out[at.talks_buying] = cut(negotiations)
    out[at.offers_buying] = cut(heard)
    out[at.offered_units] = cut(units)
    out[at.best_buying] = best
    negotiations, heard, units, best, selling_round = _side(columns, s, False, on_table)
    out[at.talks_selling] = cut(negotiations)
    out[at.offers_selling] = cut(heard)
    out[at.asked_units] = cut(units)
    out[at.best_selling] = best
    most, total = 0, 0
    for day in range(days):
        most = max(most, remaining[BUYING, day])
        total += remaining[SELLING, day]
    out[at.to_buy] = cut(most / facts[p.LINES])
    out[at.to_sell] = cut(total / (days * facts[p.LINES]))
    out[at.round] = max(buying_round, selling_round)


@kernel
def _side(columns, s, buys, on_table):  # type: ignore[no-untyped-def]
    """One side: negotiations, those with an offer, their units, the best price, the latest round.

    Sums are rounded after each negotiation, because they were when the networks were trained.
    """
    facts, side = columns.facts[s], BUYING if buys else SELLING
    low, high = p.price_range(facts, buys)
    negotiations, heard, units, latest = np.float32(0), np.float32(0), np.float32(0), 0.0
    best = np.float32(1) if buys else np.float32(0)
    for negotiation in range(columns.first[s], columns.first[s + 1]):
        if (columns.negotiations[negotiation, p.BUYS] != 0) != buys:
            continue
        negotiations = np.float32(negotiations + 1.0 / CROWD)
        latest = max(latest, columns.negotiations[negotiation, p.ROUND] / ROUNDS)
        row = p.heard_row(columns, negotiation)
        if row < 0:
            continue
        quantity, price = columns.offers[row, p.QUANTITY], columns.offers[row, p.PRICE]
        at = position_in(price, low, high)
        heard = np.float32(heard + 1.0 / CROWD)
        units = np.float32(units + quantity / facts[p.LINES])
        best = np.float32(min(best, at) if buys else max(best, at))
        ahead = columns.offers[row, p.DELIVERY] - int(facts[p.DAY])
        if 0 <= ahead < DAYS:
            on_table[side, ahead] += quantity
            on_table[_MONEY + side, ahead] += quantity * price
    return negotiations, heard, units, best, latest


@kernel
def _premium(quantity, money, price):  # type: ignore[no-untyped-def]
    """Tenths over the trading price."""
    if quantity <= 0 or price <= 0:
        return 0.0
    return cut(10.0 * (money / quantity / price - 1.0))


@kernel
def _temporal(facts, commitments, book, on_table, out):  # type: ignore[no-untyped-def]
    """Today's exogenous contracts are part of it; their prices are in STATIC."""
    at, lines, stock = f.TEMPORAL_AT, book.limits[CAPACITY], book.limits[IN_STOCK]
    keeps, conserves = book.limits[KEEPS] != 0, book.limits[CONSERVES] != 0
    balance = facts[p.BALANCE]
    balance += facts[p.SALE_PRICE] - facts[p.SUPPLY_PRICE]
    for day in range(book.limits[DAYS_OPEN]):
        arriving, ordered = book.arriving[day], book.ordered[day]
        there = stock + arriving
        made = rules.made_of(there, ordered, lines)
        # Day by day as the simulator will do it, if nothing else is agreed.
        stock = rules.stock_after(stock, arriving, made, keeps, conserves)
        paid, earned = commitments[p.BOUGHT_MONEY, day], commitments[p.SOLD_MONEY, day]
        balance += earned - paid - facts[p.COST] * made
        offered, asked = on_table[BUYING, day], on_table[SELLING, day]
        # Premiums are of what is agreed and what lies on the table together.
        bought, sold = commitments[p.BOUGHT, day] + offered, commitments[p.SOLD, day] + asked
        bought_money = paid + on_table[_MONEY + BUYING, day]
        sold_money = earned + on_table[_MONEY + SELLING, day]
        out[day, at.inbound] = cut(arriving / lines)
        out[day, at.outbound] = cut(ordered / lines)
        out[day, at.made] = made / lines
        out[day, at.input] = cut(there / lines)
        out[day, at.free_lines] = cut((lines - ordered) / lines)
        out[day, at.balance] = cut(balance / max(facts[p.INITIAL], 1.0))
        out[day, at.premium_in] = _premium(bought, bought_money, facts[p.PRICE_IN])
        out[day, at.premium_out] = _premium(sold, sold_money, facts[p.PRICE_OUT])
        out[day, at.buy_pressure] = cut(offered / lines)
        out[day, at.sell_pressure] = cut(asked / lines)
