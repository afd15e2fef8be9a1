"""How strong players are in the same seats: one factory changes hands, all else equal."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from understudy.data.arrays import Array, Floats, Ints
from understudy.games.scml.agent.checkpoint import About, Checkpoint, read_checkpoint
from understudy.games.scml.agent.policy import HRLPolicy
from understudy.games.scml.batch.course import PRODUCED, SHORT, STOCK
from understudy.games.scml.batch.learnt.policy import ManyDecisions, play
from understudy.games.scml.batch.setup import Seat, set_seat
from understudy.games.scml.batch.worlds import Log, Worlds
from understudy.games.scml.learning.online.fields import Company, layouts
from understudy.games.scml.learning.online.rollout import clones_of, seated


@dataclass(frozen=True)
class Candidate:
    """Who takes the seat: a native player by name, or weights."""

    name: str
    layers: dict[str, dict[str, Array]] | None = None
    about: About | None = None

    @staticmethod
    def read(name: str, path: Path) -> "Candidate":
        """From a file of weights."""
        found = read_checkpoint(path)
        return Candidate(
            name, {layer: dict(one) for layer, one in found.layers.items()}, found.about
        )


@dataclass(frozen=True)
class Seats:
    """Some seats in the worlds of a block."""

    company: Company
    block: int
    first: int
    worlds: int


class Taken(NamedTuple):
    """What a candidate made of seats."""

    scores: Floats
    levels: Ints
    bankrupt: float
    habits: Floats
    """[worlds, HABITS]: how it played."""


HABITS: Final = {
    "made": "share of the lines that made something",
    "stock": "units in stock on an average morning",
    "short": "units it failed to deliver, per day",
    "deals": "sales agreed per day",
    "units": "units of a sale",
    "ahead": "days to its delivery",
    "price": "its price over the catalog price",
    "partners": "buyers it sold to",
    "bought": "purchases agreed per day",
    "bought_units": "units of a purchase",
    "bought_ahead": "days to its delivery",
    "bought_price": "its price over the catalog price",
    "suppliers": "suppliers it bought from",
}
SELLER, BUYER, _, UNITS, DUE, PRICE, SIGNED = range(7)
"""Columns of contracts: see `Log`."""
_AT_ONCE: Final = 32
"""Worlds whose contracts are written down together."""


def take(candidate: Candidate, seats: Seats) -> Taken:
    """Play the worlds with the candidate in the seats."""
    planned = layouts(seats.company, seats.block, seats.first, seats.worlds, 0)
    fixed, learners = seated(planned), clones_of(seats.company)
    if candidate.layers is not None and candidate.about is not None:
        policy = HRLPolicy(Checkpoint(candidate.layers, candidate.about))
        learners = [ManyDecisions(policy), *learners]
    else:
        learners = [*learners[:1], *learners]  # clones have numbers from 1 on, and nobody has 0
        for row, one in zip(fixed, planned, strict=True):
            set_seat(row, one.layout.mine, Seat(candidate.name))
    worlds, habits = Worlds(fixed), list[Floats]()
    seat = np.array([one.layout.mine for one in planned])
    for start in range(0, len(planned), _AT_ONCE):
        part = worlds.part(slice(start, start + _AT_ONCE))
        log = Log.of(len(part.fixed), int(part.fixed["days"].max()))
        play(part, learners, log)
        habits += [_habits(part.fixed[k], log, k, seat[start + k]) for k in range(len(part.fixed))]
    rows = np.arange(len(planned))
    return Taken(
        worlds.scores[rows, seat],
        np.array([one.level for one in planned]),
        float(worlds.bankrupt[rows, seat].mean()),
        np.array(habits),
    )


def _habits(fixed: Array, log: Log, world: int, me: int) -> Floats:
    """How a factory played a world; 0 where nothing was agreed with others."""
    days = int(fixed["days"])
    noted, contracts = log.days[world, :days, me], log.contracts[world]
    signed = contracts[contracts[:, UNITS] > 0]
    price_in, price_out = fixed["catalog"][fixed["level"][me] :][:2]
    return np.array(
        [
            noted[:, PRODUCED].mean() / fixed["lines"][me],
            noted[:, STOCK].mean(),
            noted[:, SHORT].mean(),
            *_deals(signed[signed[:, SELLER] == me], BUYER, days, price_out),
            *_deals(signed[signed[:, BUYER] == me], SELLER, days, price_in),
        ]
    )


def _deals(contracts: Array, partner: int, days: int, catalog: float) -> tuple[float, ...]:
    """How many a day, their units, days ahead and price, with how many partners."""
    units, count = contracts[:, UNITS], max(len(contracts), 1)
    return (
        len(contracts) / days,
        units.sum() / count,
        (contracts[:, DUE] - contracts[:, SIGNED]).sum() / count,
        (units * contracts[:, PRICE]).sum() / max(units.sum(), 1) / catalog,
        len(np.unique(contracts[:, partner])),
    )


def compared(job: tuple[Candidate, Seats]) -> Taken:
    """The same for a worker, who is handed one thing."""
    return take(*job)
