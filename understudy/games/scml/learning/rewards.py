"""What a decision brought, in initial balances: potential-based, so that it is known the same day.

A factory's potential is what its books are worth to it: the margin of all it has sold and can make,
less what it owes, plus what its stock will earn. A day's gain is its profit and how much higher the
potential stands at the next day's start (Ng et al. 1999): summed over a world that is the final
score, but a sale for next week counts on the day it is made. A negotiation's gain is what its own
contract adds to the potential; earlier decisions of the negotiation share it, the less the longer
ago they were.
"""

import numpy as np

from understudy.data.arrays import Array, Floats, Ints
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.columns import Packed
from understudy.games.scml.view.from_recording import Recording

STOCK_USE = 0.25
"""Share of the days left on which a unit of stock is taken to be needed."""
FADE = 0.9
"""Of a negotiation's gain, per decision before the one that made the contract."""


def potentials(states: Packed) -> Floats:
    """Of each day start, in initial balances."""
    facts, commitments = states.facts, states.commitments
    sold, money = commitments[:, p.SOLD], commitments[:, p.SOLD_MONEY]
    lines = facts[:, p.LINES, None]
    # What is sold beyond the lines will not be made: it earns nothing and costs the penalty.
    made = np.minimum(sold, lines)
    revenue = np.where(sold > 0, money * made / np.maximum(sold, 1), 0.0)
    penalty = facts[:, p.SHORTFALL] * facts[:, p.PRICE_OUT]
    books = revenue - facts[:, p.COST, None] * made - penalty[:, None] * (sold - made)
    owed = commitments[:, p.BOUGHT_MONEY].sum(axis=1)
    units = np.minimum(facts[:, p.STOCK] + commitments[:, p.BOUGHT].sum(axis=1), facts[:, p.LINES])
    stock = units * stock_worth(facts)
    return (books.sum(axis=1) - owed + stock) / np.maximum(facts[:, p.INITIAL], 1.0)


def stock_worth(facts: Floats) -> Floats:
    """What a unit of stock will earn until the end."""
    margin = np.maximum(facts[:, p.PRICE_OUT] - facts[:, p.COST], 0.0)
    left = np.maximum(facts[:, p.STEPS] - 1 - facts[:, p.DAY], 0.0)
    keeps = facts[:, p.PERISHABLE] == 0
    return np.where(keeps, STOCK_USE * left * margin, 0.0)


def day_gains(recording: Recording, profit: Floats) -> Floats:
    """[factories, days]: profit and rise of the potential; `profit` by row of `days`."""
    day_starts = recording.day_starts()
    day = day_starts.states.facts[:, p.DAY].astype(np.int64)
    initial = np.maximum(recording.profiles[:, p.INITIAL], 1.0)
    potential = np.zeros((len(recording.names), recording.day_row.shape[1] + 1))
    potential[day_starts.owner, day] = potentials(day_starts.states)
    # After the last day the potential is 0: nothing left over is worth anything.
    gains = np.diff(potential, axis=1)
    rows = recording.day_row
    known = rows >= 0
    gains[known] += profit[rows[known]] / np.broadcast_to(initial[:, None], rows.shape)[known]
    return np.where(known, gains, 0.0)


def contract_worth(facts: Floats, buys: Array, units: Array, price: Array) -> Floats:
    """What one more contract adds to the potential, [rows], in initial balances."""
    stock = stock_worth(facts)
    of_input = np.maximum(stock, facts[:, p.PRICE_IN])
    worth = np.where(buys, of_input - price, price - facts[:, p.COST])
    return units * worth / np.maximum(facts[:, p.INITIAL], 1.0)


def negotiation_gains(negotiation: Ints, gained: Floats) -> Floats:
    """By decision: what its contract was worth, faded by how many decisions were between.

    `negotiation` numbers that of each decision; decisions of a negotiation are in order of time.
    `gained` is the same for all decisions of a negotiation.
    """
    # Stable, so that decisions of one negotiation stay in order of time.
    order = np.argsort(negotiation, kind="stable")
    new = np.ones(len(negotiation), bool)
    new[1:] = np.diff(negotiation[order]) != 0
    number = np.cumsum(new) - 1
    last = np.append(np.flatnonzero(new)[1:], len(negotiation)) - 1
    ago = last[number] - np.arange(len(negotiation))
    gains = np.empty(len(negotiation))
    gains[order] = gained[order] * FADE**ago
    return gains
