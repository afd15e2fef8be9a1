"""Tables that lack something which follows from the rest: the seed's three, for instance.

Who has matches and the two tables of minutes has enough for the value model. Of what else is not
there nothing is made up: no heroes, no events, no fights.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.errors import InputError
from understudy.games.dota.sources.tables import PLAYERS, RECORDINGS

CORE: Final = ("matches", "state_team_minute", "state_player_minute")
"""The tables that must be there."""
FOLLOWS: Final = {
    "matches": ("patch", "start_time", "duration", "n_min"),
    "state_player_minute": ("slot_idx",),
}
"""Columns that follow from others."""
HELPS: Final = {"state_team_minute": ("patch",), "state_player_minute": ("patch", "team")}
"""Columns that are none of ours, from which such follow."""


def completed(tables: Mapping[str, pa.Table], where: str) -> dict[str, pa.Table]:
    """All tables of some whole matches, from those there are; what need not be may be absent."""
    found = dict(tables)
    found["matches"] = _matches(found, where)
    found["state_player_minute"] = _slots(found["state_player_minute"], where)
    if "teamfights" not in found or "teamfight_players" not in found:  # either is nothing alone
        for name in ("teamfights", "teamfight_players"):
            found.pop(name, None)
    if PLAYERS.name not in found:
        found[PLAYERS.name] = _players(found["matches"])
    for table in RECORDINGS:
        found.setdefault(table.name, table.arrow().empty_table())
    return found


def _matches(tables: Mapping[str, pa.Table], where: str) -> pa.Table:
    matches, minutes = tables["matches"], tables["state_team_minute"]
    there = set(matches.column_names)
    asked = [("t", "max"), ("t", "count")]
    asked += [("patch", "max")] if "patch" in minutes.column_names else []
    told = minutes.group_by("match_id").aggregate(asked)
    row = pc.index_in(matches["match_id"], value_set=told["match_id"].combine_chunks())
    if "patch" not in there:
        if "patch" not in minutes.column_names:
            raise InputError(f"{where}: neither matches nor the minutes have a column 'patch'")
        matches = matches.append_column("patch", told["patch_max"].take(row))
    if "start_time" not in there:  # numbers are given in the order of time
        matches = matches.append_column("start_time", matches["match_id"])
    for name, source in (("duration", "t_max"), ("n_min", "t_count")):
        if name not in there:
            values = told[source].take(row).cast(pa.int64())
            matches = matches.append_column(name, pc.fill_null(values, 0))
    return matches


def _slots(minutes: pa.Table, where: str) -> pa.Table:
    """Which of the ten a row is of, by the order in which each team's five come."""
    if "slot_idx" in minutes.column_names:
        return minutes
    if "team" not in minutes.column_names:
        raise InputError(f"{where}: state_player_minute has neither 'slot_idx' nor 'team'")
    match, t, team = (
        pc.fill_null(minutes[name], -1).to_numpy() for name in ("match_id", "t", "team")
    )
    order = np.lexsort((team, t, match))  # keeps the order in which five of a team come
    new = (np.diff(match[order], prepend=-2) != 0) | (np.diff(t[order], prepend=-2) != 0)
    begin = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    place = np.arange(len(order)) - begin
    fits = (place < 10) & ((place >= 5) == (team[order] == 1))
    slot = np.empty(len(match), np.int8)
    slot[order] = np.where(fits, place, -1)  # no slot: what it costs is for `soundness.py`
    if not fits.any():
        raise InputError(f"{where}: state_player_minute has not five players of each team a minute")
    return minutes.append_column("slot_idx", pa.array(slot))


def _players(matches: pa.Table) -> pa.Table:
    number = matches["match_id"].to_numpy()
    slot = np.tile(np.arange(10, dtype=np.int8), len(number))
    return pa.table(
        {"match_id": np.repeat(number, 10), "slot_idx": slot, "team": (slot >= 5).astype(np.int8)}
    )
