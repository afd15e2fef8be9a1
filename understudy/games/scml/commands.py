"""The supply chain on the command line: `record` and `compete` by tournaments, and `verify`."""

import json as json_text
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.errors import InputError
from understudy.pipeline.game import load
from understudy.terminal.commands import Commands
from understudy.terminal.console import err_console, go_to_background, out_console
from understudy.terminal.options import (
    AS_USUAL,
    JsonOption,
    OutOption,
    QuietOption,
    SeedOption,
    WorkersOption,
    Working,
    names,
    run_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from understudy.data.runs import Run
    from understudy.games.scml.domain import Track
    from understudy.games.scml.tournament.design import Tournament
    from understudy.pipeline.game import Schedule

TrackOption = Annotated[str, typer.Option(help="Which rules: std or oneshot.")]
TopOption = Annotated[int, typer.Option(help="How many of that year's agents, best first.")]


@dataclass(frozen=True)
class Worlds:
    """Which worlds are played and by whom: options that `record` and `compete` share."""

    field: Annotated[
        str, typer.Option("--field", help="Their company: official, champions or penguins.")
    ] = "official"
    runs: Annotated[
        int, typer.Option(help="Worlds with the same players but another random state.")
    ] = 1
    competitors_per_world: Annotated[
        int | None,
        typer.Option(
            "--competitors-per-world",
            help="How many compete in one world. [default: 2 to 4; champions: all, at most 15]",
        ),
    ] = None
    max_worlds_per_config: Annotated[
        int | None,
        typer.Option(
            help="Of each configuration; at least as many as compete in one world. "
            "[default: each plays every slot once]"
        ),
    ] = None
    target_worlds: Annotated[
        int | None, typer.Option(help="How many worlds in all, instead of so many of each.")
    ] = None
    round_robin: Annotated[
        bool, typer.Option(help="Everybody plays equally often, or sets are drawn at random.")
    ] = True
    steps: Annotated[
        int | None,
        typer.Option(help="Days of every world. [default: 50 to 200, as in the league]"),
    ] = None
    track: TrackOption = "std"
    simulator: Annotated[
        str,
        typer.Option(
            help="engine: ours; scml: the real package, same worlds, much slower; batch: compiled, "
            "much faster, for the players it has."
        ),
    ] = "engine"
    conserve_stock: Annotated[
        bool,
        typer.Option("--conserve-stock", help="Production takes from stock; in scml it does not."),
    ] = False

    def rules(self) -> "Track":
        """Those of the track."""
        from understudy.games.scml.domain import track_named

        return track_named(self.track)

    def tournament(
        self, run: "Run", players: Sequence[str], configs: int, seed: int
    ) -> "Tournament":
        """These players, by name or as models of the run, in such worlds."""
        from understudy.games.scml.players.resolve import resolve_all
        from understudy.games.scml.tournament.design import (
            Tournament,
            design_named,
            simulator_named,
        )

        rules = self.rules()
        return Tournament(
            field=design_named(self.field),
            competitors=resolve_all(load("scml"), run, players, rules),
            track=rules,
            simulator=simulator_named(self.simulator),
            configs=configs,
            runs=self.runs,
            competitors_per_world=self.competitors_per_world,
            max_worlds_per_config=self.max_worlds_per_config,
            target_worlds=self.target_worlds,
            round_robin=self.round_robin,
            steps=self.steps,
            seed=seed,
            conserve_stock=self.conserve_stock,
        )


OF_THE_LEAGUE = Worlds()
BATCH = ("engine", "batch")


def record(
    out: OutOption = None,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Who competes, by comma: names, 2024, 2025, 2026, built-ins, all, models. "
            "[default: the best of each year]"
        ),
    ] = None,
    max_top_2026: TopOption = 5,
    max_top_2025: TopOption = 5,
    max_top_2024: TopOption = 5,
    configs: Annotated[int, typer.Option(help="Configurations: worlds without players.")] = 5,
    worlds: Worlds = OF_THE_LEAGUE,
    track_only: Annotated[
        str | None,
        typer.Option(help="Record the decisions of these agents only, by comma: smaller files."),
    ] = None,
    csv: Annotated[
        bool, typer.Option(help="Write negmas-style CSV files as well, below recordings/csv.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Write how HRL-XF decides, too: OUT/trace.jsonl.")
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
    from understudy.data.runs import RECORD
    from understudy.games.scml.tournament.design import schedule
    from understudy.pipeline import record as record_stage

    run, top = run_of(out, "scml"), {2026: max_top_2026, 2025: max_top_2025, 2024: max_top_2024}
    chosen = _best(top, worlds.rules()) if agents is None else named(agents, "agents")
    tournament = worlds.tournament(run, chosen, configs, working.seed)
    watched = None if track_only is None else known_to_play(track_only, tournament)
    written = _trace(run, tournament) if trace else None
    planned = schedule(tournament, purpose=RECORD, watched=watched, keep=None, trace=written)
    if background:
        go_to_background(run.log)
        return
    if not working.resume:
        run.trace.unlink(missing_ok=True)  # it tells of the worlds that are deleted
    total = record_stage.record(load("scml"), run, planned, **working.settings())
    _say_what_is_recorded(run, total, trace, csv)


def named(text: str, option: str) -> list[str]:
    """The names in an option; InputError if there are none."""
    if found := names(text):
        return found
    raise InputError(f"no SCML agent is named in --{option} '{text}'")


def known_to_play(text: str, tournament: "Tournament") -> frozenset[str]:
    """Agents to watch, by name: competitors, or any in the catalogue, as background agents."""
    from understudy.games.scml.players import catalogue

    ours = {ref.name for ref in tournament.competitors}
    others = [name for name in named(text, "track-only") if name not in ours]
    return frozenset(ours.intersection(names(text) or ())) | frozenset(
        catalogue.names(",".join(others), tournament.track) if others else ()
    )


def _best(top: dict[int, int], rules: "Track") -> list[str]:
    from understudy.games.scml.players import catalogue

    return catalogue.best(top, rules)


def _trace(run: "Run", tournament: "Tournament") -> Path:
    """Where it is written, if anybody can be traced."""
    from understudy.games.scml.tournament.play import check_traceable

    check_traceable(tournament.competitors)
    return run.trace.resolve()


def _say_what_is_recorded(run: "Run", total: int, trace: bool, csv: bool) -> None:
    from understudy.games.scml.recording.failures import failure_lines

    size = sum(path.stat().st_size for path in run.recordings.glob("*.parquet"))
    print(f"{total:,} worlds in {run.recordings}, {size / 1e6:,.1f} MB")
    for line in failure_lines(run.recordings):
        print(line)
    if trace:
        print(f"How HRL-XF decided: {run.trace}, or look at it: understudy report {run.folder}")
    if csv:
        from understudy.data.runs import CSV
        from understudy.games.scml.recording.csv_export import write_all

        print(f"{write_all(run.recordings):,} folders of CSV files in {run.recordings / CSV}")


def compete(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="PLAYERS...",
            help="Agents by name, 2024, 2025, 2026, built-ins or all; models of the run.",
        ),
    ],
    out: OutOption = None,
    configs: Annotated[int, typer.Option(help="Configurations: the more, the surer.")] = 40,
    worlds: Worlds = OF_THE_LEAGUE,
    keep: Annotated[int, typer.Option(help="Worlds to record in full, for the explorer.")] = 3,
    working: Working = AS_USUAL,
    json: JsonOption = False,
) -> None:
    """Rotate competitors through the same slots of the same worlds; say who is stronger.

    Scores are compared slot by slot. Intervals are drawn by configuration.

    Example: understudy compete scml Penguin AS0 built-ins --configs 100
    """
    from understudy.data.files import write_text
    from understudy.data.runs import COMPETE, STRENGTH
    from understudy.games.scml.recording.failures import failure_lines
    from understudy.games.scml.report.terminal import strength_table
    from understudy.games.scml.strength.strength import assess
    from understudy.games.scml.tournament.design import schedule
    from understudy.pipeline import compete as compete_stage

    run = run_of(out, "scml")
    tournament = worlds.tournament(run, players, configs, working.seed)
    planned = schedule(tournament, purpose=COMPETE, keep=keep)
    if tournament.simulator == "batch":
        from understudy.games.scml.tournament.batch_play import prepare

        prepare(tournament)
    competition = compete_stage.compete(load("scml"), run, planned, **working.settings())
    strength = assess(competition.results)
    text = json_text.dumps(strength.to_json(), indent=2)
    write_text(competition.folder / STRENGTH, text + "\n")
    if json:
        print(text)
    else:
        out_console.print(strength_table(strength))
        for line in failure_lines(competition.folder):
            print(line)
        print(f"All of it: {competition.folder / STRENGTH}")


def verify(
    agents: Annotated[str, typer.Option(help="Who plays, by comma, or all.")] = "all",
    worlds: Annotated[int, typer.Option(help="How many worlds for each agent alone.")] = 3,
    track: TrackOption = "std",
    against: Annotated[
        str,
        typer.Option(help="scml: it and our engine; batch: the engine and the compiled world."),
    ] = "scml",
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    quiet: QuietOption = False,
) -> None:
    """Hold our engine against the real simulator: same worlds, same agents, every contract.

    Everybody plays alone, and in mixed worlds of 2, 3 and 4 levels (OneShot: 2). With --against
    batch, the compiled world is held against our engine, with the players that it has; both roll
    the same dice. Exit code 1 if anything differs.
    """
    from understudy.games.scml.domain import track_named
    from understudy.games.scml.players.catalogue import INEXACT, names
    from understudy.games.scml.reference import verify as scml
    from understudy.games.scml.reference import verify_batch as batch

    if against not in ("scml", "batch"):
        raise InputError(f"there is nothing to verify against '{against}'; there is scml, batch")
    rules = track_named(track)
    chosen = names(agents, rules)
    left_out = {name: why for name, why in INEXACT.items() if name in chosen}
    chosen = [name for name in chosen if name not in left_out]
    comparing, called = scml.compare, ("scml", "engine")
    if against == "batch":
        chosen, comparing, called = batch.natives(chosen, rules), batch.compare_batch, BATCH
    results = scml.verify(
        chosen, worlds, seed, track=rules, comparing=comparing, worker=workers, quiet=quiet
    )
    out_console.print(scml.results_table(results, called))
    for line in scml.silent_lines(results):
        print(line)
    for name, why in left_out.items():
        print(f"{name} is left out: {why}")
    differences = [line for result in results for line in result.differences]
    for line in differences[:20]:
        err_console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if differences:
        print(f"{len(differences):,} differences", file=sys.stderr)
        sys.exit(1)


def tune(
    player: Annotated[str, typer.Argument(help="Whose numbers: steward.")],
    out: OutOption = None,
    place: Annotated[str, typer.Option(help="Its place in the chain: first, middle, last.")] = (
        "first"
    ),
    field: Annotated[str, typer.Option(help="Its company: official, champions, both.")] = "both",
    generations: Annotated[int, typer.Option(help="How often the best plan is changed.")] = 8,
    candidates: Annotated[int, typer.Option(help="Plans tried in a generation.")] = 16,
    worlds: Annotated[int, typer.Option(help="Worlds of a generation, and to confirm.")] = 1024,
    start: Annotated[
        Path | None, typer.Option(help="A numbers.json to begin with. [default: the original]")
    ] = None,
    working: Working = AS_USUAL,
) -> None:
    """Search better numbers for a scripted player, in compiled worlds; confirm them in others.

    Writes OUT/tuning/PLAYER-PLACE-FIELD/numbers.json. The same command goes on with a search that
    was broken off.

    Example: understudy tune scml steward --place first --field official
    """
    from understudy.games.scml.tuning.report import confirmed_line, generation_line, told_of
    from understudy.games.scml.tuning.search import Settings, search
    from understudy.games.scml.tuning.trials import field_named

    if player.lower() != "steward":
        raise InputError(f"there is nothing to tune in '{player}'; there is steward")
    begun = tuple(sorted(told_of(start, place).items())) if start is not None else ()
    how = generations, candidates, worlds, working.seed, begun
    settings = Settings(field_named(field), place, *how)
    folder = run_of(out, "scml").folder / "tuning" / f"steward-{place}-{field}"
    found = search(
        settings,
        folder,
        worker=working.workers,
        resume=working.resume,
        quiet=working.quiet,
        tell=lambda generation: print(generation_line(generation), flush=True),
    )
    print(confirmed_line(place, found.confirmed))
    print(f"The numbers: {folder / 'numbers.json'}")


def plan(
    run: "Run", purpose: int, players: Sequence[str] | None, options: Mapping[str, Any]
) -> "Schedule":
    """A tournament: `configs`, `seed`, `keep`, and the options of `Worlds`."""
    from understudy.data.runs import COMPETE
    from understudy.games.scml.players.catalogue import best
    from understudy.games.scml.tournament.design import schedule

    defaults = {"configs": 40, "keep": 3} if purpose == COMPETE else {"configs": 5, "keep": None}
    told = {**defaults, **options}
    configs, seed, keep = (told.pop(name) for name in ("configs", "seed", "keep"))
    worlds = Worlds(**told)
    competitors = players or best(dict.fromkeys((2026, 2025, 2024), 5), worlds.rules())
    return schedule(worlds.tournament(run, competitors, configs, seed), purpose=purpose, keep=keep)


def strength(results: "pa.Table") -> list[dict[str, Any]]:
    """A row per player."""
    from understudy.games.scml.strength.strength import assess

    return [dict(row) for row in assess(results).to_json()["players"]]


COMMANDS = Commands(
    verbs={"record": record, "compete": compete, "verify": verify, "tune": tune},
    about={
        "verify": "Hold a fast engine of ours against the real simulator.",
        "tune": "Search better numbers for a scripted player.",
    },
    plan=plan,
    strength=strength,
)
