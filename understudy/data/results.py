"""Who met whom and how it ended: one row per player per match, and win rates with intervals."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data import shards
from understudy.data.arrays import Array
from understudy.data.runs import Run
from understudy.data.schema import Column, Table
from understudy.data.stats import Estimate, as_share, cluster_bootstrap, paired_difference

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
    """How one player fares against another, in shares of their matches."""

    player: str
    opponent: str
    wins: Estimate
    draws: float
    points: Estimate
    """Share won plus half the share drawn."""

    @property
    def matches(self) -> int:
        """How many there were."""
        return self.points.n or 0

    def to_json(self) -> dict[str, Any]:
        """One flat row; `low` and `high` bound `points`."""
        return {
            "player": self.player,
            "opponent": self.opponent,
            "matches": self.matches,
            "wins": self.wins.value,
            "draws": self.draws,
            **self.points.named("points"),
            "wins_low": self.wins.low,
            "wins_high": self.wins.high,
        }


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
        won, drawn = score[rows] > 0, score[rows] == 0
        wins, points = (
            _share(values, match_seed[rows], seed, resamples) for values in (won, won + 0.5 * drawn)
        )
        rates.append(WinRate(one, other, wins, float(drawn.mean()), points))
    return rates


def _share(values: Array, cluster: Array, seed: int, resamples: int) -> Estimate:
    found = cluster_bootstrap(values, cluster, seed=seed, resamples=resamples)
    return as_share(found, float(values.sum()), len(values))


class Paired(NamedTuple):
    """How two players differ where all else was equal."""

    against: str
    """Whom both met; "the same company" where there were several."""
    gap: Estimate
    """The first one's score less the other's."""


FEWEST_SEEDS = 5
"""That must be shared: drawing from fewer says nothing."""
_COMPANY = ("field", "run", "level", "levels")
"""Columns that tell places of one seed and slot apart, in games of many."""


def paired_scores(
    one: pa.Table, other: pa.Table, player: str, rival: str, *, seed: int = 0
) -> Iterator[Paired]:
    """`player` in one table beside `rival` in the other, at seeds and slots that both played.

    Of a game of two, opponent by opponent. A difference is that of the means of one place; places
    of one seed are drawn together.
    """
    mine, theirs = _places(one, player), _places(other, rival)
    shared = mine.keys() & theirs.keys()
    for against in sorted({key[0] for key in shared}):
        keys = sorted(key for key in shared if key[0] == against)
        seeds = np.array([key[1] for key in keys])
        if len(set(seeds.tolist())) >= FEWEST_SEEDS:
            ours, others = (
                np.array([np.mean(where[key]) for key in keys]) for where in (mine, theirs)
            )
            gap = paired_difference(ours, others, seeds, seed=seed)
            yield Paired(against, Estimate(gap.value, gap.low, gap.high, len(keys)))


def _places(table: pa.Table, player: str) -> dict[tuple[Any, ...], list[float]]:
    """A player's scores by where it stood: opponent or company, seed, slot, and what else."""
    rows = table.filter(pc.equal(table["player"], player)).to_pylist()
    found = dict[tuple[Any, ...], list[float]]()
    for row in rows:
        if row.get("competes", True) and np.isfinite(row["score"]):
            key = row.get("opponent") or "the same company", row["seed"], row["slot"]
            company = tuple(row[name] for name in _COMPANY if name in row)
            found.setdefault((*key, *company), []).append(row["score"])
    return found
