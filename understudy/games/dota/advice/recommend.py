"""What to do next at one minute of a match: items to buy, spots to ward, objectives to take.

Candidates are what others did in such a state and the rules allow (`candidates.py`); the value
model says what it thinks of each, with its own error. That is a view and no proof: nothing was
gained for sure by those who followed (`docs/log.md`), and every advice says so. Where the state is
beyond what the models were trained on, there is no advice but the reason.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.games.dota.advice import candidates, spots
from understudy.games.dota.advice.buying import as_columns, item_lines
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.advice.spots import SIDES
from understudy.games.dota.features.deaths import level_of
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.value.checkpoint import ValueDelta

VIEW = (
    "model: points of a hundred by which the value model sees the chance to win change, ± its own "
    "error; an item beside the same gold spent as others spend it, what is taken without the gold, "
    "time and risk of taking it. An opinion, no proof: followers of such advice were not shown to "
    "win more"
)


@dataclass(frozen=True)
class Advice:
    """All the advice on one minute."""

    match_id: int
    minute: int
    patch: str
    trained_on: tuple[str, ...]
    chance: float | None
    """That Radiant wins; None without advice."""
    reasons: list[str] = field(default_factory=list)
    """Why there is no advice, or why to be careful."""
    items: list[dict[str, Any]] = field(default_factory=list)
    wards: list[dict[str, Any]] = field(default_factory=list)
    objectives: list[dict[str, Any]] = field(default_factory=list)
    ahead: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    """Changes of Radiant's leads in three minutes, with bounds of 80 %; by label."""
    view: str = VIEW
    """What the model's numbers mean."""


def advise(
    context: MatchContext,
    models: Models,
    minute: int,
    player: int | None = None,
    by: str = "frequency",
) -> Advice:
    """All players of the match, or one by slot; items in the order of `buying.ORDERS`."""
    row = context.row_at(minute)
    now = context.samples.where(np.array([row]))
    trained = models.value.patches
    known = (context.outline["match_id"], minute, context.patch, trained)
    if strange := models.value.out_of_range(now):
        return Advice(*known, None, [f"no advice: {word}" for word in strange])
    chance = float(models.value.chance(now)[0])
    slots = range(10) if player is None else (player,)
    teams = sorted({slot // 5 for slot in slots})
    return Advice(
        *known,
        chance,
        _cautions(context, trained),
        [line for slot in slots for line in item_lines(context, models, row, slot, by)],
        [
            line
            for team in teams
            for kind in spots.KINDS
            for line in spots.ward_lines(context, models, row, team, kind)
        ],
        [line for team in teams for line in _objectives(context, models, row, team)],
        models.value.changes_ahead(now),
    )


def _cautions(context: MatchContext, trained: tuple[str, ...]) -> list[str]:
    words = []
    if context.patch not in trained:
        words.append(f"trained on {', '.join(trained)}; this is {context.patch}, so be careful")
    if context.strength is None:
        words.append("earlier matches of these teams are not at hand: taken as equally strong")
    return words


# --- objectives ----------------------------------------------------------------------------------


def _objectives(context: MatchContext, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    """What may be taken, by what the model thinks of having taken it."""
    state = context.samples.where(np.array([row]))
    gap = _strength_gap(context, row, team)
    lines = []
    for one in candidates.objectives(context.timeline, int(context.timeline.t[row]), team):
        delta = _value_delta(models, state, one.changes, team)
        why = f"{gap}; {one.caution}" if one.caution else gap
        line = {"side": SIDES[team], "take": one.name, **as_columns(delta)}
        lines.append(line | {"lane": one.lane, "why": why})
    return sorted(lines, key=lambda line: -line["gain"])


def _value_delta(
    models: Models, state: Samples, changes: candidates.Changes, team: int
) -> ValueDelta:
    after = state.altered([candidates.for_side(changes, team)])
    return models.value.value_deltas(after, state, team)[0]


def _strength_gap(context: MatchContext, row: int, team: int) -> str:
    """Levels and the dead decide whether something can be taken now."""
    level = level_of(context.timeline.players["xp"][row]).reshape(2, 5).sum(axis=1)
    dead = (1 - 2 * team) * context.samples.column("dead")[row]
    gap = int(level[team] - level[1 - team])
    word = f"{abs(gap)} level{'s' * (abs(gap) != 1)} {'ahead' if gap >= 0 else 'behind'}"
    return (
        f"{word}, {abs(dead):.0f} more of {'theirs' if dead > 0 else 'ours'} dead" if dead else word
    )
