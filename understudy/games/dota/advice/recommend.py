"""What to do next at one minute of a match: items to buy, spots to ward, objectives to take.

Candidates are what others did in such a state and the rules allow (`candidates.py`); the value
model says what it thinks of each, with its own error. That is a view and no proof: nothing was
gained for sure by those who followed (`docs/log.md`), and every advice says so. Where the state is
beyond what the models were trained on, there is no advice but the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.games.dota import facts
from understudy.games.dota.advice import candidates
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.features.deaths import level_of
from understudy.games.dota.features.inventory import Inventory, depth
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.policies import purchases
from understudy.games.dota.policies import wards as ward_spots
from understudy.games.dota.value.checkpoint import ValueDelta

SIDES = ("Radiant", "Dire")
CONSIDERED, MOST_ITEMS, MOST_SPOTS = 6, 3, 5
SLACK = 300  # gold; the estimate of cash is no better than this
NEAR = 6.0
"""Cells of the map; an observer sees twice as far, so nearer to one of ours little is gained."""
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
    """All players of the match, or one by slot; items in the order of `ORDERS`."""
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
        [line for team in teams for line in _wards(context, models, row, team)],
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


# --- items ---------------------------------------------------------------------------------------


ORDERS: dict[str, Callable[[candidates.ItemChoice], float]] = {
    "frequency": lambda choice: -choice.chance,
    "value": lambda choice: -choice.value_delta.gain,
}
"""What comes first: what others buy most, or, of the few they buy most, what the model likes."""


def item_lines(
    context: MatchContext, models: Models, row: int, slot: int, by: str = "frequency"
) -> list[dict[str, Any]]:
    """What a player might buy next, the first choice first."""
    now = int(context.timeline.t[row])
    held = held_at(context, slot, now)
    # At now + 1, so that a death in this very second has taken its gold.
    cash = max(0.0, context.gold_estimate.left(0, slot, now + 1) - held.spent)
    allowed = candidates.possible(models.items.frequencies, held, now)
    chance = models.items.chances(_decision(context, held, slot, now, cash))[0]
    state = context.samples.where(np.array([row]))
    choices = candidates.item_choices(
        models.value, state, held, chance, allowed, slot // 5, CONSIDERED
    )
    pace = _income(context, row, slot)
    return [
        {
            "slot": slot,
            "hero": context.hero(slot),
            "item": facts.items()[choice.key].name,
            "key": choice.key,
            "chance": choice.chance,
            **_as_columns(choice.value_delta),
            "left_to_pay": round(choice.left),
            "cash": round(cash),
            "why": _why(choice, cash, pace),
        }
        for choice in sorted(choices, key=ORDERS[by])[:MOST_ITEMS]
    ]


def held_at(context: MatchContext, slot: int, now: int) -> Inventory:
    """What a player has bought by a second."""
    held, bought = Inventory(), context.timeline.events["purchase"]
    mine = (bought.slot == slot) & (bought.t <= now)
    things = zip(bought.t[mine].tolist(), bought.key.filter(mine).to_pylist(), strict=True)
    for _, key in sorted(things, key=lambda thing: (thing[0], depth(thing[1]))):
        held.add(key)
    return held


def _as_columns(delta: ValueDelta) -> dict[str, Any]:
    return {"model": str(delta), "gain": delta.gain, "error": delta.error}


def _why(choice: candidates.ItemChoice, cash: float, pace: float) -> str:
    """What is left to pay, how much of it was, and when the rest is there."""
    left = round(choice.left)
    paid = 1 - choice.left / facts.items()[choice.key].cost
    words = f"{left:,} gold left" + (f", {paid:.0%} at hand" if paid > 0.005 else "")
    if left <= cash + SLACK:
        return f"{words}: can be paid"
    return f"{words}: in {(left - cash) / pace:.0f} min" if pace > 0 else words


def _income(context: MatchContext, row: int, slot: int) -> float:
    """Gold a minute over the last five."""
    gold = context.timeline.players["gold"][:, slot]
    back = min(row, 5)
    return float(gold[row] - gold[row - back]) / max(back, 1)


def _decision(
    context: MatchContext, held: Inventory, slot: int, now: int, cash: float
) -> purchases.Decisions:
    one = np.array([0])
    return purchases.Decisions(
        match_id=one + context.outline["match_id"],
        start_time=one + context.outline["start_time"],
        slot=one + slot,
        hero=context.timeline.heroes[:1, slot],
        t=one + now,
        chosen=one,
        last=one + held.last,
        before_last=one + held.before_last,
        owned=held.owned[None],
        progress=held.progress[None],
        cash=np.array([cash]),
    )


# --- wards and objectives ------------------------------------------------------------------------


def _wards(context: MatchContext, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    match, now = context.timeline, int(context.timeline.t[row])
    sign = 1 - 2 * team
    gold = sign * match.advantage["gold"][row]
    state = context.samples.where(np.array([row]))
    towers = sum(state.column(f"towers_{tier}")[0] for tier in (1, 2, 3))
    one = np.array([0])
    placement = ward_spots.Placements(
        match_id=one,
        team=one + team,
        t=one + now,
        cell=one,
        ahead=one + (0 if gold <= -3000 else 2 if gold >= 3000 else 1),
        towers=one + int(np.clip(sign * towers, -3, 3) + 3),
        life=np.zeros(1),
    )
    chance = models.wards.chances(placement)[0]
    delta = _value_delta(models, state, candidates.WARD, team)
    standing = ward_spots.standing(context.tables, team, now)
    lines: list[dict[str, Any]] = []
    for cell in np.argsort(-chance).tolist():
        x, y = ward_spots.centre_of(cell)
        if len(lines) == MOST_SPOTS:
            break
        # Nearer than NEAR along both axes: one of ours sees it already.
        if any(max(abs(x - a), abs(y - b)) < NEAR for a, b in standing):
            continue
        why = f"stands {models.ward_life[cell]:.0f} s on average"
        line = {"side": SIDES[team], "x": x, "y": y, "chance": float(chance[cell])}
        lines.append({**line, **_as_columns(delta), "why": why})
    return lines


def _objectives(context: MatchContext, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    """What may be taken, by what the model thinks of having taken it."""
    state = context.samples.where(np.array([row]))
    gap = _strength_gap(context, row, team)
    lines = []
    for one in candidates.objectives(context.timeline, int(context.timeline.t[row]), team):
        delta = _value_delta(models, state, one.changes, team)
        why = f"{gap}; {one.caution}" if one.caution else gap
        lines.append({"side": SIDES[team], "take": one.name, **_as_columns(delta), "why": why})
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
