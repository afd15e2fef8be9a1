"""Columns that were tried beside those of the value model, and did not help it enough.

`dota_folds.py` fits the model with each of them. What samples do not hold is read from the
recordings, by the same timeline, so that nothing of a row's future is known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from understudy.data import shards
from understudy.data.arrays import Floats
from understudy.data.runs import Run
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.inventory import GoldEstimate
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.features.timeline import MINUTE, Timeline, build_timeline
from understudy.games.dota.sources.tables import MATCHES, RECORDINGS
from understudy.games.dota.value.linear import Fitted, Linear, fit_logistic
from understudy.games.dota.value.symmetric import HEROES, MAJOR, MINOR, symmetric

TIERS = (1000, 2000, 3000, 4000, 5000, 99_999)
"""Gold: items by what they cost."""
RIDGE = 30.0
OWN = np.repeat((1.0, 16.0, 32.0), (len(MAJOR), len(MINOR), len(HEROES)))
"""How tightly the model holds its own columns."""


@dataclass(frozen=True)
class Wider:
    """The model with further columns, which are held so much tighter than its main ones."""

    blocks: tuple[Callable[[Samples], Floats], ...]
    held: tuple[float, ...]
    """One for each block of columns."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """The chance alone."""
        first = train.where(np.arange(1))
        sizes = [make(first).shape[1] for make in self.blocks]
        penalty = np.concatenate([OWN, np.repeat(self.held, sizes)])
        return fitted(self.all_columns, train, RIDGE * penalty)

    def all_columns(self, samples: Samples) -> Floats:
        """The model's own first."""
        return np.concatenate(
            [symmetric(samples), *(make(samples) for make in self.blocks)], axis=1
        )


def fitted(
    columns: Callable[[Samples], Floats],
    train: Samples,
    penalty: Floats,
    target: Floats | None = None,
    weight: Floats | None = None,
) -> Linear:
    """As `Symmetric.fit` does it: columns of a root mean square of 1, then penalised."""
    known = columns(train)
    scale = np.sqrt((known**2).mean(axis=0))
    scale[scale == 0] = 1.0
    won = train.labels["y_win"] if target is None else target
    weight = train.weights() if weight is None else weight
    beta = fit_logistic(known / scale, won, weight, penalty)
    return Linear(columns, {"y_win": beta / np.append(scale, 1.0)})


class Recorded:
    """What samples do not hold, by match and minute."""

    def __init__(self, run: Run) -> None:
        parts = []
        for path in shards.shard_paths(run.recordings, MATCHES):
            key = shards.shard_key(path)
            tables = {
                table.name: shards.read_shard(shards.shard_path(run.recordings, table, key), table)
                for table in RECORDINGS
            }
            parts.append(_of_timeline(build_timeline(tables)))
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        key = columns.pop("key")
        order = np.argsort(key)
        self._key, self._columns = key[order], {n: c[order] for n, c in columns.items()}

    def of(self, samples: Samples, name: str) -> Floats:
        """One of the columns, or a table of some, for these rows."""
        wanted = _key(samples.match_id, samples.column("t").astype(np.int64))
        return self._columns[name][np.searchsorted(self._key, wanted)]


def _key(match_id: Any, t: Any) -> Any:
    return match_id * 1000 + t // MINUTE


def _of_timeline(match: Timeline) -> dict[str, Any]:
    gold, xp = match.advantage["gold"], match.advantage["xp"]
    columns = {
        "key": _key(match.match_id[match.which], match.t),
        "gold 5": match.earlier(gold, 5),
        "gold 10": match.earlier(gold, 10),
        "xp 10": match.earlier(xp, 10),
        "mean": match.running(gold) / (1 + np.arange(len(gold)) - match.first[match.which]),
        "ranked": -np.sort(-match.players["gold"].reshape(-1, 2, 5), axis=2),
        "lost": _lost(match).reshape(-1, 2, 5).sum(axis=2),
        "rich": _heroes_of_the_rich(match, 2),
    }
    columns |= _fallen(match)
    bought = match.events["purchase"]
    cost = observe._looked_up(bought.key, observe._whole_costs())
    for low, high in pairwise(TIERS):
        chosen = (cost >= low) & (cost < high)
        columns[f"items {low}"] = match.so_far(bought.row[chosen], bought.team[chosen])
    return columns


def _fallen(match: Timeline) -> dict[str, Floats]:
    """[R, 2]: buildings that each side has taken."""
    things = match.events["objective"]
    loser = np.where(observe._contains(things.target, "goodguys"), 0, 1)
    found = {}
    for name, part in observe.BUILDINGS.items():
        chosen = observe._is(things.key, "building_kill") & observe._contains(things.target, part)
        found[name] = match.so_far(things.row[chosen], 1 - loser[chosen])
    return found


def _lost(match: Timeline) -> Floats:
    """[R, 10]: gold that deaths and buybacks took, an estimate."""
    table = np.zeros((len(match.t), 10))
    for (which, slot), losses in GoldEstimate(match).lost.items():
        for t, gold in losses:
            minute = -(-max(t - int(match.t[match.first[which]]), 0) // MINUTE)
            if minute < match.minutes[which]:
                table[match.first[which] + minute, slot] += gold
    return match.running(table)


def _heroes_of_the_rich(match: Timeline, most: int) -> Floats:
    """[R, heroes]: +1 where a hero is among the richest of Radiant, -1 of Dire."""
    names = {number: k for k, number in enumerate(observe.facts.heroes())}
    place = np.vectorize(lambda hero: names.get(hero, len(names)))(match.heroes)[match.which]
    gold = match.players["gold"].reshape(-1, 2, 5)
    rich = ((-gold).argsort(axis=2).argsort(axis=2) < most).reshape(-1, 10)
    found = np.zeros((len(place), len(names) + 1), np.float32)
    for slot in range(10):
        found[np.arange(len(place)), place[:, slot]] += (1 - 2 * (slot // 5)) * rich[:, slot]
    return found[:, :-1]


# --- blocks of columns of some rows -------------------------------------------------------------


def late(rows: Samples) -> Floats:
    """Half hours."""
    return np.minimum(rows.column("t_min"), 60) / 30


def root(rows: Samples) -> Floats:
    """Of the minute."""
    return np.sqrt(np.maximum(rows.column("t_min"), 1.0))


def apart(known: Recorded, rows: Samples, *names: str) -> Floats:
    """Radiant's less Dire's, a column for each."""
    sides = np.stack([known.of(rows, name) for name in names], axis=1)
    return (sides[:, :, 0] - sides[:, :, 1]).astype(np.float64)


def before(known: Recorded, rows: Samples) -> Floats:
    lead = known.of(rows, "gold 10") / 1000
    return np.stack([lead, lead * late(rows)], axis=1)


def path(known: Recorded, rows: Samples) -> Floats:
    names = ("gold 5", "gold 10", "xp 10")
    return np.stack([known.of(rows, name) / 1000 / root(rows) for name in names], axis=1)


def mean(known: Recorded, rows: Samples) -> Floats:
    return (known.of(rows, "mean") / 1000 / root(rows))[:, None]


def high_ground(known: Recorded, rows: Samples) -> Floats:
    return apart(known, rows, "towers_3", "towers_4", "barracks_melee", "barracks_range")


def fallen(known: Recorded, rows: Samples) -> Floats:
    towers = sum(known.of(rows, f"towers_{tier}").sum(axis=1) for tier in (1, 2, 3, 4)) / 10
    leads = [rows.column(f"radiant_{name}_adv") / 1000 for name in ("gold", "xp")]
    return np.stack([lead * towers for lead in leads], axis=1)


def barracks(known: Recorded, rows: Samples) -> Floats:
    taken = apart(known, rows, "barracks_melee", "barracks_range").sum(axis=1)
    lead = np.abs(rows.column("radiant_gold_adv")) / 10_000
    return np.stack([taken * lead, taken * late(rows)], axis=1)


def tiers(known: Recorded, rows: Samples) -> Floats:
    return apart(known, rows, *(f"items {low}" for low in TIERS[:-1]))


def items_late(known: Recorded, rows: Samples) -> Floats:
    names = [name for name in MINOR if name.startswith("has_")]
    return rows.columns(names) * (late(rows) - 0.8)[:, None]


def lost(known: Recorded, rows: Samples) -> Floats:
    return apart(known, rows, "lost") / 1000 / root(rows)[:, None]


def top_two(known: Recorded, rows: Samples) -> Floats:
    gold = known.of(rows, "ranked")
    part = gold[:, :, :2].sum(axis=2) / np.maximum(gold.sum(axis=2), 1.0)
    ahead = part[:, 0] - part[:, 1]
    return np.stack([ahead, ahead * late(rows), ahead * np.exp(-rows.column("t_min") / 15)], axis=1)


def bumps(known: Recorded, rows: Samples) -> Floats:
    near = [np.exp(-(((rows.column("t_min") - m) / 7) ** 2) / 2) for m in (5, 15, 25, 35, 45)]
    main = symmetric(rows)[:, : len(MAJOR)]
    return (main[:, :, None] * np.stack(near, axis=1)[:, None]).reshape(len(rows), -1)


def rich(known: Recorded, rows: Samples) -> Floats:
    return known.of(rows, "rich")


def rich_late(known: Recorded, rows: Samples) -> Floats:
    return rich(known, rows) * late(rows)[:, None]


_SOME = ((before, 1.0), (high_ground, 4.0), (lost, 4.0))
TRIED: dict[str, tuple[tuple[Callable[..., Floats], float], ...]] = {
    "leads x towers fallen": ((fallen, 1.0),),
    "barracks x lead, x time": ((barracks, 4.0),),
    "towers 3 and 4, barracks by kind": ((high_ground, 4.0),),
    "mean lead so far": ((mean, 1.0),),
    "leads 5 and 10 minutes ago": ((path, 1.0),),
    "lead 10 minutes ago, x time": ((before, 1.0),),
    "items by cost": ((tiers, 1.0),),
    "items by cost, tighter": ((tiers, 4.0),),
    "items x time": ((items_late, 64.0),),
    "gold lost": ((lost, 4.0),),
    "share of the top 2": ((top_two, 4.0),),
    "main columns by bumps of minutes, 8": ((bumps, 8.0),),
    "main columns by bumps of minutes, 32": ((bumps, 32.0),),
    "heroes of the two richest": ((rich, 64.0),),
    "heroes of the two richest, x time": ((rich, 64.0), (rich_late, 128.0)),
    "before, high ground, lost, bumps": (*_SOME, (bumps, 32.0)),
    "before, high ground, lost, rich": (*_SOME, (rich, 64.0)),
    "before, high ground, lost, bumps, rich": (*_SOME, (bumps, 32.0), (rich, 64.0)),
    "all of these, and rich x time": (*_SOME, (bumps, 64.0), (rich, 64.0), (rich_late, 128.0)),
}
"""What makes columns of rows, and how much tighter than main columns each block is held."""


def columns_tried(known: Recorded) -> dict[str, Wider]:
    """By name."""
    found = {}
    for name, blocks in TRIED.items():
        makes, held = zip(*blocks, strict=True)
        found[name] = Wider(tuple(partial(make, known) for make in makes), held)
    return found
