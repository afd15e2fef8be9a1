"""From recordings of arena matches to samples: one row per decision of one player."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from understudy.data.samples import Decisions, decisions, pack_legal
from understudy.data.splits import splits_of
from understudy.games.arena import actions as codec
from understudy.games.arena import observe
from understudy.games.arena.record import actions_of, views_of

MOVES: Final[Decisions] = decisions("arena", "moves", 1, observe.FEATURES, codec.HEADS)
_FIRST_OPTION = np.cumsum([0, *codec.HEADS.values()])[:-1]


def encode(
    recordings: Mapping[str, pa.Table], players: frozenset[str] | None
) -> dict[str, pa.Table]:
    """Samples of these players' decisions (None: everybody's)."""
    matches, steps = recordings["matches"], recordings["steps"]
    outline = {row["match"]: row for row in matches.to_pylist()}
    match, slot = steps["match"].to_pylist(), steps["slot"].to_numpy()
    player = [outline[m][f"player_{s}"] for m, s in zip(match, slot.tolist(), strict=True)]
    if players is not None:
        wanted = np.array([name in players for name in player], bool)
        chosen = np.flatnonzero(wanted)
        steps, slot = steps.take(chosen), slot[chosen]
        match, player = [match[k] for k in chosen], [player[k] for k in chosen]
    return {"moves": _moves(steps, match, player, slot, outline)}


def _moves(
    steps: pa.Table,
    match: list[str],
    player: list[str],
    slot: "np.ndarray[Any, Any]",
    outline: Mapping[str, Mapping[str, Any]],
) -> pa.Table:
    views = views_of(steps)
    features = observe.features(views)
    choices = codec.encode(actions_of(steps))
    legal, chosen = observe.legal(views), choices + _FIRST_OPTION
    forbidden = (~np.take_along_axis(legal, chosen, axis=1)).sum(axis=1)
    # What was done was possible, whatever our rules say of it.
    np.put_along_axis(legal, chosen, True, axis=1)
    score = np.array([outline[m]["score"] or 0.0 for m in match], np.float32)
    # A match and its rematch share a seed and so a split; a log has no seed but its name.
    groups = (str(m if outline[m]["seed"] is None else outline[m]["seed"]) for m in match)
    return MOVES.table.build(
        {
            "match": match,
            "step": steps["step"],
            "slot": slot,
            "player": player,
            "split": splits_of(groups),
            **{name: features[:, k] for k, name in enumerate(observe.FEATURES)},
            **{name: choices[:, k].astype(np.int16) for k, name in enumerate(codec.HEADS)},
            "legal": pack_legal(legal),
            "forbidden": forbidden.astype(np.int16),
            "reward": steps["reward"],
            "outcome": np.where(slot == 0, score, -score),
            "extras": steps["extras"],
        }
    )


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
    for label, hits in (("won", outcome > 0), ("drawn", outcome == 0), ("lost", outcome < 0)):
        counts[f"outcome/{label}"] = int(hits.sum())
    for head, options in codec.HEADS.items():
        for option, count in enumerate(np.bincount(moves[head].to_numpy(), minlength=options)):
            counts[f"{head}/{option}"] = int(count)
    counts["violations"] = int((moves["forbidden"].to_numpy() > 0).sum())
    return counts
