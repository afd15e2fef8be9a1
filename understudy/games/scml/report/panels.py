"""What a report shows of SCML: who is strong, where, against whom, and how they play."""

import math
from collections.abc import Sequence

import pyarrow as pa

from understudy.data.results import read_results, results_of
from understudy.data.runs import Run
from understudy.data.stats import Estimate
from understudy.games.scml.recording.tables import RESULTS
from understudy.games.scml.report.online_panels import online_panels
from understudy.games.scml.report.trace_panels import trace_panels
from understudy.games.scml.report.world_page import explorer_panels
from understudy.games.scml.strength.paired import LEVEL_NAMES, Rows
from understudy.games.scml.strength.strength import PlayerStrength, Strength, assess
from understudy.report import charts
from understudy.report.charts import Interval
from understudy.report.page import Panel

MOST = 20  # players in charts that grow with each; tables hold all


def panels(run: Run) -> list[Panel]:
    """Strength, learning by play, how HRL-XF decided, worlds: as far as the run has them."""
    results = results_of(run, RESULTS)
    if not results and any(run.recordings.glob(f"{RESULTS.name}-*.parquet")):
        results = {"the recorded worlds": read_results(run.recordings, RESULTS)}
    strength = [panel for name, rows in results.items() for panel in strength_panels(name, rows)]
    return [*strength, *online_panels(run), *trace_panels(run), *explorer_panels(run)]


def strength_panels(name: str, results: pa.Table) -> list[Panel]:
    """Ranking, scores by level, head to head, and how each plays; none without competitors."""
    strength = assess(results)
    if not strength.players:
        return []
    return [
        _ranking(name, strength),
        _by_level(name, strength, results),
        *([_head_to_head(name, strength)] if strength.pairs else []),
        _play(name, strength),
    ]


def _ranking(name: str, strength: Strength) -> Panel:
    facts = charts.tiles(
        [
            ("players", len(strength.players)),
            ("worlds", f"{strength.worlds:,}"),
            ("configurations", f"{strength.configurations:,}"),
        ]
    )
    whiskers = "".join(
        charts.interval_chart(
            [_interval(p.player, p.adjusted) for p in strength.players if p.group == group],
            title="Adjusted score" + _of_group(strength, group),
            reference=0.0,
            reference_label="the mean player in the same slot",
        )
        for group in range(strength.groups)
    )
    note = (
        "The competitors of a configuration take turns in its slots, all else equal. The adjusted "
        "score is what a player scored above the mean player in the same slot; the line is its "
        "95 % interval, from drawing whole configurations anew 1,000 times. Green: all of it is "
        "above the mean; red: all below. No line: too few configurations to give one."
    )
    told = note + _warning(strength)
    found = _finding(strength)
    return Panel(f"Strength: {name}", facts + whiskers, told, wide=True, finding=found)


def _finding(strength: Strength) -> str:
    """Who came first, and whom it is ahead of for certain, in a sentence."""
    best = strength.players[0]
    others = [one.player for one in strength.players if one.group == best.group][1:]
    beats = {pair.opponent: pair.beats for pair in strength.pairs if pair.player == best.player}
    behind = [name for name in others if beats.get(name)]
    level = [name for name in others if not beats.get(name)]
    adjusted = best.adjusted
    score = f"{adjusted.value:+.3f}"
    if math.isfinite(adjusted.low):
        score += f" [{adjusted.low:+.3f}, {adjusted.high:+.3f}]"
    told = [f"ahead of {_names(behind)}"] if behind else []
    told += [f"not told apart from {_names(level)}"] if level else []
    worlds = f"{strength.worlds:,} worlds"
    first = f"{best.player} came first in {worlds}"
    above = f"{score} above the mean player in the same slots"
    return f"{first}, {above}: {', '.join(told)}." if told else f"{first}, {above}."


def _names(names: Sequence[str], most: int = 4) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _of_group(strength: Strength, group: int) -> str:
    return f", group {group + 1}" if strength.groups > 1 else ""


def _warning(strength: Strength) -> str:
    if strength.groups == 1:
        return ""
    return (
        f" There are {strength.groups} groups of players that cannot be compared with each other: "
        "no chain of shared slots joins them. Adjusted scores count within a group."
    )


def _by_level(name: str, strength: Strength, results: pa.Table) -> Panel:
    shown = strength.players[:MOST]
    boxes = charts.box_chart(
        [player.player for player in shown],
        _scores_by_level(shown, results),
        title="Score by level" + _cut(strength),
        reference=1.0,
        reference_label="final balance = initial balance",
    )
    columns, levels = ["player"], list(_scores_by_level(strength.players, results))
    for level in levels:
        columns += [f"{level}: mean", "adjusted", "±", "n"]
    rows = []
    for player in strength.players:
        cells: list[charts.Cell] = [player.player]
        for level in levels:
            if (at := player.levels.get(level)) is None:
                cells += [None] * 4
            else:
                cells += [at.mean, *_give_or_take(at.adjusted), at.rows]
        rows.append(_rounded(cells))
    note = (
        "A score is the final balance over the initial one. The box holds the middle half of a "
        "player's worlds, the mark is the median, the line leaves out a twentieth at each end. "
        "First levels have to buy and last levels to sell, so means of different levels do "
        "not compare; adjusted scores are against the others in the same slots of that level."
    )
    return Panel(f"Levels: {name}", boxes + charts.table(columns, rows), note, wide=True)


def _scores_by_level(
    players: Sequence[PlayerStrength], results: pa.Table
) -> dict[str, list[list[float]]]:
    """By level and player, in the given order; a level nobody stood at is left out."""
    rows = Rows.read(results)
    index = {name: number for number, name in enumerate(rows.names)}
    found = {}
    for number, level in enumerate(LEVEL_NAMES):
        at = rows.level == number
        if at.any():
            found[level] = [
                rows.score[at & (rows.player == index[player.player])].tolist()
                for player in players
            ]
    return found


def _head_to_head(name: str, strength: Strength) -> Panel:
    shown = [player.player for player in strength.players[:MOST]]
    pairs = {(pair.player, pair.opponent): pair for pair in strength.pairs}
    grid = [[pairs.get((one, other)) for other in shown] for one in shown]
    squares = charts.heat_map(
        shown,
        [[pair.win_rate.value if pair and pair.win_rate else None for pair in row] for row in grid],
        [[pair.rows if pair else None for pair in row] for row in grid],
        title="How often the row's player outscored the column's" + _cut(strength),
        corner="win rate",
    )
    heat = f'<div style="margin-bottom:1.4rem">{squares}</div>'  # many squares need all the width
    names = [player.player for player in strength.players]
    first = name.split("-", 1)[0]
    leader = first if first in names else names[0]
    others = [pairs[leader, other] for other in names if (leader, other) in pairs]
    whiskers = charts.interval_chart(
        [_interval(pair.opponent, pair.adjusted) for pair in others],
        title=f"Adjusted score of {leader} above that of each other",
        reference=0.0,
        reference_label="even",
    )
    columns = ("player", "opponent", "difference", "±", "win rate", "comparisons", "configurations",
               "adjusted", "±")  # fmt: skip
    rows = [
        _rounded(
            [
                pair.player,
                pair.opponent,
                *_give_or_take(pair.difference),
                pair.win_rate.value if pair.win_rate else None,
                pair.rows,
                pair.configurations,
                *_give_or_take(pair.adjusted),
            ]
        )
        for pair in others
    ]
    note = (
        "Counted where both had the same slot of the same configuration and random state; ties "
        "are half a win, and the small number says how often they met. The difference is the mean "
        "of these paired comparisons. The difference of adjusted scores also counts players both "
        "have met, so it is surer where comparisons are few. Both with 95 % intervals, by "
        "configuration."
    )
    table = charts.table(columns, rows, percent=("win rate",))
    return Panel(f"Head to head: {name}", heat + whiskers + table, note, wide=True)


def _play(name: str, strength: Strength) -> Panel:
    shares = ("wins", "bankrupt", "agreed", "shortfall", "unsafe", "over lines")
    columns = ("player", "adjusted", "±", "official", "±", "mean", *shares, "faults", "n",
               "configs")  # fmt: skip
    rows = [
        _rounded(
            [
                player.player,
                *_give_or_take(player.adjusted),
                *_give_or_take(player.official),
                player.mean.value,
                player.win_rate.value if player.win_rate else None,
                player.rates.bankrupt,
                player.rates.agreement,
                player.rates.shortfall,
                player.rates.unsafe,
                player.rates.over_lines,
                player.rates.faults,
                player.rows,
                player.configurations,
            ]
        )
        for player in strength.players
    ]
    note = (
        "Official: as the tournament ranks, the mean without scores more than two interquartile "
        "ranges above the third quartile. Wins: share of comparisons in the same slot. Bankrupt: "
        "of worlds. Agreed: of negotiations. Shortfall: of units promised. Unsafe and over lines: "
        "of sales contracts, beyond what was known to suffice and beyond the lines. Faults of the "
        "agent's code are per world."
    )
    return Panel(
        f"How they play: {name}", charts.table(columns, rows, percent=shares), note, wide=True
    )


def _cut(strength: Strength) -> str:
    return f" (the first {MOST} players)" if len(strength.players) > MOST else ""


def _interval(label: str, found: Estimate | None) -> Interval:
    return Interval(label, *map(_short, found.plain() if found else (None,)))


def _give_or_take(found: Estimate | None) -> tuple[float | None, float | None]:
    """The value and half the width of its interval, for tables with little room."""
    if found is None:
        return None, None
    return found.value, (found.high - found.low) / 2 if found.bounded else None


def _rounded(cells: Sequence[charts.Cell]) -> list[charts.Cell]:
    return [_short(cell) if isinstance(cell, float) else cell for cell in cells]


def _short(value: float | None) -> float | None:
    """Three decimals: the fourth is noise, and makes numbers hard to compare by eye."""
    return None if value is None else round(value, 3)
