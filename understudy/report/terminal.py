"""Tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from understudy.data.results import WinRate


def win_rate_table(rates: Sequence[WinRate], order: Sequence[str]) -> Table:
    """Who beats whom, each pair once, with 95 % intervals."""
    matches = sorted({rate.matches for rate in rates})
    title = f"{matches[0]:,} matches per pair, points with 95 % interval"
    table = Table(title=title, title_justify="left", padding=(0, 1, 0, 0))
    for name in ("player", "opponent"):
        table.add_column(name, overflow="fold")
    for name in ("won", "drawn", "lost", "points", "from", "to"):
        table.add_column(name, justify="right", no_wrap=True)
    place = {name: number for number, name in enumerate(order)}
    for rate in sorted(rates, key=lambda r: (place[r.player], place[r.opponent])):
        if place[rate.player] < place[rate.opponent]:
            table.add_row(*_cells(rate))
    return table


def _cells(rate: WinRate) -> list[str]:
    points, won = rate.points, rate.wins.value
    colour = "green" if points.low > 0.5 else "red" if points.high < 0.5 else "yellow"
    shares = (won, rate.draws, abs(1 - won - rate.draws))  # not -0.0 %
    return [
        rate.player,
        rate.opponent,
        *(f"{share:.1%}" for share in shares),
        f"[{colour}]{points.value:.1%}[/]",
        f"{points.low:.1%}",
        f"{points.high:.1%}",
    ]


def words_table(title: str, rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> Table:
    """Rows of words, with a head where one is given."""
    table = Table(title=title, title_justify="left", show_header=bool(head))
    for name in head:
        # A name that is cut in two can no longer be copied.
        table.add_column(name, overflow="fold", no_wrap=name == head[0])
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table


def counts_table(title: str, counts: Mapping[str, float]) -> Table:
    """Counts with a slash in their name are grouped into one row of shares."""
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column("what")
    table.add_column("how many")
    groups: dict[str, dict[str, float]] = {}
    for name, count in counts.items():
        group, _, option = name.partition("/")
        groups.setdefault(group, {})[option] = count
    for group, options in groups.items():
        if list(options) == [""]:
            table.add_row(group, f"{options['']:,.0f}")
            continue
        total = max(1.0, sum(options.values()))
        shares = (f"{o}\u00a0{c / total:.1%}" for o, c in options.items() if c)
        table.add_row(group, "  ".join(shares))
    return table


def evaluation_tables(evaluation: Mapping[str, Any], split: str = "test") -> list[Table]:
    """What a model is worth on matches never trained on, beside what needs no network."""
    if "met" in evaluation:
        return [_met_table(evaluation)]
    if "stages" in evaluation:
        return [_stages_table(evaluation)]
    found = evaluation[split]
    never = "" if split == "train" else " of matches never trained on"
    title = f"{split} split: {found['rows']:,} decisions{never}"
    tables = []
    if "heads" in found:
        tables.append(_heads_table(title, found["heads"]))
    if "recall" in found:
        rows = {word: {"recall": share} for word, share in found["recall"].items()}
        tables.append(_numbers_table("how often it is predicted where it was done", rows, "{:.1%}"))
    if "raw" in found:
        tables += [
            _numbers_table(f"{what}: error in raw units", _nested(errors), "{:,.2f}")
            for what, errors in found["raw"].items()
        ]
    if not tables:
        rows = {name: {"": value} for name, value in found.items() if isinstance(value, float)}
        tables.append(_numbers_table(title, rows, "{:,.4f}"))
    return tables


def _met_table(evaluation: Mapping[str, Any]) -> Table:
    """How refinement fared in its last matches, while it was still learning."""
    title = f"last matches of {evaluation['agent_steps']:,} steps of play; `compete` measures"
    table = Table(title=title, title_justify="left")
    for name in ("opponent", "matches", "won", "drawn", "lost"):
        table.add_column(name, justify="left" if name == "opponent" else "right")
    for name, row in evaluation["met"].items():
        shares = (f"{row[what]:.1%}" for what in ("won", "drawn", "lost"))
        table.add_row(name, f"{row['matches']:,}", *shares)
    return table


def _stages_table(evaluation: Mapping[str, Any]) -> Table:
    """What each stage of learning by play was worth, in worlds that trained nothing."""
    title = f"{evaluation['worlds']:,} worlds played; chosen: {evaluation['chosen']}"
    table = Table(title=title, title_justify="left")
    places = list(next(iter(evaluation["stages"].values()))["places"])
    for name in ("after", "score", "gain", "+-", *places):
        table.add_column(name, justify="left" if name == "after" else "right")
    for name, row in evaluation["stages"].items():
        gain = ["", ""]
        if "gain" in row:
            gain = [f"{row['gain']:+.4f}", f"{1.96 * row['standard_error']:.4f}"]
        found = [f"{row['places'].get(place, float('nan')):.3f}" for place in places]
        table.add_row(name, f"{row['mean']:.4f}", *gain, *found)
    return table


def _nested(errors: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    return {
        who: dict(value) if isinstance(value, Mapping) else {"mean absolute": value}
        for who, value in errors.items()
    }


def _numbers_table(title: str, rows: Mapping[str, Mapping[str, float]], form: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("")
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for who, row in rows.items():
        table.add_row(who.replace("_", " "), *(form.format(row[name]) for name in names))
    return table


def _heads_table(title: str, heads: Mapping[str, Mapping[str, float]]) -> Table:
    """Per head: accuracy beside what needs no network."""
    table = Table(title=title, title_justify="left")
    table.add_column("head")
    for name in ("accuracy", "majority", "majority of legal", "log loss"):
        table.add_column(name, justify="right")
    for head, score in heads.items():
        better = score["accuracy"] > max(score["majority"], score["majority_legal"])
        colour = "green" if better else "red"
        table.add_row(
            head,
            f"[{colour}]{score['accuracy']:.1%}[/]",
            f"{score['majority']:.1%}",
            f"{score['majority_legal']:.1%}",
            f"{score['log_loss']:.3f}",
        )
    return table


def league_table(summary: Mapping[str, Any], most: int = 15) -> Table:
    """The strongest of a league, and below them how weak its main agents are."""
    rounds = summary["rounds"]
    title = (
        f"{rounds} round{'' if rounds == 1 else 's'}, {summary['agent_steps']:,} agent-steps in "
    )
    title += f"{summary['match_steps']:,} match-steps, {summary['matches']:,} matches; "
    title += f"Elo: {summary['elo_scale']}"
    table = Table(title=title, title_justify="left", show_footer=False)
    for name in ("player", "role"):
        table.add_column(name, overflow="fold")
    for name in ("rating", "from", "to", "Nash share"):
        table.add_column(name, justify="right", no_wrap=True)
    for player in summary["players"][:most]:
        share = summary["nash"].get(player["name"], 0.0)
        present = f"{player['name']} (present)" if player["present"] else player["name"]
        ends = (f"{player[key]:.0f}" for key in ("rating", "low", "high"))
        table.add_row(present, player["role"] or player["kind"], *ends, f"{share:.1%}")
    table.caption_justify = "left"
    table.caption = "\n".join(_weaknesses(summary))
    return table


def _weaknesses(summary: Mapping[str, Any]) -> list[str]:
    """A line for each measure."""
    lines = []
    for main, worst in summary["minimum_win_rate"].items():
        if worst is not None:
            among = f"of {worst['among']} past selves"
            lines.append(
                f"{main} fares worst, {among}, against {worst['opponent']}: {_rate(worst)}"
            )
    for target, found in summary["best_response"].items():
        steps = f"after {found['agent_steps']:,} agent-steps"
        lines.append(f"an approximate best response of {target} wins {_rate(found)} {steps}")
    return lines


def _rate(found: Mapping[str, Any]) -> str:
    interval = f"({found['low']:.1%} to {found['high']:.1%})"
    return f"{found['mean']:.1%} {interval} of {found['matches']:,} matches"
