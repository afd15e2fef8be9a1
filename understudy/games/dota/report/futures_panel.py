"""A match's futures, drawn: what was likely at some minutes, and what came."""

from collections.abc import Sequence

from understudy.games.dota.advice.match_context import MatchContext, Models
from understudy.games.dota.planning.plan import next_minutes
from understudy.games.dota.planning.world_model import WorldModel, of_models
from understudy.report import charts
from understudy.report.page import Panel

ASKED_EVERY, MOST = 10, 6
"""Minutes between the moments that are asked about; in a long match a multiple, so that each of
these MOST at most has a colour of its own."""


def futures_panels(context: MatchContext, models: Models) -> list[Panel]:
    """One, by the world model that comes with the program, where the match is long enough."""
    if context.timeline.t[-1] <= 60 * ASKED_EVERY:
        return []
    return [futures_panel(context, models, of_models(None))]


def futures_panel(context: MatchContext, models: Models, world: WorldModel) -> Panel:
    """Radiant's lead in gold, and at some minutes the band of 80 % of futures."""
    minutes = (context.timeline.t // 60).tolist()
    gold = context.timeline.advantage["gold"].tolist()
    lines: dict[str, Sequence[tuple[float, float | None]]] = {
        "what came": list(zip(map(float, minutes), gold, strict=True))
    }
    bands = {}
    every = ASKED_EVERY * (1 + (int(minutes[-1]) - 1) // (ASKED_EVERY * (MOST + 1)))
    for minute in range(every, int(minutes[-1]), every):
        if minute not in minutes:
            continue
        points = next_minutes(context, models.value, world, minute)["gold"]
        name = f"as seen at {minute}"
        lines[name] = [(one["minute"], one["middle"]) for one in points]
        bands[name] = [(one["minute"], one["low_80"], one["high_80"]) for one in points]
    chart = charts.line_chart(
        lines, title="Radiant's lead in gold", x_label="minute", y_label="gold", bands=bands
    )
    note = (
        "Bands hold 80 % of futures in which the match lasts so long, drawn from matches in a like "
        "state; nothing after the minute named is known to them."
    )
    return Panel("What was likely", chart, note=note, wide=True)
