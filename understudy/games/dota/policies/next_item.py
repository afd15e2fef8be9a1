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

from understudy.data.arrays import Floats, Ints
from understudy.data.stats import newton
from understudy.games.dota.features.inventory import NOTHING, costs, item_keys
from understudy.games.dota.policies.purchases import Decisions

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
    return {
        "everybody": np.zeros(len(rows), np.int64),
        "time": band,
        "last": last,
        "hero": hero,
        "hero, time": hero * BANDS + band,
        "last two": last * size + before,
        "hero, last": hero * size + last,
        "hero, last two": (hero * size + last) * size + before,
    }


_PARENT = {
    "everybody": None,
    "time": "everybody",
    "last": "everybody",
    "hero": "everybody",
    "hero, time": "hero",
    "last two": "last",
    "hero, last": "hero",
    "hero, last two": "hero, last",
}
"""What a row counted too seldom falls back to."""
FREQUENCY_TABLES = tuple(_PARENT)
OTHERS = ("parts bought", "all parts bought", "missing gold", "cost")
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
    # Gold: what the parts at hand have not paid for, less the cash.
    missing = np.clip(costs() * (1 - rows.progress) - rows.cash[:, None], 0, None)
    parts = [np.log(chances[name]) for name in FREQUENCY_TABLES]
    parts += [rows.progress, (rows.progress > 0.99).astype(float), missing / 1000]
    parts.append(np.broadcast_to(costs() / 1000, rows.progress.shape))
    return np.stack(parts, axis=2).astype(np.float32)


@dataclass(frozen=True)
class NextItem:
    """The policy."""

    frequencies: FrequencyTables
    weights: Floats
    """One for each of HABITS and OTHERS."""

    def chances(self, rows: Decisions) -> Floats:
        """[D, I]; 0 for what is owned."""
        chances = [
            chances_among(columns(self.frequencies, part) @ self.weights, part.owned)
            for part in _chunks(rows)
        ]
        return np.concatenate(chances) if chances else np.zeros((0, len(item_keys())))


def _chunks(rows: Decisions, size: int = 4000) -> Sequence[Decisions]:
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
    both = Decisions(
        **{n: np.concatenate([getattr(train, n), getattr(val, n)]) for n in vars(train)}
    )
    return NextItem(count(both), weights)


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
        square = np.einsum("di,dik,dil->kl", chance, known, known, optimize=True)
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
