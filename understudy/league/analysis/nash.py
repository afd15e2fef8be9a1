"""Strength where players beat each other in circles: mixtures of them, and whole populations.

Choosing a player is itself a game, whose payoff is the win rate. Its Nash mixture is the choice
that nobody in the population beats; its shares say who matters (Balduzzi et al. 2018, 2019).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from scipy.optimize import linprog, minimize
from scipy.special import softmax

SLACK = 1e-4  # win rate by which a mixture may be beaten; exact answers need not be unique


def nash(win_rate: Float[np.ndarray, "N N"], slack: float = SLACK) -> Float[np.ndarray, " N"]:
    """The mixture of greatest entropy that no player beats by more than `slack`.

    Entropy makes it unique: players alike get shares alike. With edge = win rate - 1/2, we seek
    shares p of greatest entropy with p @ edge >= -slack. Its dual is smooth: p = softmax(edge @ y)
    where y >= 0 minimises logsumexp(edge @ y) + slack * sum(y).
    """
    size = len(win_rate)
    if size < 2:
        return np.ones(size)
    edge = (win_rate - win_rate.T) / 2

    def dual(y: Float[np.ndarray, " N"]) -> tuple[float, Float[np.ndarray, " N"]]:
        lean = edge @ y
        top = lean.max()
        share = np.exp(lean - top)
        total = share.sum()
        value = top + np.log(total) + slack * y.sum()
        return float(value), edge.T @ (share / total) + slack

    found = minimize(
        dual,
        np.zeros(size),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * size,
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-7},
    )
    return np.asarray(softmax(edge @ found.x))


def beaten_by(win_rate: Float[np.ndarray, "N N"], mixture: Float[np.ndarray, " N"]) -> float:
    """The best win rate any player of the population has against a mixture of it."""
    return float((win_rate @ mixture).max())


def relative_performance(win_rate: Float[np.ndarray, "N M"]) -> float:
    """How one population fares against another when both choose at best (Balduzzi et al. 2019).

    `win_rate[i, j]` is that of player i of the one against player j of the other. The answer is
    the value of that game, a win rate: above a half, the one population is ahead.
    """
    rows, columns = win_rate.shape
    if not rows or not columns:
        raise ValueError("a population without players has no performance")
    # Variables: the shares of the rows, and the win rate they are sure of, which is maximised.
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-win_rate.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=np.r_[np.ones(rows), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(0, 1)],
        method="highs",
    )
    assert found.fun is not None  # there is always a mixture, and its win rate is bounded
    return float(-found.fun)


def shares_by_name(
    names: Sequence[str], mixture: Float[np.ndarray, " N"], least: float = 1e-3
) -> Mapping[str, float]:
    """The shares worth naming."""
    return {
        name: float(share) for name, share in zip(names, mixture, strict=True) if share >= least
    }
