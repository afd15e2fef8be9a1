"""Pages: one match with its chances and swings, and how good a run's value models are."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from understudy.data import shards
from understudy.data.arrays import Floats
from understudy.data.integrity.json_files import fitting_together
from understudy.data.runs import EVALUATION, Run
from understudy.errors import InputError
from understudy.games.dota.advice.match_context import (
    MatchContext,
    Models,
    load_models,
    open_match,
    recorded,
)
from understudy.games.dota.advice.recommend import SIDES
from understudy.games.dota.policies import wards
from understudy.games.dota.report.item_timeline import items_panel
from understudy.games.dota.report.scenarios import firsts, rates
from understudy.games.dota.sources.synthetic import FIRST_MATCH
from understudy.games.dota.sources.tables import EVENTS, MATCHES
from understudy.games.dota.value.checkpoint import ValueModel
from understudy.learn.base import read_evaluation
from understudy.pipeline.game import Look, Shown, load
from understudy.report import charts
from understudy.report.page import Panel, page

SWINGS = 6
"""The minutes in which the chance moved most, listed one by one."""
MAP = 400  # the side of the ward map's drawing


def looks() -> dict[str, Look]:
    """Recorded matches."""
    return {"matches": Look("Recorded matches: chances, swings, wards, items", _shown, match_page)}


def _shown(run: Run) -> Iterator[Shown]:
    for path in sorted(run.recordings.glob(f"{MATCHES.name}-*.parquet")):
        for row in shards.read_shard(path, MATCHES).to_pylist():
            winner = SIDES[0] if row["radiant_win"] else SIDES[1]
            minutes = (row.get("duration") or 0) / 60
            said = f"{winner} won after {minutes:.0f} min, patch {row.get('patch') or 'unknown'}"
            yield Shown(str(row["match_id"]), row.get("league") or "", said)


def match_page(run: Run, match: str) -> str:
    """A page on one recorded match: its chances, swings, wards and items."""
    if not match.isdigit():
        raise InputError(f"a match of Dota goes by its number, not '{match}'")
    return _page(recorded(run, int(match)), run.title)


def file_page(path: Path) -> str:
    """The same page on a match file of OpenDota."""
    return _page(open_match(str(path)), path.name)


def _page(context: MatchContext, where: str) -> str:
    match = context.outline["match_id"]
    made_up = [_made_up_panel("This match is")] if match >= FIRST_MATCH else []
    title = f"{'Made-up match' if made_up else 'Match'} {match}, patch {context.patch}"
    panels = [*made_up, *match_panels(context, load_models())]
    return page(title, load("dota").about, panels, tab=f"{title} · {where}")


def _made_up_panel(what: str) -> Panel:
    html = f'<p class="made-up">{what} made up: no match of Dota 2 went like this.</p>'
    note = "games/dota/sources/synthetic.py draws them, by rules whose chances are known."
    return Panel("Made up", html, note=note, wide=True)


def match_panels(context: MatchContext, models: Models) -> list[Panel]:
    """All about one match."""
    model = models.value
    chance = model.chance(context.samples)
    return [
        _chance_panel(context, model, chance),
        _economy_panel(context),
        _swings_panel(context, chance),
        _wards_panel(context),
        items_panel(context, models),
    ]


def _chance_panel(context: MatchContext, model: ValueModel, chance: Floats) -> Panel:
    minutes = (context.timeline.t / 60).tolist()
    marks = [
        charts.Mark(t / 60, float(np.interp(t / 60, minutes, chance)), word)
        for t, word in _great_events(context)
    ]
    chart = charts.line_chart(
        {"Radiant wins": list(zip(minutes, chance.tolist(), strict=True))},
        title="Chance that Radiant wins",
        x_label="minute",
        unit="percent",
        marks=marks,
    )
    words = model.out_of_range(context.samples)
    won = SIDES[not context.outline["radiant_win"]]
    note = f"{won} won. Trained on {', '.join(model.patches)}; this match is of {context.patch}."
    if words:
        note += f" Not to be trusted everywhere: {'; '.join(words)}."
    return Panel("Who will win", chart, note=note, wide=True)


_NAMED = {
    "CHAT_MESSAGE_ROSHAN_KILL": "Roshan",
    "CHAT_MESSAGE_FIRSTBLOOD": "first blood",
}


def _great_events(context: MatchContext) -> list[tuple[int, str]]:
    """Roshan, first blood, barracks."""
    things = context.timeline.events["objective"]
    marks = []
    for t, team, key, target in zip(
        things.t.tolist(),
        things.team.tolist(),
        things.key.to_pylist(),
        things.target.to_pylist(),
        strict=True,
    ):
        if key in _NAMED and team >= 0:
            marks.append((t, f"{_NAMED[key]}, {SIDES[team]}"))
        elif key == "building_kill" and target and "melee_rax" in target:
            marks.append((t, f"barracks of {_loser(target)} fall"))
    return [(t, word) for t, word in marks if 0 <= t <= context.timeline.t[-1]]


def _loser(target: str) -> str:
    return SIDES["badguys" in target]


def _economy_panel(context: MatchContext) -> Panel:
    minutes = (context.timeline.t / 60).tolist()
    lines = {
        name: list(zip(minutes, values.tolist(), strict=True))
        for name, values in context.timeline.advantage.items()
    }
    chart = charts.line_chart(lines, title="Lead of Radiant", x_label="minute")
    return Panel("Gold and experience", chart, note="Gold is gold earned, not cash.", wide=True)


def _swings_panel(context: MatchContext, chance: Floats) -> Panel:
    """The largest changes, with what happened in that minute."""
    moved = np.diff(chance)
    rows = []
    for row in np.argsort(-np.abs(moved))[:SWINGS]:
        begin, end = int(context.timeline.t[row]), int(context.timeline.t[row + 1])
        words = _happened(context, begin, end)
        rows.append((end // 60, float(chance[row]), float(chance[row + 1]), words))
    table = charts.table(
        ("minute", "before", "after", "what happened"), sorted(rows), percent=("before", "after")
    )
    return Panel("Swings", table, note="The minutes that changed most.", wide=True)


def _happened(context: MatchContext, begin: int, end: int) -> str:
    """Kills, buildings and Roshan within (begin, end], in words."""
    words = []
    kills = context.timeline.events["kill"]
    within = (kills.t > begin) & (kills.t <= end)
    counts = [int((within & (kills.team == team)).sum()) for team in (0, 1)]
    if any(counts):
        words.append(f"kills {counts[0]}:{counts[1]}")
    things = context.timeline.events["objective"]
    for t, team, key, target in zip(
        things.t.tolist(),
        things.team.tolist(),
        things.key.to_pylist(),
        things.target.to_pylist(),
        strict=True,
    ):
        if begin < t <= end:
            if key == "building_kill" and target:
                name = target.split("guys_", 1)[-1].replace("_", " ")
                words.append(f"{name} of {_loser(target)} falls")
            elif key in _NAMED and team >= 0:
                words.append(f"{_NAMED[key]}, {SIDES[team]}")
    return ", ".join(words) or "gold and experience alone"


# --- wards ---------------------------------------------------------------------------------------

_SLIDER = """<script>
document.addEventListener("input", event => {
  if (!event.target.matches(".ward-time")) return;
  const box = event.target.closest(".wards"), now = 60 * event.target.value;
  box.querySelector("output").textContent = "minute " + event.target.value;
  for (const dot of box.querySelectorAll("circle"))
    dot.style.display = +dot.dataset.from <= now && now < +dot.dataset.to ? "" : "none";
});
</script>
<style>.wards svg{max-width:28rem;width:100%;background:var(--well,#8882)}
.wards label{display:block}.wards input{width:100%;max-width:28rem}</style>"""


def _wards_panel(context: MatchContext) -> Panel:
    """Observer wards on the map, with a slider for the time."""
    rows = wards.placements(context.tables)
    events = context.tables["events"].to_pylist()
    placed = [e for e in events if e["event_type"] == "ward_obs_place" and e["x"] is not None]
    last = int(context.timeline.t[-1])
    scale = MAP / (wards.HIGH - wards.LOW)
    dots = []
    for event, life in zip(placed, rows.life.tolist(), strict=True):
        until = event["t"] + (life if life == life else 360)  # NaN: never seen to end
        x, y = (event["x"] - wards.LOW) * scale, MAP - (event["y"] - wards.LOW) * scale
        tip = f"{SIDES[event['team']]}, {event['t'] // 60} min, stood {until - event['t']:.0f} s"
        dots.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="7" fill="var(--s{event["team"] + 1})" '
            f'data-from="{event["t"]}" data-to="{until:.0f}"><title>{escape(tip)}</title></circle>'
        )
    keys = "".join(
        f'<span class="key" style="--color:var(--s{team + 1})">{side}</span>'
        for team, side in enumerate(SIDES)
    )
    html = (
        f'<div class="wards">{keys}<svg viewBox="0 0 {MAP} {MAP}" role="img" '
        'aria-label="Observer wards">'
        f"{''.join(dots)}</svg><label>Standing at <output>any time</output>"
        '<input class="ward-time" type="range" aria-label="Minute" min="0" '
        f'max="{last // 60}" value="0"/>'
        "</label></div>"
    )
    return Panel("Wards", html, note="Hover for who and how long.", head=_SLIDER)


# --- runs ----------------------------------------------------------------------------------------


def run_panels(run: Run) -> list[Panel]:
    """How good the value models of a run are, and what came of being first."""
    panels = []
    for path in sorted(run.models.glob(f"*/{EVALUATION}")):
        evaluation = read_evaluation(path.parent)
        if evaluation is not None and "line_up" in evaluation:
            with fitting_together(path, "Train it again with --fresh"):
                panels.append(_comparison_panel(path.parent.name, evaluation))
    made_up = [_made_up_panel("Matches of this run are")] if _has_made_up(run) else []
    return [*made_up, *panels, *_scenario_panels(run)]


def _has_made_up(run: Run) -> bool:
    return any(
        (shards.read_shard(path, MATCHES, ["match_id"])["match_id"].to_numpy() >= FIRST_MATCH).any()
        for path in run.recordings.glob(f"{MATCHES.name}-*.parquet")
    )


def _scenario_panels(run: Run) -> list[Panel]:
    """How often the side that was first went on to win."""
    results: list[tuple[str, int, bool]] = []
    for path in sorted(run.recordings.glob(f"{MATCHES.name}-*.parquet")):
        other = shards.shard_path(run.recordings, EVENTS, shards.shard_key(path))
        events = shards.read_shard(
            other, EVENTS, ["match_id", "t", "team", "event_type", "key", "target"]
        )
        results += firsts({"matches": shards.read_shard(path, MATCHES), "events": events})
    if not results:
        return []
    names = ("first", "minutes", "matches", "won", "low", "high")
    rows = [(r.scenario, r.minutes, r.won.n, *r.won.plain()) for r in rates(results)]
    table = charts.table(names, rows, percent=names[3:])
    note = (
        "By the minute it happened, with 95 % intervals. Leads come with it: no cause is claimed."
    )
    return [Panel("Who is first wins how often", table, note=note, wide=True)]


def _comparison_panel(name: str, evaluation: dict[str, Any]) -> Panel:
    names = ("model", "log loss", "beside LR-7", "low", "high", "AUC", "dGold RMSE", "dXP RMSE")
    rows = [
        (
            model,
            score["log_loss"],
            *(score["beside_bar"][part] for part in ("mean", "low", "high")),
            score["auc"],
            score["dgold_rmse"],
            score["dxp_rmse"],
        )
        for model, score in evaluation["line_up"].items()
    ]
    curve = {
        "observed": [(row["said"], row["seen"]) for row in evaluation["reliability"]],
        "right": [(0.0, 0.0), (1.0, 1.0)],
    }
    chart = charts.line_chart(
        curve, title="Predicted and observed", x_label="predicted", y_label="observed"
    )
    drift = charts.table(
        ("patch", "matches of", "matches", "slope", "low", "high", "verdict"),
        [
            (
                row["patch"],
                row.get("part"),
                *(row[part] for part in ("matches", "slope", "slope_low", "slope_high", "verdict")),
            )
            for row in evaluation["drift"]
        ],
    )
    return Panel(
        f"Value: {name}",
        charts.table(names, rows) + chart + drift,
        note="Differences in log loss with 95 % intervals, bootstrapped by match. Below, whether "
        "leads still mean what they meant (slope 1), by patch, on matches it never learnt from; "
        "those of validation stopped its training.",
        wide=True,
        finding=_finding(name, evaluation["line_up"]),
    )


def _finding(name: str, line_up: dict[str, Any]) -> str:
    """How our best compares with the plain baseline, in a sentence."""
    if (best := line_up.get("best")) is None:
        return ""
    mean, low, high = (best["beside_bar"][part] for part in ("mean", "low", "high"))
    word = "better than" if high < 0 else "worse than" if low > 0 else "not told apart from"
    loss = f"log loss {best['log_loss']:.4f}, {mean:+.4f} [{low:+.4f}, {high:+.4f}]"
    return f"{name}: our best model is {word} a regression on seven features ({loss})."
