"""A league beside plain and fictitious self-play at the same number of agent-steps.

    python benchmarks/league_strength.py arena --recipe full --seeds 0,1,2 --out runs/leagues

Runs what is missing of nine leagues (three ways, three seeds), lets all of them meet in one field,
and prints two tables: every league, and every way over its seeds. It can be stopped at any moment.
"""

import argparse
from pathlib import Path

from understudy import games
from understudy.data.runs import Run
from understudy.data.stats import student, welch
from understudy.pipeline.league import compare, league, season_of

WAYS = {"league": "", "self-play": "-self-play", "fictitious": "-fictitious"}


def main() -> None:
    asked = arguments()
    game, run = games.load(asked.game), Run(asked.out)
    summaries, seasons = {}, {}
    for seed in asked.seeds:
        for way, ending in WAYS.items():
            name, recipe = f"{way}-{seed}", f"{asked.recipe}{ending}"
            print(f"running {name} ...", flush=True)
            summaries[name] = league(
                game, run, recipe, start=asked.start, name=name, seed=seed, worker=asked.workers
            )
            seasons[name] = season_of(game, run, recipe, start=asked.start, name=name, seed=seed)
    field = compare(seasons, run.folder / "compared", matches=asked.matches)
    rows = {name: row(summaries[name], field["ratings"][name]) for name in summaries}
    print(table(rows))
    print(by_way(rows, asked.seeds))
    print("One population against another, both choosing at best:")
    for pair, rate in field["relative_population_performance"].items():
        one, other = (name.rsplit("-", 1) for name in pair.split(" - "))
        if one[1] == other[1]:
            print(f"  {pair}: {rate:.1%}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("game")
    parser.add_argument("--recipe", default="full")
    parser.add_argument("--seeds", default=[0, 1, 2], type=lambda s: [*map(int, s.split(","))])
    parser.add_argument("--out", default=Path("runs/leagues"), type=Path)
    parser.add_argument("--from", dest="start", default=None)
    parser.add_argument("--matches", default=40, type=int, help="of every pair in the field")
    parser.add_argument("--workers", default=None)
    return parser.parse_args()


def row(summary, rating):
    """What is compared, each with an interval: (value, low, high)."""
    worst = next(iter(summary["minimum_win_rate"].values()))
    found = {"rating": tuple(rating.values()), "worst past": ends(worst)}
    for target, fresh in summary["best_response"].items():
        found[f"exploiter of {target}"] = ends(fresh)
    found["strongest exploiter"] = max(list(found.values())[2:])
    return found


def ends(found):
    return found["mean"], found["low"], found["high"]


def table(rows):
    columns = list(next(iter(rows.values())))
    lines = [f"| league | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for name, cells in rows.items():
        told = (written(column, *cells[column]) for column in columns)
        lines.append(f"| {name} | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def by_way(rows, seeds):
    """Means over seeds with Student's interval, and the difference of each to the league."""
    columns = list(next(iter(rows.values())))
    lines = [f"| {len(seeds)} seeds | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for way in WAYS:
        values = {c: [rows[f"{way}-{seed}"][c][0] for seed in seeds] for c in columns}
        told = (written(c, *student(values[c]).named().values()) for c in columns)
        lines.append(f"| {way} | {' | '.join(told)} |")
        if way != "league":
            # The runs share a seed number and nothing else: unpaired, by Welch.
            league = {c: [rows[f"league-{seed}"][c][0] for seed in seeds] for c in columns}
            told = (written(c, *welch(league[c], values[c]).named().values()) for c in columns)
            lines.append(f"| league less {way} | {' | '.join(told)} |")
    return "\n".join([*lines, ""])


def written(column, value, low, high):
    if column == "rating":
        return f"{value:.0f} ({low:.0f} to {high:.0f})"
    return f"{value:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
