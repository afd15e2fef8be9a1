"""The command line: one function per command. It parses and prints; the work is in `stages.py`."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from understudy.errors import InputError

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from understudy.games import Game
    from understudy.stages import Progress

EXAMPLES = """\b
From recorded matches to an agent, step by step:
    understudy record arena --matches 2000       experts play, everything is written down
    understudy encode arena                      one row per decision
    understudy train arena imitate               clone the expert
    understudy compete arena imitate expert      who wins, with intervals
    understudy report runs/arena                 one page to look at

Every step can be stopped and run again: it goes on where it was. `understudy demo` does all of
it small. A step works in a run, the folder given by --out.
"""

app = typer.Typer(
    help="Turn recorded matches of competitive games into agents that win.",
    epilog="Begin with: understudy demo",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GameArg = Annotated[str, typer.Argument(metavar="GAME", help="Which game: arena.")]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Where to write: the run's folder. [default: runs/GAME]"),
]
SeedOption = Annotated[int, typer.Option(help="Same seed, same numbers.", min=0, max=10**9)]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        help="How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster that shares --out. "
        "[default: one per core]"
    ),
]
ResumeOption = Annotated[
    bool,
    typer.Option(
        "--resume/--fresh", help="Go on with what the same command began, or delete it first."
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
LimitOption = Annotated[
    float | None,
    typer.Option(
        help="Kill a task of some 50 matches that takes longer than this many seconds.", min=0.01
    ),
]

out_console = Console()
err_console = Console(stderr=True)


@app.callback(epilog=EXAMPLES, invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Turn recorded matches of competitive games into agents that win."""
    if version:
        from importlib.metadata import version as installed

        print(f"understudy {installed('understudy')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def record(
    game: GameArg,
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Who is recorded to learn from, by comma. [default: the expert]"),
    ] = None,
    opponents: Annotated[
        str | None, typer.Option(help="Whom they meet, by comma. [default: everybody]")
    ] = None,
    matches: Annotated[int, typer.Option(help="How many in all.")] = 2000,
    logs: Annotated[
        Path | None, typer.Option(help="Read logs of other origin in this folder instead.")
    ] = None,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    task_seconds: LimitOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Play matches; write down what players saw and did.

    Example: understudy record arena --players expert --opponents expert,rusher --matches 500
    """
    from understudy import stages

    chosen, run = _game(game), _run(out, game)
    if logs is not None:
        found = stages.read_logs(chosen, run, logs, resume=resume)
        print(f"{found.matches:,} matches from {found.files} logs in {run.recordings}")
        _complain(found.rejected)
        return
    total = stages.record(
        chosen,
        run,
        players=_names(players) or [next(iter(chosen.players))],
        opponents=_names(opponents) or list(chosen.players),
        matches=matches,
        seed=seed,
        worker=workers,
        resume=resume,
        seconds_per_task=task_seconds,
        quiet=quiet,
    )
    print(f"{total:,} matches in {run.recordings}")


@app.command()
def encode(
    game: GameArg,
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Whose decisions, by comma. [default: those recorded to learn from]"),
    ] = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Turn recordings into samples, one row per decision.

    Ends with a summary to check that they make sense.
    """
    from understudy import stages
    from understudy.report.terminal import counts_table

    run = _run(out, game)
    counts = stages.encode(
        _game(game), run, players=_names(players), worker=workers, resume=resume, quiet=quiet
    )
    out_console.print(counts_table(f"samples in {run.samples}", counts))


@app.command()
def train(
    game: GameArg,
    recipe: Annotated[str, typer.Argument(help="How: a name from `understudy recipes GAME`.")],
    out: OutOption = None,
    seed: SeedOption = 0,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Train a model on the run's samples, or go on training it."""
    from understudy import stages
    from understudy.report.terminal import evaluation_table

    run = _run(out, game)
    with _progress(f"training {recipe}", quiet) as progress:
        evaluation = stages.train(
            _game(game), run, recipe, seed=seed, device=device, resume=resume, progress=progress
        )
    out_console.print(evaluation_table(evaluation))
    print(f"{run.model(recipe)}: {evaluation['steps']:,} steps in {evaluation['seconds']:.0f} s")


@app.command()
def compete(
    game: GameArg,
    players: Annotated[
        list[str],
        typer.Argument(help="Scripted players, models of the run by recipe, or model folders."),
    ],
    out: OutOption = None,
    matches: Annotated[int, typer.Option(help="Per pair, half of them with sides swapped.")] = 400,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    task_seconds: LimitOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Let every pair of players meet; say who is stronger.

    Example: understudy compete arena imitate expert rusher --matches 1000
    """
    from understudy import stages
    from understudy.report.terminal import win_rate_table

    rates = stages.compete(
        _game(game),
        _run(out, game),
        players,
        matches=matches,
        seed=seed,
        worker=workers,
        resume=resume,
        seconds_per_task=task_seconds,
        quiet=quiet,
    )
    if json:
        from json import dumps

        print(dumps([vars(rate) for rate in rates], indent=2))
    else:
        out_console.print(win_rate_table(rates, [Path(player).name for player in players]))


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write. [default: RUN/report.html]")
    ] = None,
) -> None:
    """Write one page that shows a whole run.

    Strength, training, samples, replays; one file that works offline.
    """
    from understudy import stages
    from understudy.data.runs import Run

    print(stages.report(Run.existing(run), out))


@app.command()
def replay(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="RUN/NAME, or NAME of a match in runs/arena.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("replay.html"),
) -> None:
    """Write a page that plays one recorded match.

    Example: understudy replay runs/arena/expert-rusher-17 -o replay.html
    """
    from understudy import stages
    from understudy.data.runs import Run

    path = Path(match)
    folder = path.parent if len(path.parts) > 1 else Path("runs/arena")
    print(stages.replay(Run.existing(folder), path.name, out))


@app.command()
def recipes(game: GameArg) -> None:
    """List the ways to train, and the scripted players."""
    from rich.table import Table

    chosen = _game(game)
    for title, rows in (
        ("recipes", {name: recipe.description for name, recipe in chosen.recipes().items()}),
        ("scripted players", chosen.players),
    ):
        table = Table(title=title, title_justify="left", show_header=False)
        for name, about in rows.items():
            table.add_row(name, about)
        out_console.print(table)


@app.command()
def verify(
    game: Annotated[str, typer.Argument(metavar="GAME", help="Which game: scml.")],
    agents: Annotated[str, typer.Option(help="Who plays, by comma, or all.")] = "all",
    worlds: Annotated[int, typer.Option(help="How many worlds for each agent alone.")] = 3,
    track: Annotated[str, typer.Option(help="Which rules: std or oneshot.")] = "std",
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    quiet: QuietOption = False,
) -> None:
    """Hold our engine against the real simulator: same worlds, same agents, every contract.

    Exit code 1 if anything differs.
    """
    if game != "scml":
        raise InputError(f"there is no simulator to hold {game} against; there is one for scml")
    from understudy.games.scml import verify as scml
    from understudy.games.scml.engine.agents import INEXACT, names
    from understudy.games.scml.engine.rules import track_named

    rules = track_named(track)
    chosen = names(agents, rules)
    left_out = {name: why for name, why in INEXACT.items() if name in chosen}
    chosen = [name for name in chosen if name not in left_out]
    results = scml.verify(chosen, worlds, seed, track=rules, worker=workers, quiet=quiet)
    out_console.print(scml.results_table(results))
    for name, why in left_out.items():
        print(f"{name} is left out: {why}")
    differences = [line for result in results for line in result.differences]
    for line in differences[:20]:
        err_console.print(line, style="red", markup=False, highlight=False, soft_wrap=True)
    if differences:
        print(f"{len(differences):,} differences", file=sys.stderr)
        sys.exit(1)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("runs/demo"),
    matches: Annotated[int, typer.Option(help="To record.")] = 1000,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
) -> None:
    """Go through every stage once, in a few minutes."""
    run, recipe = Path(out), "imitate-quick"
    err_console.rule("1/5  record: experts play")
    record("arena", out=run, matches=matches, seed=seed, workers=workers, resume=resume)
    err_console.rule("2/5  encode: one row per decision")
    encode("arena", out=run, workers=workers, resume=resume)
    err_console.rule("3/5  train: clone the expert")
    train("arena", recipe, out=run, seed=seed, resume=resume)
    err_console.rule("4/5  compete: the clone against the scripted players")
    field = [recipe, *dict.fromkeys(_game("arena").players)]
    compete("arena", field, out=run, matches=200, seed=seed, workers=workers, resume=resume)
    err_console.rule("5/5  report")
    report(run)
    print(f"\nOpen {run / 'report.html'} in a browser. It needs no network.")


def main() -> None:
    """Run a command. A user's mistake is one line and exit code 2; a bug of ours is a traceback."""
    # Work is spread over processes; threads that wait for each other are many times slower.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        if app(standalone_mode=False) == 130:  # what typer makes of Ctrl-C
            raise KeyboardInterrupt
    except InputError as mistake:
        _fail(str(mistake))
    except typer.Abort:
        _fail("stopped")
    except KeyboardInterrupt:
        err_console.print("understudy: stopped; the same command goes on from here", style="yellow")
        sys.exit(130)
    except Exception as problem:
        if hasattr(problem, "format_message"):  # click's own words on a wrong option
            _fail(f"{problem.format_message().rstrip('.')}. See: understudy --help")
        raise


def _fail(line: str) -> None:
    print(f"understudy: {line}", file=sys.stderr)
    sys.exit(2)


def _game(name: str) -> "Game":
    from understudy import games

    return games.load(name)


def _run(out: Path | None, game: str) -> Any:
    from understudy.data.runs import Run

    return Run(out or Path("runs") / game)


def _names(text: str | None) -> list[str] | None:
    """A list given by comma."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else None


def _complain(rejected: list[str]) -> None:
    """Say which lines were left out: all in the manifest, a few here."""
    for line in rejected[:5]:
        err_console.print(line, style="yellow", markup=False, highlight=False, soft_wrap=True)
    if len(rejected) > 5:
        err_console.print(
            f"... and {len(rejected) - 5:,} more, all in the manifest", style="yellow"
        )


@contextmanager
def _progress(title: str, quiet: bool) -> Iterator["Progress | None"]:
    """A bar for training: steps, loss, rate, time left."""
    if quiet:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=err_console,
    )
    try:
        task = bar.add_task(title, total=None, note="")

        def tell(step: int, steps: int, metrics: Mapping[str, float]) -> None:
            note = ""
            if "val/loss" in metrics:
                rate = metrics.get("samples_per_second", 0.0)
                note = f"loss {metrics['val/loss']:.3f}, {rate / 1e3:.0f}k samples/s,"
            bar.start()  # only now: what fails before the first step leaves no bar behind
            bar.update(task, completed=step, total=steps, note=note)

        yield tell
    finally:
        if bar.live.is_started:  # otherwise it would still print an empty line
            bar.stop()
