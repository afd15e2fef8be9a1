"""Panels for runs of any game: strength in pairs, training, samples, how it was made."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from understudy.data.integrity.json_files import read_lines, shaped
from understudy.data.integrity.shapes import Encoded, MetricsLine
from understudy.data.results import WinRate
from understudy.data.runs import MANIFEST, LeagueFolder, ModelFolder, Run, read_manifest
from understudy.redaction import redacted_command
from understudy.report import charts
from understudy.report.league.panels import comparison_panel, league_panels
from understudy.report.page import Panel
from understudy.report.training import training_panels

MADE = "made"
"""The part that says how everything was made."""
_VIOLATIONS = "Violations are decisions that chose an option the rules forbid at that moment."
MOST_NAMED = 4
"""Opponents in a sentence."""


def subtitle(game: str, about: str) -> str:
    """What stands below a report's title."""
    return f"{game}: {about} · written {datetime.now():%Y-%m-%d %H:%M}"


class Part(NamedTuple):
    """Panels of a run that are drawn from one of its folders, and so change together."""

    key: str
    """Where that lies in the run."""
    draw: Callable[[], list[Panel]]


def run_panels(run: Run, own: Sequence[Panel]) -> list[Panel]:
    """Panels for whatever stages the run has been through.

    `own`, the game's, come first: who is how strong. Then leagues, then training.
    """
    return [panel for part in run_parts(run, lambda: list(own)) for panel in part.draw()]


def run_parts(
    run: Run,
    own: Callable[[], list[Panel]],
    read: Callable[[Path], Sequence[MetricsLine]] | None = None,
) -> list[Part]:
    """The same part by part, none of them drawn yet; `read` is how metrics are read."""
    leagues = sorted(run.leagues.glob("*/"))
    models = sorted(run.models.glob("*/")) if run.models.is_dir() else []
    metrics, by_name = read or read_metrics, {folder.name: folder for folder in leagues}
    return [
        Part(run.results.name, own),
        Part(run.leagues.name, lambda: comparison_panel(by_name)),
        *(Part(_key(run, folder), partial(league_panels, folder)) for folder in leagues),
        *(Part(_key(run, folder), partial(_model_panels, folder, metrics)) for folder in models),
        Part(run.samples.name, lambda: _samples_panels(run)),
        Part(MADE, lambda: [panel for panel in [provenance_panel(run)] if panel is not None]),
    ]


def _key(run: Run, folder: Path) -> str:
    return folder.relative_to(run.folder).as_posix()


def _samples_panels(run: Run) -> list[Panel]:
    manifest = read_manifest(run.samples)
    if manifest is None or "facts" not in manifest:
        return []
    place, cure = run.samples / MANIFEST, "Encode the recordings again with --fresh"
    return [samples_panel(shaped(manifest["facts"], Encoded, place, cure)["counts"])]


def _model_panels(folder: Path, metrics: Callable[[Path], Sequence[MetricsLine]]) -> list[Panel]:
    """How a model was trained; where its parts were trained one by one, how each was.

    A model without a step is told of by its evaluation, which is the game's to show.
    """
    parts = metrics_in(folder)
    if not parts:
        return [] if ModelFolder(folder).evaluation.is_file() else training_panels(folder.name, [])
    return [
        panel
        for steps, part in parts.items()
        for panel in training_panels(" / ".join([folder.name, *steps]), metrics(part))
    ]


def metrics_in(folder: Path) -> dict[tuple[str, ...], Path]:
    """Where a model's metrics lie, or those of its parts by name: () or ("l3",)."""
    parts = sorted(path.parent for path in folder.rglob(ModelFolder(folder).metrics.name))
    return {
        tuple(step for step in part.relative_to(folder).parts if step != "model"): part
        for part in parts
    }


def trained_in(run: Run) -> set[str]:
    """Everybody who was trained in a run, by name: its models, and the players of its leagues."""
    leagues = (LeagueFolder(folder).players for folder in run.leagues.glob("*/"))
    return {path.name for place in (run.models, *leagues) for path in place.glob("*/")}


def strength_panel(name: str, rates: list[WinRate], trained: Collection[str] = ()) -> Panel:
    """Who beats whom, in games of two; the strongest of those `trained` is what is told of."""
    players = sorted(
        {rate.player for rate in rates}, key=lambda player: -_mean_points(rates, player)
    )
    found = {(rate.player, rate.opponent): rate for rate in rates}
    grid = [[found.get((one, other)) for other in players] for one in players]
    heat = charts.heat_map(
        players,
        [[rate.points.value if rate else None for rate in row] for row in grid],
        [[rate.matches if rate else None for rate in row] for row in grid],
        title="Points of the row's player against the column's",
        corner="points",
    )
    # Results are named for the players, the first one first; a name may have hyphens of its own.
    begun = [player for player in players if f"{name}-".startswith(f"{player}-")]
    first = max(begun, key=len, default=players[0])
    leading = [rate for rate in rates if rate.player == first]
    whiskers = charts.interval_chart(
        [
            charts.Interval(
                f"{r.player} - {r.opponent}", r.points.value, r.points.low, r.points.high
            )
            for r in leading
        ],
        title=f"Points of {first}",
        reference=0.5,
        reference_label="even",
        unit="percent",
        limits=(0, 1),
    )
    rows = [
        (
            r.player,
            r.opponent,
            r.matches,
            r.wins.value,
            r.draws,
            1 - r.wins.value - r.draws,
            r.points.value,
            r.points.low,
            r.points.high,
        )
        for r in sorted(rates, key=lambda r: (players.index(r.player), players.index(r.opponent)))
    ]
    names = ("player", "opponent", "matches", "won", "drawn", "lost", "points", "low", "high")
    table = charts.table(names, rows, percent=names[3:])
    return Panel(
        f"Strength: {', '.join(players)}",
        heat + whiskers + table,
        note="Points are wins plus half the draws. Each seed is played twice with sides swapped; "
        "low and high bound the 95 % interval, bootstrapped by seed.",
        wide=True,
        finding=strength_finding(rates, players, trained),
    )


def strength_finding(
    rates: Sequence[WinRate], players: Sequence[str], trained: Collection[str]
) -> str:
    """How the strongest of those trained, or of all, fares against a few others, in a sentence.

    `players` come strongest first; so do those it is said to have met, trained ones before others.
    """
    player = next((one for one in players if one in trained), players[0])
    met = {rate.opponent: rate for rate in rates if rate.player == player}
    others = sorted(met, key=lambda one: (one not in trained, players.index(one)))
    words = {1: "beats", 0: "is level with", -1: "loses to"}
    told = list[str]()
    for other in others[:MOST_NAMED]:
        points = met[other].points
        sign = (points.low > 0.5) - (points.high < 0.5)
        low, value, high = (f"{100 * part:.0f}" for part in (points.low, points.value, points.high))
        told.append(f"{words[sign]} {other} {value} % [{low}, {high}]")
    rest = f", and met {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    matches = next(iter(met.values())).matches
    return f"{player} {', '.join(told)}{rest}: points of {matches:,} matches each."


def _mean_points(rates: list[WinRate], player: str) -> float:
    points = [rate.points.value for rate in rates if rate.player == player]
    return sum(points) / len(points)


def samples_panel(counts: Mapping[str, float]) -> Panel:
    """What the samples hold, and how often each option was chosen."""
    groups: dict[str, dict[str, float]] = {}
    for name, count in counts.items():
        if "/" in name:
            group, option = name.split("/", 1)
            groups.setdefault(group, {})[option] = count
    tiles = charts.tiles([(name, count) for name, count in counts.items() if "/" not in name])
    bars = "".join(
        charts.bar_chart(
            list(options),
            {"share": [count / max(1, sum(options.values())) for count in options.values()]},
            title=group.replace("_", " "),
            unit="percent",
        )
        for group, options in groups.items()
    )
    return Panel(
        "Samples",
        f'{tiles}<div class="small-multiples">{bars}</div>',
        note=_VIOLATIONS if "violations" in counts else "",
        wide=True,
    )


def provenance_panel(run: Run) -> Panel | None:
    """Which command made what, with which seed and versions."""
    rows, versions = [], set[str]()
    folders = [run.recordings, run.samples, *sorted(run.models.glob("*/"))]
    for folder in [*folders, *sorted(run.results.glob("*/")), *sorted(run.leagues.glob("*/"))]:
        if (manifest := read_manifest(folder)) is None:
            continue
        command = " ".join(["understudy", *redacted_command(manifest["command"])[1:]])
        rows.append(
            (
                str(folder.relative_to(run.folder)),
                command,
                str(manifest["settings"].get("seed", "-")),
                f"{datetime.fromisoformat(manifest['begun']):%Y-%m-%d %H:%M}",
                _duration(manifest),
            )
        )
        versions |= {f"{name} {version}" for name, version in manifest["versions"].items()}
    if not rows:
        return None
    names = ("folder", "command", "seed", "begun (UTC)", "took")
    note = f"With {', '.join(sorted(versions))}."
    return Panel("How it was made", charts.table(names, rows), note=note, wide=True)


def _duration(manifest: Mapping[str, Any]) -> str:
    """Between the first begin and the last end, stops included."""
    if manifest["finished"] is None:
        return "not finished"
    begun, finished = (datetime.fromisoformat(manifest[key]) for key in ("begun", "finished"))
    return f"{(finished - begun).total_seconds():,.0f} s"


def read_metrics(folder: Path) -> list[MetricsLine]:
    """The lines of a model's metrics.jsonl; a last line cut short is left out."""
    return read_lines(ModelFolder(folder).metrics, MetricsLine, "Train it again with --fresh")
