"""Where the next observer ward goes: a mixture of maps, each counted under another condition.

The map is cut into cells; each map of the mixture counts placements by side and by something known
(time, who leads, towers standing), sharp or blurred over neighbouring cells. How much each map is
believed is fitted by expectation-maximisation on later matches than those counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data.arrays import Floats, Ints
from understudy.games.dota.features.features import objectives
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.policies.next_item import BAND, BANDS
from understudy.games.dota.sources.tables import EVENTS

GRID = 32
LOW, HIGH = 64.0, 192.0
"""Cells of the game's map that the grid covers; what lies beyond goes to the border."""
SIZE = GRID * GRID
LIFE = 360
"""Seconds an observer ward stands unless it is taken down."""


@dataclass(frozen=True)
class Placements:
    """P wards placed, with what was known at the last whole minute."""

    match_id: Ints
    team: Ints
    t: Ints
    cell: Ints
    ahead: Ints
    """0: the placer's side is behind by 3,000 gold or more, 1: even, 2: ahead."""
    towers: Ints
    """Towers the placer's side has taken less those it lost, from -3 to 3, plus 3."""
    life: Floats
    """Seconds the ward stood; NaN where its end was not recorded."""

    def __len__(self) -> int:
        return len(self.cell)

    def where(self, rows: Any) -> "Placements":
        """Some of them."""
        return Placements(**{name: values[rows] for name, values in vars(self).items()})


def cell_of(x: Floats, y: Floats) -> Ints:
    """The cell of each position on the map."""
    steps = [np.clip((v - LOW) * GRID / (HIGH - LOW), 0, GRID - 1).astype(np.int64) for v in (x, y)]
    return steps[0] * GRID + steps[1]


def centre_of(cell: int) -> tuple[float, float]:
    """The middle of a cell, in cells of the game's map."""
    side = (HIGH - LOW) / GRID
    return LOW + (cell // GRID + 0.5) * side, LOW + (cell % GRID + 0.5) * side


def placements(recordings: Mapping[str, pa.Table], kind: str = "obs") -> Placements:
    """All wards placed in some matches."""
    match = build_timeline(recordings)
    events = recordings[EVENTS.name]
    numbers = events["match_id"].to_numpy()
    kinds = np.asarray(events["event_type"].to_numpy())
    placed = (kinds == f"ward_{kind}_place") & np.isin(numbers, match.match_id)
    chosen = events.filter(pa.array(placed))
    x, y = (chosen[name].to_numpy().astype(np.float64) for name in ("x", "y"))
    there = ~(np.isnan(x) | np.isnan(y))
    chosen, x, y = chosen.filter(pa.array(there)), x[there], y[there]
    t, team = (chosen[name].to_numpy().astype(np.int64) for name in ("t", "team"))
    which = np.searchsorted(match.match_id, chosen["match_id"].to_numpy())
    # The last whole minute before: the row after it would know what the ward brought about.
    minute = np.clip((t - match.t[match.first[which]]) // 60, 0, match.minutes[which] - 1)
    row = match.first[which] + minute
    sign = 1 - 2 * team
    gold = sign * match.advantage["gold"][row]
    fallen = objectives(match)
    taken = fallen["towers_1"] + fallen["towers_2"] + fallen["towers_3"]
    towers = sign * taken[row]
    gone = match.events[f"ward_{kind}_left"]
    ends = dict(
        zip(
            zip(gone.which.tolist(), gone.value.tolist(), strict=True), gone.t.tolist(), strict=True
        )
    )
    handles = zip(which.tolist(), chosen["value"].to_pylist(), strict=True)
    end = np.array([ends.get(pair, np.nan) for pair in handles], np.float64)
    return Placements(
        match_id=chosen["match_id"].to_numpy(),
        team=team,
        t=t,
        cell=cell_of(x, y),
        ahead=np.where(gold <= -3000, 0, np.where(gold >= 3000, 2, 1)),
        towers=(np.clip(towers, -3, 3) + 3).astype(np.int64),
        life=end - t,
    )


def standing(
    recordings: Mapping[str, pa.Table], team: int, now: int, kind: str = "obs"
) -> list[tuple[float, float]]:
    """Where wards of a side stand at a second of the one match recorded."""
    events = recordings[EVENTS.name].to_pylist()
    past = [e for e in events if e["t"] <= now and e["event_type"].startswith(f"ward_{kind}_")]
    gone = {e["value"] for e in past if e["event_type"].endswith("_left")}
    return [
        (e["x"], e["y"])
        for e in past
        if e["event_type"].endswith("_place")
        and e["team"] == team
        and e["value"] not in gone
        and e["x"] is not None
        and e["t"] > now - LIFE
    ]


def _conditions(rows: Placements) -> dict[str, Ints]:
    band = np.clip(rows.t // BAND, 0, BANDS - 1)
    return {
        "side": rows.team,
        "side, time": rows.team * BANDS + band,
        "side, time, lead": (rows.team * BANDS + band) * 3 + rows.ahead,
        "side, towers": rows.team * 7 + rows.towers,
        "side, towers, half": (rows.team * 7 + rows.towers) * 6 + band // 2,
    }


BLURS = (0.0, 1.0)
"""Cells over which a map is blurred."""


@dataclass(frozen=True)
class WardSpots:
    """Maps by condition, and how much each is believed."""

    counts: Mapping[str, Floats]
    """As `counted` gives them."""
    weights: Floats
    """One for each map of the mixture, and the last for an even map."""

    @cached_property
    def maps(self) -> dict[tuple[str, float], Floats]:
        """Sharp and blurred."""
        return mixture(self.counts)

    def parts(self, rows: Placements) -> Floats:
        """[P, maps + 1, cells]."""
        keys = _conditions(rows)
        maps = [table[keys[name]] for (name, _), table in self.maps.items()]
        even = np.full((len(rows), SIZE), 1 / SIZE)
        return np.stack([*maps, even], axis=1)

    def chances(self, rows: Placements) -> Floats:
        """[P, cells]."""
        parts = range(0, len(rows), 500)
        chances = [
            np.einsum("m,pmc->pc", self.weights, self.parts(rows.where(slice(s, s + 500))))
            for s in parts
        ]
        return np.concatenate(chances) if chances else np.zeros((0, SIZE))


def counted(rows: Placements) -> dict[str, Floats]:
    """[values of the condition, cells]: wards placed, by condition."""
    sizes = {"side": 2, "side, time": 2 * BANDS, "side, time, lead": 6 * BANDS}
    sizes |= {"side, towers": 14, "side, towers, half": 84}
    counts = {}
    for name, keys in _conditions(rows).items():
        table = np.bincount(keys * SIZE + rows.cell, minlength=sizes[name] * SIZE)
        counts[name] = table.astype(np.float64).reshape(-1, SIZE)
    return counts


def mixture(counts: Mapping[str, Floats]) -> dict[tuple[str, float], Floats]:
    """Every map, sharp and blurred, each line a distribution."""
    maps = {}
    for name, table in counts.items():
        for blur in BLURS:
            soft = blurred(table, blur)
            total = soft.sum(axis=1, keepdims=True)
            maps[name, blur] = np.where(total > 0, soft / np.maximum(total, 1e-12), 1 / SIZE)
    return maps


def blurred(table: Floats, std: float) -> Floats:
    """Each map smoothed by a normal kernel of `std` cells; its sum stays the same."""
    if not std:
        return table
    line = np.arange(GRID)
    bell = np.exp(-((line[:, None] - line) ** 2) / (2 * std**2))
    bell /= bell.sum(axis=0)  # at the border nothing is lost beyond the map
    maps = table.reshape(-1, GRID, GRID)
    return np.einsum("ax,mxy,by->mab", bell, maps, bell).reshape(table.shape)


def fit(train: Placements, val: Placements, rounds: int = 200) -> WardSpots:
    """Count in `train`, weigh on `val`, then count everything."""
    size = len(mixture(counted(train))) + 1
    spots = WardSpots(counted(train), np.full(size, 1 / size))
    chance = np.concatenate(
        [_of_chosen(spots, val.where(slice(s, s + 500))) for s in range(0, len(val), 500)]
    )
    weights = spots.weights
    for _ in range(rounds):  # expectation: how far each map explains a ward; maximisation: the mean
        share = chance * weights
        weights = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
    return WardSpots(counted(_joined(train, val)), weights)  # the newest wards count as well


def _of_chosen(spots: WardSpots, rows: Placements) -> Floats:
    """[P, maps + 1]: what each map gave to the cell that was chosen."""
    parts = spots.parts(rows)
    return parts[np.arange(len(rows)), :, rows.cell]


EVEN_SHARES = (0.02, 0.05, 0.1, 0.2)


def baseline(train: Placements, val: Placements, rows: Placements) -> Floats:
    """[P, cells]: counts by side and five minutes, with as much of an even map as `val` likes."""

    def chances(of: Placements, some: Placements, even: float) -> Floats:
        table = mixture(counted(of))["side, time", 0.0]
        return (1 - even) * table[_conditions(some)["side, time"]] + even / SIZE

    def loss(even: float) -> float:
        chosen = chances(train, val, even)[np.arange(len(val)), val.cell]
        return float(-np.log(chosen).mean())

    return chances(_joined(train, val), rows, min(EVEN_SHARES, key=loss))


def _joined(one: Placements, other: Placements) -> Placements:
    both = {n: np.concatenate([getattr(one, n), getattr(other, n)]) for n in vars(one)}
    return Placements(**both)
