"""Where the next ward goes: a mixture of maps, each counted under another condition.

The map is cut into cells; each map of the mixture counts placements by side and by something known
(time, who leads, towers standing), sharp or blurred over neighbouring cells. How much each map is
believed is fitted by expectation-maximisation on later matches than those counted; so is what each
condition by itself and the side's own wards change about it (`own_wards.py`), in a softmax over
cells. Counted are matches on the newest map alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import softmax

from understudy.data.arrays import Bools, Floats, Ints
from understudy.data.stats import newton
from understudy.games.dota import facts
from understudy.games.dota.features.features import objectives
from understudy.games.dota.features.timeline import build_timeline
from understudy.games.dota.policies import own_wards
from understudy.games.dota.policies.next_item import BAND, BANDS
from understudy.games.dota.sources.tables import EVENTS

GRID = 32
LOW, HIGH = 64.0, 192.0
"""Cells of the game's map that the grid covers; what lies beyond goes to the border."""
SIZE = GRID * GRID
LIFE = {"obs": 360, "sen": 420}
"""Seconds an observer and a sentry stand unless they are taken down."""


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
    patch: Ints
    own: own_wards.Table
    """[P, .., 4]: the side's wards of the same kind, as `own_wards.known_at` has them."""
    other: own_wards.Table
    """[P, .., 3]: those of the other kind that were just placed."""

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


def placements(
    recordings: Mapping[str, pa.Table], kind: str = "obs", whole_minutes: bool = False
) -> Placements:
    """All wards placed in some matches.

    The side's own wards are known to the second, or, with `whole_minutes`, by the last one: what
    can be known when somebody asks where wards should go.
    """
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
    asked = 60.0 * (t // 60) + 0.5 if whole_minutes else t.astype(np.float64)
    own, other = _known(recordings, match.match_id[which], team, asked, kind)
    patches = dict(
        zip(*recordings["matches"].select(["match_id", "patch"]).to_pydict().values(), strict=True)
    )
    numbers = chosen["match_id"].to_numpy()
    return Placements(
        match_id=numbers,
        team=team,
        t=t,
        cell=cell_of(x, y),
        ahead=np.where(gold <= -3000, 0, np.where(gold >= 3000, 2, 1)),
        towers=(np.clip(towers, -3, 3) + 3).astype(np.int64),
        life=end - t,
        patch=np.array([patches[number] for number in numbers.tolist()], np.int64),
        own=own,
        other=other,
    )


SLACK = 15
"""Seconds that a ward's end is recorded late."""


def _known(
    recordings: Mapping[str, pa.Table], numbers: Ints, team: Ints, asked: Floats, kind: str
) -> tuple[own_wards.Table, own_wards.Table]:
    """What each side knew of its own wards at each second asked."""
    by_kind = {name: wards_of(recordings, name) for name in LIFE}
    other = "sen" if kind == "obs" else "obs"
    known = [
        own_wards.known_at(by_kind[kind].get(side, ()), by_kind[other].get(side, ()), now)
        for *side_, now in zip(numbers.tolist(), team.tolist(), asked.tolist(), strict=True)
        for side in [(side_[0], side_[1])]
    ]
    mine, theirs = zip(*known, strict=True) if known else ([], [])
    return (
        np.array(mine, np.float32).reshape(-1, own_wards.MOST_OWN, 4),
        np.array(theirs, np.float32).reshape(-1, own_wards.MOST_OTHER, 3),
    )


def wards_of(
    recordings: Mapping[str, pa.Table], kind: str
) -> dict[tuple[int, int], list[own_wards.Ward]]:
    """All wards of a kind whose place is known, by match and side."""
    events = recordings[EVENTS.name]
    kinds = np.asarray(events["event_type"].to_numpy())
    columns = ("match_id", "team", "t", "x", "y", "value")

    def rows(what: str) -> Any:
        some = events.filter(pa.array(kinds == f"ward_{kind}_{what}"))
        return zip(*(some[name].to_pylist() for name in columns), strict=True)

    ends = {(match, handle): t for match, _, t, _, _, handle in rows("left")}
    sides: dict[tuple[int, int], list[own_wards.Ward]] = {}
    for match, team, t, x, y, handle in rows("place"):
        if x is not None and y is not None:
            end = ends.get((match, handle), t + LIFE[kind])
            ward = (t, min(end, t + LIFE[kind] + SLACK), x, y)
            sides.setdefault((match, team), []).append(ward)
    return sides


def standing(
    recordings: Mapping[str, pa.Table], team: int, now: int, kind: str = "obs"
) -> list[tuple[float, float]]:
    """Where wards of a side stand at a second of the one match recorded."""
    found = wards_of(recordings, kind)
    return [
        (x, y)
        for (_, side), wards in found.items()
        for t, end, x, y in wards
        if side == team and t <= now < end
    ]


STAGES = np.array(
    [-30, 0, 30, 60, 120, 180, 240, 300, 420, 600, 900, 1200, 1500, 1800, 2100, 2400, 3000]
)
"""Seconds that part a match: often at first, when spots change within a minute."""
SIZES = {
    "side": 2,
    "side, time": 2 * BANDS,
    "side, time, lead": 6 * BANDS,
    "side, towers": 14,
    "side, towers, half": 84,
    "side, stage": 2 * (len(STAGES) + 1),
}
"""How many values each condition has, half of them Radiant's, which come first."""


def conditions(rows: Placements) -> dict[str, Ints]:
    """What each kind of map goes by, of each ward."""
    band = np.clip(rows.t // BAND, 0, BANDS - 1)
    stage = np.searchsorted(STAGES, rows.t, side="right")
    return {
        "side": rows.team,
        "side, time": rows.team * BANDS + band,
        "side, time, lead": (rows.team * BANDS + band) * 3 + rows.ahead,
        "side, towers": rows.team * 7 + rows.towers,
        "side, towers, half": (rows.team * 7 + rows.towers) * 6 + band // 2,
        "side, stage": rows.team * (len(STAGES) + 1) + stage,
    }


BLURS = (0.0, 0.6, 1.0, 2.0)
"""Cells over which a map is blurred."""
SOFT = 0.6
"""The blur of maps that stand by themselves."""
OF_SIDE, OF_ALL = 60.0, 20.0
"""Wards that count for what the side does in general, and for an even map of a side."""


@dataclass(frozen=True)
class WardSpots:
    """Maps by condition, and how much each is believed."""

    counts: Mapping[str, Floats]
    """As `counted` gives them."""
    weights: Floats
    """One for each map of the mixture, and the last for an even map."""

    near: Floats
    """Weights of the logarithm of the mixture, of `own_wards.COLUMNS`, and of each condition."""

    @cached_property
    def maps(self) -> dict[tuple[str, float], Floats]:
        """Sharp and blurred."""
        return mixture(self.counts)

    @cached_property
    def alone(self) -> dict[str, Floats]:
        """The logarithm of a map for each condition by itself."""
        return {name: np.log(table) for name, table in leaning(self.counts).items()}

    def parts(self, rows: Placements) -> Floats:
        """[P, maps + 1, cells]."""
        keys = conditions(rows)
        maps = [table[keys[name]] for (name, _), table in self.maps.items()]
        even = np.full((len(rows), SIZE), 1 / SIZE)
        return np.stack([*maps, even], axis=1)

    def columns(self, rows: Placements) -> Floats:
        """[P, cells, columns]: what `near` weighs, in its order."""
        mixed = np.einsum("m,pmc->pc", self.weights, self.parts(rows))
        near = own_wards.columns(rows.own, rows.other, *_MIDDLES)
        rare = np.log(np.maximum(mixed, RAREST))
        keys = conditions(rows)
        alone = np.stack([table[keys[name]] for name, table in self.alone.items()], axis=2)
        return np.concatenate([rare[:, :, None], near, alone], axis=2, dtype=np.float32)

    def chances(self, rows: Placements, near: Floats | None = None) -> Floats:
        """[P, cells]; `near` in place of its own."""
        near = self.near if near is None else near
        parts = [rows.where(slice(s, s + CHUNK)) for s in range(0, len(rows), CHUNK)]
        chances = [softmax(self.columns(part) @ near, axis=1) for part in parts]
        return np.concatenate(chances) if chances else np.zeros((0, SIZE))


CHUNK = 500
RAREST = 1e-12
"""The least chance that a mixture gives a cell."""
_MIDDLES = tuple(np.array(part) for part in zip(*map(centre_of, range(SIZE)), strict=True))
PLAIN = np.array([1.0] + [0.0] * (len(own_wards.COLUMNS) + len(SIZES)))
"""The mixture as it is."""


def counted(rows: Placements) -> dict[str, Floats]:
    """[values of the condition, cells]: wards placed, by condition."""
    counts = {}
    for name, keys in conditions(rows).items():
        table = np.bincount(keys * SIZE + rows.cell, minlength=SIZES[name] * SIZE)
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


def leaning(counts: Mapping[str, Floats]) -> dict[str, Floats]:
    """A soft map for each condition; where few wards were placed it leans on the side's."""
    soft = {name: blurred(table, SOFT) for name, table in counts.items()}
    side = _leant(soft["side"], np.full(SIZE, 1 / SIZE), OF_ALL)
    maps = {}
    for name, table in soft.items():
        team = np.arange(len(table)) // (len(table) // 2)
        maps[name] = side if name == "side" else _leant(table, side[team], OF_SIDE)
    return maps


def _leant(table: Floats, usual: Floats, wards: float) -> Floats:
    """Counts as shares, with so many wards placed as usual beside them."""
    return (table + wards * usual) / (table.sum(axis=1, keepdims=True) + wards)


def blurred(table: Floats, std: float) -> Floats:
    """Each map smoothed by a normal kernel of `std` cells; its sum stays the same."""
    if not std:
        return table
    line = np.arange(GRID)
    bell = np.exp(-((line[:, None] - line) ** 2) / (2 * std**2))
    bell /= bell.sum(axis=0)  # at the border nothing is lost beyond the map
    maps = table.reshape(-1, GRID, GRID)
    return np.einsum("ax,mxy,by->mab", bell, maps, bell).reshape(table.shape)


def newest_map(rows: Placements) -> Bools:
    """Which of them are of the newest map that any of them is of; all where these are too few."""
    if not len(rows):
        return np.zeros(0, bool)
    own = rows.patch >= facts.map_since(int(rows.patch.max()))
    return own if own.sum() >= FEWEST else np.ones(len(rows), bool)


FEWEST = 2000
"""Wards of the newest map, below which older ones count, too."""


def fit(train: Placements, val: Placements, rounds: int = 200, most: int = 4000) -> WardSpots:
    """Count in `train`, weigh on `val`, then count everything."""
    size = len(mixture(counted(train))) + 1
    spots = WardSpots(counted(train), np.full(size, 1 / size), PLAIN)
    chance = np.concatenate(
        [_of_chosen(spots, val.where(slice(s, s + CHUNK))) for s in range(0, len(val), CHUNK)]
    )
    weights = spots.weights
    for _ in range(rounds):  # expectation: how far each map explains a ward; maximisation: the mean
        share = chance * weights
        weights = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
    near = weigh(WardSpots(spots.counts, weights, PLAIN), drawn(val, most))
    return WardSpots(counted(joined(train, val)), weights, near)  # the newest wards count as well


def drawn(rows: Placements, most: int = 4000) -> Placements:
    """Some of them at random, always the same."""
    return rows.where(np.sort(np.random.default_rng(0).permutation(len(rows))[:most]))


def weigh(spots: WardSpots, rows: Placements, ridge: float = 1.0) -> Floats:
    """What the side's own wards change, by Newton's method from the mixture as it is."""
    parts = (rows.where(slice(s, s + CHUNK)) for s in range(0, len(rows), CHUNK))
    known = [(spots.columns(part), part.cell) for part in parts]

    def loss(tried: Floats) -> float:
        chances = (softmax(table @ tried, axis=1)[np.arange(len(c)), c] for table, c in known)
        away = tried - PLAIN
        return float(-sum(np.log(chance).sum() for chance in chances) + ridge / 2 * away @ away)

    def slopes(tried: Floats) -> tuple[Floats, Floats]:
        gradient, square = ridge * (tried - PLAIN), ridge * np.eye(len(tried))
        for table, cell in known:
            chance = softmax(table @ tried, axis=1)
            mean = np.einsum("pc,pck->pk", chance, table)
            gradient = gradient + (mean - table[np.arange(len(cell)), cell]).sum(axis=0)
            flat = table.reshape(-1, table.shape[2])
            square = square + (flat * chance.reshape(-1, 1)).T @ flat - mean.T @ mean
        return gradient, square

    return newton(slopes, PLAIN, loss, rounds=20, tolerance=1e-3, shortest=1e-5, last="taken")


def _of_chosen(spots: WardSpots, rows: Placements) -> Floats:
    """[P, maps + 1]: what each map gave to the cell that was chosen."""
    parts = spots.parts(rows)
    return parts[np.arange(len(rows)), :, rows.cell]


def joined(one: Placements, other: Placements) -> Placements:
    """The wards of both."""
    both = {n: np.concatenate([getattr(one, n), getattr(other, n)]) for n in vars(one)}
    return Placements(**both)
