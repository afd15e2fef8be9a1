"""How good a prediction is, with intervals: whole matches are drawn anew, never rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy.games.dota.features.timeline import Floats, Ints

BAND = 5  # minutes


def log_losses(won: Floats, chance: Floats) -> Floats:
    """Of each row, in nats."""
    sure = np.clip(chance, 1e-6, 1 - 1e-6)
    return -(won * np.log(sure) + (1 - won) * np.log1p(-sure))


def auc(won: Floats, chance: Floats) -> float:
    """Chance that a won row is placed above a lost one; ties count half. NaN with one kind only."""
    order = np.argsort(chance, kind="stable")
    value = chance[order]
    first = np.flatnonzero(np.concatenate([[True], value[1:] != value[:-1]]))
    size = np.diff(np.append(first, len(value)))
    rank = np.empty(len(value))
    rank[order] = (first + (size + 1) / 2).repeat(size)
    wins = won.sum()
    losses = len(won) - wins
    if not wins or not losses:
        return float("nan")
    return float((rank[won > 0.5].sum() - wins * (wins + 1) / 2) / (wins * losses))


def rmse(truth: Floats, guess: Floats) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((truth - guess) ** 2)))


@dataclass(frozen=True)
class Difference:
    """One prediction's mean loss less another's; below 0: the first is better."""

    mean: float
    low: float
    """Lower end of the 95 % interval."""
    high: float


def difference(
    one: Floats, other: Floats, match_id: Ints, *, seed: int = 0, draws: int = 2000
) -> Difference:
    """Paired by row, drawn by match; the mean is over rows."""
    _, place = np.unique(match_id, return_inverse=True)
    total = np.bincount(place, one - other).astype(np.float64)
    rows = np.bincount(place).astype(np.float64)
    means = resampled(total, rows, seed, draws)
    low, high = np.quantile(means, [0.025, 0.975])
    return Difference(float(total.sum() / rows.sum()), float(low), float(high))


def resampled(total: Floats, rows: Floats, seed: int, draws: int) -> Floats:
    """Means over rows when matches are drawn with replacement; [draws]."""
    dice = np.random.default_rng(seed)
    found = []
    for start in range(0, draws, 250):
        size = min(250, draws - start)
        drawn = dice.multinomial(len(total), np.full(len(total), 1 / len(total)), size)
        found.append((drawn @ total) / (drawn @ rows))
    return np.concatenate(found)


def bands(minute: Floats, last: int = 60) -> dict[str, Any]:
    """Rows by five minutes: (0, 5], (5, 10] … and all beyond the last."""
    found = {}
    for start in range(0, last, BAND):
        found[f"{start + 1}-{start + BAND}"] = (minute > start) & (minute <= start + BAND)
    found[f"{last + 1}-"] = minute > last
    return {name: rows for name, rows in found.items() if rows.any()}


def reliability(
    won: Floats, chance: Floats, weight: Floats, bins: int = 10
) -> list[dict[str, Any]]:
    """Said and seen, by tenths of what was said."""
    place = np.minimum((chance * bins).astype(int), bins - 1)
    table = []
    for k in range(bins):
        rows = place == k
        if rows.any():
            share = weight[rows] / weight[rows].sum()
            table.append(
                {
                    "said": float(share @ chance[rows]),
                    "seen": float(share @ won[rows]),
                    "weight": float(weight[rows].sum() / weight.sum()),
                    "rows": int(rows.sum()),
                }
            )
    return table


def calibration_error(table: list[dict[str, Any]]) -> float:
    """Mean distance between said and seen."""
    return float(sum(row["weight"] * abs(row["said"] - row["seen"]) for row in table))
