"""The timeline of some matches as arrays: what was known at each minute, and nothing later.

A row is one minute of one match, t = 0, 60, 120 … without gaps. Everything with a time of its own
is put on the first row whose t is not before it (an event at 61 s is known at 120 s, one at 60 s at
60 s), so that a sum over a match's rows up to t holds only what had happened by t. A fight is known
at its end.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Bools, Floats, Ints
from understudy.games.dota.sources.tables import KINDS

MINUTE = 60
CURVES = ("gold", "xp", "lh", "dn")


@dataclass(frozen=True)
class Timeline:
    """Some matches, minute by minute. R rows of M matches; teams: 0 Radiant, 1 Dire."""

    match_id: Ints
    """[M], ascending."""
    first: Ints
    """[M]: each match's first row, nearly always that of t = 0."""
    minutes: Ints
    """[M]: how many rows each has."""
    which: Ints
    """[R]: a row's match, as an index of `match_id`."""
    t: Ints
    """[R]: seconds."""
    advantage: Mapping[str, Floats]
    """Radiant's lead in gold and xp, [R]."""
    players: Mapping[str, Floats]
    """gold, xp, lh, dn: [R, 10]."""
    heroes: Ints
    """[M, 10]: hero ids, 0 where unknown."""
    events: Mapping[str, "Happenings"]
    """By type, sorted by match and time."""
    fights: "Happenings"
    fight_shares: Mapping[str, Floats]
    """deaths, gold_delta, xp_delta: [fights, 10]."""

    def so_far(self, rows: Ints, team: Ints, amount: Floats | None = None) -> Floats:
        """[R, 2]: of things known from `rows` on, how much each team has by each row."""
        size = 2 * len(self.t)
        held = rows >= 0  # -1: after the last row, so no row ever knows it
        weight = None if amount is None else amount[held]
        total = np.bincount(2 * rows[held] + team[held], weight, size).reshape(-1, 2)
        return self.running(total.astype(np.float64))

    def running(self, amount: Floats) -> Floats:
        """Running sums over each match's rows; [R, ...] to [R, ...]."""
        # One cumulative sum over all matches, less what it held before each began.
        total = amount.cumsum(axis=0)
        before = np.concatenate([np.zeros_like(total[:1]), total])[self.first]
        return total - before[self.which]

    def earlier(self, values: Floats, minutes: int) -> Floats:
        """What each row's match had so many minutes before, or on its first row."""
        # Never before the match's own first row: that would be the match before.
        return values[np.maximum(np.arange(len(values)) - minutes, self.first[self.which])]


@dataclass(frozen=True)
class Happenings:
    """Things of one type: E of them."""

    row: Ints
    """From which row on each is known; -1: after the last."""
    which: Ints
    """The match, as an index of `match_id`."""
    t: Ints
    slot: Ints
    """-1: nobody of the ten."""
    team: Ints
    """-1: not recorded."""
    key: pa.ChunkedArray
    target: pa.ChunkedArray
    value: Ints
    """-1: none."""

    def __len__(self) -> int:
        return len(self.row)


def build_timeline(recordings: Mapping[str, pa.Table]) -> Timeline:
    """The timeline of all matches that have minutes; the others have no rows."""
    outline = recordings["matches"]
    states = recordings["state_team_minute"]
    numbers = states["match_id"].to_numpy()
    match_id, first, minutes = np.unique(numbers, return_index=True, return_counts=True)
    which = np.arange(len(match_id)).repeat(minutes)
    t = states["t"].to_numpy().astype(np.int64)
    begin = t[first]
    # `running` and `earlier` count rows as minutes, so a gap would shift everything after it.
    if not np.array_equal(t, begin[which] + MINUTE * (np.arange(len(t)) - first[which])):
        raise ValueError("minutes are missing or out of order")
    if not np.isin(match_id, outline["match_id"].to_numpy()).all():
        raise ValueError("minutes of a match that is not there")
    frame = _Frame(match_id, first, minutes, begin)
    return Timeline(
        match_id=match_id,
        first=first,
        minutes=minutes,
        which=which,
        t=t,
        advantage={
            name: states[f"radiant_{name}_adv"].to_numpy().astype(np.float64)
            for name in ("gold", "xp")
        },
        players=_curves(recordings["state_player_minute"], frame, which),
        heroes=_heroes(recordings["players"], frame),
        events=_events(recordings["events"], frame),
        fights=_fights(recordings["teamfights"], frame),
        fight_shares=_shares(recordings["teamfight_players"], frame),
    )


@dataclass(frozen=True)
class _Frame:
    match_id: Ints
    first: Ints
    minutes: Ints
    begin: Ints

    def match_index(self, numbers: Ints) -> tuple[Ints, Bools]:
        """The index of each match in `match_id`, and which of them are there."""
        which = np.searchsorted(self.match_id, numbers)
        which = np.minimum(which, len(self.match_id) - 1)
        if not len(self.match_id):
            return which, np.zeros(len(numbers), bool)
        return which, self.match_id[which] == numbers

    def known_from(self, which: Ints, t: Ints) -> Ints:
        """The first row not before t; -1 where the match has none."""
        minute = -(-np.maximum(t - self.begin[which], 0) // MINUTE)  # rounded up: nothing early
        return np.where(minute < self.minutes[which], self.first[which] + minute, -1)


def _curves(players: pa.Table, frame: _Frame, which: Ints) -> dict[str, Floats]:
    minute = np.arange(len(which)) - frame.first[which]
    ten = np.arange(10)
    # Rows of a match lie by slot, then by minute: turned into a row of ten players per minute.
    rows = 10 * frame.first[which][:, None] + ten * frame.minutes[which][:, None] + minute[:, None]
    if len(players) != 10 * len(which):
        raise ValueError("not ten players at every minute")
    return {
        name: players[name].to_numpy().astype(np.float64)[rows].reshape(-1, 10) for name in CURVES
    }


def _heroes(players: pa.Table, frame: _Frame) -> Ints:
    which, there = frame.match_index(players["match_id"].to_numpy())
    heroes = np.zeros((len(frame.match_id), 10), np.int64)
    slot = players["slot_idx"].to_numpy()
    heroes[which[there], slot[there]] = _numbers(players["hero_id"], 0)[there]
    return heroes


def _numbers(column: pa.ChunkedArray, missing: int) -> Ints:
    return pc.fill_null(column.cast(pa.int64()), missing).to_numpy()


def _events(events: pa.Table, frame: _Frame) -> dict[str, Happenings]:
    kinds = events["event_type"].combine_chunks().dictionary_encode()
    if isinstance(kinds, pa.ChunkedArray):
        kinds = kinds.combine_chunks()
    code = kinds.indices.to_numpy(zero_copy_only=False)
    by_kind = {}
    for number, kind in enumerate(kinds.dictionary.to_pylist()):
        by_kind[kind] = _happenings(events.take(pa.array(np.flatnonzero(code == number))), frame)
    nothing = _happenings(events.slice(0, 0), frame)
    return {kind: by_kind.get(kind, nothing) for kind in {*KINDS, *by_kind}}


def _happenings(events: pa.Table, frame: _Frame) -> Happenings:
    which, there = frame.match_index(events["match_id"].to_numpy())
    if not there.all():
        events, which = events.filter(pa.array(there)), which[there]
    t = events["t"].to_numpy().astype(np.int64)
    return Happenings(
        row=frame.known_from(which, t),
        which=which,
        t=t,
        slot=_numbers(events["slot_idx"], -1),
        team=_numbers(events["team"], -1),
        key=events["key"],
        target=events["target"],
        value=_numbers(events["value"], -1),
    )


def _fights(fights: pa.Table, frame: _Frame) -> Happenings:
    which, there = frame.match_index(fights["match_id"].to_numpy())
    end = fights["end"].to_numpy()[there]
    nobody = np.full(len(end), -1)
    nothing = pa.chunked_array([pa.nulls(len(end), pa.string())])
    row = frame.known_from(which[there], end)
    deaths = _numbers(fights["deaths"], 0)[there]
    return Happenings(row, which[there], end, nobody, nobody, nothing, nothing, deaths)


def _shares(shares: pa.Table, frame: _Frame) -> dict[str, Floats]:
    """Ten rows a fight, in the order of the fights."""
    _, there = frame.match_index(shares["match_id"].to_numpy())
    return {
        name: _numbers(shares[name], 0)[there].astype(np.float64).reshape(-1, 10)
        for name in ("deaths", "gold_delta", "xp_delta")
    }
