"""What a player might buy: items to have, the parts still missing, and the next step to each.

Advised are items that are kept (`purchases.ends`), not the parts on the way: those are the next
step. What can be paid now stands apart from what must be saved for.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from understudy.data.arrays import Bools, Floats
from understudy.games.dota import facts
from understudy.games.dota.advice import candidates
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.features.inventory import (
    Inventory,
    item_index,
    item_keys,
    needs,
)
from understudy.games.dota.policies import purchases
from understudy.games.dota.value.checkpoint import ValueDelta

CONSIDERED, MOST_ITEMS = 6, 3
BOOTS: Mapping[str, str] = {
    **dict.fromkeys(("phase_boots", "power_treads", "arcane_boots", "tranquil_boots"), "boots"),
    "travel_boots": "boots",
    "travel_boots_2": "travel_boots",
    "guardian_greaves": "arcane_boots",
    "boots_of_bearing": "tranquil_boots",
}
"""Footwear that does not add up, each with what it is built from."""
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
    decision = _decision(context, held, slot, now, cash)
    allowed = candidates.possible(models.items.next.frequencies, held, now)
    allowed &= models.items.kept & ~second_boots(held)
    state = context.samples.where(np.array([row]))
    choices = candidates.item_choices(
        models.value, state, held, models.items.goal.chances(decision)[0], allowed, slot // 5,
        CONSIDERED,
    )  # fmt: skip
    likely = models.items.next.chances(decision)[0]
    pace = _income(context, row, slot)
    return [
        {
            "slot": slot,
            "hero": context.hero(slot),
            "item": facts.items()[choice.key].name,
            "key": choice.key,
            "chance": choice.chance,
            **as_columns(choice.value_delta),
            "cash": round(cash),
            **_paying(choice, held, cash, pace, likely),
        }
        for choice in sorted(choices, key=ORDERS[by])[:MOST_ITEMS]
    ]


def as_columns(delta: ValueDelta) -> dict[str, Any]:
    """What the model thinks, as columns of an advice."""
    return {"model": str(delta), "gain": delta.gain, "error": delta.error}


def held_at(context: MatchContext, slot: int, now: int) -> Inventory:
    """What a player has bought by a second."""
    held, bought = Inventory(context.earlier), context.timeline.events["purchase"]
    mine = (bought.slot == slot) & (bought.t <= now)
    things = zip(bought.t[mine].tolist(), bought.key.filter(mine).to_pylist(), strict=True)
    for _, key in purchases.in_order(things, context.earlier):
        held.add(key)
    return held


def second_boots(held: Inventory) -> Bools:
    """[I]: footwear beside footwear, unless it is built from it."""
    worn = {key for key in BOOTS if held.loose.get(key, 0)}
    refused = {key for key, source in BOOTS.items() if worn and source not in worn}
    return np.array([key in refused for key in item_keys()])


# --- paying --------------------------------------------------------------------------------------


def _paying(
    choice: candidates.ItemChoice, held: Inventory, cash: float, pace: float, likely: Floats
) -> dict[str, Any]:
    """Gold still to pay, what of it is not at hand, parts to buy, the next of them, and when."""
    parted = needs(held.earlier)
    missing = [key for key in held.still_takes(choice.key)[1] if key not in parted]
    prices = {key: _price(key, held.earlier) for key in missing}
    parts = [
        {"item": part_name(key), "key": key, "cost": round(prices[key]), "count": count}
        for key, count in Counter(missing).items()
    ]
    short = max(0.0, choice.left - cash)
    first = next_part(prices, cash, likely)
    following = part_name(first) if first else ""
    if not short:
        why = "all parts are there" if not parts else "can be paid now"
    else:
        why = f"{short:,.0f} gold short"
        if pace > 0:
            minutes = short / pace
            why += ", within a minute" if minutes < 1 else f", about {minutes:.0f} min"
    return {
        "left_to_pay": round(choice.left),
        "short": round(short),
        "affordable": not short,
        "parts": parts,
        "next": following,
        "next_cost": round(prices[first]) if first else 0,
        "next_affordable": bool(first) and prices[first] <= cash,
        "why": why,
    }


def with_cash(line: dict[str, Any], cash: int) -> dict[str, Any]:
    """The same advice where the gold at hand is known rather than estimated."""
    short = max(0, line["left_to_pay"] - cash)
    why = f"{short:,} gold short" if short else "can be paid now"
    paying = {"cash": cash, "short": short, "affordable": not short, "why": why}
    return {**line, **paying, "next_affordable": line["next_cost"] <= cash}


def next_part(prices: Mapping[str, float], cash: float, likely: Floats) -> str:
    """The part to buy first: what can be paid before what cannot, then what others buy next."""

    def rank(key: str) -> tuple[bool, float, float]:
        number = item_index().get(key)
        chance = 0.0 if number is None else float(likely[number])
        return prices[key] > cash, -chance, -prices[key]

    return min(prices, key=rank) if prices else ""


@cache
def _recipes(earlier: bool) -> dict[str, float]:
    """What each recipe costs: the rest of what it makes."""
    parted = needs(earlier).values()
    return {part: cost for parts in parted for part, cost in parts if "recipe_" in part}


def _price(key: str, earlier: bool) -> float:
    return _recipes(earlier).get(key) or float(facts.items()[key].cost)


def part_name(key: str) -> str:
    """As a player reads it; a recipe by what it makes."""
    whole = key.removeprefix("recipe_")
    if whole != key and whole in facts.items():
        return f"{facts.items()[whole].name} recipe"
    return facts.items()[key].name


def _income(context: MatchContext, row: int, slot: int) -> float:
    """Gold a minute over the last five."""
    gold = context.timeline.players["gold"][:, slot]
    back = min(row, 5)
    return float(gold[row] - gold[row - back]) / max(back, 1)


def _decision(
    context: MatchContext, held: Inventory, slot: int, now: int, cash: float
) -> purchases.Decisions:
    one = np.array([0])
    rank, mates, foes = context.owners.before(0, slot, now + 1)
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
        progress=held.progress[None].astype(np.float32),
        wanted=held.wanted[None].astype(np.float32),
        cash=np.array([cash]),
        rank=one + rank,
        mates=mates[None],
        foes=foes[None],
        earlier=np.array([context.earlier]),
    )
