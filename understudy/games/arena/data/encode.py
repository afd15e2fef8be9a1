"""From recordings of arena matches to samples: one row per decision of one player."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.arrays import Array
from understudy.data.samples import Decisions, admitting, decisions, pack_legal
from understudy.data.splits import splits_of
from understudy.games.arena.codec import actions as codec
from understudy.games.arena.codec import features as observe
from understudy.games.arena.data.tables import actions_of, check_rules, views_of
from understudy.games.arena.sim import rules as r

MOVES: Final[Decisions] = decisions("arena", "moves", r.VERSION, observe.FEATURES, codec.HEADS)


def encode(
    recordings: Mapping[str, pa.Table], players: frozenset[str] | None
) -> dict[str, pa.Table]:
    """Samples of these players' decisions (None: everybody's)."""
    matches, steps = recordings["matches"], recordings["steps"]
    check_rules(steps)
    names = np.stack([_strings(matches["player_0"]), _strings(matches["player_1"])], axis=1)
    match = pc.index_in(steps["match"], value_set=matches["match"]).to_numpy()
    slot = steps["slot"].to_numpy()
    if players is not None:
        chosen = np.flatnonzero(np.isin(names, list(players))[match, slot])
        steps, match, slot = steps.take(chosen), match[chosen], slot[chosen]
    return {"moves": _moves(matches, steps, match, slot, names)}


def _moves(matches: pa.Table, steps: pa.Table, match: Array, slot: Array, names: Array) -> pa.Table:
    """`match` is each step's row in `matches`, `names` the two players of each match."""
    views = views_of(steps)
    features = observe.features(views)
    choices = codec.encode(actions_of(steps))
    legal, forbidden = admitting(MOVES, observe.legal(views), choices)
    score = pc.fill_null(matches["score"], np.nan).to_numpy()[match]
    # A match and its rematch share a seed and so a split; a log has no seed but its name.
    groups = pc.coalesce(matches["seed"].cast(pa.string()), matches["match"]).to_pylist()
    return MOVES.table.build(
        {
            "match": steps["match"],
            "step": steps["step"],
            "slot": slot,
            "player": names[match, slot],
            "split": np.array(splits_of(groups), object)[match],
            **{name: features[:, k] for k, name in enumerate(observe.FEATURES)},
            **{name: choices[:, k].astype(np.int16) for k, name in enumerate(codec.HEADS)},
            "legal": pack_legal(legal),
            "forbidden": forbidden,
            "reward": steps["reward"],
            "outcome": np.where(slot == 0, score, -score),
            "extras": steps["extras"],
        }
    )


def _strings(column: pa.ChunkedArray) -> Array:
    return np.array(column.to_pylist(), object)


def summarise(
    recordings: Mapping[str, pa.Table], samples: Mapping[str, pa.Table]
) -> dict[str, float]:
    """Counts for the sanity summary; they add up over shards."""
    matches, moves = recordings["matches"], samples["moves"]
    counts: dict[str, float] = {"matches": len(matches), "decisions": len(moves)}
    for row in pc.value_counts(matches["ending"]).to_pylist():
        counts[f"ending/{row['values']}"] = row["counts"]
    for name in ("split", "player"):
        for row in pc.value_counts(moves[name]).to_pylist():
            counts[f"{name}/{row['values']}"] = row["counts"]
    outcome = moves["outcome"].to_numpy()
    ends = {"won": outcome > 0, "drawn": outcome == 0, "lost": outcome < 0}
    for label, hits in (ends | {"unknown": np.isnan(outcome)}).items():
        counts[f"outcome/{label}"] = int(hits.sum())
    for head, options in codec.HEADS.items():
        for option, count in enumerate(np.bincount(moves[head].to_numpy(), minlength=options)):
            counts[f"{head}/{option}"] = int(count)
    counts["violations"] = int((moves["forbidden"].to_numpy() > 0).sum())
    return counts
