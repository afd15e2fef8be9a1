"""The page beside a running match: the chance, what is advised, why nothing is, what is unknown."""

from collections.abc import Sequence
from html import escape
from typing import Any

from understudy.games.dota.live.brief import FILE, Brief
from understudy.games.dota.live.report import LIST, PLAYER, SPECTATOR
from understudy.report import charts
from understudy.report.page import Panel, page

SOURCES = {
    "": "Waiting",
    PLAYER: "Told by the client of somebody who plays",
    SPECTATOR: "Told by a client that watches",
    LIST: "Told by the list of live matches",
    FILE: "Read from a match file that is still being written",
}
_ASK = """<script>
(() => {
  const token = new URLSearchParams(location.search).get("token") || "";
  let shown = null;
  async function look() {
    try {
      const answer = await fetch("version", {headers: {authorization: "Bearer " + token}});
      const now = await answer.text();
      if (answer.ok && shown !== null && now !== shown) location.reload();
      if (answer.ok) shown = now;
      document.body.dataset.late = answer.ok ? "" : "yes";
    } catch { document.body.dataset.late = "yes"; }
  }
  look();
  setInterval(look, 2000);
})();
</script>
<style>
body[data-late="yes"] header::after{
content:"The server does not answer: what stands here is old.";display:block;font-weight:bold}
table.sortable td:last-child{min-width:14rem}</style>"""


def live_page(brief: Brief) -> str:
    """The whole page; it asks every two seconds whether there is a newer one."""
    title = f"Match {brief.match_id}" if brief.match_id else "A running match"
    panels = [_chance(brief), _silence(brief), *_advice(brief), _state(brief)]
    return page(title, SOURCES[brief.source], panels, tab=f"{title} · live")


def _chance(brief: Brief) -> Panel:
    points = [(float(minute), chance) for minute, chance in brief.curve]
    chart = charts.line_chart(
        {"Radiant wins": points},
        title="Chance that Radiant wins",
        x_label="minute",
        unit="percent",
        limits=(0, 1),
        reference=0.5,
    )
    won = f"{('Radiant', 'Dire')[brief.winner]} won. " if brief.winner is not None else ""
    if brief.chance is not None:
        finding = f"{won}Radiant wins with {brief.chance:.0%}, Dire with {1 - brief.chance:.0%}"
        finding += f", as of minute {brief.minute}."
    else:
        finding = f"{won}No chance is said now: {brief.silent[0] if brief.silent else 'unknown'}."
    return Panel("Who will win", chart, wide=True, finding=finding, head=_ASK)


def _silence(brief: Brief) -> Panel:
    lines = [*brief.silent, *(f"unknown: {what}" for what in brief.unknown)]
    html = "".join(f"<li>{escape(line)}</li>" for line in lines)
    note = "What is unknown is read by none of the models here."
    return Panel("Why it is silent, and what is unknown", f"<ul>{html}</ul>", note=note, wide=True)


def _state(brief: Brief) -> Panel:
    html = charts.tiles(brief.known) if brief.known else "<p>Nothing.</p>"
    return Panel("What is known", html, wide=True)


def _advice(brief: Brief) -> list[Panel]:
    parts = (
        (
            "What to buy next",
            brief.items,
            ("hero", "item", "chance", "left_to_pay", "next", "model", "why"),
        ),
        ("What may be taken", brief.objectives, ("side", "take", "lane", "model", "why")),
        ("Where wards go", brief.wards, ("side", "kind", "place", "chance", "why")),
    )
    return [
        Panel(title, _table(lines, names), note=_note(lines, brief), wide=True)
        for title, lines, names in parts
        if lines
    ]


def _table(lines: Sequence[dict[str, Any]], names: tuple[str, ...]) -> str:
    shown = [name for name in names if name != "model" or _has_opinion(lines)]
    rows = [[line[name] for name in shown] for line in lines]
    heads = [_HEADS.get(name, name) for name in shown]
    return charts.table(heads, rows, percent=("chance",))


_HEADS = {"left_to_pay": "still to pay", "next": "buy next"}


def _has_opinion(lines: Sequence[dict[str, Any]]) -> bool:
    return any(line.get("gain") is not None for line in lines)  # a ward has none


def _note(lines: Sequence[dict[str, Any]], brief: Brief) -> str:
    often = "chance: how often others did it in such a state. " * ("chance" in lines[0])
    if "gain" not in lines[0]:
        return often.strip()
    if _has_opinion(lines):
        return f"{often}{brief.view}."
    return f"{often}The model of a running match reads none of it, so it has no opinion."
