"""Why a player lost, as tables for the terminal and a page that leads to the days themselves."""

from collections.abc import Callable, Mapping, Sequence

from rich.table import Table

from understudy.games.scml.strength.why import REASONS, DayGap, Loss, added_up, worst_days
from understudy.report import charts
from understudy.report.charts import Link
from understudy.report.page import Panel, page

DAYS_SHOWN = 20
Gaps = Mapping[Loss, Sequence[DayGap]]
Address = Callable[[str, int, int], str]
"""Of a match, a day and a factory: where that can be looked at."""

_NOTE = (
    "Beside the rival that did best in the same slot of the same configuration and random state, "
    "in a world of its own. Numbers are money of this day or world, the player's less the rival's; "
    "below 0 they speak against the player, and they add up to the difference of profits. Sales: "
    "units made and sold, at the rival's price less the cost of making them. Purchases: units "
    "bought, at the rival's price; they may serve later days."
)


def why_tables(player: str, gaps: Gaps) -> list[Table]:
    """Worst worlds and worst days."""
    worlds = _table(f"Where {player} lost most", ("world", "slot", "rival", "behind"))
    for loss, days in gaps.items():
        parts = added_up(days)
        cells = (loss.match, str(loss.slot), loss.rival, f"{loss.behind:.3f}")
        worlds.add_row(*cells, *(_money(parts[name]) for name in REASONS))
    days_table = _table("The days that cost most", ("world", "day", "rival", "behind"))
    for loss, gap in worst_days(gaps, DAYS_SHOWN // 2):
        cells = (loss.match, str(gap.day), loss.rival, f"{-gap.gap:,.0f}")
        days_table.add_row(*cells, *(_money(gap.parts[name]) for name in REASONS))
    return [worlds, days_table]


def _money(amount: float) -> str:
    return f"{amount:+,.0f}" if round(amount) else "0"


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for name in (*columns, *REASONS):
        left = name in ("world", "rival")
        table.add_column(name, justify="left" if left else "right", overflow="fold")
    return table


def why_page(player: str, gaps: Gaps, address: Address) -> str:
    """The same with units and links: to the player's day, and to the rival's beside it."""
    return page(
        f"Why {player} lost",
        "SCML: worst worlds and days against the rival in the same slot",
        [_worlds(player, gaps, address), _days(player, gaps, address)],
    )


def _worlds(player: str, gaps: Gaps, address: Address) -> Panel:
    rows = list[list[charts.Cell]]()
    for loss, days in gaps.items():
        parts, worst = added_up(days), min(days, key=lambda gap: gap.gap)
        rows.append(
            [
                Link(loss.match, address(loss.match, worst.day, loss.slot)),
                Link(loss.rival, address(loss.rival_match, worst.day, loss.slot)),
                loss.slot,
                round(loss.score, 3),
                round(loss.rival_score, 3),
                round(loss.behind, 3),
                *(round(parts[name], 1) for name in REASONS),
            ]
        )
    columns = ("world", "rival", "slot", "score", "rival's", "behind", *REASONS)
    total = added_up(gap for days in gaps.values() for gap in days)
    worst_reason = min(total, key=lambda name: total[name])
    facts = charts.tiles([("worlds shown", len(gaps)), ("what cost most", worst_reason)])
    farthest = max(gaps, key=lambda loss: loss.behind)
    found = (
        f"In its worst {len(gaps)} worlds {player} lost most through {worst_reason}; farthest "
        f"behind, by {farthest.behind:.3f} of its initial balance, it was beside {farthest.rival}."
    )
    html = facts + charts.table(columns, rows)
    return Panel(f"Worst worlds of {player}", html, _NOTE, wide=True, finding=found)


def _days(player: str, gaps: Gaps, address: Address) -> Panel:
    rows = list[list[charts.Cell]]()
    for loss, gap in worst_days(gaps, DAYS_SHOWN):
        units = [f"{mine}\u00a0/\u00a0{theirs}" for mine, theirs in gap.units.values()]
        rows.append(
            [
                Link(f"{loss.match}, day {gap.day}", address(loss.match, gap.day, loss.slot)),
                Link(loss.rival, address(loss.rival_match, gap.day, loss.slot)),
                gap.reason,
                round(gap.gap, 1),
                *(round(gap.parts[name], 1) for name in REASONS),
                *units,
            ]
        )
    columns = ("day", "rival", "mostly", "profit", *REASONS,
               "made", "bought", "short", "stored", "idle lines")  # fmt: skip
    note = f"Units are {player}'s / the rival's. A click on a day shows it in that factory."
    return Panel("The days that cost most", charts.table(columns, rows), note, wide=True)
