"""What to do next at one minute of a match: items to buy, spots to ward, objectives to take.

Candidates are what others did in such a state and the rules allow (`candidates.py`); the value
model says what it thinks of each, with its own error. That is a view and no proof: nothing was
gained for sure by those who followed (`docs/log.md`), and every advice says so. Where the state is
beyond what the models have seen, there is no advice but the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.games.dota import facts
from understudy.games.dota.advice import candidates
from understudy.games.dota.advice.match_context import Models, Story
from understudy.games.dota.features.deaths import level_of
from understudy.games.dota.features.inventory import Inventory, depth
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.policies import purchases
from understudy.games.dota.policies import wards as ward_spots
from understudy.games.dota.value.checkpoint import Worth

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
    """Everything said of one minute."""

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
    view: str = VIEW
    """What the model's numbers mean."""


def advise(
    story: Story, models: Models, minute: int, player: int | None = None, by: str = "habit"
) -> Advice:
    """All players of the match, or one by slot; items in the order of `ORDERS`."""
    row = story.row_at(minute)
    now = story.samples.where(np.array([row]))
    trained = models.value.patches
    known = (story.outline["match_id"], minute, story.patch, trained)
    if strange := models.value.out_of_range(now):
        return Advice(*known, None, [f"no advice: {word}" for word in strange])
    chance = float(models.value.chance(now)[0])
    slots = range(10) if player is None else (player,)
    teams = sorted({slot // 5 for slot in slots})
    return Advice(
        *known,
        chance,
        _cautions(story, trained),
        [line for slot in slots for line in item_lines(story, models, row, slot, by)],
        [line for team in teams for line in _wards(story, models, row, team)],
        [line for team in teams for line in _objectives(story, models, row, team)],
    )


def _cautions(story: Story, trained: tuple[str, ...]) -> list[str]:
    found = []
    if story.patch not in trained:
        found.append(f"trained on {', '.join(trained)}; this is {story.patch}, so be careful")
    if story.strength is None:
        found.append("earlier matches of these teams are not at hand: taken as equally strong")
    return found


# --- items ---------------------------------------------------------------------------------------


ORDERS: dict[str, Callable[[candidates.ItemChoice], float]] = {
    "habit": lambda choice: -choice.chance,
    "value": lambda choice: -choice.worth.gain,
}
"""What comes first: what others buy most, or, of the few they buy most, what the model likes."""


def item_lines(
    story: Story, models: Models, row: int, slot: int, by: str = "habit"
) -> list[dict[str, Any]]:
    """What a player might buy next, the first choice first."""
    now = int(story.course.t[row])
    held = held_at(story, slot, now)
    cash = max(0.0, story.purse.left(0, slot, now + 1) - held.spent)
    allowed = candidates.possible(models.items.habits, held, now)
    chance = models.items.chances(_decision(story, held, slot, now, cash))[0]
    state = story.samples.where(np.array([row]))
    choices = candidates.item_choices(
        models.value, state, held, chance, allowed, slot // 5, CONSIDERED
    )
    pace = _income(story, row, slot)
    return [
        {
            "slot": slot,
            "hero": story.hero(slot),
            "item": facts.items()[choice.key].name,
            "key": choice.key,
            "chance": choice.chance,
            **_told(choice.worth),
            "left_to_pay": round(choice.left),
            "cash": round(cash),
            "why": _why(choice, cash, pace),
        }
        for choice in sorted(choices, key=ORDERS[by])[:MOST_ITEMS]
    ]


def held_at(story: Story, slot: int, now: int) -> Inventory:
    """What a player has bought by a second."""
    held, bought = Inventory(), story.course.events["purchase"]
    mine = (bought.slot == slot) & (bought.t <= now)
    things = zip(bought.t[mine].tolist(), bought.key.filter(mine).to_pylist(), strict=True)
    for _, key in sorted(things, key=lambda thing: (thing[0], depth(thing[1]))):
        held.add(key)
    return held


def _told(worth: Worth) -> dict[str, Any]:
    return {"model": str(worth), "gain": worth.gain, "error": worth.error}


def _why(choice: candidates.ItemChoice, cash: float, pace: float) -> str:
    """What is left to pay, how much of it was, and when the rest is there."""
    left = round(choice.left)
    paid = 1 - choice.left / facts.items()[choice.key].cost
    words = f"{left:,} gold left" + (f", {paid:.0%} at hand" if paid > 0.005 else "")
    if left <= cash + SLACK:
        return f"{words}: can be paid"
    return f"{words}: in {(left - cash) / pace:.0f} min" if pace > 0 else words


def _income(story: Story, row: int, slot: int) -> float:
    """Gold a minute over the last five."""
    gold = story.course.players["gold"][:, slot]
    back = min(row, 5)
    return float(gold[row] - gold[row - back]) / max(back, 1)


def _decision(
    story: Story, held: Inventory, slot: int, now: int, cash: float
) -> purchases.Decisions:
    one = np.array([0])
    return purchases.Decisions(
        match_id=one + story.outline["match_id"],
        start_time=one + story.outline["start_time"],
        slot=one + slot,
        hero=story.course.heroes[:1, slot],
        t=one + now,
        chosen=one,
        last=one + held.last,
        before_last=one + held.before_last,
        owned=held.owned[None],
        progress=held.progress[None],
        cash=np.array([cash]),
    )


# --- wards and objectives ------------------------------------------------------------------------


def _wards(story: Story, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    match, now = story.course, int(story.course.t[row])
    sign = 1 - 2 * team
    gold = sign * match.advantage["gold"][row]
    state = story.samples.where(np.array([row]))
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
    worth = _worth(models, state, candidates.WARD, team)
    standing = ward_spots.standing(story.tables, team, now)
    lines: list[dict[str, Any]] = []
    for cell in np.argsort(-chance).tolist():
        x, y = ward_spots.centre_of(cell)
        if len(lines) == MOST_SPOTS:
            break
        if any(max(abs(x - a), abs(y - b)) < NEAR for a, b in standing):
            continue
        why = f"stands {models.ward_life[cell]:.0f} s on average"
        line = {"side": SIDES[team], "x": x, "y": y, "chance": float(chance[cell])}
        lines.append({**line, **_told(worth), "why": why})
    return lines


def _objectives(story: Story, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    """What may be taken, by what the model thinks of having taken it."""
    state = story.samples.where(np.array([row]))
    gap = _strength_gap(story, row, team)
    found = []
    for one in candidates.objectives(story.course, int(story.course.t[row]), team):
        worth = _worth(models, state, one.changes, team)
        why = f"{gap}; {one.caution}" if one.caution else gap
        found.append({"side": SIDES[team], "take": one.name, **_told(worth), "why": why})
    return sorted(found, key=lambda line: -line["gain"])


def _worth(models: Models, state: Samples, changes: candidates.Changes, team: int) -> Worth:
    after = state.altered([candidates.for_side(changes, team)])
    return models.value.worth(after, state, team)[0]


def _strength_gap(story: Story, row: int, team: int) -> str:
    """Levels and the dead decide whether something can be taken now."""
    level = level_of(story.course.players["xp"][row]).reshape(2, 5).sum(axis=1)
    dead = (1 - 2 * team) * story.samples.column("dead")[row]
    gap = int(level[team] - level[1 - team])
    word = f"{abs(gap)} level{'s' * (abs(gap) != 1)} {'ahead' if gap >= 0 else 'behind'}"
    return (
        f"{word}, {abs(dead):.0f} more of {'theirs' if dead > 0 else 'ours'} dead" if dead else word
    )
