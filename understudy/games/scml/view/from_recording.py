"""States from recordings: what a factory knew at each of its decisions, and at each day start.

Everything is rebuilt in columns (`columns.py`), for all worlds of a recording at once;
`decisions_of` gives the same as objects, one call after the other. A state holds nothing from after
its moment: contracts and offers are those made by then, and of a day only its start is known.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.scml.domain import CALLS, COUNTER_ALL, DAYS, FIRST_PROPOSALS, LINES, RULES
from understudy.games.scml.kernels import kernel
from understudy.games.scml.view import columns as p
from understudy.games.scml.view.columns import Packed, unpacked
from understudy.games.scml.view.memory import Talks, memories_of
from understudy.games.scml.view.state import State

Recordings = Mapping[str, pa.Table]
NEVER = 2**31
NONE = -1
"""In place of a number that is not there."""
_DAY_START = (
    "day",
    "stock",
    "balance",
    "supply_quantity",
    "supply_price",
    "sale_quantity",
    "sale_price",
    "price_in",
    "price_out",
    "lowest_in",
    "highest_in",
    "lowest_out",
    "highest_out",
    "storage_cost",
    "disposal_cost",
    "shortfall_penalty",
)


class Answer(NamedTuple):
    """What was decided about one negotiation."""

    response: str | None
    """accept, reject or end; none where nothing was asked."""
    offer: tuple[int, int, int] | None
    omitted: bool
    """Ended by saying nothing of this partner."""


class Recalled(NamedTuple):
    """One decision call."""

    match: str
    moment: int
    day: int
    factory: int
    player: str
    call: str
    state: State
    """Right before the answer."""
    answers: tuple[Answer, ...]
    """By negotiation of the state."""


class DayStarts(NamedTuple):
    """The day starts of solvent factories, in columns; no negotiation has begun."""

    states: Packed
    owner: Ints
    row: Ints
    """In the table `days`."""


class Calls(NamedTuple):
    """Decision calls in columns, by factory and moment."""

    states: Packed
    owner: Ints
    """[states]: which factory of all worlds."""
    row: Ints
    """[negotiations]: in the table `decisions`."""
    partner: Ints
    """[negotiations]: likewise of all worlds."""


def decisions_of(recordings: Recordings, players: frozenset[str] | None) -> Iterator[Recalled]:
    """Every decision call of these players (None: everybody), by factory and moment."""
    recording = Recording(recordings, players)
    calls = recording.calls()
    names = recording.names
    states = unpacked(calls.states, [names[partner] for partner in calls.partner.tolist()])
    rows = recordings["decisions"].take(calls.row).to_pylist()
    for number, state in enumerate(states):
        own = rows[calls.states.first[number] : calls.states.first[number + 1]]
        keys = {name: own[0][name] for name in ("match", "moment", "day", "factory", "call")}
        player = str(recording.player[calls.owner[number]])
        yield Recalled(**keys, player=player, state=state, answers=tuple(map(_answer, own)))


def _answer(row: Mapping[str, Any]) -> Answer:
    quantity, day, price = (row[f"offered_{part}"] for part in ("quantity", "day", "price"))
    offer = None if quantity is None else (quantity, day, price)
    return Answer(row["answer"], offer, row["omitted"])


class Recording:
    """The tables of a recording, with the factories of all its worlds numbered through."""

    def __init__(self, recordings: Recordings, players: frozenset[str] | None = None) -> None:
        worlds = recordings["worlds"].to_pylist()
        self.matches = recordings["worlds"]["match"]
        self.first = np.cumsum([0, *(len(world["players"]) for world in worlds)])
        """The first factory of each world."""
        self.world = np.repeat(np.arange(len(worlds)), np.diff(self.first))
        """By factory; so are the following."""
        self.player = np.array([name for world in worlds for name in world["players"]], object)
        self.score = np.array([score for world in worlds for score in world["scores"]])
        self.seed = np.array([world["seed"] for world in worlds], np.int64)[self.world]
        self.profiles = np.array([row for world in worlds for row in _profiles(world)], np.float64)
        self.profiles = self.profiles.reshape(-1, p.DAY)
        self.level = self.profiles[:, p.LEVEL].astype(np.int64)
        self.opens: Bools = (self.profiles[:, p.LEVELS] - self.level) % 2 == 1
        """Makes the first offer in its negotiations."""
        levels = [level for world in worlds for level in world["levels"]]
        within = np.arange(len(levels)) - self.first[self.world]
        self.names = [f"{k:02}@{level}" for k, level in zip(within.tolist(), levels, strict=True)]
        self.chosen: Bools = (
            np.isin(self.player, list(players))
            if players is not None
            else np.ones(len(self.names), bool)
        )
        self._decisions = recordings["decisions"]
        self._read_days(recordings["days"])
        self._read_contracts(recordings["contracts"])

    def owner(self, table: pa.Table, column: str = "factory") -> Ints:
        """Which factory of all worlds a row is about."""
        world = pc.index_in(table["match"], value_set=self.matches).to_numpy()
        return self.first[world] + table[column].to_numpy()

    def _read_days(self, days: pa.Table) -> None:
        self.day_owner, day = self.owner(days), days["day"].to_numpy().astype(np.int64)
        stock = days["stock"].to_numpy()
        self.day_row = np.full((len(self.names), int(day.max(initial=0)) + 1), NONE)
        """[factories, days]: rows of `days`."""
        self.day_row[self.day_owner, day] = np.arange(len(days))
        before = np.where(day > 0, self.day_row[self.day_owner, np.maximum(day - 1, 0)], NONE)
        # An agent can only learn that production takes stock by seeing its stock fall.
        fell = (before != NONE) & (stock < stock[before])
        falls_from = np.full(len(self.names), NEVER)
        np.minimum.at(falls_from, self.day_owner[fell], day[fell])
        self.bankrupt_from = np.full(len(self.names), NEVER)
        bankrupt = days["bankrupt"].to_numpy()
        np.minimum.at(self.bankrupt_from, self.day_owner[bankrupt], day[bankrupt])
        self.day_start = np.empty((len(days), p.NUM_FACTS - p.DAY))
        for column, name in enumerate(_DAY_START):
            self.day_start[:, column] = days[name].to_numpy()
        self.day_start[:, p.STOCK_FALLS - p.DAY] = day >= falls_from[self.day_owner]
        supplied = self._supplied(days["supply_quantity"].to_numpy())
        self.day_start[:, p.SUPPLIED - p.DAY :] = supplied[self.day_owner, day]

    def _supplied(self, units: Ints) -> Ints:
        """[factories, days, LINES]: on how many days up to each more than 0, 1, 2 … units came."""
        came = np.where(self.day_row == NONE, 0, units[self.day_row])
        more = came[:, :, None] > np.arange(LINES)
        return np.cumsum(more, axis=1, dtype=np.int16)

    def _read_contracts(self, contracts: pa.Table) -> None:
        """Each contract twice, for either side, by owner and in the order they were made."""
        sides = self.owner(contracts, "buyer"), self.owner(contracts, "seller")
        owner = np.concatenate(sides)
        number = np.tile(contracts["number"].to_numpy(), 2)
        order = np.lexsort((number, owner))
        quantity = contracts["quantity"].to_numpy().astype(np.int64)
        money = quantity * contracts["unit_price"].to_numpy()

        def twice(values: Any) -> Ints:
            return np.tile(np.asarray(values, np.int64), 2)[order]

        self.contract_owner = owner[order]
        self.contract_start = np.searchsorted(self.contract_owner, np.arange(len(self.names) + 1))
        self.contract_other = np.concatenate(sides[::-1])[order]
        self.contract_buys = (np.arange(len(owner)) < len(contracts))[order]
        self.contract_day = twice(contracts["day"].to_numpy())
        self.contract_quantity = twice(quantity)
        self.contract_money = twice(money)
        self.contract_concluded = twice(contracts["concluded"].to_numpy())

    def _commitments(self, owner: Ints, day: Ints, contracts: Ints) -> Ints:
        """What the first so many contracts of a factory come to from a day on."""
        found = np.zeros((len(owner), 4, DAYS), np.int64)
        _add_commitments(
            owner,
            day,
            contracts,
            self.contract_start,
            self.contract_other,
            self.contract_buys,
            self.contract_day,
            self.contract_quantity,
            self.contract_money,
            self.bankrupt_from,
            found,
        )
        return found

    def _facts(self, owner: Ints, day: Ints) -> Floats:
        return np.concatenate(
            [self.profiles[owner], self.day_start[self.day_row[owner, day]]],
            axis=1,
            dtype=np.float64,
        )

    def day_starts(self) -> DayStarts:
        """Of the chosen factories, as long as they are solvent."""
        day = self.day_start[:, 0].astype(np.int64)
        kept = self.chosen[self.day_owner] & (day < self.bankrupt_from[self.day_owner])
        row = np.flatnonzero(kept)
        row = row[np.lexsort((day[row], self.day_owner[row]))]
        owner, day = self.day_owner[row], day[row]
        # Contracts of an owner are in the order made: a search counts those before a day.
        keys = self.contract_owner * NEVER + self.contract_concluded
        made = np.searchsorted(keys, owner * NEVER + day) - self.contract_start[owner]
        nothing = np.zeros((0, 4), np.int64)
        commitments = self._commitments(owner, day, made)
        first = np.zeros(len(row) + 1, np.int64)
        memory = np.zeros((0, p.NUM_SUMS))
        states = Packed(self._facts(owner, day), commitments, first, nothing, nothing, memory)
        return DayStarts(states, owner, row)

    def calls(self) -> Calls:
        """Of the chosen factories.

        Decisions of a day that was never ended are left out, and first proposals of a factory that
        does not open its negotiations: they go nowhere.
        """
        table = self._decisions
        owner, day = self.owner(table), table["day"].to_numpy().astype(np.int64)
        kept = self.chosen[owner] & (day < self.day_row.shape[1])
        kept[kept] = self.day_row[owner[kept], day[kept]] != NONE
        row = np.flatnonzero(kept)
        moment = table["moment"].to_numpy()
        partner = self.owner(table, "partner")
        by_name = np.empty(len(self.names), np.int64)
        by_name[sorted(range(len(by_name)), key=lambda k: (self.world[k], self.names[k]))] = (
            np.arange(len(by_name))
        )
        row = row[np.lexsort((by_name[partner[row]], moment[row], owner[row]))]
        table = table.take(row)
        owner, day, partner, moment = owner[row], day[row], partner[row], moment[row]
        call = codes(table["call"], CALLS)
        negotiations, offers, was_heard = self._negotiations(table, owner, day, partner, call)
        memory = self._memory(owner, day, partner, negotiations, offers)
        goes_nowhere = (call == FIRST_PROPOSALS) & ~self.opens[owner]
        too_early = (call == COUNTER_ALL) & ~was_heard  # nothing was asked of this negotiation yet
        kept = ~goes_nowhere & ~too_early
        negotiations, row, owner, day, partner, moment, memory = (
            column[kept] for column in (negotiations, row, owner, day, partner, moment, memory)
        )
        new = np.ones(len(row), bool)
        new[1:] = (owner[1:] != owner[:-1]) | (moment[1:] != moment[:-1])
        begin = np.flatnonzero(new)
        contracts = table["contracts"].to_numpy().astype(np.int64)[kept][begin]
        states = Packed(
            facts=self._facts(owner[begin], day[begin]),
            commitments=self._commitments(owner[begin], day[begin], contracts),
            first=np.append(begin, len(row)),
            negotiations=negotiations,
            offers=offers,
            memory=memory,
        )
        return Calls(states, owner[begin], row, partner)

    def _negotiations(
        self, table: pa.Table, owner: Ints, day: Ints, partner: Ints, call: Ints
    ) -> tuple[Ints, Ints, Bools]:
        """Negotiations and their offers, as in `Packed`, by row; and whether an offer was heard.

        The rows are in order of time. A negotiation's offers lie one after the other; a decision
        knows those before it and the one it is about.
        """
        key = self._talk(owner, day, partner)
        order = np.argsort(key, kind="stable")
        new = np.ones(len(order), bool)
        new[1:] = np.diff(key[order]) != 0
        begin = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        """By row in order of negotiations: the first row of the same negotiation."""
        heard, offered = offers_of(table, "heard")[order], offers_of(table, "offered")[order]
        was_heard = heard[:, 0] != NONE
        # First proposals of a factory that does not open its negotiations go nowhere.
        was_made = (offered[:, 0] != NONE) & (
            (call[order] != FIRST_PROPOSALS) | self.opens[owner[order]]
        )
        # Rows of the offers: per decision first what was heard, then what was answered to it.
        at = np.cumsum(was_heard * 1 + was_made) - was_heard - was_made
        offers = np.empty((int(was_heard.sum() + was_made.sum()), 4), np.int64)
        offers[at[was_heard], 1:] = heard[was_heard]
        offers[at[was_heard], 0] = 0
        offers[(at + was_heard)[was_made], 1:] = offered[was_made]
        offers[(at + was_heard)[was_made], 0] = 1
        negotiations = np.empty((len(order), 4), np.int64)
        negotiations[order, p.BUYS] = self.level[partner[order]] < self.level[owner[order]]
        negotiations[order, p.ROUND] = _rounds(table, call, was_heard, order, begin)
        negotiations[order, p.START] = at[begin]
        negotiations[order, p.LENGTH] = at + was_heard - at[begin]
        heard_by_row = np.empty(len(order), bool)
        heard_by_row[order] = was_heard
        return negotiations, offers, heard_by_row

    def _talk(self, owner: Ints, day: Ints, partner: Ints) -> Ints:
        """A number for the talk of two factories on a day: they have but one."""
        return (owner * self.day_row.shape[1] + day) * len(self.names) + partner

    def _memory(
        self, owner: Ints, day: Ints, partner: Ints, negotiations: Ints, offers: Ints
    ) -> Floats:
        """What was known of the partner from earlier days, by row."""
        talk = self._talk(owner, day, partner)
        talk, row, talk_of = np.unique(talk, return_index=True, return_inverse=True)
        ended = self.contract_concluded < self.day_row.shape[1]
        signed = self.contract_owner, self.contract_concluded, self.contract_other
        buys = negotiations[row, p.BUYS] != 0
        start = negotiations[row, p.START]
        lowest = np.where(buys, p.LOW_IN, p.LOW_OUT) - p.DAY
        at = self.day_row[owner[row], day[row]]
        talks = Talks(
            owner=owner[row],
            partner=partner[row],
            day=day[row],
            buys=buys,
            start=start,
            stop=np.append(start[1:], len(offers)),  # offers lie in order of these numbers
            agreed=np.isin(talk, self._talk(*(column[ended] for column in signed))),
            prices=np.stack([self.day_start[at, lowest], self.day_start[at, lowest + 1]], 1),
        )
        return memories_of(talks, offers)[talk_of]


def _rounds(table: pa.Table, call: Ints, was_heard: Bools, order: Ints, begin: Ints) -> Ints:
    """The round, in order of negotiations; an agent knows it from the offers it hears."""
    round_ = table["round"].to_numpy().astype(np.int64)[order]
    last = np.maximum.accumulate(np.where(was_heard, np.arange(len(order)), NONE))
    heard_at = np.where(last >= begin, round_[np.maximum(last, 0)], 0)
    return np.where(call[order] == FIRST_PROPOSALS, heard_at, round_)


def _profiles(world: Mapping[str, Any]) -> Iterator[tuple[float, ...]]:
    rules, prices, levels = RULES[world["track"]], world["catalog_prices"], world["levels"]
    for k, level in enumerate(levels):
        yield (
            world["steps"],
            len(prices) - 1,
            level,
            world["lines"][k],
            world["costs"][k],
            rules.horizon,
            world["balances"][k],
            prices[level],
            prices[level + 1],
            rules.perishable,
            levels.count(level - 1),
            levels.count(level + 1),
        )


def offers_of(table: pa.Table, prefix: str) -> Ints:
    """[rows, 3]: quantity, delivery day, unit price; NONE where there was no offer."""
    parts = (table[f"{prefix}_{part}"] for part in ("quantity", "day", "price"))
    return np.stack([pc.fill_null(part, NONE).to_numpy().astype(np.int64) for part in parts], 1)


def codes(column: pa.ChunkedArray, words: tuple[str, ...]) -> Ints:
    """The place of each word, NONE for none."""
    indices = pc.index_in(column, value_set=pa.array(words))
    return pc.fill_null(indices, NONE).to_numpy().astype(np.int64)


@kernel
def _add_commitments(owner, today, count, start, other, buys, day, units, money, bankrupt, out):  # type: ignore[no-untyped-def]
    for s in range(len(owner)):
        mine = owner[s]
        # Decisions between two contracts share their commitments: copy instead of adding up again.
        if s and mine == owner[s - 1] and today[s] == today[s - 1] and count[s] == count[s - 1]:
            for k in range(out.shape[1]):
                for ahead in range(out.shape[2]):
                    out[s, k, ahead] = out[s - 1, k, ahead]
            continue
        for i in range(start[mine], min(start[mine] + count[s], start[mine + 1])):
            ahead = day[i] - today[s]
            if 0 <= ahead < out.shape[2] and bankrupt[other[i]] > today[s]:
                side = p.BOUGHT if buys[i] else p.SOLD
                out[s, side, ahead] += units[i]
                out[s, side + 1, ahead] += money[i]
