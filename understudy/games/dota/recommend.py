"""What to do next at one minute of a match: items to buy, spots to ward, towers to take.

Candidates are what others did in such a state, never what a model thinks it would gain from a
free gift: an item is named with what is left to pay, the gold that is there (about) and when it
can be had; nothing owned, nothing that cannot be built is proposed. Where the state is beyond what
the models have seen, there is no advice but the reason.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from understudy.games.dota import facts, purchases, ward_spots
from understudy.games.dota.deaths import level_of
from understudy.games.dota.story import Models, Story

SIDES = ("Radiant", "Dire")
MOST_ITEMS, MOST_SPOTS = 3, 5
SLACK = 300  # gold; the estimate of cash is no better than this


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


def advise(story: Story, models: Models, minute: int, player: int | None = None) -> Advice:
    """All players of the match, or one by slot."""
    row = story.row_at(minute)
    now = story.samples.where(np.array([row]))
    trained = models.value.patches
    known = (story.outline["match_id"], minute, story.patch, trained)
    if strange := models.value.out_of_range(now):
        return Advice(*known, None, [f"no advice: {word}" for word in strange])
    chance = float(models.value.chance(now)[0])
    slots = range(10) if player is None else (player,)
    return Advice(
        *known,
        chance,
        _cautions(story, trained),
        [line for slot in slots for line in _items(story, models, row, slot)],
        [
            line
            for team in sorted({slot // 5 for slot in slots})
            for line in _wards(story, models, row, team)
        ],
        [
            line
            for team in sorted({slot // 5 for slot in slots})
            for line in _towers(story, row, team)
        ],
    )


def _cautions(story: Story, trained: tuple[str, ...]) -> list[str]:
    found = []
    if story.patch not in trained:
        found.append(f"trained on {', '.join(trained)}; this is {story.patch}, so be careful")
    if story.strength is None:
        found.append("earlier matches of these teams are not at hand: taken as equally strong")
    return found


# --- items ---------------------------------------------------------------------------------------


def _items(story: Story, models: Models, row: int, slot: int) -> list[dict[str, Any]]:
    match, now = story.course, int(story.course.t[row])
    held = purchases.Inventory()
    bought = match.events["purchase"]
    mine = (bought.slot == slot) & (bought.t <= now)
    for key in bought.key.filter(mine).to_pylist():
        held.add(key)
    cash = max(0.0, purchases.START + float(match.players["gold"][row, slot]) - held.spent)
    chance = models.items.chances(_decision(story, held, slot, now, cash))[0]
    pace = _income(story, row, slot)
    lines = []
    for number in np.argsort(-chance)[:MOST_ITEMS].tolist():
        item = facts.items()[purchases.item_keys()[number]]
        left = round(item.cost * (1 - held.progress[number]))
        lines.append(
            {
                "slot": slot,
                "hero": story.hero(slot),
                "item": item.name,
                "chance": float(chance[number]),
                "left_to_pay": left,
                "cash": round(cash),
                "why": _why(left, cash, pace, float(held.progress[number])),
            }
        )
    return lines


def _why(left: int, cash: float, pace: float, progress: float) -> str:
    begun = f"{progress:.0%} of its parts are bought; " if progress > 0 else ""
    if left <= cash + SLACK:
        return f"{begun}{left:,} gold left to pay, which is there"
    if pace <= 0:
        return f"{begun}{left:,} gold left to pay"
    return f"{begun}{left:,} gold left to pay, in about {(left - cash) / pace:.0f} min at this pace"


def _income(story: Story, row: int, slot: int) -> float:
    """Gold a minute over the last five."""
    gold = story.course.players["gold"][:, slot]
    back = min(row, 5)
    return float(gold[row] - gold[row - back]) / max(back, 1)


def _decision(
    story: Story, held: purchases.Inventory, slot: int, now: int, cash: float
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


# --- wards and towers ----------------------------------------------------------------------------


def _wards(story: Story, models: Models, row: int, team: int) -> list[dict[str, Any]]:
    match, now = story.course, int(story.course.t[row])
    sign = 1 - 2 * team
    gold = sign * match.advantage["gold"][row]
    towers = sum(story.samples.column(f"towers_{tier}")[row] for tier in (1, 2, 3))
    one = np.array([0])
    state = ward_spots.Placements(
        match_id=one,
        team=one + team,
        t=one + now,
        cell=one,
        ahead=one + (0 if gold <= -3000 else 2 if gold >= 3000 else 1),
        towers=one + int(np.clip(sign * towers, -3, 3) + 3),
        life=np.zeros(1),
    )
    chance = models.wards.chances(state)[0]
    lines = []
    for cell in np.argsort(-chance)[:MOST_SPOTS].tolist():
        x, y = ward_spots.centre_of(cell)
        life = float(models.ward_life[cell])
        why = f"{chance[cell]:.1%} of wards in such states; stands {life:.0f} s on average"
        lines.append(
            {"side": SIDES[team], "x": x, "y": y, "chance": float(chance[cell]), "why": why}
        )
    return lines


LANES = ("top", "mid", "bot")


def _towers(story: Story, row: int, team: int) -> list[dict[str, Any]]:
    """The outermost towers of the other side that stand, by lane."""
    things, now = story.course.events["objective"], int(story.course.t[row])
    name = ("badguys", "goodguys")[team]
    fallen = {
        target
        for target, t in zip(things.target.to_pylist(), things.t.tolist(), strict=True)
        if target and name in target and t <= now
    }
    lines = []
    for lane in LANES:
        for tier in (1, 2, 3):
            if f"npc_dota_{name}_tower{tier}_{lane}" not in fallen:
                why = _strength_gap(story, row, team)
                lines.append(
                    {"side": SIDES[team], "take": f"tier {tier} tower, {lane}", "why": why}
                )
                break
    return lines


def _strength_gap(story: Story, row: int, team: int) -> str:
    """Levels and the dead decide whether a tower can be taken now."""
    level = level_of(story.course.players["xp"][row]).reshape(2, 5).sum(axis=1)
    dead = (1 - 2 * team) * story.samples.column("dead")[row]
    gap = int(level[team] - level[1 - team])
    word = f"{abs(gap)} levels {'ahead' if gap >= 0 else 'behind'}"
    return (
        f"{word}, {abs(dead):.0f} more of {'theirs' if dead > 0 else 'ours'} dead" if dead else word
    )
