"""Recordings to samples: one row per minute, with what was known then and what came of it.

A row at t has a label when the match's state at t + horizon is known. Patch, match and start are
there to slice by; they are no features.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.schema import Column, Table
from understudy.games.dota import facts
from understudy.games.dota.features import features, team_rating
from understudy.games.dota.features.timeline import MINUTE, Timeline, build_timeline

HORIZON = 180
"""Seconds ahead that changes of the leads are predicted, unless the user says otherwise."""
LABELS = ("y_win", "y_dgold_adv", "y_dxp_adv")
GROUPS = (*features.GROUPS, "strength")


@cache
def names_of(group: str) -> tuple[str, ...]:
    """The features of a group, in order."""
    return tuple(team_rating.NAMES) if group == "strength" else features.names_of(group)


def _columns() -> tuple[Column, ...]:
    counts = frozenset((*features.item_names(), *features.hero_names()))
    return (
        Column("match_id", pa.int64(), "which match"),
        Column("patch", pa.int64(), "to slice by, never a feature"),
        Column("start_time", pa.int64(), "to split by, never a feature"),
        *(
            Column(name, pa.int8() if name in counts else pa.float32(), f"a feature of {group}")
            for group in GROUPS
            for name in names_of(group)
        ),
        Column("y_win", pa.int8(), "1 where Radiant won"),
        Column("y_dgold_adv", pa.float32(), "change of Radiant's lead in gold over the horizon"),
        Column("y_dxp_adv", pa.float32(), "change of Radiant's lead in xp over the horizon"),
    )


VALUE = Table("dota", "value", 3, "understudy encode dota", _columns())


def all_features(match: Timeline, known: Mapping[int, team_rating.Strength]) -> dict[str, Any]:
    """Every group, every row."""
    return {**features.features(match), **team_rating.features(match, known)}


def encode_recordings(
    recordings: Mapping[str, pa.Table],
    players: frozenset[str] | None = None,
    horizon: int = HORIZON,
) -> dict[str, pa.Table]:
    """Samples of recordings and their survey; each is of a whole match, whoever the players."""
    known = team_rating.from_table(recordings[team_rating.STRENGTH])
    return encode(recordings, known, horizon)


def encode(
    recordings: Mapping[str, pa.Table],
    known: Mapping[int, team_rating.Strength],
    horizon: int = HORIZON,
) -> dict[str, pa.Table]:
    """The samples of some matches; `known` is the strength before each (`strength.survey`)."""
    match = build_timeline(recordings)
    ahead = horizon // MINUTE
    last = match.first[match.which] + match.minutes[match.which] - 1
    here = np.arange(len(match.t))
    rows = np.flatnonzero(here + ahead <= last)  # those whose label lies within the match
    values: dict[str, Any] = {
        name: feature[rows] for name, feature in all_features(match, known).items()
    }
    which = match.which[rows]
    outline = _outline(recordings["matches"], match)
    values |= {name: column[which] for name, column in outline.items()}
    values["match_id"] = match.match_id[which]
    for name, lead in match.advantage.items():
        values[f"y_d{name}_adv"] = lead[rows + ahead] - lead[rows]
    columns = {column.name: values[column.name] for column in VALUE.columns}
    return {VALUE.name: VALUE.build({n: _fitting(n, v) for n, v in columns.items()})}


def _fitting(name: str, values: Any) -> Any:
    kind = _KINDS[name]
    if kind == pa.float32():
        return values.astype(np.float32)
    return np.clip(values, -127, 127).astype(np.int8) if kind == pa.int8() else values


_KINDS = {column.name: column.type for column in VALUE.columns}


def _outline(matches: pa.Table, match: Timeline) -> dict[str, Any]:
    """Of each match of a timeline: patch, start, result."""
    numbers = matches["match_id"].to_numpy()
    order = np.argsort(numbers)
    row = order[np.searchsorted(numbers[order], match.match_id)]
    won = np.asarray(matches["radiant_win"].to_numpy(zero_copy_only=False))
    return {
        "patch": matches["patch"].to_numpy()[row],
        "start_time": matches["start_time"].to_numpy()[row],
        "y_win": won[row].astype(np.int64),
    }


def summarise(
    recordings: Mapping[str, pa.Table], samples: Mapping[str, pa.Table]
) -> dict[str, float]:
    """Counts that add up over shards."""
    matches = recordings["matches"]
    rows = samples[VALUE.name]
    counts: dict[str, float] = {
        "matches": len(matches),
        "matches without minutes": int((matches["n_min"].to_numpy() == 0).sum()),
        "samples": len(rows),
        "won by/Radiant": int(np.sum(matches["radiant_win"].to_pylist())),
    }
    counts["won by/Dire"] = counts["matches"] - counts["won by/Radiant"]
    patches, count = np.unique(matches["patch"].to_numpy(), return_counts=True)
    for patch, number in zip(patches.tolist(), count.tolist(), strict=True):
        counts[f"patch/{facts.patch_name(patch)}"] = number
    return counts
