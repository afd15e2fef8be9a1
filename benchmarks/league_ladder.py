"""One page for all games, ways and seeds of league_exact.py and league_loadouts.py.

python benchmarks/league_ladder.py --exact runs/exact --loadouts runs/worth --out ladder.html
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
from understudy.report.charts.axis import Unit
from understudy.report.page import Panel, page

Rows = Sequence[Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--exact", default=Path("runs/exact"), type=Path)
    parser.add_argument("--loadouts", default=Path("runs/worth"), type=Path)
    parser.add_argument("--out", default=Path("ladder.html"), type=Path)
    asked = parser.parse_args()
    rows = exact.read_rows(asked.exact / exact.ROWS)
    lines = loadouts.read_lines(asked.loadouts / loadouts.LINES)
    panels = [overview_panel(rows, lines)]
    panels += [exact_panel(game, rows) for game in exact.GAMES if any_of(rows, game)]
    panels += [calibration_panel(rows)] if rows else []
    panels += loadouts_panels(lines)
    runs = len(rows) + sum(not line["meets"] for line in lines)
    title = f"{runs} runs of {len(exact.ways('circle:0.8'))} ways; less exploited is better"
    write_text(asked.out, page("What a league is worth", title, panels))
    print(f"{asked.out}: {len(panels)} panels of {runs} runs")


def any_of(rows: Rows, game: str) -> bool:
    return any(row["game"] == game for row in rows)


def overview_panel(rows: Rows, lines: Rows) -> Panel:
    """A row for each game, a column for each way: last and mixture, means over seeds."""
    figures = figures_of(rows, lines)
    ways = [way for way in exact.ways("circle:0.8") if any(way in one for one in figures.values())]
    told = []
    for game, of_ways in figures.items():
        form = "{:.3f}" if rows_of(rows, game) and not game.startswith("circle") else "{:.1%}"
        cells = ["; ".join(form.format(one) for one in of_ways.get(way, ())) for way in ways]
        told.append([game, *cells])
    note = (
        "last main agent; Nash mixture of what was kept; means over seeds. Of psro only the "
        "mixture is promised. Circles and loadouts: what the best answer, or loadout, wins; "
        "others: exploitability in the game's coin. Empty: not run."
    )
    table = charts.table(("game", *ways), told)
    return Panel("All games", table, note, wide=True, finding=finding(rows, lines))


def figures_of(rows: Rows, lines: Rows) -> dict[str, dict[str, list[float]]]:
    """By game and way: the means of last and mixture."""
    figures: dict[str, dict[str, list[float]]] = {}
    for game in exact.GAMES:
        here = rows_of(rows, game)
        for way in dict.fromkeys(row["way"] for row in here):
            found = [exact.values(game, here, way, product) for product in ("last", "mixture")]
            figures.setdefault(game, {})[way] = [mean_of(values) for values in found]
    for setting in loadouts.SETTINGS:
        here = loadouts.whole_seeds(lines, setting)
        for way in loadouts.ways_of(here):
            found = [loadouts.by_loadout(here, way, product) for product in loadouts.PRODUCTS]
            figures.setdefault(f"arena:loadouts, {setting}", {})[way] = [*map(mean_of, found)]
    return figures


def finding(rows: Rows, lines: Rows) -> str:
    """What the comparisons that were fixed before the runs show of products that are promised."""
    shown: dict[str, list[str]] = {}
    for game, verdicts in compared(rows, lines).items():
        for product, *_, verdict in verdicts:
            if product == "psro, last":
                continue
            where = shown.setdefault(" (".join(product.rsplit(", ", 1)) + ")", [])
            if verdict == "shown" and game not in where:
                where.append(game)
    if not shown:
        return "Too few runs to compare"
    told = [f"{product} in {' / '.join(games)}" for product, games in shown.items() if games]
    rest = "no other product is, anywhere" if told else "no product is, anywhere"
    return (
        f"Shown to be exploited less than self-play's and fictitious': {'; '.join([*told, rest])}"
    )


def compared(rows: Rows, lines: Rows) -> dict[str, list[list[str]]]:
    """By game the rows of its comparison: the product first, the verdict last."""
    found = {
        game: cells_of(exact.verdicts(game, rows_of(rows, game)))[1:]
        for game in exact.GAMES
        if any_of(rows, game)
    }
    for setting in loadouts.SETTINGS:
        here = loadouts.whole_seeds(lines, setting)
        told = loadouts.verdicts(here, loadouts.by_loadout, loadouts.CHALLENGERS)
        found |= {f"arena:loadouts, {setting}": told} if told else {}
    return found


def cells_of(table: str) -> list[list[str]]:
    """Of a table in Markdown, the heads first."""
    return [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in table.splitlines()
        if line.startswith("|") and not line.startswith("|---")
    ]


def rows_of(rows: Rows, game: str) -> Rows:
    return [row for row in rows if row["game"] == game]


def exact_panel(game: str, rows: Rows) -> Panel:
    """Every product of every way, over seeds and seed by seed."""
    here = rows_of(rows, game)
    circle = game.startswith("circle")
    found = {
        f"{way}: {product}": exact.values(game, here, way, product)
        for product in exact.PRODUCTS
        for way in exact.ways(game)
    }
    cell = "{:.1%}" if circle else "{:.3f}"
    what = "What the exact best answer wins" if circle else "Exploitability, in the game's coin"
    chart = ranked(found, what, "percent" if circle else "number")
    seeds = sorted({row["seed"] for row in here})
    heads, *verdicts = cells_of(exact.verdicts(game, here))
    table = charts.table(heads, verdicts) if verdicts else ""
    table += charts.table(
        ("seed", *exact.ways(game)), [[seed, *seed_cells(game, here, seed, cell)] for seed in seeds]
    )
    note = (
        "95 % by Student over seeds, which share nothing. last: the main agent; mixture: the Nash "
        "mixture of all that was kept; even: every kept main agent alike. The table has last / "
        "mixture / even of every run."
    )
    return Panel(game, f"{chart}{table}", note, wide=True)


def ranked(found: Mapping[str, Sequence[float]], what: str, unit: Unit) -> str:
    """Means with intervals, the least exploited first."""
    whiskers = [
        charts.Interval(name, *student(values).plain())
        for name, values in sorted(found.items(), key=lambda one: mean_of(one[1]))
        if values
    ]
    title = f"{what}, means over seeds: less is better"
    chart = charts.interval_chart(whiskers, title=title, unit=unit)
    return f'<div class="named">{chart}</div>'


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
    heads, *told = cells_of("\n".join(exact.calibration(rows)))
    note = "The stronger of two best responses by learning, less the exact one, over all runs."
    return Panel("Best responses by learning", charts.table(heads, told), note, wide=True)


def loadouts_panels(lines: Rows) -> list[Panel]:
    """The arena with loadouts, a panel a setting: what the best loadout wins, by way and seed."""
    panels = []
    for setting in loadouts.SETTINGS:
        here = loadouts.whole_seeds(lines, setting)
        if not here:
            continue
        found = {
            f"{way}: {product}": loadouts.by_loadout(here, way, product)
            for product in loadouts.PRODUCTS
            for way in loadouts.ways_of(here)
        }
        chart = ranked(found, "What the best loadout wins", "percent")
        note = (
            "What the best loadout wins against the product's own choice: 50 % where it is even, "
            "66.4 % where it is always the same. carries: steel, flame, frost. Then, where they "
            "were trained, the win rates of best responses by learning against the mixture."
        )
        html = f"{chart}{loadouts_verdicts(lines, setting)}{loadouts_table(lines, here)}"
        panels.append(Panel(f"arena:loadouts, {setting}", html, note, wide=True))
    return panels


def loadouts_verdicts(lines: Rows, setting: str) -> str:
    """The comparisons that were fixed before the runs: by loadout, then by the strongest hunter."""
    here, hunted = loadouts.whole_seeds(lines, setting), loadouts.whole_hunts(lines, setting)
    mixtures = [one for one in loadouts.CHALLENGERS if one[1] == "mixture"]
    told = loadouts.verdicts(here, loadouts.by_loadout, loadouts.CHALLENGERS)
    told = [["best loadout", *cells] for cells in told]
    if hunted:
        found = loadouts.verdicts(hunted, loadouts.strongest, mixtures)
        told += [["strongest hunter", *cells] for cells in found]
    return charts.table(("by", *loadouts.VERDICT), told) if told else ""


def loadouts_table(lines: Rows, here: Rows) -> str:
    """Every league: what the best loadout wins, what it carries, what hunters win."""
    hunters = loadouts.HUNTERS if any(any(hunts(lines, line)) for line in here) else ()
    rows = [
        (
            way,
            line["seed"],
            *(f"{line['by_loadout'][product]:.1%}" for product in loadouts.PRODUCTS),
            *(carried(line, product) for product in loadouts.PRODUCTS),
            *hunts(lines, line)[: len(hunters)],
        )
        for way in loadouts.ways_of(here)
        for line in here
        if line["way"] == way
    ]
    choices = [f"{product} carries" for product in loadouts.PRODUCTS]
    return charts.table(("way", "seed", *loadouts.PRODUCTS, *choices, *hunters), rows)


def hunts(lines: Rows, league: Mapping[str, Any]) -> list[str]:
    """What each hunter wins against a league's mixture; nothing where none was trained."""
    wanted = loadouts.of(league)
    found = {loadouts.of(line): f"{line['mean']:.1%}" for line in lines if "mean" in line}
    return [found.get(wanted._replace(meets=hunter), "") for hunter in loadouts.HUNTERS]


def carried(line: Mapping[str, Any], product: str) -> str:
    mixed = loadouts.carried(line["products"][product], line["loadouts"])
    return ", ".join(f"{one:.0%}" for one in mixed)


if __name__ == "__main__":
    main()
