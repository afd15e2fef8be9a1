"""Who met whom and how it ended: one row per player per match, and win rates with intervals."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from understudy.data import shards
from understudy.data.runs import Run
from understudy.data.schema import Column, Table

SHARED = (
    Column("match", pa.string(), "which match"),
    Column("seed", pa.int64(), "what the match was drawn from; shared by those to compare it with"),
    Column("player", pa.string(), "whose row this is"),
    Column("slot", pa.int8(), "where it began"),
)
"""Columns that the results of every game have, beside `score`."""


def pair_results(game: str) -> Table:
    """The results of a game of two."""
    return Table(
        game,
        "results",
        1,
        f"understudy compete {game}",
        (
            *SHARED,
            Column("opponent", pa.string(), "whom it met"),
            Column("score", pa.float32(), "+1 won, 0 drawn, -1 lost, or a share of it"),
            Column("steps", pa.int32(), "how long the match took"),
            Column("ending", pa.string(), "how it ended"),
        ),
    )


def both_sides(table: Table, matches: pa.Table) -> pa.Table:
    """Two rows per match of a game of two, one from each player's side.

    `matches` has a row per match, whose score is that of `player_0`.
    """
    twice = matches.take(np.repeat(np.arange(len(matches)), 2))
    slot = np.tile(np.array([0, 1], np.int8), len(matches))
    names = np.array([twice[f"player_{side}"].to_pylist() for side in (0, 1)], object)
    row = np.arange(len(twice))
    return table.build(
        {
            **{name: twice[name] for name in ("match", "seed", "steps", "ending")},
            "player": names[slot, row],
            "opponent": names[1 - slot, row],
            "slot": slot,
            "score": twice["score"].to_numpy() * np.array([1, -1], np.float32)[slot],
        }
    )


def read_results(folder: Path, table: Table) -> pa.Table:
    """All results in one folder of a compete."""
    return pa.concat_tables(shards.read_shard(p, table) for p in shards.shard_paths(folder, table))


def results_of(run: Run, table: Table) -> dict[str, pa.Table]:
    """All results of a run, by the folder they lie in."""
    folders = sorted({path.parent for path in run.results.glob(f"*/{table.name}-*.parquet")})
    return {folder.name: read_results(folder, table) for folder in folders}


@dataclass(frozen=True)
class WinRate:
    """How one player fares against another."""

    player: str
    opponent: str
    matches: int
    wins: float
    """Share of matches won."""
    draws: float
    points: float
    """Share won plus half the share drawn."""
    low: float
    """Lower end of the 95 % interval of `points`."""
    high: float
    wins_low: float
    wins_high: float
    """95 % interval of `wins`."""


def win_rates(results: pa.Table, *, seed: int = 0, resamples: int = 1000) -> list[WinRate]:
    """One per ordered pair of players, with bootstrap intervals.

    The unit drawn is the seed: a match and its rematch with sides swapped stay together.
    """
    player = np.asarray(results["player"].to_pylist())
    opponent = np.asarray(results["opponent"].to_pylist())
    score = results["score"].to_numpy()
    match_seed = results["seed"].to_numpy()
    pairs = sorted({*zip(player.tolist(), opponent.tolist(), strict=True)})
    rates = []
    for one, other in pairs:
        rows = (player == one) & (opponent == other)
        rates.append(_win_rate(one, other, score[rows], match_seed[rows], seed, resamples))
    return rates


def _win_rate(
    player: str,
    opponent: str,
    score: "np.ndarray[Any, Any]",
    match_seed: "np.ndarray[Any, Any]",
    seed: int,
    resamples: int,
) -> WinRate:
    won, drawn = score > 0, score == 0
    points = won + 0.5 * drawn
    _, group = np.unique(match_seed, return_inverse=True)
    low, high = _bootstrap(points, group, seed, resamples)
    wins_low, wins_high = _bootstrap(won, group, seed, resamples)
    return WinRate(
        player=player,
        opponent=opponent,
        matches=len(score),
        wins=float(won.mean()),
        draws=float(drawn.mean()),
        points=float(points.mean()),
        low=low,
        high=high,
        wins_low=wins_low,
        wins_high=wins_high,
    )


def _bootstrap(
    values: "np.ndarray[Any, Any]", group: "np.ndarray[Any, Any]", seed: int, resamples: int
) -> tuple[float, float]:
    """95 % interval of the mean of `values`, drawing whole groups; never narrower than Wilson's.

    All wins or all losses leave a bootstrap no spread at all; Wilson's interval keeps it honest.
    """
    total = np.bincount(group, weights=values.astype(np.float64))
    count = np.bincount(group).astype(np.float64)
    drawn = np.random.default_rng(seed).multinomial(
        len(total), np.full(len(total), 1 / len(total)), size=resamples
    )
    means = (drawn @ total) / (drawn @ count)
    low, high = np.quantile(means, [0.025, 0.975])
    wilson_low, wilson_high = wilson(float(total.sum()), len(values))
    return float(min(low, wilson_low)), float(max(high, wilson_high))


def wilson(successes: float, trials: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share (Wilson 1927); all of [0, 1] without trials."""
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = share + z * z / (2 * trials)
    spread = z * np.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, float((centre - spread) / scale)), min(1.0, float((centre + spread) / scale))
