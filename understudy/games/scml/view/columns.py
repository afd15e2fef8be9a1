"""Many states in columns: what features are computed from, live and from recordings alike.

Live a single `State` is packed; `from_recording.py` fills the columns straight from a recording.
`unpacked` gives back the states, so that nothing is known of either but what is in a `State`.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.scml.domain import DAYS, RULES
from understudy.games.scml.domain import LINES as MOST_LINES
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view.state import (
    Commitments,
    DayStart,
    FactoryProfile,
    OpenNegotiation,
    PastOffer,
    State,
)

# Columns of `facts`: a Place, then a DayStart.
STEPS, LEVELS, LEVEL, LINES, COST, WORLD_HORIZON = range(6)
INITIAL, CATALOG_IN, CATALOG_OUT, PERISHABLE, SUPPLIERS, CONSUMERS = range(6, 12)
DAY, STOCK, BALANCE, SUPPLY_QUANTITY, SUPPLY_PRICE, SALE_QUANTITY, SALE_PRICE = range(12, 19)
PRICE_IN, PRICE_OUT, LOW_IN, HIGH_IN, LOW_OUT, HIGH_OUT = range(19, 25)
STORAGE, DISPOSAL, SHORTFALL, STOCK_FALLS = range(25, 29)
SUPPLIED: Final = 29
"""From here on, by units from 1: on how many days so far, with today, at least so many came."""
NUM_FACTS: Final = SUPPLIED + MOST_LINES

BOUGHT, BOUGHT_MONEY, SOLD, SOLD_MONEY = range(4)
BUYS, ROUND, START, LENGTH = range(4)
MINE, QUANTITY, DELIVERY, PRICE = range(4)
TALKS_HELD, OWN_OFFERS, OWN_TAKEN = range(3)
NUM_CONTRACTS, CONTRACT_UNITS, CONTRACT_AHEAD, CONTRACT_TODAY, CONTRACT_GAIN = range(3, 8)
NUM_HEARD, HEARD_UNITS, HEARD_AHEAD, HEARD_GAIN, HEARD_MOST = range(8, 13)
NUM_SUMS: Final = 13
"""Columns of `memory`."""
NOTHING_KNOWN: Final = (0.0,) * NUM_SUMS
"""Of a partner whom this factory has not met."""
OFFER_UNITS, OFFER_AHEAD, OFFER_PRICE = range(3)
"""Of an offer by days from now, as L1's baselines are."""
_WIDE, _NARROW = RULES["std"].quantity_factor, RULES["oneshot"].quantity_factor


class Packed(NamedTuple):
    """States one after the other, and their negotiations one after the other."""

    facts: Floats
    """[states, NUM_FACTS]."""
    commitments: Ints
    """[states, 4, DAYS]: bought, its money, sold, its money."""
    first: Ints
    """[states + 1]: the negotiations of state s are first[s] to first[s + 1]."""
    negotiations: Ints
    """[negotiations, 4]: whether we buy, round, and which rows of `offers` are its own: start and
    length."""
    offers: Ints
    """[offers, 4]: whether mine, quantity, delivery day, unit price. Negotiations share rows."""
    memory: Floats
    """[negotiations, NUM_SUMS]: sums over the talks with the partner on earlier days."""

    @property
    def state_of(self) -> Ints:
        """Which state a negotiation belongs to, [negotiations]."""
        return np.repeat(np.arange(len(self.facts)), np.diff(self.first))


def packed(states: Sequence[State]) -> Packed:
    """States in columns."""
    negotiations, offers = list[tuple[int, ...]](), list[PastOffer]()
    memory = list[tuple[float, ...]]()
    for state in states:
        for negotiation in state.negotiations:
            negotiations.append(
                (negotiation.buys, negotiation.round, len(offers), len(negotiation.offers))
            )
            offers.extend(negotiation.offers)
            memory.append(negotiation.memory or NOTHING_KNOWN)
    commitments = np.zeros((len(states), 4, DAYS), np.int64)
    for row, state in enumerate(states):
        promised = state.commitments
        commitments[row, :, : len(promised.bought)] = (
            promised.bought,
            promised.bought_money,
            promised.sold,
            promised.sold_money,
        )
    return Packed(
        facts=np.array([_facts(state) for state in states], np.float64).reshape(-1, NUM_FACTS),
        commitments=commitments,
        first=np.cumsum([0, *(len(state.negotiations) for state in states)]),
        negotiations=np.array(negotiations, np.int64).reshape(-1, 4),
        offers=np.array(offers, np.int64).reshape(-1, 4),
        memory=np.array(memory, np.float64).reshape(-1, NUM_SUMS),
    )


def _facts(state: State) -> tuple[float, ...]:
    profile, day_start = state.profile, state.day_start
    return (
        profile.steps,
        profile.levels,
        profile.level,
        profile.lines,
        profile.cost,
        profile.horizon,
        profile.initial_balance,
        profile.catalog_in,
        profile.catalog_out,
        profile.perishable,
        profile.suppliers,
        profile.consumers,
        day_start.day,
        day_start.stock,
        day_start.balance,
        day_start.supply_quantity,
        day_start.supply_price,
        day_start.sale_quantity,
        day_start.sale_price,
        day_start.price_in,
        day_start.price_out,
        *day_start.prices_in,
        *day_start.prices_out,
        day_start.storage_cost,
        day_start.disposal_cost,
        day_start.shortfall_penalty,
        day_start.stock_falls,
        *day_start.supplied,
    )


def unpacked(columns: Packed, partners: Sequence[str]) -> Iterator[State]:
    """The states, with the partners' names by negotiation."""
    for row, facts in enumerate(columns.facts.tolist()):
        profile, day_start = _profile(facts), _day_start(facts)
        promised = columns.commitments[row, :, : profile.horizon + 1].tolist()
        negotiations = range(*columns.first[row : row + 2].tolist())
        yield State(
            profile,
            day_start,
            Commitments(*(tuple(side) for side in promised)),
            tuple(
                _negotiation(columns, negotiation, partners[negotiation])
                for negotiation in negotiations
            ),
        )


def _negotiation(columns: Packed, negotiation: int, partner: str) -> OpenNegotiation:
    buys, round_, start, length = columns.negotiations[negotiation].tolist()
    rows = columns.offers[start : start + length].tolist()
    offers = tuple(PastOffer(bool(mine), *offer) for mine, *offer in rows)
    memory = tuple(columns.memory[negotiation].tolist())
    return OpenNegotiation(partner, bool(buys), round_, offers, memory)


def _profile(facts: Sequence[float]) -> FactoryProfile:
    return FactoryProfile(
        steps=int(facts[STEPS]),
        levels=int(facts[LEVELS]),
        level=int(facts[LEVEL]),
        lines=int(facts[LINES]),
        cost=int(facts[COST]),
        horizon=int(facts[WORLD_HORIZON]),
        initial_balance=facts[INITIAL],
        catalog_in=int(facts[CATALOG_IN]),
        catalog_out=int(facts[CATALOG_OUT]),
        perishable=bool(facts[PERISHABLE]),
        suppliers=int(facts[SUPPLIERS]),
        consumers=int(facts[CONSUMERS]),
    )


def _day_start(facts: Sequence[float]) -> DayStart:
    return DayStart(
        day=int(facts[DAY]),
        stock=int(facts[STOCK]),
        balance=facts[BALANCE],
        supply_quantity=int(facts[SUPPLY_QUANTITY]),
        supply_price=int(facts[SUPPLY_PRICE]),
        sale_quantity=int(facts[SALE_QUANTITY]),
        sale_price=int(facts[SALE_PRICE]),
        price_in=facts[PRICE_IN],
        price_out=facts[PRICE_OUT],
        prices_in=(int(facts[LOW_IN]), int(facts[HIGH_IN])),
        prices_out=(int(facts[LOW_OUT]), int(facts[HIGH_OUT])),
        storage_cost=facts[STORAGE],
        disposal_cost=facts[DISPOSAL],
        shortfall_penalty=facts[SHORTFALL],
        stock_falls=bool(facts[STOCK_FALLS]),
        supplied=tuple(map(int, facts[SUPPLIED:])),
    )


# --- compiled ------------------------------------------------------------------------------------


@kernel
def agreeable_days(facts):  # type: ignore[no-untyped-def]
    """For how many days, today included, deliveries can be agreed."""
    return int(min(facts[WORLD_HORIZON], facts[STEPS] - 1.0 - facts[DAY])) + 1


@kernel
def most_units(facts):  # type: ignore[no-untyped-def]
    """Of one offer."""
    factor = _NARROW if facts[WORLD_HORIZON] == 0.0 else _WIDE
    return max(1, int(facts[LINES]) * factor)


@kernel
def price_range(facts, buys):  # type: ignore[no-untyped-def]
    """Lowest and highest unit price."""
    if buys:
        return facts[LOW_IN], facts[HIGH_IN]
    return facts[LOW_OUT], facts[HIGH_OUT]


@kernel
def heard_row(columns, negotiation):  # type: ignore[no-untyped-def]
    """The row of `offers` with the partner's offer that lies on the table; -1: none does."""
    start, length = (
        columns.negotiations[negotiation, START],
        columns.negotiations[negotiation, LENGTH],
    )
    last = start + length - 1
    return last if length > 0 and columns.offers[last, MINE] == 0 else -1
