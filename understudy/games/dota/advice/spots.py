"""Where wards might go: spots apart from each other, each scored by itself.

How often others ward there in such a state, how long a ward stands there and how often it is taken
down; for observers the share of the view that no ward of ours has, for sentries the share of the
other side's observers that stand within reach.
"""

from typing import Any

import numpy as np

from understudy.data.arrays import Floats
from understudy.games.dota import facts
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.policies import own_wards, wards

SIDES = ("Radiant", "Dire")
KINDS = {"obs": "observer", "sen": "sentry"}
MOST_SPOTS = {"obs": 5, "sen": 3}
NEAR = 6.0
"""Cells of the map, along both axes: nearer to a ward of ours little is gained."""
APART = 12.0
"""Cells of the map between two spots of one list."""
SPOT = 5.0
"""Cells around a spot that count for it."""
VIEW, REACH = 12.5, 7.8
"""Cells that an observer sees, and within which a sentry shows what is hidden."""

_X, _Y = (np.array(part) for part in zip(*map(wards.centre_of, range(wards.SIZE)), strict=True))
_BETWEEN = np.hypot(_X[:, None] - _X, _Y[:, None] - _Y)


def ward_lines(
    context: MatchContext, models: Models, row: int, team: int, kind: str
) -> list[dict[str, Any]]:
    """The spots of one kind of ward for a side, the most usual first."""
    if kind not in models.wards:
        return []
    model, now = models.wards[kind], int(context.timeline.t[row])
    chance = model.spots.chances(situation(context, row, team, kind), model.asked)[0]
    around = (_BETWEEN < SPOT) @ chance
    standing = wards.standing(context.tables, team, now, kind)
    # Nearer than NEAR along both axes: one of ours sees it already.
    free = np.ones(wards.SIZE, bool)
    for x, y in standing:
        free &= np.maximum(np.abs(_X - x), np.abs(_Y - y)) >= NEAR
    lines: list[dict[str, Any]] = []
    while len(lines) < MOST_SPOTS[kind] and free.any():
        cell = int(np.argmax(np.where(free, chance, -1.0)))
        free &= _BETWEEN[cell] >= APART
        fate = model.fates
        worth = (
            {"fresh": fresh_view(cell, standing)}
            if kind == "obs"
            else {"finds": _finds(context, models, row, team, cell)}
        )
        lines.append(
            {
                "side": SIDES[team],
                "kind": KINDS[kind],
                "place": facts.place_at(float(_X[cell]), float(_Y[cell])),
                "x": float(_X[cell]),
                "y": float(_Y[cell]),
                "chance": float(around[cell]),
                "stands": float(fate.stands[team, cell]),
                "taken": float(fate.taken[team, cell]),
                **worth,
            }
        )
    return [line | {"why": _why(line)} for line in lines]


def situation(context: MatchContext, row: int, team: int, kind: str) -> wards.Placements:
    """A side about to place a ward, as the policy is asked."""
    match, now = context.timeline, int(context.timeline.t[row])
    sign = 1 - 2 * team
    gold = sign * match.advantage["gold"][row]
    state = context.samples.where(np.array([row]))
    towers = sum(state.column(f"towers_{tier}")[0] for tier in (1, 2, 3))
    # At now + 1, so that a ward of this very second is known.
    side = (context.outline["match_id"], team)
    same, rest = (
        wards.wards_of(context.tables, name).get(side, [])
        for name in (kind, "sen" if kind == "obs" else "obs")
    )
    own, other = own_wards.known_at(same, rest, now + 1)
    one = np.array([0])
    return wards.Placements(
        match_id=one,
        team=one + team,
        t=one + now,
        cell=one,
        ahead=one + (0 if gold <= -3000 else 2 if gold >= 3000 else 1),
        towers=one + int(np.clip(sign * towers, -3, 3) + 3),
        life=np.zeros(1),
        patch=one + context.outline["patch"],
        own=own[None],
        other=other[None],
    )


def fresh_view(cell: int, standing: list[tuple[float, float]]) -> float:
    """The share of what a ward there sees that no ward of ours sees; walls are not known."""
    seen = _BETWEEN[cell] < VIEW
    others = np.zeros(wards.SIZE, bool)
    for x, y in standing:
        others |= np.hypot(_X - x, _Y - y) < VIEW
    return float((seen & ~others).sum() / seen.sum())


def _finds(context: MatchContext, models: Models, row: int, team: int, cell: int) -> float:
    """The share of the other side's observers, by where such sides put them, within reach."""
    other = situation(context, row, 1 - team, "obs")
    blind = wards.Placements(
        **vars(other) | {name: np.full_like(getattr(other, name), np.nan) for name in _OWN}
    )  # where the other side's wards stand is not for us to know
    chance: Floats = models.wards["obs"].spots.chances(blind, wards.PLAIN)[0]
    return float(chance[_BETWEEN[cell] < REACH].sum())


_OWN = ("own", "other")


def _why(line: dict[str, Any]) -> str:
    words = f"stands {line['stands']:.0f} s, {line['taken']:.0%} taken down"
    if "fresh" in line:
        return f"{words}; {line['fresh']:.0%} of its view is new"
    return f"{words}; {line['finds']:.0%} of their observers stand in reach"
