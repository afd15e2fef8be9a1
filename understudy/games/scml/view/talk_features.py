"""THREAD and SAID of every talk, compiled: `observe.py` calls it after the states are filled."""

from understudy.games.scml.domain import BUYING, ROUNDS, SELLING
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.commitments import allowed_units, set_baseline
from understudy.games.scml.view.scales import AHEAD, CROWD, cut, place_in


@kernel
def fill_talks(columns, out):  # type: ignore[no-untyped-def]
    """What L1 says of each talk, and its features."""
    for s in range(len(columns.facts)):
        facts, money = columns.facts[s], out.money[s]
        for talk in range(columns.first[s], columns.first[s + 1]):
            buys, base = columns.talks[talk, p.BUYS] != 0, out.baseline[talk]
            remaining = out.bounds[s, BUYING if buys else SELLING]
            out.role[talk, BUYING], out.role[talk, SELLING] = buys, not buys
            set_baseline(facts, buys, remaining, money, base)
            ahead, price = base[p.OFFER_AHEAD], base[p.OFFER_PRICE]
            row = p.heard_row(columns, talk)
            if row >= 0:
                ahead = columns.said[row, p.DELIVERY] - int(facts[p.DAY])
                price = columns.said[row, p.PRICE]
                low, high = p.price_range(facts, buys)
                most = allowed_units(facts, buys, remaining, money, ahead, price)
                fits = columns.said[row, p.QUANTITY] <= most and low <= price <= high
                out.safe[talk] = fits
                _on_the_table(facts, columns, buys, row, most, fits, out.thread[talk])
            _so_far(facts, columns, talk, out.thread[talk])
            _safety(facts, buys, remaining, money, ahead, price, base, out.thread[talk])
            _rivals(columns, s, talk, row, out.thread[talk])
            _day_under_discussion(ahead, out.temporal[s], out.thread[talk])


@kernel
def _on_the_table(facts, columns, buys, row, most, fits, out):  # type: ignore[no-untyped-def]
    """The partner's offer, of which L1 allows `most` units."""
    at = f.THREAD_AT
    low, high = p.price_range(facts, buys)
    quantity = columns.said[row, p.QUANTITY]
    price = place_in(columns.said[row, p.PRICE], low, high)
    out[at.is_heard] = 1.0
    out[at.quantity] = cut(quantity / facts[p.LINES])
    out[at.ahead] = (columns.said[row, p.DELIVERY] - facts[p.DAY]) / AHEAD
    out[at.price] = price
    out[at.gain] = 1.0 - price if buys else price
    out[at.safe_share] = min(quantity, most) / max(quantity, 1)
    out[at.is_safe] = fits


@kernel
def _so_far(facts, columns, talk, out):  # type: ignore[no-untyped-def]
    """The talk, and how far both sides have come."""
    at = f.THREAD_AT
    lines, today = facts[p.LINES], facts[p.DAY]
    buys, start = columns.talks[talk, p.BUYS] != 0, columns.talks[talk, p.START]
    low, high = p.price_range(facts, buys)
    out[at.buys] = buys
    out[at.sells] = not buys
    out[at.round] = columns.talks[talk, p.ROUND] / ROUNDS
    out[at.said] = cut(columns.talks[talk, p.LENGTH] / f.HISTORY)
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
        price = place_in(columns.said[last_mine, p.PRICE], low, high)
        out[at.has_offered] = 1.0
        out[at.own_quantity] = cut(columns.said[last_mine, p.QUANTITY] / lines)
        out[at.own_ahead] = (columns.said[last_mine, p.DELIVERY] - today) / AHEAD
        out[at.own_price] = price
        out[at.own_way] = -sign * (price - place_in(columns.said[first_mine, p.PRICE], low, high))
    if last_heard >= 0:
        price = place_in(columns.said[last_heard, p.PRICE], low, high)
        first_price = place_in(columns.said[first_heard, p.PRICE], low, high)
        more = columns.said[last_heard, p.QUANTITY] - columns.said[first_heard, p.QUANTITY]
        out[at.their_way] = sign * (price - first_price)
        out[at.their_growth] = cut(more / lines)


@kernel
def _safety(facts, buys, remaining, money, ahead, price, baseline, out):  # type: ignore[no-untyped-def]
    """L1: its own offer, and what it allows on the day and at the price under discussion."""
    at, lines = f.THREAD_AT, facts[p.LINES]
    low, high = p.price_range(facts, buys)
    units = baseline[p.OFFER_UNITS]
    bound = remaining[ahead] if 0 <= ahead < p.agreeable_days(facts) else 0
    can_pay = rules.affordable(money, float(price)) if buys else 0
    out[at.has_baseline] = 1.0 if units > 0 else 0.0
    out[at.baseline_quantity] = cut(units / lines)
    out[at.baseline_ahead] = baseline[p.OFFER_AHEAD] / AHEAD
    out[at.baseline_price] = place_in(baseline[p.OFFER_PRICE], low, high)
    out[at.bound] = cut(bound / lines)
    out[at.payable] = cut(can_pay / lines)


@kernel
def _rivals(columns, s, talk, row, out):  # type: ignore[no-untyped-def]
    """The other talks of this decision on the same side."""
    at = f.THREAD_AT
    buys, others, units, offers, better = columns.talks[talk, p.BUYS], 0, 0, 0, 0
    for other in range(columns.first[s], columns.first[s + 1]):
        if other == talk or columns.talks[other, p.BUYS] != buys:
            continue
        others += 1
        heard = p.heard_row(columns, other)
        if heard < 0:
            continue
        offers += 1
        units += columns.said[heard, p.QUANTITY]
        if row >= 0:
            more = columns.said[heard, p.PRICE] - columns.said[row, p.PRICE]
            better += more < 0 if buys != 0 else more > 0
    out[at.rivals] = cut(others / CROWD)
    out[at.rival_units] = cut(units / columns.facts[s, p.LINES])
    out[at.better_rivals] = better / offers if offers > 0 else 0.0


@kernel
def _day_under_discussion(ahead, temporal, out):  # type: ignore[no-untyped-def]
    """What is known of it: a copy of its TEMPORAL."""
    if 0 <= ahead < len(temporal):
        for k in range(temporal.shape[1]):
            out[f.DAY_IN_THREAD + k] = temporal[ahead, k]


@kernel
def fill_histories(columns, out):  # type: ignore[no-untyped-def]
    """What was said in each talk, the latest HISTORY offers."""
    at = f.SAID_AT
    for s in range(len(columns.facts)):
        facts = columns.facts[s]
        for talk in range(columns.first[s], columns.first[s + 1]):
            low, high = p.price_range(facts, columns.talks[talk, p.BUYS] != 0)
            start, length = columns.talks[talk, p.START], columns.talks[talk, p.LENGTH]
            shown = min(length, f.HISTORY)
            out.length[talk] = shown
            for k in range(shown):
                said, row = columns.said[start + length - shown + k], out.history[talk, k]
                row[at.mine] = said[p.MINE]
                row[at.quantity] = cut(said[p.QUANTITY] / facts[p.LINES])
                row[at.ahead] = (said[p.DELIVERY] - facts[p.DAY]) / AHEAD
                row[at.price] = place_in(said[p.PRICE], low, high)
