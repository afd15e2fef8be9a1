"""Tables for the terminal: is the world model right, and plans rolled forward in it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from understudy.terminal.console import out_console

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from rich.table import Table

    from understudy.games.dota.planning.plan import SidePlans

NO_PLAN = "no advice: the spread of the futures covers every difference"


def print_world(evaluation: Mapping[str, Any]) -> None:
    """CRPS beside baselines, coverage, the chance by futures, and what plans came to."""
    futures, planned = evaluation["futures"], evaluation["planned"]
    for table in (
        _crps_table(futures["crps"]),
        _coverage_table(futures["coverage"]),
        _chance_table(futures["chance"]),
        _plans_table(planned),
    ):
        out_console.print(table)
    print(f"a plan was advised in {planned['advised']:.1%} of the moments")


_NAMES = ("world model", "nearest neighbours", "linear drift", "persistence")


def _crps_table(scores: Mapping[str, Any]) -> "Table":
    title = "where it will be: CRPS, less is better (baselines with the errors they had before)"
    table = _table(title, "lead", *("world", "neigh-\nbours", "drift", "stays"), "beside drift")
    for key, row in scores.items():
        digits = ",.0f" if row["world model"] > 20 else ".3f"
        values = (format(row[name], digits) for name in _NAMES)
        gap = row["world model beside linear drift"]
        words = " ".join(format(gap[name], "+" + digits) for name in ("mean", "low", "high"))
        table.add_row(f"{key} min", *values, words)
    return table


def _coverage_table(shares: Mapping[str, float]) -> "Table":
    table = _table("what its bands held", "lead", "50 %", "80 %", "95 %")
    keys = dict.fromkeys(key.rsplit(" ", 1)[0] for key in shares if key.startswith("world model"))
    for key in keys:
        values = (f"{shares[f'{key} {share}']:.0%}" for share in (50, 80, 95))
        table.add_row(key.removeprefix("world model "), *values)
    return table


def _chance_table(chances: Mapping[str, Any]) -> "Table":
    table = _table("the chance to win: log loss", "minutes", "one step", "futures", "beside")
    for step, row in chances.items():
        gap = " ".join(f"{row['beside'][name]:+.4f}" for name in ("mean", "low", "high"))
        table.add_row(step, f"{row['one step']:.4f}", f"{row['futures']:.4f}", gap)
    return table


def _plans_table(planned: Mapping[str, Any]) -> "Table":
    title = "what came of plans: won beyond the chance, those who did it less the others"
    table = _table(title, "plan", "did it", "difference", "95 % by match")
    rows = {**planned["plans"], "did as was advised": planned["following"]}
    for name, row in rows.items():
        if "mean" in row:
            between = f"{row['low']:+.4f} to {row['high']:+.4f}"
            table.add_row(name, f"{row['share']:.1%}", f"{row['mean']:+.4f}", between)
        else:
            table.add_row(name, f"{row.get('share', 0.0):.1%}", "-", "-")
    return table


def print_plans(sides: Sequence["SidePlans"]) -> None:
    """For each side its plans, and the one to prefer, if any."""
    for one in sides:
        title = f"{one.side}: what it may do, and what may come, in five minutes"
        table = _table(title, "plan", "like matches", "chance then", "beside the others")
        for line in one.plans:
            gain = f"{100 * line['gain']:+.1f} ± {100 * line['error']:.1f}"
            name = line["plan"] if line["own"] else f"if {line['plan']}"
            table.add_row(name, f"{line['share']:.0%}", f"{line['value']:.0%}", gain)
        out_console.print(table)
        print(f"{one.side}: {one.advised}" if one.advised else f"{one.side}: {NO_PLAN}")
    print("what went along with a plan in recordings; not what it would cause")


def print_bands(bands: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Where Radiant's leads and its chance may be in the next minutes."""
    title = "the next minutes: middle, and the bounds of 80 % of futures that last so long"
    table = _table(title, "minute", "gold", "xp", "kills", "chance")
    minutes = [point["minute"] for point in bands["chance"]]
    for minute in minutes:
        cells = []
        for name in ("gold", "xp", "kills", "chance"):
            found = [point for point in bands[name] if point["minute"] == minute]
            cells.append(_band(found[0], name) if found else "over by then")
        table.add_row(f"{minute:.0f}", *cells)
    out_console.print(table)


def _band(point: Mapping[str, float], name: str) -> str:
    form = "{:.0%}" if name == "chance" else "{:+,.0f}"
    middle, low, high = (form.format(point[key]) for key in ("middle", "low_80", "high_80"))
    return middle if low == high else f"{middle} ({low} to {high})"


def _table(title: str, first: str, *others: str) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table
