"""The items of a match beside what would have been advised, every five minutes, as a panel."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from understudy.games.dota import facts
from understudy.games.dota.advice.buying import held_at, item_lines
from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.advice.spots import SIDES
from understudy.games.dota.features.inventory import item_index
from understudy.games.dota.report.minute import HEAD
from understudy.report.page import Panel

EVERY = 5
"""Minutes between two looks."""
DEAR = 2000
"""Gold from which an item is named in a player's line."""


@dataclass(frozen=True)
class Look:
    """One player at one minute."""

    minute: int
    advised: list[dict[str, Any]]
    """As `recommend` gives it; nothing where the state is out of range."""
    bought: list[tuple[int, str]]
    """Dearer items new to the player until the next look: minute and key."""

    def followed(self, most: int) -> bool:
        """Was any of the first `most` bought?"""
        return bool({line["key"] for line in self.advised[:most]} & {key for _, key in self.bought})


def looks(context: MatchContext, models: Models, slot: int) -> Iterator[Look]:
    """A player's match in steps of `EVERY` minutes."""
    for row in range(EVERY, len(context.timeline.t), EVERY):
        now = int(context.timeline.t[row])
        strange = models.value.out_of_range(context.samples.where(np.array([row])))
        advised = [] if strange else item_lines(context, models, row, slot)
        yield Look(now // 60, advised, _bought(context, slot, now, now + 60 * EVERY))


def _bought(context: MatchContext, slot: int, begin: int, end: int) -> list[tuple[int, str]]:
    """Items dear enough for a decision that the player had not, within (begin, end]."""
    bought, owned = context.timeline.events["purchase"], held_at(context, slot, begin).owned
    mine = (bought.slot == slot) & (bought.t > begin) & (bought.t <= end)
    first: dict[str, int] = {}
    for t, key in zip(bought.t[mine].tolist(), bought.key.filter(mine).to_pylist(), strict=True):
        if (index := item_index().get(key)) is not None and not owned[index]:
            first.setdefault(key, t // 60)
    return [(minute, key) for key, minute in first.items()]


# --- the panel -----------------------------------------------------------------------------------


def items_panel(context: MatchContext, models: Models) -> Panel:
    """A line per player, which opens to what was advised and what was bought."""
    players = "".join(_player(context, models, slot) for slot in range(10))
    note = (
        f"Items of {DEAR:,} gold and more with their minute; open a player for the advice of every "
        f"{EVERY} minutes, the most usual first, beside what was bought until the next. A tick: "
        "bought. Hover over an advice for what the value model thinks of it: an opinion, no proof."
    )
    html = f'<div class="items">{players}</div>'
    return Panel("Items and advice", html, note=note, head=HEAD, wide=True)


def _player(context: MatchContext, models: Models, slot: int) -> str:
    known = list(looks(context, models, slot))
    judged = [look for look in known if look.advised and look.bought]
    first, some = (sum(look.followed(most) for look in judged) for most in (1, 3))
    summary = SIDES[slot // 5]
    if judged:
        summary += f"; bought as advised {some} of {len(judged)} times, by the first advice {first}"
    rows = "".join(_row(look) for look in known)
    return (
        f"<details{' open' if slot == 0 else ''}><summary><strong>{escape(context.hero(slot))}"
        f"</strong> <span>{summary}</span><br>{_great_items(context, slot)}"
        '</summary><div class="scroll"><table><thead><tr><th>minute</th><th>advised then</th>'
        f"<th>bought in the next {EVERY} minutes</th></tr></thead><tbody>{rows}</tbody></table>"
        "</div></details>"
    )


def _great_items(context: MatchContext, slot: int) -> str:
    bought = context.timeline.events["purchase"]
    mine = bought.slot == slot
    things = zip(bought.t[mine].tolist(), bought.key.filter(mine).to_pylist(), strict=True)
    known = ((t, facts.items().get(key)) for t, key in things)
    words = [f"{item.name} {t // 60}" for t, item in known if item and item.cost >= DEAR]
    return escape(", ".join(words)) or "no item of note"


def _row(look: Look) -> str:
    taken = {key for _, key in look.bought}
    advised = ", ".join(_advice(line, line["key"] in taken) for line in look.advised)
    bought = ", ".join(f"{facts.items()[key].name} {minute}" for minute, key in look.bought)
    return (
        f"<tr><td>{look.minute}</td><td>{advised or 'no advice: beyond what was trained on'}</td>"
        f"<td>{escape(bought) or '-'}</td></tr>"
    )


def _advice(line: dict[str, Any], taken: bool) -> str:
    tip = f"model {line['model']} points; {line['left_to_pay']:,} gold to pay, {line['why']}"
    words = f'<span title="{escape(tip)}">{escape(line["item"])} {line["chance"]:.0%}</span>'
    if line["next"] and line["next"] != line["item"]:
        words += f" <small>(next: {escape(line['next'])})</small>"
    return f"<b>{words}</b>" if taken else words
