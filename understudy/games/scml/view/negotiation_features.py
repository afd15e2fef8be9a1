"""THREAD and PAST_OFFER of every negotiation, compiled: `observe.py` calls it after the states."""

from understudy.games.scml.domain import BUYING, ROUNDS, SELLING
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view import features as f
from understudy.games.scml.view import safety_rules as rules
from understudy.games.scml.view.commitments import allowed_units, set_baseline
from understudy.games.scml.view.memory import fill_memory
from understudy.games.scml.view.scales import AHEAD, CROWD, cut, position_in


@kernel
def fill_negotiations(columns, out):  # type: ignore[no-untyped-def]
    """What L1 says of each negotiation, and its features."""
    for s in range(len(columns.facts)):
        facts, money = columns.facts[s], out.money[s]
        for negotiation in range(columns.first[s], columns.first[s + 1]):
            buys, base = columns.negotiations[negotiation, p.BUYS] != 0, out.baseline[negotiation]
            remaining = out.bounds[s, BUYING if buys else SELLING]
            out.role[negotiation, BUYING], out.role[negotiation, SELLING] = buys, not buys
            set_baseline(facts, buys, remaining, money, base)
            # The day and price under discussion: the partner's if it has offered, else L1's own.
            ahead, price = base[p.OFFER_AHEAD], base[p.OFFER_PRICE]
            row = p.heard_row(columns, negotiation)
            if row >= 0:
                ahead = columns.offers[row, p.DELIVERY] - int(facts[p.DAY])
                price = columns.offers[row, p.PRICE]
                low, high = p.price_range(facts, buys)
                most = allowed_units(facts, buys, remaining, money, ahead, price)
                fits = columns.offers[row, p.QUANTITY] <= most and low <= price <= high
                out.safe[negotiation] = fits
                _on_the_table(facts, columns, buys, row, most, fits, out.thread[negotiation])
            _so_far(facts, columns, negotiation, out.thread[negotiation])
            _safety(facts, buys, remaining, money, ahead, price, base, out.thread[negotiation])
            _rivals(columns, s, negotiation, row, out.thread[negotiation])
            _day_under_discussion(ahead, out.temporal[s], out.thread[negotiation])
            fill_memory(columns.memory[negotiation], facts[p.LINES], out.thread[negotiation])


@kernel
def _on_the_table(facts, columns, buys, row, most, fits, out):  # type: ignore[no-untyped-def]
    """The partner's offer, of which L1 allows `most` units."""
    at = f.THREAD_AT
    low, high = p.price_range(facts, buys)
    quantity = columns.offers[row, p.QUANTITY]
    price = position_in(columns.offers[row, p.PRICE], low, high)
    out[at.is_heard] = 1.0
    out[at.quantity] = cut(quantity / facts[p.LINES])
    out[at.ahead] = (columns.offers[row, p.DELIVERY] - facts[p.DAY]) / AHEAD
    out[at.price] = price
    out[at.gain] = 1.0 - price if buys else price
    out[at.safe_share] = min(quantity, most) / max(quantity, 1)
    out[at.is_safe] = fits


@kernel
def _so_far(facts, columns, negotiation, out):  # type: ignore[no-untyped-def]
    """The negotiation, and how far both sides have come."""
    at = f.THREAD_AT
    lines, today = facts[p.LINES], facts[p.DAY]
    buys, start = (
        columns.negotiations[negotiation, p.BUYS] != 0,
        columns.negotiations[negotiation, p.START],
    )
    low, high = p.price_range(facts, buys)
    out[at.buys] = buys
    out[at.sells] = not buys
    out[at.round] = columns.negotiations[negotiation, p.ROUND] / ROUNDS
    out[at.said] = cut(columns.negotiations[negotiation, p.LENGTH] / f.HISTORY)
    first_heard, last_heard, first_mine, last_mine = -1, -1, -1, -1
    for row in range(start, start + columns.negotiations[negotiation, p.LENGTH]):
        if columns.offers[row, p.MINE] != 0:
            first_mine = row if first_mine < 0 else first_mine
            last_mine = row
        else:
            first_heard = row if first_heard < 0 else first_heard
            last_heard = row
    # A buyer likes prices to fall, a seller to rise: each way is positive as it pleases the other.
    sign = -1.0 if buys else 1.0
    if last_mine >= 0:
        price = position_in(columns.offers[last_mine, p.PRICE], low, high)
        out[at.has_offered] = 1.0
        out[at.own_quantity] = cut(columns.offers[last_mine, p.QUANTITY] / lines)
        out[at.own_ahead] = (columns.offers[last_mine, p.DELIVERY] - today) / AHEAD
        out[at.own_price] = price
        out[at.own_way] = -sign * (
            price - position_in(columns.offers[first_mine, p.PRICE], low, high)
        )
    if last_heard >= 0:
        price = position_in(columns.offers[last_heard, p.PRICE], low, high)
        first_price = position_in(columns.offers[first_heard, p.PRICE], low, high)
        more = columns.offers[last_heard, p.QUANTITY] - columns.offers[first_heard, p.QUANTITY]
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
    out[at.baseline_price] = position_in(baseline[p.OFFER_PRICE], low, high)
    out[at.bound] = cut(bound / lines)
    out[at.payable] = cut(can_pay / lines)


@kernel
def _rivals(columns, s, negotiation, row, out):  # type: ignore[no-untyped-def]
    """The other negotiations of this decision on the same side."""
    at = f.THREAD_AT
    buys, others, units, with_offer, better = columns.negotiations[negotiation, p.BUYS], 0, 0, 0, 0
    for other in range(columns.first[s], columns.first[s + 1]):
        # Only negotiations on the same side compete for the same lines or need.
        if other == negotiation or columns.negotiations[other, p.BUYS] != buys:
            continue
        others += 1
        heard = p.heard_row(columns, other)
        if heard < 0:
            continue
        with_offer += 1
        units += columns.offers[heard, p.QUANTITY]
        if row >= 0:
            more = columns.offers[heard, p.PRICE] - columns.offers[row, p.PRICE]
            better += more < 0 if buys != 0 else more > 0
    out[at.rivals] = cut(others / CROWD)
    out[at.rival_units] = cut(units / columns.facts[s, p.LINES])
    out[at.better_rivals] = better / with_offer if with_offer > 0 else 0.0


@kernel
def _day_under_discussion(ahead, temporal, out):  # type: ignore[no-untyped-def]
    """What is known of it: a copy of its TEMPORAL."""
    if 0 <= ahead < len(temporal):
        for k in range(temporal.shape[1]):
            out[f.DAY_IN_THREAD + k] = temporal[ahead, k]


@kernel
def fill_histories(columns, out):  # type: ignore[no-untyped-def]
    """The latest HISTORY offers of each negotiation."""
    at = f.PAST_OFFER_AT
    for s in range(len(columns.facts)):
        facts = columns.facts[s]
        for negotiation in range(columns.first[s], columns.first[s + 1]):
            low, high = p.price_range(facts, columns.negotiations[negotiation, p.BUYS] != 0)
            start, length = (
                columns.negotiations[negotiation, p.START],
                columns.negotiations[negotiation, p.LENGTH],
            )
            shown = min(length, f.HISTORY)
            out.length[negotiation] = shown
            for k in range(shown):
                offer, row = columns.offers[start + length - shown + k], out.history[negotiation, k]
                row[at.mine] = offer[p.MINE]
                row[at.quantity] = cut(offer[p.QUANTITY] / facts[p.LINES])
                row[at.ahead] = (offer[p.DELIVERY] - facts[p.DAY]) / AHEAD
                row[at.price] = position_in(offer[p.PRICE], low, high)
