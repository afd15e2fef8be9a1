"""Panels of a league: who beats whom, how strength grew, who descends from whom, whom they met.

Everything is read from `league_state.json` and `summary.json`; no game and no league is needed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.data.integrity.json_files import fitting_together, read_json, shaped
from understudy.data.integrity.shapes import LeagueShown, LeagueSummary, Named
from understudy.data.runs import LeagueFolder
from understudy.errors import InputError
from understudy.report import charts
from understudy.report.league.lineage import lineage
from understudy.report.league.shares import shares_over_time
from understudy.report.league.worth import worth
from understudy.report.page import Panel, asset

MOST = 24  # players in charts that grow with each; tables hold all
Values = Mapping[str, Any]


def league_panels(folder: Path) -> list[Panel]:
    """All panels of the league in a folder; none before its first round."""
    paths = LeagueFolder(folder)
    state, summary = _read(paths.state, LeagueShown), _read(paths.summary, LeagueSummary)
    if not state or not summary or not state["history"]:
        return []
    name = folder.name
    with fitting_together(folder, "Run the same understudy league again, or --fresh"):
        return _panels(name, folder, state, summary)


def _panels(name: str, folder: Path, state: Values, summary: Values) -> list[Panel]:
    return [
        _overview(name, folder, state, summary),
        _win_rates(name, summary),
        _curves(name, state, summary),
        _nash(name, state),
        _lineage(name, state, summary),
        _opponents(name, state),
        *_highlights(name, folder, summary),
    ]


def comparison_panel(folders: Mapping[str, Path]) -> list[Panel]:
    """Several leagues side by side, by how weak their main agents are; none for fewer than two."""
    found = {
        name: _read(LeagueFolder(folder).summary, LeagueSummary) for name, folder in folders.items()
    }
    known = {name: summary for name, summary in found.items() if summary}
    if len(known) < 2:
        return []
    fresh = {name: summary["best_response"] for name, summary in known.items()}
    past = {name: summary["minimum_win_rate"] for name, summary in known.items()}
    counts = ("rounds", "agent_steps", "match_steps", "matches")
    rows = [(name, *(summary[count] for count in counts)) for name, summary in known.items()]
    html = _named(
        _rates(
            [
                _against(_label(name, target, targets), found)
                for name, targets in fresh.items()
                for target, found in targets.items()
            ],
            "Win rate against an approximate best response of the same budget: more is better",
        ),
        _rates(
            [
                _worst(_label(name, main, mains), found)
                for name, mains in past.items()
                for main, found in mains.items()
                if found
            ],
            "Least win rate against a past self: more is better",
        ),
        charts.table(("league", *(count.replace("_", "-") for count in counts)), rows),
    )
    note = (
        "Ratings of different leagues are not compared here: they rest on different opponents. "
        "Compare best responses of the same number of agent-steps, and least win rates among the "
        "same number of past selves: the least of more is lower. Match-steps are steps of the "
        "matches learnt from; where a learner meets itself, one yields two agent-steps."
    )
    return [Panel("Leagues compared", html, note, head=_style(), wide=True)]


def _overview(name: str, folder: Path, state: Values, summary: Values) -> Panel:
    best = summary["players"][0]
    ahead = summary["relative_population_performance"]
    facts: list[tuple[str, charts.Cell]] = [
        ("rounds", summary["rounds"]),
        ("agent-steps", summary["agent_steps"]),
        ("match-steps", summary["match_steps"]),
        ("matches", summary["matches"]),
        ("players kept", len(state["players"])),
        (f"strongest: {best['name']}", f"{best['rating']:.0f} Elo"),
    ]
    if ahead is not None:
        facts.append(("win rate of the league against its beginning", f"{ahead:.0%}"))
    if (cyclic := summary.get("cyclicity")) and cyclic["n"]:
        ends = f"{cyclic['value']:.0%} ({cyclic['low']:.0%} to {cyclic['high']:.0%})"
        facts.append(("cyclic share: of win rates, what no rating explains", ends))
    for product, rate in (summary.get("exact") or {}).items():
        facts.append((f"exact best answer against the {product}", f"{rate:.1%}"))
    mains, fresh = summary["minimum_win_rate"], summary["best_response"]
    rows = [_worst(_label("worst past", main, mains), past) for main, past in mains.items() if past]
    rows += [_against(f"best response, {_begun(target)}", found) for target, found in fresh.items()]
    weak = _rates(rows, "How often the main agent wins against those that tell of its weakness")
    history = charts.line_chart(
        {
            main: [
                (entry["round"], entry["worst"][main]["mean"])
                for entry in state["history"]
                if entry["worst"].get(main)
            ]
            for main in summary["minimum_win_rate"]
        },
        title="Least win rate of the main agent against a past self",
        x_label="round",
        unit="percent",
        bands={
            main: [
                (entry["round"], entry["worst"][main]["low"], entry["worst"][main]["high"])
                for entry in state["history"]
                if entry["worst"].get(main)
            ]
            for main in summary["minimum_win_rate"]
        },
    )
    note = (
        "The league against its beginning: both sides choose whom to send as well as they can "
        "(relative population performance). The least win rate is that against the past self the "
        "main agent does worst against, among a few equally far apart: at first there are fewer. "
        "An approximate best response meets only its target, for a fixed number of agent-steps; "
        "it begins as all did (the start) or as the main agent itself. Intervals hold 95 %."
    )
    html = charts.tiles(facts) + _named(weak, history)
    found = _finding(folder, summary)
    return Panel(f"League: {name}", html, note, head=_style(), wide=True, finding=found)


def _finding(folder: Path, summary: Values) -> str:
    """How strong, how exploitable, by whom, and was it worth a league."""
    told = summary.get("verdict", "")
    return f"League {folder.name}: {told} {worth(folder, summary)}".strip() if told else ""


def _win_rates(name: str, summary: Values) -> Panel:
    shown = [player["name"] for player in summary["players"][:MOST]]
    found = {(pair["player"], pair["opponent"]): pair for pair in summary["win_rates"]}
    grid = [[found.get((one, other)) for other in shown] for one in shown]
    cut = f" (the {MOST} strongest)" if len(summary["players"]) > MOST else ""
    heat = charts.heat_map(
        shown,
        [[pair["mean"] if pair else None for pair in row] for row in grid],
        [[_games(pair) if pair else None for pair in row] for row in grid],
        title=f"Win rate of the row's player against the column's, by rating{cut}",
        corner="win rate",
    )
    note = (
        "Means of Beta posteriors, draws as half a win; the small number counts the matches these "
        "very versions played. Nothing else counts."
    )
    return Panel(f"Win rates: {name}", _named(heat), note, head=_style(), wide=True)


def _curves(name: str, state: Values, summary: Values) -> Panel:
    curves = summary["rating_curves"]
    start = state["start"]
    lines = charts.line_chart(
        {learner: [(p["agent_steps"], p["value"]) for p in c] for learner, c in curves.items()},
        title="Rating of each learner's versions",
        x_label="agent-steps of all learners",
        y_label="Elo",
        bands={
            learner: [(p["agent_steps"], p["low"], p["high"]) for p in c]
            for learner, c in curves.items()
        },
    )
    whiskers = charts.interval_chart(
        [
            charts.Interval(p["name"], *(round(p[key], 1) for key in ("rating", "low", "high")))
            for p in summary["players"][:MOST]
        ],
        title="Rating of everybody now in the league",
        reference=1000.0,
        reference_label=start,
    )
    note = (
        "Bradley-Terry ratings over all results, so the order of matches does not matter. Elo "
        f"scale: {summary['elo_scale']}. Bands and lines hold 95 % of the difference to {start}. "
        "A drop after a rise is a learner that started over."
    )
    return Panel(f"Ratings: {name}", _named(lines, whiskers), note, head=_style(), wide=True)


def _nash(name: str, state: Values) -> Panel:
    shares = {entry["round"]: _renamed(entry["nash"], entry, state) for entry in state["history"]}
    names = list(dict.fromkeys(label for found in shares.values() for label in found))
    large = [label for label in names if max(f.get(label, 0.0) for f in shares.values()) >= 0.02]
    grid = shares_over_time(
        {number: {one: f[one] for one in large if one in f} for number, f in shares.items()},
        title="Share of everybody who ever had 2 %, by round",
    )
    groups = dict.fromkeys(_group(label, state) for label in names)
    lines = charts.line_chart(
        {
            group: [
                (number, sum(s for label, s in f.items() if _group(label, state) == group))
                for number, f in shares.items()
            ]
            for group in groups
        },
        title="Share in the Nash mixture, by learner",
        x_label="round",
        unit="percent",
    )
    note = (
        "The Nash mixture is the choice among all players that nobody in the league beats; of all "
        "such mixtures, the most even one. Many players in it beat each other in circles."
    )
    return Panel(f"Nash mixture: {name}", _named(lines, grid), note, head=_style(), wide=True)


def _renamed(shares: Mapping[str, float], entry: Values | None, state: Values) -> dict[str, float]:
    """Shares where versions of `entry`'s learners that were not kept go by the learner's name."""
    kept = {player["name"] for player in state["players"]}
    learners = entry["learners"] if entry else {}
    now = {one["version"]: f"{name}, present" for name, one in learners.items()}
    return {
        player if player in kept else now.get(player, player): share
        for player, share in shares.items()
    }


def _group(label: str, state: Values) -> str:
    """The learner behind a label, or what all began from."""
    if label.endswith(", present"):
        return label.removesuffix(", present")
    of = {player["name"]: player["learner"] for player in state["players"]}
    return of.get(label) or "the beginning"


def _lineage(name: str, state: Values, summary: Values) -> Panel:
    ratings = {player["name"]: player["rating"] for player in summary["players"]}
    note = (
        "A dot is a snapshot, kept as an opponent for good; hover for when and why. A line along "
        "a row is a life; a curve leads to where it began. After a snapshot an exploiter starts "
        "over, or goes on."
    )
    html = lineage(state["start"], state["players"], state["history"], ratings)
    return Panel(f"Lineage: {name}", html, note, head=_style(), wide=True)


def _opponents(name: str, state: Values) -> Panel:
    """Whom each learner met in its training jobs."""
    history = state["history"]
    before = [None, *history[:-1]]  # a training job's opponents are as the round before left them
    grids = [
        shares_over_time(
            {
                entry["round"]: _renamed(entry["opponents"][learner], last, state)
                for entry, last in zip(history, before, strict=True)
            },
            first={learner: "itself"},
            title=f"Whom {learner} meets: share of its training jobs, by round",
        )
        for learner in history[0]["opponents"]
    ]
    note = (
        "Rows by first appearance; blank: not met. 'itself' is the learner as it learns, "
        "'present' what a learner was when the round began, unless that was kept."
    )
    return Panel(f"Opponents: {name}", _named(*grids), note, head=_style(), wide=True)


def _highlights(name: str, folder: Path, summary: Values) -> list[Panel]:
    """Matches to watch; a link where the replay has been written."""
    rows = list[list[charts.Cell]]()
    for one in summary["highlights"]:
        path = LeagueFolder(folder).replay(one["match"])
        words: charts.Cell = f"{one['players'][0]} against {one['players'][1]}"
        if path.is_file():
            words = charts.Link(str(words), path.relative_to(folder.parents[1]).as_posix())
        rows.append([one["kind"], words, one["winner"], str(one["round"] or "after"), one["why"]])
    if not rows:
        return []
    html = charts.table(("kind", "match", "won by", "round", "why"), rows)
    return [Panel(f"Matches to watch: {name}", html, wide=True)]


def _style() -> str:
    return f"<style>\n{asset('league.css', 'understudy.report.league')}</style>\n"


def _read(path: Path, shape: Any) -> dict[str, Any] | None:
    """A JSON file; None where there is none."""
    cure = "Run the same understudy league again, or start it over with --fresh"
    found = read_json(path, Named, cure)
    if found is not None and "match_steps" not in found:
        raise InputError(
            f"{path} is of an earlier version of this program, which counted otherwise. Start its "
            "understudy league over with --fresh, or take its folder away"
        )
    return None if found is None else {**shaped(found, shape, path, cure)}


def _named(*figures: str) -> str:
    """Charts below each other, with room for long names."""
    return f'<div class="named">{"".join(figures)}</div>'


def _begun(target: str) -> str:
    """Where the best response to a main agent began, as `pipeline.league` names them."""
    return "from the main agent" if target.endswith(" from itself") else "from the start"


def _label(name: str, of: str, among: Mapping[str, object]) -> str:
    """A name, and of whom, where there are several."""
    return f"{name}: {of}" if len(among) > 1 else name


def _rates(rows: Sequence[charts.Interval], title: str) -> str:
    return charts.interval_chart(
        rows, title=title, reference=0.5, reference_label="even", unit="percent", limits=(0, 1)
    )


def _worst(label: str, found: Values) -> charts.Interval:
    """The least win rate against a past self: among how many, and how many matches it rests on."""
    words = f"{label}, least of {found['among']}; {found['matches']} matches"
    return charts.Interval(words, found["mean"], found["low"], found["high"])


def _against(label: str, fresh: Values) -> charts.Interval:
    """An approximate best response's win rate, from the side of its target."""
    words = f"{label}; {fresh['agent_steps'] / 1000:,.0f} k agent-steps"
    return charts.Interval(words, *(1 - fresh[key] for key in ("mean", "high", "low")))


def _games(pair: Values) -> int:
    return int(pair["wins"] + pair["draws"] + pair["losses"])
