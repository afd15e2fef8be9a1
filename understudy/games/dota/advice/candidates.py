"""What could be done next at one minute, each as a change of the state that the value model reads.

Items: everything not owned that others had bought by that time of a match. Gold is gold earned, so
paying does not lower it: having an item always looks like a gain beside having nothing for the
money. So an item is set beside a state in which the same gold went into what others buy there.
Objectives: what the rules allow now. Wards: one more of ours stands; the model does not know where.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from understudy.data.arrays import Bools, Floats
from understudy.games.dota import facts
from understudy.games.dota.features import features
from understudy.games.dota.features.inventory import Inventory, item_keys
from understudy.games.dota.features.samples import Samples
from understudy.games.dota.features.timeline import Timeline
from understudy.games.dota.policies.next_item import BAND, BANDS, FrequencyTables
from understudy.games.dota.value.checkpoint import ValueDelta, ValueModel

Changes = dict[str, float]
"""Features, and by how much they change for a side that is Radiant; signs turn for Dire."""


def for_side(changes: Mapping[str, float], team: int) -> Changes:
    """As the state's features have it: Radiant's less Dire's."""
    sign = 1 - 2 * team
    return {n: x if n in features.EVEN else sign * x for n, x in changes.items()}


# --- items ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemChoice:
    """One item that could be bought next."""

    key: str
    chance: float
    """That others buy it next in such a state."""
    left: float
    """Gold left to pay."""
    value_delta: ValueDelta
    """Beside the same gold spent as others spend it."""


def possible(frequencies: FrequencyTables, held: Inventory, t: int) -> Bools:
    """[I]: not owned, and bought by somebody by this time of a match."""
    until = min(max(t // BAND, 0), BANDS - 1)
    counts = [row for band, row in frequencies.counts["time"].items() if band <= until]
    bought: Floats = np.sum(counts, axis=0) if counts else np.zeros(len(item_keys()))
    return ~held.owned & (bought > 0)


def item_choices(
    model: ValueModel,
    now: Samples,
    held: Inventory,
    chance: Floats,
    allowed: Bools,
    team: int,
    most: int,
) -> list[ItemChoice]:
    """The likeliest `most` of what is allowed, the most usual first; `chance` is [I]."""
    chance = np.where(allowed, chance, 0.0)
    likely = np.argsort(-chance, kind="stable")[:USUAL].tolist()
    numbers = [number for number in likely if chance[number] > 0]
    takes = [held.still_takes(item_keys()[number]) for number in numbers]
    bought = [_bought(gold, things) for gold, things in takes]
    share = [float(chance[number]) for number in numbers]
    usual = _usual(bought, share, [gold for gold, _ in takes])
    others = [{name: gold * x for name, x in usual.items()} for gold, _ in takes[:most]]
    # Each item beside the same gold spent as usual: gold earned does not fall when it is paid out.
    states, beside = (
        now.altered([for_side(change, team) for change in some]) for some in (bought[:most], others)
    )
    deltas = model.value_deltas(states, beside, team)
    return [
        ItemChoice(item_keys()[numbers[k]], share[k], takes[k][0], delta)
        for k, delta in enumerate(deltas)
    ]


USUAL = 30
"""Of so many likeliest items the usual use of gold is made up."""


def _bought(gold: float, things: list[str]) -> Changes:
    """What buying an item with all it still takes changes."""
    known = facts.items()
    change: Changes = {"spent": gold, "unspent": -gold, "big_items": 0.0}
    for key in things:
        if f"has_{key}" in _COUNTED:
            change[f"has_{key}"] = change.get(f"has_{key}", 0.0) + 1
        if key in known and known[key].cost >= features.BIG:
            change["big_items"] += 1
    return change


_COUNTED = frozenset(features.item_names())


def _usual(bought: list[Changes], chance: list[float], gold: list[float]) -> Changes:
    """What a piece of gold changes on average, spent as others spend it.

    What costs nothing more, an item whose parts are all there, says nothing about spending.
    """
    costs = [k for k, left in enumerate(gold) if left > 0]
    spent = sum(chance[k] * gold[k] for k in costs)
    if spent <= 0:
        return {"spent": 1.0, "unspent": -1.0}
    total: Changes = {}
    for k in costs:
        for name, amount in bought[k].items():
            total[name] = total.get(name, 0.0) + chance[k] * amount / spent
    return total


# --- wards and objectives ------------------------------------------------------------------------

WARD: Changes = {"obs_placed": 1, "obs_placed_change_3": 1, "obs_standing": 1}
LANES = ("top", "mid", "bot")
ROSHAN_BACK = (480, 660)
"""Seconds after its death that Roshan returns at the earliest and at the latest."""
ROSHAN_FIRST = 600
"""Seconds before which hardly a team takes it; one in 200 of 3,000 did before 740."""


@dataclass(frozen=True)
class Objective:
    """Something to take."""

    name: str
    changes: Changes
    lane: str = ""
    """What stands in its lane, theirs and ours."""
    caution: str = ""


def objectives(match: Timeline, now: int, team: int) -> list[Objective]:
    """What a side may take now by the rules: nothing that fell, nothing behind what stands."""
    other, own = (("badguys", "goodguys"), ("goodguys", "badguys"))[team]
    fallen = {name: _fallen(match, now, name) for name in (other, own)}
    allowed = [
        replace(one, lane=_lane(lane, fallen[other], fallen[own]))
        for lane in LANES
        for one in _in_lane(lane, fallen[other])
    ]
    open_base = any(f"tower3_{lane}" in fallen[other] for lane in LANES)
    if open_base and _ancient_towers(match, now, other) < 2:
        allowed.append(Objective("tower before the Ancient", {"towers_4": 1}))
    return allowed + _roshan(match, now)


def _fallen(match: Timeline, now: int, side: str) -> set[str]:
    """The buildings of a side that had fallen, without its prefix."""
    things = match.events["objective"]
    prefix = f"npc_dota_{side}_"
    return {
        str(target).removeprefix(prefix)
        for target in things.target.filter(things.t <= now).to_pylist()
        if target and prefix in target
    }


def _lane(lane: str, theirs: set[str], ours: set[str]) -> str:
    """How a lane stands: theirs to the outermost that is left, ours likewise."""
    return f"theirs: {_left(lane, theirs)}; ours: {_left(lane, ours)}"


def _left(lane: str, fallen: set[str]) -> str:
    towers = [str(tier) for tier in (1, 2, 3) if f"tower{tier}_{lane}" not in fallen]
    barracks = [kind for kind in ("melee", "range") if f"{kind}_rax_{lane}" not in fallen]
    if towers:
        return f"tier {' '.join(towers)}"
    return f"{' and '.join(barracks)} barracks" if barracks else "nothing left"


def _in_lane(lane: str, fallen: set[str]) -> list[Objective]:
    """The outermost tower that stands, or the barracks behind the last."""
    for tier in (1, 2, 3):
        if f"tower{tier}_{lane}" not in fallen:
            return [Objective(f"tier {tier} tower, {lane}", {f"towers_{tier}": 1})]
    return [
        Objective(f"{kind} barracks, {lane}", {f"barracks_{kind}": 1})
        for kind in ("melee", "range")
        if f"{kind}_rax_{lane}" not in fallen
    ]


def _ancient_towers(match: Timeline, now: int, other: str) -> int:
    """How many of the two that stand before an Ancient have fallen; they share one name."""
    things = match.events["objective"]
    names = things.target.filter(things.t <= now).to_pylist()
    return names.count(f"npc_dota_{other}_tower4")


def _roshan(match: Timeline, now: int) -> list[Objective]:
    things = match.events["objective"]
    keys = things.key.filter(things.t <= now).to_pylist()
    times = things.t[things.t <= now].tolist()
    died = [t for t, key in zip(times, keys, strict=True) if key == "CHAT_MESSAGE_ROSHAN_KILL"]
    gone = now - max(died) if died else now + ROSHAN_BACK[1]
    if gone < ROSHAN_BACK[0] or now < ROSHAN_FIRST:
        return []
    caution = "may not be back yet" if gone < ROSHAN_BACK[1] else ""
    return [Objective("Roshan", {"roshans": 1, "roshans_total": 1, "aegis": 1}, caution=caution)]
