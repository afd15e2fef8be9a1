"""A league beside plain and fictitious self-play at the same number of agent-steps.

    python benchmarks/league_strength.py arena --recipe full --out runs/leagues

Runs what is missing of the leagues (three ways, a run for every seed), lets all of them meet in one
field, and prints what came of it. It can be stopped at any moment.

Fixed before the runs
  Primary figure: the exploitability of a run's main agent, that is the win rate (draws as half) of
    the stronger of its two approximate best responses: one begins with the imitation, one as the
    main agent itself; same budget, same settings and same number of matches for every run.
  Primary comparison: its mean over the runs of the league less that of self-play, with Welch's
    95 % interval. A difference is shown if the interval leaves out 0, and not otherwise.
  Runs: seeds 0 to 17 of every way, all of them, and looked at once. Runs differ by 4 to 6 points
    (SD): 18 a way find a difference of 5 points in four cases of five. Other seeds are exploratory.
  Unpaired throughout: runs with the same seed number share no match and no weights beyond the
    imitation that all began from. What is found holds for that imitation.
  Everything else is secondary: intervals are not corrected for how many there are. The worst past
    is the least win rate among the same number of past selves in every run. Ways get the same
    agent-steps; match-steps, which are fewer where a learner meets itself, are told beside them.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from understudy import games
from understudy.data.runs import Run
from understudy.data.stats import Estimate, student, welch
from understudy.errors import InputError
from understudy.pipeline.league import compare, league, season_of

WAYS = {"league": "", "self-play": "-self-play", "fictitious": "-fictitious"}
SEEDS = [*range(18)]
PRIMARY, AGAINST = "exploitability", "self-play"
Rows = dict[str, dict[str, Estimate]]


def main() -> None:
    asked = arguments()
    print(__doc__[__doc__.index("Fixed before the runs") :])
    game, run = games.load(asked.game), Run(asked.out)
    summaries, seasons = {}, {}
    for seed in asked.seeds:
        for way, ending in WAYS.items():
            name, recipe = f"{way}-{seed}", f"{asked.recipe}{ending}"
            print(f"running {name} ...", flush=True)
            summaries[name] = league(
                game, run, recipe, start=asked.start, name=name, seed=seed, worker=asked.workers
            )
            require_comparable(summaries)
            seasons[name] = season_of(game, run, recipe, start=asked.start, name=name, seed=seed)
    field = compare(seasons, run.folder / "compared", matches=asked.matches)
    rows = {name: row(summaries[name], field["ratings"][name]) for name in summaries}
    print(table(rows))
    print(by_way(rows, asked.seeds))
    print(budgets(summaries, asked.seeds))
    print(populations(field["relative_population_performance"]))
    print(verdict(rows, asked.seeds))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("game")
    parser.add_argument("--recipe", default="full")
    parser.add_argument("--seeds", default=SEEDS, type=lambda s: [*map(int, s.split(","))])
    parser.add_argument("--out", default=Path("runs/leagues"), type=Path)
    parser.add_argument("--from", dest="start", default=None)
    parser.add_argument("--matches", default=40, type=int, help="of every pair in the field")
    parser.add_argument("--workers", default=None)
    return parser.parse_args()


def require_comparable(summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse runs whose figures do not mean the same.

    Agent-steps may differ by a hundredth: a game may give a few less than it was asked for.
    """
    for measured, what in (
        ("minimum_win_rate", "among"),
        ("best_response", "matches"),
        ("best_response", "agent_steps"),
    ):
        found = {
            name: [one[what] for one in summary[measured].values()]
            for name, summary in summaries.items()
        }
        for alike in zip(*found.values(), strict=True):
            if max(alike) > 1.01 * min(alike):
                raise InputError(f"runs differ in {what}, so they cannot be compared: {found}")


def row(summary: Mapping[str, Any], rating: Mapping[str, float]) -> dict[str, Estimate]:
    """What is compared of a run."""
    worst = next(iter(summary["minimum_win_rate"].values()))
    fresh = {f"exploiter of {name}": ends(one) for name, one in summary["best_response"].items()}
    return {
        "rating": Estimate(*rating.values()),
        "worst past": ends(worst),
        **fresh,
        PRIMARY: max(fresh.values(), key=lambda one: one.value),
    }


def ends(found: Mapping[str, float]) -> Estimate:
    return Estimate(found["mean"], found["low"], found["high"])


def table(rows: Rows) -> str:
    """Every run."""
    columns = list(next(iter(rows.values())))
    told = [(name, *(written(c, cells[c]) for c in columns)) for name, cells in rows.items()]
    return lines(["league", *columns], told)


def by_way(rows: Rows, seeds: Sequence[int]) -> str:
    """Means over runs with Student's interval, and how the league differs: Welch, unpaired."""
    columns = list(next(iter(rows.values())))
    told = []
    for way in WAYS:
        told.append((way, *(written(c, student(values(rows, way, c, seeds))) for c in columns)))
        if way != "league":
            found = (written(c, less(rows, way, c, seeds)) for c in columns)
            told.append((f"league less {way}", *found))
    return lines([f"{len(seeds)} runs a way", *columns], told)


def values(rows: Rows, way: str, column: str, seeds: Sequence[int]) -> list[float]:
    return [rows[f"{way}-{seed}"][column].value for seed in seeds]


def less(rows: Rows, way: str, column: str, seeds: Sequence[int]) -> Estimate:
    """The league's mean less that of another way."""
    return welch(values(rows, "league", column, seeds), values(rows, way, column, seeds))


def budgets(summaries: Mapping[str, Mapping[str, Any]], seeds: Sequence[int]) -> str:
    """What the runs of each way learnt from: steps of agents, and of the matches they were in."""
    told = []
    for way in WAYS:
        runs = [summaries[f"{way}-{seed}"] for seed in seeds]
        agent, match = (mean(run[c] for run in runs) for c in ("agent_steps", "match_steps"))
        per_match = f"{agent / match:.2f}" if match else "not counted"
        told.append((way, f"{agent:,.0f}", f"{match:,.0f}", per_match))
    heads = ["mean of a run", "agent-steps", "match-steps", "agent-steps per match-step"]
    return lines(heads, told)


def populations(rates: Mapping[str, float]) -> str:
    """Every run of one way against every run of another: seed numbers mean nothing here."""
    found: dict[tuple[str, str], list[float]] = {}
    for pair, rate in rates.items():
        one, other = (name.rsplit("-", 1)[0] for name in pair.split(" - "))
        if [*WAYS].index(one) > [*WAYS].index(other):
            one, other, rate = other, one, 1 - rate
        if one != other:
            found.setdefault((one, other), []).append(rate)
    told = [
        f"  {one} - {other}: {mean(all_of):.1%} ({min(all_of):.1%} to {max(all_of):.1%}, "
        f"least and greatest of {len(all_of)})"
        for (one, other), all_of in sorted(found.items())
    ]
    return "\n".join(["One population against another, both choosing at best:", *told, ""])


def verdict(rows: Rows, seeds: Sequence[int]) -> str:
    """The primary comparison, in one line."""
    found = less(rows, AGAINST, PRIMARY, seeds)
    shown = "shown" if found.bounded and not found.low <= 0 <= found.high else "not shown"
    if [*seeds] != SEEDS:
        shown = f"exploratory, since the seeds fixed in advance are {SEEDS[0]} to {SEEDS[-1]}"
    return f"Primary: {PRIMARY}, league less {AGAINST}: {written(PRIMARY, found)}: {shown}."


def lines(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    body = [f"| {' | '.join(one)} |" for one in cells]
    return "\n".join([f"| {' | '.join(heads)} |", f"|---|{'---|' * (len(heads) - 1)}", *body, ""])


def written(column: str, found: Estimate) -> str:
    value, low, high = found.value, found.low, found.high
    if column == "rating":
        return f"{value:.0f} ({low:.0f} to {high:.0f})"
    return f"{value:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    main()
