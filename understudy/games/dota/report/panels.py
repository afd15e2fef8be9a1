"""Pages: all about one match, and how good a run's value models are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from understudy.data import shards
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
from understudy.games.dota.advice.spots import SIDES
from understudy.games.dota.report.chance_panel import chance_panel, strength_panel, swings_panel
from understudy.games.dota.report.futures_panel import futures_panels
from understudy.games.dota.report.game_map import map_panel
from understudy.games.dota.report.item_timeline import items_panel
from understudy.games.dota.report.lineups import lineups_panel
from understudy.games.dota.report.scenarios import firsts, rates
from understudy.games.dota.sources.synthetic import FIRST_MATCH
from understudy.games.dota.sources.tables import EVENTS, MATCHES
from understudy.learn.base import read_evaluation
from understudy.pipeline.game import Look, Shown, load
from understudy.report import charts
from understudy.report.page import Panel, page


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
        chance_panel(context, model, chance),
        lineups_panel(context, model, chance),
        swings_panel(context, chance),
        strength_panel(context, model, chance),
        map_panel(context, models),
        _economy_panel(context),
        *futures_panels(context, models),
        items_panel(context, models),
    ]


def _economy_panel(context: MatchContext) -> Panel:
    minutes = (context.timeline.t / 60).tolist()
    lines = {
        name: list(zip(minutes, values.tolist(), strict=True))
        for name, values in context.timeline.advantage.items()
    }
    chart = charts.line_chart(lines, title="Lead of Radiant", x_label="minute", reference=0.0)
    return Panel("Gold and experience", chart, note="Gold is gold earned, not cash.", wide=True)


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
