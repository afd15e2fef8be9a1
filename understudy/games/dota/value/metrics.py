"""How good predictions are, row by row and as a whole; `data.stats` says how sure that is."""

from typing import Any

import numpy as np

from understudy.data.arrays import Floats

BAND = 5  # minutes


def log_losses(won: Floats, chance: Floats) -> Floats:
    """Of each row, in nats."""
    sure = np.clip(chance, 1e-6, 1 - 1e-6)
    return -(won * np.log(sure) + (1 - won) * np.log1p(-sure))


def auc(won: Floats, chance: Floats) -> float:
    """Chance that a won row is placed above a lost one; ties count half. NaN with one kind only."""
    from scipy.stats import rankdata  # half a second to import; advice does without

    rank = rankdata(chance)  # the rank sum of Mann and Whitney
    wins = won.sum()
    losses = len(won) - wins
    if not wins or not losses:
        return float("nan")
    return float((rank[won > 0.5].sum() - wins * (wins + 1) / 2) / (wins * losses))


def rmse(truth: Floats, guess: Floats) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((truth - guess) ** 2)))


def bands(minute: Floats, last: int = 60) -> dict[str, Any]:
    """Rows by five minutes: (0, 5], (5, 10] … and all beyond the last."""
    chosen = {}
    for start in range(0, last, BAND):
        chosen[f"{start + 1}-{start + BAND}"] = (minute > start) & (minute <= start + BAND)
    chosen[f"{last + 1}-"] = minute > last
    return {name: rows for name, rows in chosen.items() if rows.any()}


def reliability(
    won: Floats, chance: Floats, weight: Floats, bins: int = 10
) -> list[dict[str, Any]]:
    """Predicted and observed share of wins (`said`, `seen`), by tenths of what was predicted."""
    bin_of = np.minimum((chance * bins).astype(int), bins - 1)  # 1.0 belongs to the last bin
    table = []
    for k in range(bins):
        rows = bin_of == k
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
    """Mean distance between predicted and observed."""
    return float(sum(row["weight"] * abs(row["said"] - row["seen"]) for row in table))
