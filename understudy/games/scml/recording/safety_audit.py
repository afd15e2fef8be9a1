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

from collections import defaultdict
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


def safety_audit(
    config: WorldConfig, contracts: Sequence[Contract], days: DayLedger, conserve_stock: bool
) -> list[SafetyAudit]:
    """All factories', from the contracts in the order they were made."""
    factories = len(config.factories)
    made = _rows([(c.seller, c.buyer, c.quantity, c.day, c.concluded) for c in contracts], 5)
    beyond = _beyond(config, made, days, conserve_stock)
    negotiations = _negotiations(config, days)
    sales = np.bincount(made[:, SELLER], minlength=factories)
    agreements = sales + np.bincount(made[:, BUYER], minlength=factories)
    audits = []
    for index in range(factories):
        own = days.days[index::factories]
        audits.append(
            SafetyAudit(
                talks=negotiations[index],
                agreements=int(agreements[index]),
                promised=sum(day.sold + day.sale_quantity for day in own),
                shortfall=sum(day.shortfall for day in own),
                sales=int(sales[index]),
                unsafe=int(beyond[index, UNSAFE]),
                over_lines=int(beyond[index, OVER_LINES]),
                produced=sum(day.produced for day in own),
            )
        )
    return audits


def _rows(rows: Sequence[tuple[int, ...]], width: int) -> Ints:
    return np.array(rows, np.int64).reshape(-1, width)


def _beyond(config: WorldConfig, made: Ints, days: DayLedger, conserve_stock: bool) -> Ints:
    """By factory, its sales that were unsafe and those over its lines."""
    factories = len(config.factories)
    day_starts = [(day.stock, day.supply_quantity, day.sale_quantity) for day in days.days]
    by_day = _rows(day_starts, 3).reshape(-1, factories, 3)
    counts, opened = np.zeros((factories, 2), np.int64), np.full(factories, -1)
    last = max(config.steps, 1 + int(made[:, DUE].max(initial=0)))
    books = empty_book(factories, days=last)
    books.limits[:, CAPACITY] = [factory.lines for factory in config.factories]
    books.limits[:, KEEPS] = not RULES[config.track].perishable
    books.limits[:, CONSERVES] = conserve_stock
    _count(made, by_day, _bankruptcies(days, factories), opened, books, counts)
    return counts


def _negotiations(config: WorldConfig, days: DayLedger) -> list[int]:
    """Every day each factory meets all solvent ones of the levels beside it, if it is solvent."""
    negotiations = [0] * len(config.factories)
    for start in range(0, len(days.days), len(negotiations)):
        solvent = [not day.bankrupt for day in days.days[start : start + len(negotiations)]]
        at_level: dict[int, int] = defaultdict(int)
        for index, factory in enumerate(config.factories):
            at_level[factory.level] += solvent[index]
        for index, factory in enumerate(config.factories):
            if solvent[index]:
                negotiations[index] += at_level[factory.level - 1] + at_level[factory.level + 1]
    return negotiations


def _bankruptcies(days: DayLedger, factories: int) -> Ints:
    """The first day start on which each factory is bankrupt."""
    found = np.full(factories, _SOLVENT)
    for day in days.days:
        if day.bankrupt:
            found[day.factory] = min(found[day.factory], day.day)
    return found


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
