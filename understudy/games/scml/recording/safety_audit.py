"""What each factory let itself in for: commitments, and sales beyond what was sure to suffice.

A sale that is *unsafe* was made while its factory could not yet know to be able to deliver it: with
it, the units sold for its day passed the lines or the input known to be there. It may come good
later. A sale *over the lines* never does: a factory cannot make more than its lines in a day,
whatever arrives.

Input known to be there on day t, at a moment of day d, follows the stock rule of
`engine/factory.py`: the day-start stock, then for each day from d to t - 1 what arrives less what
is made (of which stock only ever gains, unless stock is conserved), and what arrives on t itself.
Arriving is what contracts made by then will bring, and today's exogenous supply; made is what is
sold by then, as far as lines and input allow. Tomorrow's exogenous contracts are not known,
contracts with the bankrupt are void, and that money may run out is left aside.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Ints
from understudy.games.scml.domain import RULES
from understudy.games.scml.engine.config import WorldConfig
from understudy.games.scml.engine.contracts import Contract
from understudy.games.scml.kernels import kernel
from understudy.games.scml.recording.days import DayLedger
from understudy.games.scml.view.commitments import (
    CAPACITY,
    CONSERVES,
    IN_STOCK,
    KEEPS,
    CommitmentBook,
    empty_book,
    find_inputs,
    makeable,
)

SELLER, BUYER, QUANTITY, DUE, CONCLUDED = range(5)
"""Columns of contracts."""
STOCK, SUPPLY, SALE = range(3)
"""Columns of day starts."""
UNSAFE, OVER_LINES = range(2)
_SOLVENT: Final = 2**31
"""The day on which a factory goes bankrupt that never does."""


class SafetyAudit(NamedTuple):
    """One factory's world. The names are those of columns of the table `results`."""

    talks: int
    agreements: int
    promised: int
    shortfall: int
    sales: int
    unsafe: int
    over_lines: int
    produced: int


class AuditedDays(NamedTuple):
    """What the audit needs of a world's days, [days, factories] each."""

    stock: Ints
    supply: Ints
    sale: Ints
    """At the start of the day, the last two with the outside world."""
    bankrupt: Ints
    sold: Ints
    produced: Ints
    shortfall: Ints


def safety_audit(
    config: WorldConfig, contracts: Sequence[Contract], days: DayLedger, conserve_stock: bool
) -> list[SafetyAudit]:
    """All factories', from the contracts in the order they were made."""
    rows = [(c.seller, c.buyer, c.quantity, c.day, c.concluded) for c in contracts]
    made = np.array(rows, np.int64).reshape(-1, 5)
    told = [
        (d.stock, d.supply_quantity, d.sale_quantity, d.bankrupt, d.sold, d.produced, d.shortfall)
        for d in days.days
    ]
    by_day = np.array(told, np.int64).reshape(-1, len(config.factories), 7)
    audited = AuditedDays(*np.moveaxis(by_day, 2, 0))
    return audit_of(config, made, audited, conserve_stock)


def audit_of(
    config: WorldConfig, made: Ints, days: AuditedDays, conserve_stock: bool
) -> list[SafetyAudit]:
    """The same from arrays; `made`, [contracts, 5], has the columns named above."""
    factories = len(config.factories)
    lines = [factory.lines for factory in config.factories]
    keeps = not RULES[config.track].perishable
    beyond = beyond_safety(lines, config.steps, made, days, keeps, conserve_stock)
    sales = np.bincount(made[:, SELLER], minlength=factories)
    columns = (
        _negotiations(config, days),
        sales + np.bincount(made[:, BUYER], minlength=factories),
        (days.sold + days.sale).sum(axis=0),
        days.shortfall.sum(axis=0),
        sales,
        beyond[:, UNSAFE],
        beyond[:, OVER_LINES],
        days.produced.sum(axis=0),
    )
    return [SafetyAudit(*row) for row in np.stack(columns, axis=1).tolist()]


def beyond_safety(
    lines: Sequence[int], steps: int, made: Ints, days: AuditedDays, keeps: bool, conserves: bool
) -> Ints:
    """By factory, its sales that were unsafe and those over its lines, [factories, 2].

    `lines` of each; `keeps`: what is left of input is there the next day.
    """
    factories = len(lines)
    counts, opened = np.zeros((factories, 2), np.int64), np.full(factories, -1)
    last = max(steps, 1 + int(made[:, DUE].max(initial=0)))
    books = empty_book(factories, days=last)
    books.limits[:, CAPACITY] = lines
    books.limits[:, KEEPS], books.limits[:, CONSERVES] = keeps, conserves
    by_day = np.stack([days.stock, days.supply, days.sale], axis=2)
    _count(made, by_day, _bankruptcies(days), opened, books, counts)
    return counts


def _negotiations(config: WorldConfig, days: AuditedDays) -> Ints:
    """Every day each factory meets all solvent ones of the levels beside it, if it is solvent."""
    levels = np.array([factory.level for factory in config.factories])
    meets = np.abs(levels[:, None] - levels[None, :]) == 1
    solvent = (days.bankrupt == 0).astype(np.int64)
    return np.asarray((solvent * (solvent @ meets)).sum(axis=0))


def _bankruptcies(days: AuditedDays) -> Ints:
    """The first day start on which each factory is bankrupt."""
    ever = days.bankrupt.any(axis=0)
    return np.where(ever, days.bankrupt.argmax(axis=0) if len(days.bankrupt) else 0, _SOLVENT)


# --- compiled ------------------------------------------------------------------------------------


@kernel
def _count(made, day_starts, bankrupt, opened, books, out):  # type: ignore[no-untyped-def]
    """Each contract enters the books of both its factories; `books` have a row for each.

    Their days are those of the world, so that a book is read from the day on that is `opened`.
    """
    for row in range(len(made)):
        today, due = made[row, CONCLUDED], made[row, DUE]
        if today >= len(day_starts):  # an exception of an agent ended the world
            continue
        for side in (SELLER, BUYER):
            own = made[row, side]
            if opened[own] < today:
                # The first contract of its day: bankruptcies since the last opening count now.
                _strike_out(made[:row], own, opened[own], today, bankrupt, books)
                _open_day(own, today, day_starts[today, own], books)
                opened[own] = today
            # What is bought can be sold from at once; only sales can be unsafe.
            if side == BUYER:
                books.arriving[own, due] += made[row, QUANTITY]
                continue
            books.ordered[own, due] += made[row, QUANTITY]
            book = _from(books, own, today)
            find_inputs(book, due - today + 1)
            sold = books.ordered[own, due]
            out[own, OVER_LINES] += sold > book.limits[CAPACITY]
            out[own, UNSAFE] += sold > makeable(book, due - today)


@kernel
def _from(books, own, today):  # type: ignore[no-untyped-def]
    """One factory's book by days from now."""
    return CommitmentBook(
        books.arriving[own, today:],
        books.ordered[own, today:],
        books.inputs[own, today:],
        books.limits[own],
        books.committed[own],
        books.money[own],
    )


@kernel
def _open_day(own, today, day_start, books):  # type: ignore[no-untyped-def]
    """Today's exogenous contracts are known now; what was before today counts no more."""
    books.limits[own, IN_STOCK] = day_start[STOCK]
    books.arriving[own, today] += day_start[SUPPLY]
    books.ordered[own, today] += day_start[SALE]


@kernel
def _strike_out(made, own, before, today, bankrupt, books):  # type: ignore[no-untyped-def]
    """What partners who went bankrupt since the book was last opened will not do."""
    newly = 0
    for since in bankrupt:
        newly += before < since <= today
    if newly == 0:
        return
    for row in range(len(made)):
        seller, buyer = made[row, SELLER], made[row, BUYER]
        if own == seller and before < bankrupt[buyer] <= today:
            books.ordered[own, made[row, DUE]] -= made[row, QUANTITY]
        elif own == buyer and before < bankrupt[seller] <= today:
            books.arriving[own, made[row, DUE]] -= made[row, QUANTITY]
