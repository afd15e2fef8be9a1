"""Who plays, and how each stands at the slider's minute: level, kills and deaths, net worth."""

from html import escape

import numpy as np

from understudy.data.arrays import Floats, Ints
from understudy.games.dota.advice.match_context import MatchContext
from understudy.games.dota.advice.spots import SIDES
from understudy.games.dota.features.deaths import level_of, victims
from understudy.games.dota.report.minute import HEAD, by_minute, slider
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.report.page import Panel


def lineups_panel(context: MatchContext, model: ValueModel, chance: Floats) -> Panel:
    """Both sides, the chance at the minute shown, and the leads."""
    sides = "".join(_side(context, team) for team in (0, 1))
    now = by_minute([_now(context, model, row, float(chance[row])) for row in range(len(chance))])
    html = f'{slider(context)}<div class="sides">{sides}</div><p class="now">{now}</p>'
    note = (
        "Kills and deaths by the minute; assists are known at the end only. Net worth is about: "
        "gold earned less what deaths and buybacks took; gold is what was earned, not cash. What "
        "the leads change by in three minutes is expected then, with 80 % of the errors it made."
    )
    return Panel("Line-ups", html, note=note, head=HEAD, wide=True)


def _now(context: MatchContext, model: ValueModel, row: int, chance: float) -> str:
    gold, xp = (int(context.timeline.advantage[name][row]) for name in ("gold", "xp"))
    leads = [f"{SIDES[lead < 0]} {abs(lead):,} {name} ahead"
             for name, lead in (("gold", gold), ("experience", xp)) if lead]  # fmt: skip
    words = f"Radiant wins with {chance:.0%}; {', '.join(leads) or 'even in gold and experience'}."
    ahead = model.changes_ahead(context.samples.where(np.array([row])))
    names = {"y_dgold_adv": "gold", "y_dxp_adv": "experience"}
    changes = (
        f"{names[label]} {middle:+,.0f} ({low:+,.0f} to {high:+,.0f})"
        for label, (middle, low, high) in ahead.items()
    )
    told = " and ".join(changes)
    return f"{words} Radiant's leads in three minutes, 80 %: {told}." if told else words


def _side(context: MatchContext, team: int) -> str:
    kills, deaths = counts(context)
    level = level_of(context.timeline.players["xp"]).astype(int)
    worth = net_worth(context)
    assists = {row["slot_idx"]: row["assists"] for row in context.tables["players"].to_pylist()}
    rows = []
    for slot in range(5 * team, 5 * team + 5):
        given = assists.get(slot)
        cells = (
            by_minute([str(value) for value in level[:, slot].tolist()]),
            by_minute([f"{k}/{d}" for k, d in zip(kills[:, slot], deaths[:, slot], strict=True)]),
            "-" if given is None else str(given),
            by_minute([f"{value:,.0f}" for value in worth[:, slot].tolist()]),
        )
        data = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(context.hero(slot))}</th>{data}</tr>')
    heads = ("hero", "level", "K/D", "A, end", "net worth")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    won = " (won)" if context.outline["radiant_win"] == (team == 0) else ""
    return (
        f'<table style="--color:var(--s{team + 1})"><caption>{SIDES[team]}{won}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def counts(context: MatchContext) -> tuple[Ints, Ints]:
    """[R, 10] each: kills and deaths of every player by each minute."""
    match = context.timeline
    things = match.events["kill"]
    by_slot = (things.slot, victims(match))
    tables = []
    for slots in by_slot:
        new = np.zeros((len(match.t), 10), np.int64)
        known = (things.row >= 0) & (slots >= 0)
        np.add.at(new, (things.row[known], slots[known]), 1)
        tables.append(new.cumsum(axis=0))
    return tables[0], tables[1]


def net_worth(context: MatchContext) -> Floats:
    """[R, 10]: about what everything of a player is worth."""
    gold = context.gold_estimate
    seconds = context.timeline.t.tolist()
    rows = [[max(0.0, gold.left(0, slot, t + 1)) for slot in range(10)] for t in seconds]
    return np.array(rows, np.float64).reshape(-1, 10)
