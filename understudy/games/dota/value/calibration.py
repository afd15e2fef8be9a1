"""Bring a model's predictions in line with a few matches of a new patch.

All rows together weigh as many as there are matches, because the minutes of a match are not
independent. `shrunk` starts from "the model is right" and moves only as far as the matches insist;
`cautious` moves at all only where matches left out of the fit agree that it helps. It is the one to
use: most new patches leave a good model as it is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.data.stats import logistic, logit, newton
from understudy.games.dota.value.metrics import log_losses

Calibration = Callable[[Floats], Floats]
"""Chances to better chances."""
Method = Callable[[Floats, Floats, Floats, Ints], Calibration]
"""From results, chances, weights and matches of some rows."""

SLOPE_STD = 0.15
"""How far from 1 the slope of a new patch is expected to be, one standard deviation."""
SHIFT_STD = 0.10
"""How far from 0 the shift is expected to be, in log odds."""
BIAS_STD = 60.0
"""How far from 0 the bias of a change is expected to be, in gold or experience."""


def none(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """Zero-shot: as the model says."""
    return lambda chances: chances


def intercept(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """A shift in log odds."""
    return _scaled(won, chance, weight, np.inf, 0.0)


def platt(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """A slope and a shift in log odds (Platt 1999)."""
    return _scaled(won, chance, weight, 0.0, 0.0)


def shrunk(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """Slope and shift with a prior that the model is right."""
    return _scaled(won, chance, weight, SLOPE_STD**-2, SHIFT_STD**-2)


def _scaled(
    won: Floats, chance: Floats, weight: Floats, slope_prior: float, shift_prior: float
) -> Calibration:
    """The slope and shift that are likeliest under normal priors around 1 and 0."""
    slope, shift = slope_and_shift(won, chance, weight, slope_prior, shift_prior)
    return lambda chances: logistic(slope * logit(chances) + shift)


def slope_and_shift(
    won: Floats,
    chance: Floats,
    weight: Floats,
    slope_prior: float = 0.0,
    shift_prior: float = 0.0,
) -> tuple[float, float]:
    """By Newton's method; an infinite prior on the slope fixes it at 1."""
    score = logit(chance)
    fixed = np.isinf(slope_prior)
    known = np.stack([score, np.ones_like(score)], axis=1)
    prior = np.array([0.0 if fixed else slope_prior, shift_prior]) + 1e-6
    centre = np.array([1.0, 0.0])

    def slopes(beta: Floats) -> tuple[Floats, Floats]:
        guess = logistic(known @ beta)
        gradient = known.T @ (weight * (guess - won)) + prior * (beta - centre)
        curve = weight * np.maximum(guess * (1 - guess), 1e-9)
        hessian = (known * curve[:, None]).T @ known + np.diag(prior)
        if fixed:  # the slope's row becomes "no step", so Newton moves the shift alone
            gradient[0], hessian[0] = 0.0, (1.0, 0.0)
            hessian[1, 0] = 0.0
        return gradient, hessian

    slope, shift = newton(slopes, centre, rounds=50, tolerance=1e-9, longest=1.0)
    return float(slope), float(shift)


def isotonic(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """Any rising curve, by pooling neighbours that are out of order (Ayer et al. 1955)."""
    order = np.argsort(chance, kind="stable")
    at, mean, heavy = chance[order], won[order].astype(float), weight[order].astype(float)
    blocks: list[list[float]] = []  # mean, weight, rows
    for value, w in zip(mean.tolist(), heavy.tolist(), strict=True):
        blocks.append([value, w, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            value, w, rows = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + value * w) / (last[1] + w)
            last[1] += w
            last[2] += rows
    level = np.concatenate([np.full(int(rows), value) for value, _, rows in blocks])
    level = np.clip(level, 0.01, 0.99)  # a few matches never prove certainty
    return lambda chances: np.interp(chances, at, level)


FOLDS = 5
SURE = 1.64
"""Standard errors by which a change must help before it is believed."""


def cautious(won: Floats, chance: Floats, weight: Floats, match_id: Ints) -> Calibration:
    """`shrunk`, if it helps matches left out of the fit by more than luck explains; else none."""
    gain, error = gain_left_out(won, chance, weight, match_id)
    return (shrunk if gain > SURE * error else none)(won, chance, weight, match_id)


def gain_left_out(
    won: Floats, chance: Floats, weight: Floats, match_id: Ints
) -> tuple[float, float]:
    """What `shrunk` takes off the loss of matches left out of its fit, and one standard error.

    Both are means over rows by their weight.
    """
    numbers, match = np.unique(match_id, return_inverse=True)
    gain = np.zeros(len(won))
    for fold in range(FOLDS):
        held = match % FOLDS == fold  # whole matches, never some of their rows
        if held.all() or not held.any():
            return 0.0, 0.0  # nothing can be left out
        fitted = shrunk(won[~held], chance[~held], weight[~held], match_id[~held])
        before, after = chance[held], fitted(chance[held])
        gain[held] = log_losses(won[held], before) - log_losses(won[held], after)
    by_match = np.bincount(match, weight * gain)
    error = by_match.std(ddof=1) * np.sqrt(len(numbers))  # of the sum over matches
    return float(by_match.sum() / weight.sum()), float(error / weight.sum())


def row_weights(match_id: Ints) -> Floats:
    """Rows weigh alike, as in the loss that is reported, and together as many as the matches."""
    return np.full(len(match_id), len(np.unique(match_id)) / max(len(match_id), 1))


METHODS: dict[str, Method] = {
    "zero-shot": none,
    "intercept": intercept,
    "platt": platt,
    "isotonic": isotonic,
    "shrunk": shrunk,
    "cautious": cautious,
}
CHOSEN = "cautious"


def bias(truth: Floats, guess: Floats, match_id: Any) -> tuple[float, float]:
    """What to add to a predicted change: plainly, and with caution.

    With caution it is 0 within two standard errors of 0, and shrunk beyond.
    """
    _, match = np.unique(match_id, return_inverse=True)
    rows = np.bincount(match)
    means = np.bincount(match, truth - guess) / rows
    plain = float(means.mean())
    variance = float(means.var(ddof=1)) / len(means) if len(means) > 1 else np.inf
    if plain**2 <= 4 * variance:
        return plain, 0.0
    # The mean of a normal posterior whose prior is 0 ± BIAS_STD.
    return plain, plain * BIAS_STD**2 / (BIAS_STD**2 + variance)
