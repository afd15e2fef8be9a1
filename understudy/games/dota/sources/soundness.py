"""Whether recorded matches are matches: figures within what can be, tables that fit together.

Everything after the import trusts the recordings, whole shards of them at a time: minutes without
gaps, ten players, slots that are slots. So what does not hold for a match is found here, before a
row is written, and costs that match alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Bools, Ints
from understudy.games.dota import facts
from understudy.games.dota.sources.tables import KINDS, MATCHES, RECORDINGS

STEP = 60
"""Seconds between rows of the tables by minute."""
LONGEST = 6 * 3600
"""Seconds; the longest professional match took 3 h 20 min."""
AROUND = 3600
"""Seconds before the horn and after the end that events may carry: pauses, wards that run out."""
RICHEST = 1_000_000
"""Gold or experience; ten times what anybody has had."""
NEW_PATCHES = 40
"""Patches to come that are still believed, beyond the newest known."""
EDGE = 256.0
"""Cells of the map along a side."""
LAST_START = 2**34
"""Unix seconds of the year 2514; where starts are not known, numbers of matches stand for them."""


@dataclass
class _Found:
    """The first thing wrong with each match."""

    words: dict[int, str] = field(default_factory=dict)

    def note(self, numbers: Ints, bad: Bools, word: str) -> None:
        for number in np.unique(numbers[bad]).tolist():
            self.words.setdefault(number, word)


def faults(tables: Mapping[str, pa.Table]) -> dict[int, str]:
    """What is wrong with each match that is none, by its number; tables lie in our order."""
    found = _Found()
    known, until = _matches(tables[MATCHES.name], found)
    for table in RECORDINGS[1:]:
        numbers = _ints(tables[table.name], "match_id")
        found.note(numbers, ~np.isin(numbers, known), f"{table.name} without a match")
    _players(tables["players"], found)
    _minutes(tables["state_team_minute"], tables["state_player_minute"], known, until, found)
    _events(tables["events"], known, until, found)
    _fights(tables["teamfights"], tables["teamfight_players"], known, until, found)
    return found.words


def without(tables: Mapping[str, pa.Table], matches: Mapping[int, Any]) -> dict[str, pa.Table]:
    """The same tables without some matches."""
    if not matches:
        return dict(tables)
    gone = pa.array(list(matches), pa.int64())
    return {
        name: rows.filter(pc.invert(pc.is_in(rows["match_id"], value_set=gone)))
        for name, rows in tables.items()
    }


def _ints(rows: pa.Table, name: str, missing: int = 0) -> Ints:
    return pc.fill_null(rows[name].cast(pa.int64()), missing).to_numpy()


def _matches(rows: pa.Table, found: _Found) -> tuple[Ints, Ints]:
    """The numbers of all matches, ascending, and the second until which each may tell things."""
    number, duration = _ints(rows, "match_id"), _ints(rows, "duration")
    patch, start = _ints(rows, "patch"), _ints(rows, "start_time")
    newest = max(facts.patches())
    found.note(number, number < 0, "its number is below 0")
    found.note(number, np.diff(number, prepend=-1) == 0, "its number is that of another match")
    odd = (duration < 0) | (duration > LONGEST)
    found.note(number, odd, f"its duration is not within {LONGEST // 3600} hours")
    found.note(number, (patch < 0) | (patch > newest + NEW_PATCHES), "there is no such patch")
    found.note(number, (start < 0) | (start > LAST_START), "it began at no time")
    return number, np.clip(duration, 0, LONGEST)


def _seconds(numbers: Ints, t: Ints, known: Ints, until: Ints) -> Bools:
    """Which times cannot be of their match."""
    end = until[np.clip(np.searchsorted(known, numbers), 0, max(len(known) - 1, 0))]
    return (t < -AROUND) | (t > end + AROUND)


def _players(rows: pa.Table, found: _Found) -> None:
    number, slot, team, hero = (
        _ints(rows, name, missing)
        for name, missing in (("match_id", 0), ("slot_idx", -1), ("team", -1), ("hero_id", 0))
    )
    found.note(number, (slot < 0) | (slot > 9) | (team != slot // 5), "players of no slot")
    twice = (np.diff(number, prepend=-1) == 0) & (np.diff(slot, prepend=-1) == 0)
    found.note(number, twice, "two players of one slot")
    found.note(number, (hero < 0) | (hero > 9999), "a hero whose number is none")


def _minutes(teams: pa.Table, players: pa.Table, known: Ints, until: Ints, found: _Found) -> None:
    number, t = _ints(teams, "match_id"), _ints(teams, "t")
    same = np.diff(number, prepend=-1) == 0
    found.note(number, same & (np.diff(t, prepend=0) != STEP), "minutes are missing")
    late = (t < 0) | _seconds(number, t, known, until)
    found.note(number, late, "minutes beyond its end")
    for name in ("radiant_gold_adv", "radiant_xp_adv"):
        found.note(number, np.abs(_ints(teams, name)) > RICHEST, f"{name} beyond all bounds")
    _player_minutes(players, number, t, found)
    own = _ints(players, "match_id")
    for name in ("gold", "xp", "lh", "dn"):
        odd = np.abs(_ints(players, name)) > RICHEST
        found.note(own, odd, f"{name} of a player beyond all bounds")


def _player_minutes(players: pa.Table, number: Ints, t: Ints, found: _Found) -> None:
    """Ten players, each at every minute of the teams and at no other."""
    matches, first, minutes = np.unique(number, return_index=True, return_counts=True)
    own, slot, when = (_ints(players, name) for name in ("match_id", "slot_idx", "t"))
    theirs, begin, rows = np.unique(own, return_index=True, return_counts=True)
    word = "not ten players at every minute"
    found.note(matches, ~np.isin(matches, theirs), word)
    if not len(matches):
        found.note(theirs, np.ones(len(theirs), bool), word)
        return
    place = np.clip(np.searchsorted(matches, theirs), 0, len(matches) - 1)
    whole = (matches[place] == theirs) & (rows == 10 * minutes[place])
    found.note(theirs, ~whole, word)
    each = np.arange(len(theirs)).repeat(rows)
    minute, at = minutes[place][each], np.arange(len(own)) - begin[each]
    expected = t[np.minimum(first[place][each] + at % minute, len(t) - 1)]
    found.note(own, (slot != at // minute) | (when != expected), word)


def _events(rows: pa.Table, known: Ints, until: Ints, found: _Found) -> None:
    number, t = _ints(rows, "match_id"), _ints(rows, "t")
    slot, team = _ints(rows, "slot_idx", -1), _ints(rows, "team", -1)
    nobody = slot == -1
    found.note(number, _seconds(number, t, known, until), "events beyond its beginning or end")
    found.note(number, (slot < -1) | (slot > 9) | (team < -1) | (team > 1), "events of no slot")
    doings = pa.array([kind for kind in KINDS if kind != "objective"])
    done = np.asarray(pc.is_in(rows["event_type"], value_set=doings).to_numpy())
    found.note(number, done & (nobody | (team != slot // 5)), "events of nobody")
    for name in ("x", "y"):
        there = np.asarray(rows[name].is_valid().to_numpy())
        where = rows[name].to_numpy().astype(np.float64)
        on_map = (where >= 0) & (where <= EDGE)  # NaN is not
        found.note(number, there & ~on_map, "a place that is not on the map")


def _fights(fights: pa.Table, shares: pa.Table, known: Ints, until: Ints, found: _Found) -> None:
    number, index = _ints(fights, "match_id"), _ints(fights, "fight_id")
    start, end = _ints(fights, "start"), _ints(fights, "end")
    odd = _seconds(number, end, known, until) | _seconds(number, start, known, until)
    found.note(number, odd | (end < start), "a fight at no time of it")
    own, of, slot = (_ints(shares, name) for name in ("match_id", "fight_id", "slot_idx"))
    word = "a fight without its ten players"
    ten = np.arange(10)
    listed = [(m, f, s) for m, f in zip(number.tolist(), index.tolist(), strict=True) for s in ten]
    expected = np.array(listed, np.int64).reshape(-1, 3)
    there = np.stack([own, of, slot], axis=1)
    if np.array_equal(expected, there):
        return _fight_figures(shares, own, found)
    for match in np.unique(np.concatenate([number, own])).tolist():
        if not np.array_equal(expected[expected[:, 0] == match], there[own == match]):
            found.words.setdefault(match, word)
    return _fight_figures(shares, own, found)


def _fight_figures(shares: pa.Table, own: Ints, found: _Found) -> None:
    for name in ("deaths", "gold_delta", "xp_delta"):
        odd = np.abs(_ints(shares, name)) > RICHEST
        found.note(own, odd, f"{name} of a fight beyond all bounds")
