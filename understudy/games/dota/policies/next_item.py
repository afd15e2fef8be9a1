"""Which item a player buys next: frequency tables of what others did, weighed by what is known.

Each table (by hero, by the items before, by time) gives every item a chance; a conditional logit
(McFadden 1974) weighs their logarithms together with how far an item's parts are bought and
whether it can be paid. Counts come from earlier matches than those the weights are fitted on. Owned
items are never proposed; a hero or an item never counted falls back to what everybody buys.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax

from understudy.data.arrays import Bools, Floats, Ints
from understudy.data.stats import newton
from understudy.games.dota.features.inventory import NOTHING, costs, goes_into, item_keys
from understudy.games.dota.policies.purchases import Decisions, completed, joined

BAND = 300
"""Seconds to a row of the frequency tables by time."""
BANDS = 12
_HEROES = 512


def _keys(rows: Decisions) -> dict[str, Ints]:
    """The row of each frequency table that a decision belongs to, as one number per decision."""
    size = len(item_keys()) + 1
    last, before = rows.last - NOTHING, rows.before_last - NOTHING
    band = np.clip(rows.t // BAND, 0, BANDS - 1)
    hero = np.clip(rows.hero, 0, _HEROES - 1)
    core = (rows.rank < CORES).astype(np.int64)
    role = hero * 2 + core
    return {
        "everybody": np.zeros(len(rows), np.int64),
        "time": band,
        "last": last,
        "hero": hero,
        "hero, time": hero * BANDS + band,
        "last two": last * size + before,
        "hero, last": hero * size + last,
        "hero, last two": (hero * size + last) * size + before,
        "hero, role": role,
        "hero, role, time": role * BANDS + band,
        "role, last": core * size + last,
        "hero, role, last": role * size + last,
        "rank, time": rows.rank * BANDS + band,
    }


CORES = 3
"""Of a side's five, by gold: those who may be taken for its cores."""
_PARENT = {
    "everybody": None,
    "time": "everybody",
    "last": "everybody",
    "hero": "everybody",
    "hero, time": "hero",
    "last two": "last",
    "hero, last": "hero",
    "hero, last two": "hero, last",
    "hero, role": "hero",
    "hero, role, time": "hero, role",
    "role, last": "last",
    "hero, role, last": "hero, last",
    "rank, time": "time",
}
"""What a row counted too seldom falls back to."""
FREQUENCY_TABLES = tuple(_PARENT)
OTHERS = (
    *("parts bought", "all parts bought", "missing gold", "cost"),
    *("wanted", "wanted at all", "demand as a part", "demand of what is begun"),
    *("mates have it", "foes have it", "can be paid", "cost by time"),
    *("put together", "put together by time", "cost by cash"),
)
PRIOR = 5.0
"""Decisions that the wider table counts for. Up: rarer rows are believed less."""


@dataclass(frozen=True)
class FrequencyTables:
    """How often each item was bought, by what was known."""

    counts: dict[str, dict[int, Floats]]
    """By the table's name and the row's number: [I]."""

    def chances(self, rows: Decisions) -> dict[str, Floats]:
        """[D, I] by each table, each smoothed by the wider one."""
        size = len(item_keys())
        chances: dict[str, Floats] = {}
        keys = _keys(rows)
        for name, parent in _PARENT.items():
            prior = np.full((len(rows), size), 1 / size) if parent is None else chances[parent]
            table, known = self.counts[name], np.zeros((len(rows), size))
            for key in np.unique(keys[name]).tolist():
                if key in table:
                    known[keys[name] == key] = table[key]
            total = known.sum(axis=1, keepdims=True)
            chances[name] = (known + PRIOR * prior) / (total + PRIOR)  # Dirichlet smoothing
        return chances


def count(rows: Decisions) -> FrequencyTables:
    """What was chosen how often, as frequency tables."""
    size = len(item_keys())
    counts: dict[str, dict[int, Floats]] = {}
    for name, keys in _keys(rows).items():
        values, line = np.unique(keys, return_inverse=True)
        table = np.bincount(line * size + rows.chosen, minlength=len(values) * size)
        lines = table.reshape(-1, size).astype(np.float32)
        counts[name] = dict(zip(values.tolist(), lines, strict=True))
    return FrequencyTables(counts)


def columns(frequencies: FrequencyTables, rows: Decisions) -> Floats:
    """[D, I, K]: all that is weighed."""
    chances = frequencies.chances(rows)
    parts = [np.log(chances[name]) for name in FREQUENCY_TABLES]
    known = _others(rows, chances["hero, role, time"])
    parts += [np.broadcast_to(known[name], rows.progress.shape) for name in OTHERS]
    return np.stack(parts, axis=2, dtype=np.float32)


def _others(rows: Decisions, likely: Floats) -> dict[str, Floats]:
    """What is weighed beside frequencies; `likely` is how likely each item is for such a hero."""
    # Gold: what the parts at hand have not paid for, less the cash.
    cost = np.stack([costs(), costs(earlier=True)])[rows.earlier.astype(int)]
    left, cash = cost * (1 - rows.progress), rows.cash[:, None]
    dear, whole = cost / 1000, completed().astype(np.float64)
    minutes = np.minimum(rows.t[:, None] / 600, 5.0)
    open_to = likely * ~rows.owned
    # A part is as likely as what takes it; where something is begun, as that which lacks it.
    as_part, begun = _of_parts(open_to, rows), _of_parts(open_to * rows.progress, rows)
    return {
        "parts bought": rows.progress,
        "all parts bought": (rows.progress > 0.99).astype(float),
        "missing gold": np.clip(left - cash, 0, None) / 1000,
        "cost": dear,
        "wanted": rows.wanted,
        "wanted at all": (rows.wanted > 0).astype(float),
        "demand as a part": np.log(as_part + 1e-4),
        "demand of what is begun": np.log(5 * begun * (rows.wanted > 0) + 1e-3),
        "mates have it": rows.mates,
        "foes have it": rows.foes,
        "can be paid": (left <= cash + SLACK).astype(float),
        "cost by time": dear * minutes,
        "put together": whole,
        "put together by time": whole * minutes,
        "cost by cash": dear * np.clip(cash / 1000, -1, 4),
    }


def _of_parts(wholes: Floats, rows: Decisions) -> Floats:
    """[D, I]: what is said of items, summed for each part that goes into them."""
    found = np.empty_like(wholes)
    for earlier in (False, True):
        chosen = rows.earlier == earlier
        found[chosen] = wholes[chosen] @ goes_into(earlier)
    return found


SLACK = 100  # gold; the estimate of cash is no better than this


@dataclass(frozen=True)
class NextItem:
    """The policy."""

    frequencies: FrequencyTables
    weights: Floats
    """One for each of FREQUENCY_TABLES and OTHERS."""

    def chances(self, rows: Decisions) -> Floats:
        """[D, I]; 0 for what is owned."""
        chances = [
            chances_among(columns(self.frequencies, part) @ self.weights, part.owned)
            for part in _chunks(rows)
        ]
        return np.concatenate(chances) if chances else np.zeros((0, len(item_keys())))


@dataclass(frozen=True)
class ItemPolicies:
    """What is bought next, and what for."""

    next: NextItem
    """The next purchase, a part or not."""
    goal: NextItem
    """The next purchase of what is kept."""
    kept: Bools
    """[I]: items that are kept; of the others most are built into something soon."""


def _chunks(rows: Decisions, size: int = 2000) -> Sequence[Decisions]:
    return [rows.where(slice(start, start + size)) for start in range(0, len(rows), size)]


def chances_among(score: Floats, owned: Any) -> Floats:
    """In proportion to exp(score), among what is not owned."""
    return np.asarray(softmax(np.where(owned, -np.inf, score), axis=1))


def fit(train: Decisions, val: Decisions, *, most: int = 12_000, seed: int = 0) -> NextItem:
    """Count in `train`, weigh on some of `val`, then count everything."""
    # Counted in other matches than weighed on: a table would be too sure of its own decisions.
    chosen = np.random.default_rng(seed).permutation(len(val))[:most]
    some = val.where(np.sort(chosen))
    known = np.concatenate([columns(count(train), part) for part in _chunks(some)])
    weights = _weigh(known, some)
    return NextItem(count(joined([train, val])), weights)


def _weigh(known: Floats, rows: Decisions, ridge: float = 1.0) -> Floats:
    """Weights that make the choices likeliest, by Newton's method from 'hero, last' alone."""
    start = np.zeros(known.shape[2])
    start[FREQUENCY_TABLES.index("hero, last")] = 1.0  # the baseline; the ridge pulls towards it
    here = np.arange(len(rows))

    def loss(tried: Floats) -> float:
        chance = chances_among(known @ tried, rows.owned)[here, rows.chosen]
        away = tried - start
        return float(-np.log(np.maximum(chance, 1e-300)).sum() + ridge / 2 * away @ away)

    def slopes(weights: Floats) -> tuple[Floats, Floats]:
        chance = chances_among(known @ weights, rows.owned)
        # Of a conditional logit: the gradient is expected less chosen, the Hessian the covariance.
        mean = np.einsum("di,dik->dk", chance, known)
        gradient = (mean - known[here, rows.chosen]).sum(axis=0) + ridge * (weights - start)
        square = np.zeros((len(weights), len(weights)))
        for some in range(0, len(rows), 500):  # all at once would take gigabytes
            block = slice(some, some + 500)
            flat = known[block].reshape(-1, len(weights)).astype(np.float64)
            square += (flat * chance[block].reshape(-1, 1)).T @ flat
        return gradient, square - mean.T @ mean + ridge * np.eye(len(weights))

    return newton(slopes, start, loss, rounds=30, tolerance=1e-4, shortest=1e-5, last="taken")


def baseline(frequencies: FrequencyTables, rows: Decisions, name: str = "hero, last") -> Floats:
    """[D, I]: one frequency table alone, owned items left out; what a policy must beat."""
    chances = []
    for part in _chunks(rows):
        chance = frequencies.chances(part)[name] * ~part.owned
        chances.append(chance / chance.sum(axis=1, keepdims=True))
    return np.concatenate(chances)


def ranks(chance: Floats, chosen: Ints) -> Ints:
    """The rank of what was chosen, 0 for the likeliest; ties count against it."""
    own = chance[np.arange(len(chosen)), chosen][:, None]
    return (chance >= own).sum(axis=1) - 1
