"""`record scml`: tournaments are played and written down."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.errors import InputError
from understudy.games.scml.commands.worlds import LIMIT, OF_THE_LEAGUE, Worlds
from understudy.pipeline.game import load
from understudy.terminal.console import complain, counted, go_to_background, next_step
from understudy.terminal.options import AS_USUAL, MoreOption, OutOption, Working, names, run_of
from understudy.terminal.progress import reading_progress

if TYPE_CHECKING:
    from understudy.data.runs import Run
    from understudy.games.scml.domain import Track
    from understudy.games.scml.tournament.design import Tournament
    from understudy.pipeline.game import Schedule

TopOption = Annotated[int, typer.Option(help="How many of that year's agents, best first.")]


@dataclass(frozen=True)
class Recorded:
    """Who is recorded: options that stand together."""

    agents: Annotated[
        str | None,
        typer.Option(
            help="Who competes, by comma: names, 2024, 2025, 2026, built-ins, all, models, "
            "FILE.py:CLASS or package.module:CLASS of your own. [default: the best of each year]"
        ),
    ] = None
    max_top_2026: TopOption = 5
    max_top_2025: TopOption = 5
    max_top_2024: TopOption = 5

    def names(self, rules: "Track") -> list[str]:
        """Those that were named, or the best of each year."""
        from understudy.games.scml.players import catalogue

        if self.agents is not None:
            return named(self.agents, "agents")
        top = {2026: self.max_top_2026, 2025: self.max_top_2025, 2024: self.max_top_2024}
        return catalogue.best(top, rules)


THE_BEST = Recorded()


def record(
    out: OutOption = None,
    recorded: Recorded = THE_BEST,
    configs: Annotated[
        int,
        typer.Option(
            help="Configurations: worlds without players. More than before adds to the recording."
        ),
    ] = 5,
    more: MoreOption = None,
    worlds: Worlds = OF_THE_LEAGUE,
    track_only: Annotated[
        str | None,
        typer.Option(help="Record the decisions of these agents only, by comma: smaller files."),
    ] = None,
    csv: Annotated[
        bool, typer.Option(help="Write negmas-style CSV files as well, below recordings/csv.")
    ] = False,
    logs: Annotated[
        Path | None, typer.Option(help="Read tracker logs (JSON) in this folder instead.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Write how competitors decide, too: OUT/trace.jsonl.")
    ] = False,
    working: Working = AS_USUAL,
    background: Annotated[
        bool,
        typer.Option("--background/--foreground", help="Go on alone and write to OUT/record.log."),
    ] = False,
) -> None:
    """Play tournaments; write down what every agent saw, offered and answered.

    Example: understudy record scml --configs 20 --agents Penguin,AS0 --track-only Penguin
    """
    from understudy.data.manifests import grown
    from understudy.data.runs import RECORD
    from understudy.games.scml.tournament.schedule import schedule

    run = run_of(out, "scml")
    if logs is not None:
        _read_logs(run, logs, recorded, working)
        return
    chosen = recorded.names(worlds.rules())
    if more is not None and worlds.target_worlds is not None:
        raise InputError("give --more or --target-worlds, not both")
    size = grown(run.recordings, "configs", configs, more, working.resume)
    tournament = worlds.tournament(run, chosen, size.total, working.seed)
    watched = None if track_only is None else known_to_play(track_only, tournament)
    written = run.trace.resolve() if trace else None
    how: Any = {"trace": written, "parts": size.parts, "isolate": worlds.isolate}
    _prepare(tournament, trace)
    planned = schedule(tournament, purpose=RECORD, keep=None, watched=watched, **how)
    if background:
        go_to_background(run.log)
        return
    total = _play(run, planned, working)
    _say_what_is_recorded(run, total, trace, csv)


def _prepare(tournament: "Tournament", trace: bool) -> None:
    """Refuse what the compiled simulator cannot play, before anything is played."""
    if tournament.simulator == "batch":
        from understudy.games.scml.tournament.batch_play import prepare

        if trace:
            raise InputError("--trace tells of agents; the compiled simulator hosts none")
        prepare(tournament)


def _play(run: "Run", planned: "Schedule", working: Working) -> int:
    """Have the worlds played; how many there are."""
    from understudy.data.runs import finish, read_manifest
    from understudy.games.scml.tournament.tracing import tidy_trace
    from understudy.pipeline import record as record_stage

    if not working.resume:
        run.trace.unlink(missing_ok=True)  # it tells of the worlds that are deleted
    total = record_stage.record(load("scml"), run, planned, **working.settings(LIMIT))
    worlds = [world.match for _, plans in sorted(planned.fixtures.items()) for world in plans]
    if lines := tidy_trace(run.trace, worlds):
        about = read_manifest(run.recordings)
        assert about is not None
        finish(run.recordings, **{**about["facts"], "trace": lines})
    return total


def _read_logs(run: "Run", logs: Path, recorded: Recorded, working: Working) -> None:
    from understudy.games.scml.recording.tracker.files import read_logs
    from understudy.pipeline.import_matches import take_in

    settings: dict[str, Any] = {"logs": str(logs)}
    if recorded.agents is not None:
        settings["players"] = named(recorded.agents, "agents")
    with reading_progress(read_logs(logs), working.quiet) as parts:
        found = take_in(load("scml"), run, parts, settings, resume=working.resume)
    print(f"{counted(found.matches, 'world')} in {run.recordings}")
    for what, count in sorted(found.missing.items()):
        print(f"missing: {count:,} {what}")
    complain(found.rejected)
    next_step(run, "scml", "encode scml", f"report {run.folder}")


def named(text: str, option: str) -> list[str]:
    """The names in an option; InputError if there are none."""
    if found := names(text):
        return found
    raise InputError(f"no SCML agent is named in --{option} '{text}'")


def known_to_play(text: str, tournament: "Tournament") -> frozenset[str]:
    """Agents to watch, by name: competitors, or any in the catalogue, as background agents."""
    from understudy.games.scml.players import catalogue

    ours = {ref.name: ref.name for ref in tournament.competitors}
    ours |= {ref.code.title: ref.name for ref in tournament.competitors if ref.code is not None}
    asked = [Path(name).name for name in named(text, "track-only")]
    others = [name for name in asked if name not in ours]
    return frozenset(ours[name] for name in asked if name in ours) | frozenset(
        catalogue.names(",".join(others), tournament.track) if others else ()
    )


def _say_what_is_recorded(run: "Run", total: int, trace: bool, csv: bool) -> None:
    from understudy.games.scml.recording.failures import failure_lines

    size = sum(path.stat().st_size for path in run.recordings.glob("*.parquet"))
    print(f"{counted(total, 'world')} in {run.recordings}, {size / 1e6:,.1f} MB")
    for line in failure_lines(run.recordings):
        print(line)
    next_step(run, "scml", "encode scml", f"report {run.folder}")
    if trace:
        print(f"How they decided: {run.trace}, or look at it: understudy report {run.folder}")
    if csv:
        from understudy.data.runs import CSV
        from understudy.games.scml.recording.csv_export import write_all

        print(f"{write_all(run.recordings):,} folders of CSV files in {run.recordings / CSV}")
