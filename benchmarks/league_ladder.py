"""One page for all games, ways and seeds of league_exact.py and league_loadouts.py.

python benchmarks/league_ladder.py --exact runs/exact --loadouts runs/loadouts --out ladder.html
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import league_exact as exact
import league_loadouts as loadouts

from understudy.data.files import write_text
from understudy.data.stats import student
from understudy.report import charts
from understudy.report.page import Panel, page

Rows = Sequence[Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--exact", default=Path("runs/exact"), type=Path)
    parser.add_argument("--loadouts", default=Path("runs/loadouts"), type=Path)
    parser.add_argument("--out", default=Path("ladder.html"), type=Path)
    asked = parser.parse_args()
    rows = exact.read_rows(asked.exact / exact.ROWS)
    lines = loadouts.read_lines(asked.loadouts / loadouts.LINES)
    panels = [exact_panel(game, rows) for game in exact.GAMES if any_of(rows, game)]
    panels += [calibration_panel(rows)] if rows else []
    panels += [loadouts_panel(lines)] if lines else []
    runs = len(rows) + sum(not line["target"] for line in lines)
    title = f"{runs} runs of {len(exact.ways('circle:0.8'))} ways; less exploited is better"
    write_text(asked.out, page("What a league is worth", title, panels))
    print(f"{asked.out}: {len(panels)} panels of {runs} runs")


def any_of(rows: Rows, game: str) -> bool:
    return any(row["game"] == game for row in rows)


def exact_panel(game: str, rows: Rows) -> Panel:
    """Every product of every way, over seeds and seed by seed."""
    here = [row for row in rows if row["game"] == game]
    circle = game.startswith("circle")
    found = {
        f"{way}, {product}": exact.values(game, here, way, product)
        for product in exact.PRODUCTS
        for way in exact.ways(game)
    }
    whiskers = [
        charts.Interval(name, *student(values).plain())
        for name, values in sorted(found.items(), key=lambda one: mean_of(one[1]))
        if values
    ]
    what = "win rate of the exact best answer" if circle else "exploitability, in the game's coin"
    chart = charts.interval_chart(
        whiskers, title=f"{what}, means over seeds", unit="percent" if circle else "number"
    )
    seeds = sorted({row["seed"] for row in here})
    cell = "{:.1%}" if circle else "{:.3f}"
    table = charts.table(
        ("seed", *(f"{way}: {' / '.join(exact.PRODUCTS)}" for way in exact.ways(game))),
        [[seed, *seed_cells(game, here, seed, cell)] for seed in seeds],
    )
    best, worst = whiskers[0], whiskers[-1]
    ends = (cell.format(one.value) for one in (best, worst))
    told = "{}: least exploited is {} ({}), most {} ({})".format(
        game, *(part for pair in zip((best.label, worst.label), ends, strict=True) for part in pair)
    )
    note = (
        "95 % by Student over seeds, which share nothing. last: the main agent; mixture: the "
        + ("Nash mixture of all that was kept; even: every kept main agent alike.")
    )
    return Panel(game, f'<div class="named">{chart}</div>{table}', note, wide=True, finding=told)


def mean_of(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def seed_cells(game: str, rows: Rows, seed: int, form: str) -> list[str]:
    cells = []
    for way in exact.ways(game):
        one = [row for row in rows if (row["way"], row["seed"]) == (way, seed)]
        found = [exact.values(game, one, way, product) for product in exact.PRODUCTS]
        cells.append(" / ".join(form.format(v[0]) for v in found if v) or "not run")
    return cells


def calibration_panel(rows: Rows) -> Panel:
    """Learnt best responses beside the exact ones, a row per game and product."""
    heads, *told = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in "\n".join(exact.calibration(rows)).splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]
    note = "The stronger of two best responses by learning, less the exact one, over all runs."
    return Panel("Best responses by learning", charts.table(heads, told), note, wide=True)


def loadouts_panel(lines: Rows) -> Panel:
    """The arena with loadouts: the strongest of four hunters, over seeds and seed by seed."""
    ways = [*loadouts.ways()]
    pairs = [(way, target) for target in loadouts.TARGETS for way in ways]
    whiskers = [
        charts.Interval(f"{way}, {target}", *student(found).plain())
        for way, target in pairs
        if (found := loadouts.strongest(lines, way, target))
    ]
    chart = charts.interval_chart(
        sorted(whiskers, key=lambda one: one.value or 0.0),
        title="Win rate of the strongest of four approximate best responses, means over seeds",
        unit="percent",
    )
    table = charts.table(
        ("way", "seed", "product", *loadouts.HUNTERS, "loadouts: steel, flame, frost"),
        [
            (
                way,
                line["seed"],
                target,
                *hunts(lines, way, line["seed"], target),
                carried(line, target),
            )
            for way, target in pairs
            for line in lines
            if line["way"] == way and not line["target"]
        ],
    )
    return Panel("arena:loadouts", f'<div class="named">{chart}</div>{table}', wide=True)


def hunts(lines: Rows, way: str, seed: int, target: str) -> list[str]:
    found = {
        line["hunter"]: f"{line['mean']:.1%}"
        for line in lines
        if (line["way"], line["seed"], line["target"]) == (way, seed, target)
    }
    return [found.get(hunter, "not run") for hunter in loadouts.HUNTERS]


def carried(line: Mapping[str, Any], target: str) -> str:
    shares = line["products"][target]
    mixed = [
        sum(share * line["loadouts"][name][k] for name, share in shares.items()) for k in range(3)
    ]
    return ", ".join(f"{one:.0%}" for one in mixed)


if __name__ == "__main__":
    main()
