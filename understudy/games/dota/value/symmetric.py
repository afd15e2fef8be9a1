"""Regression that changes to the opposite when the sides swap, but for one constant.

That constant favours a side. Features that each say little are held closer to 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.data.arrays import Floats
from understudy.games.dota.features import features as observe
from understudy.games.dota.features.encode import names_of
from understudy.games.dota.features.features import hero_names
from understudy.games.dota.features.samples import ALL_NAMES, Samples
from understudy.games.dota.value.linear import (
    CHANGES,
    Fitted,
    Linear,
    fit_linear,
    fit_logistic,
    standard_errors,
)

MINOR = tuple(
    name
    for name in ALL_NAMES
    if name in {*names_of("items"), *names_of("vision"), *names_of("skirmish")}
    or name in {"roshans", "aegis", "first_blood", "couriers"}
    or (name.startswith(("gold_adv_change_", "xp_adv_change_")) and not name.endswith("_3"))
    if name not in observe.EVEN and name not in {"spent", "unspent", "big_items"}
)
"""Features that each say little: they are held closer to 0."""

HEROES = hero_names()
"""Whoever plays: what a hero adds to what the minute shows. Seen seldom, held tightest."""

LAST = 60.0
"""The minute after which a lead grows no further in what it says; few matches last as long."""
RANKS = (1, 2, 5)
"""Of a side's five by gold, each beside the other side's of the same rank."""


def symmetric(samples: Samples) -> Floats:
    """Columns that change their sign when the sides swap, the ones that matter most first."""
    minute = samples.column("t_min")
    # Half hours, but a lead says no more after LAST than then; never a division by 0.
    late, safe = np.minimum(minute, LAST) / 30, np.maximum(minute, 1.0)
    early, root = np.exp(-minute / 15), np.sqrt(safe)
    all_gold = np.sqrt(np.maximum(samples.column("gold_total") / 1000, 1.0))
    parts = []
    for name in ("gold", "xp"):
        # A lead means another thing by time, and by how much gold there is in all.
        lead = samples.column(f"radiant_{name}_adv") / 1000
        parts += [lead, lead * late, lead / all_gold, lead / root]
        parts.append(samples.column(f"{name}_adv_change_3") / 1000)
    parts.append(sum_of(samples, ("towers_1", "towers_2", "towers_3", "towers_4")))
    parts.append(sum_of(samples, ("barracks_melee", "barracks_range")))
    # What was known of the teams before may matter more early than late: the fit decides.
    strength = samples.column("strength_teams")
    parts += [strength, strength * early, strength * late]
    # A team often seen is better than one that was not, whatever its rating has learnt of it.
    experience = samples.column("strength_experience")
    parts += [experience, experience * early]
    # Whether the gold lies with those who carry or with those who support.
    parts += [samples.column(f"gold_rank_{rank}") / 1000 / root for rank in RANKS]
    major = np.stack(parts, axis=1)
    return np.concatenate([major, samples.columns((*MINOR, *HEROES)).astype(np.float64)], axis=1)


MAJOR = (
    *("gold", "gold x time", "gold / root of all gold", "gold / root of time", "gold change"),
    *("xp", "xp x time", "xp / root of all gold", "xp / root of time", "xp change"),
    *("towers", "barracks", "strength", "strength early", "strength x time"),
    *("experience", "experience early"),
    *(f"gold of rank {rank} / root of time" for rank in RANKS),
)
"""What the first columns are, for people."""


def sum_of(samples: Samples, names: Sequence[str]) -> Floats:
    """Of some features."""
    return samples.columns(names).sum(axis=1).astype(np.float64)


@dataclass(frozen=True)
class Symmetric:
    """Ridge regression on columns that change sign with the sides; some are held tighter."""

    ridge: float = 30.0
    """Weight of the prior in matches. Up: nearer to even."""
    tighter: float = 16.0
    """How much more the prior weighs for minor features; twice that for heroes."""
    labels: tuple[str, ...] = CHANGES
    """The changes it predicts beside the chance."""

    def fit(self, train: Samples, val: Samples, seed: int) -> Fitted:
        """Columns are brought to a root mean square of 1 before they are penalised."""
        known, weight = symmetric(train), train.weights()
        scale = np.sqrt((known**2).mean(axis=0))
        scale[scale == 0] = 1.0  # a column of zeros; its weight stays 0
        known = known / scale
        held = (1.0, self.tighter, 2 * self.tighter)
        penalty = self.ridge * np.repeat(held, (len(MAJOR), len(MINOR), len(HEROES)))
        won = fit_logistic(known, train.labels["y_win"], weight, penalty)
        changes = {
            label: fit_linear(known, train.labels[label], weight, penalty) for label in self.labels
        }
        weights = {"y_win": won, **changes}
        scale = np.append(scale, 1.0)  # the constant's; weights go back to the columns' own units
        errors = standard_errors(known, won, weight, penalty) / scale
        return Linear(symmetric, {n: w / scale for n, w in weights.items()}, errors)
