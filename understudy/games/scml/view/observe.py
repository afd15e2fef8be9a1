"""From states to what the networks read. Live play and `encode.py` both call this.

Nothing here can tell whether a state came from a running world or from a recording, nor how many
others it is computed with. `features.py` says what each number means.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from understudy.games.scml.domain import (
    BUY_SHARE,
    DAYS,
    HORIZON,
    ROUNDS,
    RULES,
    SELL_SHARE,
    SafetySettings,
)
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.columns import Floats, Packed, packed
from understudy.games.scml.view.state import State

MOST: Final = f.MOST
HISTORY: Final = f.HISTORY
_WIDE, _NARROW = RULES["std"].quantity_factor, RULES["oneshot"].quantity_factor
_HORIZON: Final = float(HORIZON)
_CROWD: Final = 6.0  # the most factories of a level in the league
_OWN: Final = len(f.THREAD) - len(f.TEMPORAL)

Array = np.ndarray[Any, np.dtype[np.float32]]
Int32s = np.ndarray[Any, np.dtype[np.int32]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


class Observed(NamedTuple):
    """Features of states and of their talks, and what L1 says before any room is taken."""

    static: Array
    """[states, STATIC]."""
    temporal: Array
    """[states, DAYS, TEMPORAL]."""
    days: Bools
    """[states, DAYS]: for which a delivery can be agreed; of the others nothing is told."""
    can: Array
    """[states, 2]: whether this factory buys from others, sells to others."""
    situation: Array
    """[states, SITUATION]."""
    bounds: Int32s
    """[states, 2, DAYS]: Q_safe buying and selling."""
    money: Floats
    """[states]: B_free."""
    thread: Array
    """[talks, THREAD]."""
    history: Array
    """[talks, HISTORY, SAID]: what was said, oldest first, then nothing."""
    length: Int32s
    """[talks]: how much of it there is."""
    role: Array
    """[talks, 2]: buying, selling."""
    baseline: Int32s
    """[talks, 3]: L1's own offer: units (0: it has none), days ahead, unit price."""
    safe: Bools
    """[talks]: L1 allows to accept what lies on the table."""


def observed(columns: Packed, settings: SafetySettings | None = None) -> Observed:
    """All features of many states."""
    settings = settings or SafetySettings()
    states, talks = len(columns.facts), len(columns.talks)
    found = Observed(
        static=np.empty((states, len(f.STATIC)), np.float32),
        temporal=np.zeros((states, DAYS, len(f.TEMPORAL)), np.float32),
        days=np.zeros((states, DAYS), np.bool_),
        can=np.empty((states, 2), np.float32),
        situation=np.empty((states, len(f.SITUATION)), np.float32),
        bounds=np.zeros((states, 2, DAYS), np.int32),
        money=np.empty(states),
        thread=np.zeros((talks, len(f.THREAD)), np.float32),
        history=np.zeros((talks, HISTORY, len(f.SAID)), np.float32),
        length=np.empty(talks, np.int32),
        role=np.empty((talks, 2), np.float32),
        baseline=np.zeros((talks, 3), np.int32),
        safe=np.zeros(talks, np.bool_),
    )
    scratch = np.zeros((4, DAYS), np.int64)
    _safety(columns, settings.reserve, settings.conserves, scratch, found)
    _states(columns, settings.conserves, scratch, np.zeros((4, DAYS)), found)
    _talks(columns, found)
    _histories(columns, found)
    return found


def observe(state: State, settings: SafetySettings | None = None) -> Observed:
    """All features of one state."""
    return observed(packed([state]), settings)


def static(state: State) -> Array:
    """What holds for the day, [STATIC]."""
    return observe(state).static[0]


def temporal(state: State) -> Array:
    """What is known of the days ahead, [DAYS, TEMPORAL]."""
    return observe(state).temporal[0]


def can(state: State) -> Array:
    """Whether this factory buys from others, sells to others, [2]."""
    return observe(state).can[0]


def threads(state: State, settings: SafetySettings | None = None) -> Array:
    """Every talk beside the others, [talks, THREAD]."""
    return observe(state, settings).thread


def overall(state: State, settings: SafetySettings | None = None) -> Array:
    """The day and all talks together, [OVERALL]."""
    found = observe(state, settings)
    return np.concatenate([found.static[0], found.situation[0]])


# --- compiled ------------------------------------------------------------------------------------


@kernel
def cut(value):  # type: ignore[no-untyped-def]
    """Within what a network can take."""
    return min(max(value, -MOST), MOST)


@kernel
def price_range(facts, buys):  # type: ignore[no-untyped-def]
    """Lowest and highest unit price."""
    if buys:
        return facts[p.LOW_IN], facts[p.HIGH_IN]
    return facts[p.LOW_OUT], facts[p.HIGH_OUT]


@kernel
def _place_in(price, low, high):  # type: ignore[no-untyped-def]
    """0 lowest, 1 highest; the middle where there is no choice."""
    if high <= low:
        return 0.5
    return min(max((price - low) / (high - low), 0.0), 1.0)


@kernel
def agreeable_days(facts):  # type: ignore[no-untyped-def]
    """For how many days, today included, deliveries can be agreed."""
    return int(min(facts[p.WORLD_HORIZON], facts[p.STEPS] - 1.0 - facts[p.DAY])) + 1


@kernel
def most_units(facts):  # type: ignore[no-untyped-def]
    """Of one offer."""
    factor = _NARROW if facts[p.WORLD_HORIZON] == 0.0 else _WIDE
    return max(1, int(facts[p.LINES]) * factor)


@kernel
def fill_books(facts, promises, days, arriving, ordered):  # type: ignore[no-untyped-def]
    """What arrives and what is ordered by day, with today's forced trades."""
    for day in range(days):
        arriving[day] = promises[p.BOUGHT, day]
        ordered[day] = promises[p.SOLD, day]
    arriving[0] += int(facts[p.SUPPLY_QUANTITY])
    ordered[0] += int(facts[p.SALE_QUANTITY])


@kernel
def _safety(columns, reserve, conserves, scratch, out):  # type: ignore[no-untyped-def]
    """L1: `Room` of a state in which nobody has taken anything yet."""
    for s in range(len(columns.facts)):
        facts, promises = columns.facts[s], columns.promises[s]
        days = agreeable_days(facts)
        fill_books(facts, promises, days, scratch[0], scratch[1])
        lines, stock = int(facts[p.LINES]), int(facts[p.STOCK])
        keeps = facts[p.PERISHABLE] == 0.0
        falls = conserves or facts[p.STOCK_FALLS] != 0.0
        arriving, ordered, inputs = scratch[0], scratch[1], scratch[2]
        rules.input_by_day(stock, arriving, ordered, days, lines, keeps, falls, inputs)
        orders, owed = 0, 0
        for day in range(DAYS):
            owed += promises[p.BOUGHT_MONEY, day]
        for day in range(days):
            orders += ordered[day]
            out.days[s, day] = True
            out.bounds[s, 0, day] = rules.most_to_buy(
                stock, arriving, ordered, days, lines, keeps, falls, inputs, 0, day
            )
            out.bounds[s, 1, day] = rules.most_to_sell(
                stock, arriving, ordered, days, lines, keeps, falls, inputs, day
            )
        out.money[s] = (
            facts[p.BALANCE]
            - reserve * facts[p.INITIAL]
            - owed
            - facts[p.SUPPLY_PRICE]
            - facts[p.COST] * orders
        )


@kernel
def _states(columns, conserves, scratch, offers, out):  # type: ignore[no-untyped-def]
    for s in range(len(columns.facts)):
        facts = columns.facts[s]
        _static(facts, out.money[s], conserves, out.static[s])
        out.can[s, 0] = 1.0 if facts[p.LEVEL] > 0 else 0.0
        out.can[s, 1] = 1.0 if facts[p.LEVEL] < facts[p.LEVELS] - 1 else 0.0
        _on_the_table(columns, s, offers, out.situation[s])
        _temporal(facts, columns.promises[s], conserves, scratch, offers, out.temporal[s])
        most, total, days = 0, 0, agreeable_days(facts)
        for day in range(days):
            most = max(most, out.bounds[s, 0, day])
            total += out.bounds[s, 1, day]
        out.situation[s, 8] = cut(most / facts[p.LINES])
        out.situation[s, 9] = cut(total / (days * facts[p.LINES]))


@kernel
def _static(facts, money, conserves, out):  # type: ignore[no-untyped-def]
    lines, initial = facts[p.LINES], max(facts[p.INITIAL], 1.0)
    price_in, price_out = max(facts[p.PRICE_IN], 1e-9), max(facts[p.PRICE_OUT], 1e-9)
    supply, sale = facts[p.SUPPLY_QUANTITY], facts[p.SALE_QUANTITY]
    out[0] = cut(facts[p.BALANCE] / initial)
    out[1] = cut(money / initial)
    out[2] = cut(facts[p.STOCK] / lines)
    out[3] = (facts[p.STEPS] - facts[p.DAY]) / facts[p.STEPS]
    out[4] = cut(facts[p.STEPS] / 200.0)
    out[5] = (agreeable_days(facts) - 1) / _HORIZON
    out[6] = cut(facts[p.PRICE_IN] / max(facts[p.CATALOG_IN], 1.0))
    out[7] = cut(facts[p.PRICE_OUT] / max(facts[p.CATALOG_OUT], 1.0))
    out[8] = cut((facts[p.PRICE_OUT] - facts[p.PRICE_IN] - facts[p.COST]) / price_out)
    out[9] = cut(facts[p.COST] / price_out)
    out[10] = cut(lines / 10.0)
    out[11] = cut((facts[p.HIGH_IN] - facts[p.LOW_IN]) / price_in)
    out[12] = cut((facts[p.HIGH_OUT] - facts[p.LOW_OUT]) / price_out)
    out[13] = cut(supply / lines)
    out[14] = cut(facts[p.SUPPLY_PRICE] / supply / price_in) if supply > 0 else 0.0
    out[15] = cut(sale / lines)
    out[16] = cut(facts[p.SALE_PRICE] / sale / price_out) if sale > 0 else 0.0
    out[17] = cut(facts[p.STORAGE])
    out[18] = cut(facts[p.DISPOSAL])
    out[19] = cut(facts[p.SHORTFALL])
    out[20] = facts[p.LEVEL] / max(facts[p.LEVELS] - 1.0, 1.0)
    out[21] = cut(facts[p.LEVELS] / 4.0)
    out[22] = cut(facts[p.SUPPLIERS] / _CROWD)
    out[23] = cut(facts[p.CONSUMERS] / _CROWD)
    out[24] = 1.0 if int(facts[p.LEVELS] - facts[p.LEVEL]) % 2 == 1 else 0.0
    out[25] = facts[p.PERISHABLE]
    out[26] = facts[p.WORLD_HORIZON] / _HORIZON
    out[27] = cut(facts[p.INITIAL] / (10.0 * lines * price_in))
    out[28] = 1.0 if conserves or facts[p.STOCK_FALLS] != 0.0 else 0.0


@kernel
def heard_row(columns, talk):  # type: ignore[no-untyped-def]
    """The row of `said` with the partner's offer that lies on the table; -1: none does."""
    start, length = columns.talks[talk, p.START], columns.talks[talk, p.LENGTH]
    last = start + length - 1
    return last if length > 0 and columns.said[last, p.MINE] == 0 else -1


@kernel
def _on_the_table(columns, s, offers, out):  # type: ignore[no-untyped-def]
    """Units and money offered by day into `offers` (buying, its money, selling, its money)."""
    facts = columns.facts[s]
    for k in range(4):
        for day in range(DAYS):
            offers[k, day] = 0.0
    for k in range(len(out)):
        out[k] = 0.0
    out[6] = 1.0
    for talk in range(columns.first[s], columns.first[s + 1]):
        buys, row = columns.talks[talk, p.BUYS] != 0, heard_row(columns, talk)
        side = 0 if buys else 1
        out[side] += 1.0 / _CROWD
        out[10] = max(out[10], columns.talks[talk, p.ROUND] / ROUNDS)
        if row < 0:
            continue
        low, high = price_range(facts, buys)
        quantity, price = columns.said[row, p.QUANTITY], columns.said[row, p.PRICE]
        at = _place_in(price, low, high)
        out[2 + side] += 1.0 / _CROWD
        out[4 + side] += quantity / facts[p.LINES]
        out[6 + side] = min(out[6], at) if buys else max(out[7], at)
        ahead = columns.said[row, p.DELIVERY] - int(facts[p.DAY])
        if 0 <= ahead < DAYS:
            offers[2 * side, ahead] += quantity
            offers[2 * side + 1, ahead] += quantity * price
    for k in range(6):
        out[k] = cut(out[k])


@kernel
def _premium(quantity, money, price):  # type: ignore[no-untyped-def]
    """Tenths over the trading price."""
    if quantity <= 0 or price <= 0:
        return 0.0
    return cut(10.0 * (money / quantity / price - 1.0))


@kernel
def _temporal(facts, promises, conserves, scratch, offers, out):  # type: ignore[no-untyped-def]
    """Today's forced trades are part of it; their prices are in STATIC."""
    days, lines = agreeable_days(facts), int(facts[p.LINES])
    fill_books(facts, promises, days, scratch[0], scratch[1])
    keeps = facts[p.PERISHABLE] == 0.0
    falls = conserves or facts[p.STOCK_FALLS] != 0.0
    stock, balance = int(facts[p.STOCK]), facts[p.BALANCE]
    balance += facts[p.SALE_PRICE] - facts[p.SUPPLY_PRICE]
    for day in range(days):
        arriving, ordered = scratch[0, day], scratch[1, day]
        there = stock + arriving
        made = rules.made_of(there, ordered, lines)
        stock = rules.stock_after(stock, arriving, made, keeps, falls)
        paid, earned = promises[p.BOUGHT_MONEY, day], promises[p.SOLD_MONEY, day]
        balance += earned - paid - facts[p.COST] * made
        out[day, 0] = cut(arriving / lines)
        out[day, 1] = cut(ordered / lines)
        out[day, 2] = made / lines
        out[day, 3] = cut(there / lines)
        out[day, 4] = cut((lines - ordered) / lines)
        out[day, 5] = cut(balance / max(facts[p.INITIAL], 1.0))
        out[day, 6] = _premium(
            promises[p.BOUGHT, day] + offers[0, day], paid + offers[1, day], facts[p.PRICE_IN]
        )
        out[day, 7] = _premium(
            promises[p.SOLD, day] + offers[2, day], earned + offers[3, day], facts[p.PRICE_OUT]
        )
        out[day, 8] = cut(offers[0, day] / lines)
        out[day, 9] = cut(offers[2, day] / lines)


@kernel
def _talks(columns, out):  # type: ignore[no-untyped-def]
    for s in range(len(columns.facts)):
        facts, days = columns.facts[s], agreeable_days(columns.facts[s])
        most_quantity = most_units(facts)
        for talk in range(columns.first[s], columns.first[s + 1]):
            buys, thread = columns.talks[talk, p.BUYS] != 0, out.thread[talk]
            bounds = out.bounds[s, 0 if buys else 1]
            out.role[talk, 0], out.role[talk, 1] = buys, not buys
            baseline_of(facts, buys, bounds, days, out.money[s], most_quantity, out.baseline[talk])
            ahead, price = out.baseline[talk, 1], out.baseline[talk, 2]
            row = heard_row(columns, talk)
            if row >= 0:
                ahead = columns.said[row, p.DELIVERY] - int(facts[p.DAY])
                price = columns.said[row, p.PRICE]
            bound = bounds[ahead] if 0 <= ahead < days else 0
            can_pay = rules.affordable(out.money[s], float(price)) if buys else most_quantity
            most = min(bound, can_pay, most_quantity)
            if row >= 0:
                low, high = price_range(facts, buys)
                fits = columns.said[row, p.QUANTITY] <= most and low <= price <= high
                out.safe[talk] = fits
            _thread(facts, columns, talk, row, most, out.safe[talk], out.baseline[talk], thread)
            thread[22] = cut(bound / facts[p.LINES])
            thread[23] = cut(can_pay / facts[p.LINES]) if buys else 0.0
            _rivals(columns, s, talk, row, thread)
            if 0 <= ahead < DAYS:
                for k in range(thread.shape[0] - _OWN):
                    thread[_OWN + k] = out.temporal[s, ahead, k]


@kernel
def baseline_of(facts, buys, bounds, days, money, most_quantity, out):  # type: ignore[no-untyped-def]
    """`Safety.baseline`: half of what is safe on the first day that has room."""
    low, high = price_range(facts, buys)
    wish = facts[p.PRICE_IN] * BUY_SHARE if buys else facts[p.PRICE_OUT] * SELL_SHARE
    price = min(max(np.rint(wish), low), high)
    out[2] = int(price)
    for ahead in range(days):
        if bounds[ahead] > 0:
            can_pay = rules.affordable(money, price)
            quantity = rules.baseline_quantity(buys, bounds[ahead], can_pay, most_quantity)
            if quantity > 0:
                out[0], out[1] = quantity, ahead
            break


@kernel
def _thread(facts, columns, talk, row, most, is_safe, baseline, out):  # type: ignore[no-untyped-def]
    lines, today = facts[p.LINES], facts[p.DAY]
    buys = columns.talks[talk, p.BUYS] != 0
    low, high = price_range(facts, buys)
    out[0], out[1] = buys, not buys
    out[2] = columns.talks[talk, p.ROUND] / ROUNDS
    out[3] = cut(columns.talks[talk, p.LENGTH] / HISTORY)
    if row >= 0:
        quantity = columns.said[row, p.QUANTITY]
        at = _place_in(columns.said[row, p.PRICE], low, high)
        out[4] = 1.0
        out[5] = cut(quantity / lines)
        out[6] = (columns.said[row, p.DELIVERY] - today) / _HORIZON
        out[7] = at
        out[8] = 1.0 - at if buys else at
        out[9] = min(quantity, most) / max(quantity, 1)
        out[10] = is_safe
    _ways(facts, columns, talk, out)
    out[18] = 1.0 if baseline[0] > 0 else 0.0
    out[19] = cut(baseline[0] / lines)
    out[20] = baseline[1] / _HORIZON
    out[21] = _place_in(baseline[2], low, high)


@kernel
def _ways(facts, columns, talk, out):  # type: ignore[no-untyped-def]
    """How far both sides have come."""
    lines, today = facts[p.LINES], facts[p.DAY]
    buys, start = columns.talks[talk, p.BUYS] != 0, columns.talks[talk, p.START]
    low, high = price_range(facts, buys)
    first_heard, last_heard, first_mine, last_mine = -1, -1, -1, -1
    for said in range(start, start + columns.talks[talk, p.LENGTH]):
        if columns.said[said, p.MINE] != 0:
            first_mine = said if first_mine < 0 else first_mine
            last_mine = said
        else:
            first_heard = said if first_heard < 0 else first_heard
            last_heard = said
    sign = -1.0 if buys else 1.0
    if last_mine >= 0:
        at = _place_in(columns.said[last_mine, p.PRICE], low, high)
        out[11] = 1.0
        out[12] = cut(columns.said[last_mine, p.QUANTITY] / lines)
        out[13] = (columns.said[last_mine, p.DELIVERY] - today) / _HORIZON
        out[14] = at
        out[17] = -sign * (at - _place_in(columns.said[first_mine, p.PRICE], low, high))
    if last_heard >= 0:
        at = _place_in(columns.said[last_heard, p.PRICE], low, high)
        out[15] = sign * (at - _place_in(columns.said[first_heard, p.PRICE], low, high))
        more = columns.said[last_heard, p.QUANTITY] - columns.said[first_heard, p.QUANTITY]
        out[16] = cut(more / lines)


@kernel
def _rivals(columns, s, talk, row, out):  # type: ignore[no-untyped-def]
    """The other talks of this decision on the same side."""
    buys, others, units, offers, better = columns.talks[talk, p.BUYS], 0, 0, 0, 0
    for other in range(columns.first[s], columns.first[s + 1]):
        if other == talk or columns.talks[other, p.BUYS] != buys:
            continue
        others += 1
        heard = heard_row(columns, other)
        if heard < 0:
            continue
        offers += 1
        units += columns.said[heard, p.QUANTITY]
        if row >= 0:
            more = columns.said[heard, p.PRICE] - columns.said[row, p.PRICE]
            better += more < 0 if buys != 0 else more > 0
    out[24] = cut(others / _CROWD)
    out[25] = cut(units / columns.facts[s, p.LINES])
    out[26] = better / offers if offers > 0 else 0.0


@kernel
def _histories(columns, out):  # type: ignore[no-untyped-def]
    for s in range(len(columns.facts)):
        facts = columns.facts[s]
        for talk in range(columns.first[s], columns.first[s + 1]):
            low, high = price_range(facts, columns.talks[talk, p.BUYS] != 0)
            start, length = columns.talks[talk, p.START], columns.talks[talk, p.LENGTH]
            shown = min(length, HISTORY)
            out.length[talk] = shown
            for k in range(shown):
                said = start + length - shown + k
                out.history[talk, k, 0] = columns.said[said, p.MINE]
                out.history[talk, k, 1] = cut(columns.said[said, p.QUANTITY] / facts[p.LINES])
                ahead = columns.said[said, p.DELIVERY] - facts[p.DAY]
                out.history[talk, k, 2] = ahead / _HORIZON
                out.history[talk, k, 3] = _place_in(columns.said[said, p.PRICE], low, high)
