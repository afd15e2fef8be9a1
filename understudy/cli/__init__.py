"""The command line: one function per command. It parses and prints; the work is in `pipeline`."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import arena, dota, scml
from understudy.cli import league as league_command
from understudy.cli.options import (
    GameArg,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    WorkersOption,
    by_game,
    err_console,
    given,
    load_game,
    names,
    out_console,
    run_of,
    training_progress,
)
from understudy.errors import InputError

EXAMPLES = """\b
From recorded matches to an agent, step by step:
    understudy record arena --matches 2000       experts play, everything is written down
    understudy encode arena                      one row per decision
    understudy train arena imitate               clone the expert
    understudy train arena refine --from imitate  make the clone stronger by playing
    understudy compete arena imitate expert      who wins, with intervals
    understudy league arena --recipe quick       improve against each other
    understudy report runs/arena                 one page to look at

The supply chain, where agents of the league already play:
    understudy compete scml Penguin AS0 built-ins     who is stronger, slot by slot
    understudy record scml --configs 20               what each saw, offered and answered

Dota 2, from recorded matches only:
    understudy record dota --files matches/           OpenDota's answers, as tables
    understudy encode dota                            one row per minute
    understudy train dota value                       who will win, beside plain baselines
    understudy drift dota --model RUN/models/value    is it still right on this run's patches?
    understudy recommend dota match.json --minute 15  what to do next

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
record = by_game(app, "record", "Play matches; write down what players saw and did.")
record.command("arena")(arena.record)
record.command("scml")(scml.record)
record.command("dota")(dota.record)
compete = by_game(app, "compete", "Let players meet; say who is stronger.")
compete.command("arena")(arena.compete)
compete.command("scml")(scml.compete)
split = by_game(app, "split", "Say which matches are trained on, as files.")
split.command("dota")(dota.split)
drift = by_game(app, "drift", "Say whether a trained model can be trusted on new matches.")
drift.command("dota")(dota.drift)
recommend = by_game(app, "recommend", "Say what to do next in a recorded match.")
recommend.command("dota")(dota.recommend)
app.command("league")(league_command.league)
verify = by_game(app, "verify", "Hold a fast engine of ours against the real simulator.")
verify.command("scml")(scml.verify)


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
def encode(
    game: GameArg,
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Whose decisions, by comma. [default: those recorded to learn from]"),
    ] = None,
    goals: Annotated[
        Path | None,
        typer.Option(help="Fill in the goals of this trained model: scml's L2, for L3 and L4."),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option(help="Dota: seconds ahead to foretell. [default: 180]", min=60),
    ] = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Turn recordings into samples, one row per decision.

    Ends with a summary to check that they make sense.
    """
    from understudy.pipeline import encode as encode_stage
    from understudy.report.terminal import counts_table

    run = run_of(out, game)
    counts = encode_stage.encode(
        load_game(game),
        run,
        players=names(players),
        goals=goals,
        options=dota.encode_options(horizon) if game == "dota" else None,
        worker=workers,
        resume=resume,
        quiet=quiet,
    )
    out_console.print(counts_table(f"samples in {run.samples}", counts))


@app.command()
def train(
    game: GameArg,
    recipe: Annotated[str, typer.Argument(help="How: a name from `understudy recipes GAME`.")],
    out: OutOption = None,
    init: Annotated[
        Path | None, typer.Option(help="Begin with the weights of this model, not with new ones.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="The model to refine, of this run or a folder.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="Of refinement.", min=1)] = None,
    rollouts: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    updates: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    pseudo_reward: Annotated[
        float | None, typer.Option(help="Of the game's own, beside the score, when refining.")
    ] = None,
    test_patch: Annotated[
        str | None,
        typer.Option(help="Dota: test on this patch, train on earlier ones: 7.39, say."),
    ] = None,
    seed: SeedOption = 0,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Train a model on the run's samples, or go on training it.

    A recipe that refines plays instead: understudy train arena refine --from imitate
    """
    from understudy.pipeline import train as train_stage
    from understudy.report.terminal import evaluation_tables

    run = run_of(out, game)
    with training_progress(f"training {recipe}", quiet) as progress:
        evaluation = train_stage.train(
            load_game(game),
            run,
            recipe,
            seed=seed,
            init=init,
            start=start,
            changes=given(
                iterations=iterations,
                rollouts=rollouts,
                updates=updates,
                pseudo_reward=pseudo_reward,
            ),
            options=dota.train_options(game, test_patch),
            device=device,
            worker=workers,
            resume=resume,
            progress=progress,
        )
    if game == "dota":
        dota.print_evaluation(evaluation)
    else:
        for table in evaluation_tables(evaluation):
            out_console.print(table)
    print(f"{run.model(recipe)}: {evaluation['steps']:,} steps in {evaluation['seconds']:.0f} s")


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
    from understudy.data.runs import Run
    from understudy.pipeline import report as report_stage

    print(report_stage.report(Run.existing(run), out))


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
    from understudy.data.runs import Run
    from understudy.pipeline import report as report_stage

    path = Path(match)
    folder = path.parent if len(path.parts) > 1 else Path("runs/arena")
    print(report_stage.replay(Run.existing(folder), path.name, out))


@app.command()
def recipes(game: GameArg) -> None:
    """List the ways to train, and the scripted players."""
    from rich.table import Table

    chosen = load_game(game)
    for title, rows in (
        ("recipes", {name: recipe.description for name, recipe in chosen.recipes().items()}),
        ("scripted players", chosen.players),
    ):
        table = Table(title=title, title_justify="left", show_header=False)
        for name, about in rows.items():
            table.add_row(name, about)
        if rows:
            out_console.print(table)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("runs/demo"),
    matches: Annotated[int, typer.Option(help="To record in the arena.")] = 1000,
    worlds: Annotated[int, typer.Option(help="Configurations of the supply chain.")] = 8,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
) -> None:
    """Go through every stage once, in minutes: the arena, the supply chain, Dota."""
    from understudy.data.runs import Run

    _demo_arena(out / "arena", matches, seed, workers, resume)
    err_console.rule("8/11  compete: our agent among champions of the supply chain")
    scml.compete(
        ["HRL", "Penguin", "AS0", "Greedy"],
        out=out / "scml",
        configs=worlds,
        competitors_per_world=4,
        steps=30,
        keep=1,
        seed=seed,
        workers=workers,
        resume=resume,
    )
    err_console.rule("9/11  report, with a world to look into")
    report(out / "scml")
    err_console.rule("10/11  Dota: a value model of made-up matches, whose chances are known")
    dota.record(out=out / "dota", synthetic=1500, seed=seed, resume=resume)
    encode("dota", out=out / "dota", workers=workers, resume=resume)
    train("dota", "value-quick", out=out / "dota", seed=seed, resume=resume)
    err_console.rule("11/11  report, and one match with its chances, swings and advice")
    report(out / "dota")
    replay(str(out / "dota" / "9000000000"), out / "dota" / "match.html")
    pages = [Run(out / game).report for game in ("arena", "scml", "dota")]
    print(
        f"\nOpen {', '.join(map(str, [*pages, out / 'dota' / 'match.html']))}: no network needed."
    )


def _demo_arena(run: Path, matches: int, seed: int, workers: str | None, resume: bool) -> None:
    err_console.rule("1/11  record: experts play in the arena")
    arena.record(out=run, matches=matches, seed=seed, workers=workers, resume=resume)
    err_console.rule("2/11  encode: one row per decision")
    encode("arena", out=run, workers=workers, resume=resume)
    err_console.rule("3/11  train: clone the expert")
    train("arena", "imitate-quick", out=run, seed=seed, resume=resume)
    err_console.rule("4/11  train: refine the clone by playing")
    train("arena", "refine-quick", out=run, seed=seed, workers=workers, resume=resume)
    err_console.rule("5/11  compete: both against the scripted players")
    field = ["imitate-quick", "refine-quick", *load_game("arena").players]
    arena.compete(field, out=run, matches=200, seed=seed, workers=workers, resume=resume)
    err_console.rule("6/11  league: main agent and exploiters harden each other")
    league_command.league(
        "arena", "demo", run, "imitate-quick", seed=seed, workers=workers, resume=resume
    )
    err_console.rule("7/11  report")
    report(run)


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
