"""Commands that every game has. `**told` are the options that games add to them."""

import json as json_text
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy import games
from understudy.errors import InputError
from understudy.pipeline.game import load
from understudy.terminal.commands import Options, added_options
from understudy.terminal.console import next_step, out_console, show
from understudy.terminal.options import (
    GameArg,
    InitOption,
    JsonOption,
    MemoryOption,
    ModelNameOption,
    OpenOption,
    OutOption,
    PlansOption,
    PseudoRewardOption,
    QuietOption,
    RecipeArg,
    ResumeOption,
    SeedOption,
    SettingsOption,
    SharesOption,
    StartOption,
    WorkersOption,
    names,
    run_of,
    shares,
)
from understudy.terminal.progress import training_progress

if TYPE_CHECKING:  # heavy; `--help` must answer at once
    from understudy.data.runs import Run


def encode(
    game: GameArg,
    out: OutOption = None,
    players: Annotated[
        str | None,
        typer.Option(help="Whose decisions, by comma. [default: those recorded to learn from]"),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", help="Recordings of these runs, by comma, instead of its own."),
    ] = None,
    goals: Annotated[
        Path | None,
        typer.Option(help="Fill in the goals of this model of the run: scml's L2, for L3 and L4."),
    ] = None,
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    **told: Any,
) -> None:
    """Turn recordings into samples, one row per decision.

    Ends with a summary to check that they make sense.

    Example: understudy encode arena --players expert
    """
    from understudy.pipeline import encode as encode_stage
    from understudy.report.terminal import counts_table

    run = run_of(out, game)
    counts = encode_stage.encode(
        load(game),
        run,
        players=names(players),
        sources=names(start) or (),
        goals=goals,
        options=of_games("encode", game, told),
        worker=workers,
        resume=resume,
        quiet=quiet,
    )
    out_console.print(counts_table(f"samples in {run.samples}", counts))
    next_step(run, game, f"train {game} {next(iter(load(game).recipes()))}", f"report {run.folder}")


def train(
    game: GameArg,
    recipe: RecipeArg,
    out: OutOption = None,
    settings: SettingsOption = None,
    name: ModelNameOption = None,
    init: InitOption = None,
    start: StartOption = None,
    opponents: SharesOption = None,
    iterations: Annotated[int | None, typer.Option(help="Of refinement.", min=1)] = None,
    rollouts: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    updates: Annotated[int | None, typer.Option(help="Per iteration.", min=1)] = None,
    pseudo_reward: PseudoRewardOption = None,
    memory: MemoryOption = None,
    plans: PlansOption = None,
    seed: SeedOption = 0,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    workers: WorkersOption = None,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
    **told: Any,
) -> None:
    """Train a model on the run's samples, or go on training it.

    A recipe that refines plays instead, on from a model.

    Examples:
        understudy train arena imitate-small --set steps=8000 --name longer
        understudy train arena refine-ppo --from imitate-small
    """
    from understudy.learn.recipe import TrainOptions
    from understudy.pipeline import train as train_stage

    run = run_of(out, game)
    with training_progress(f"training {name or recipe}", quiet) as progress:
        evaluation = train_stage.train(
            load(game),
            run,
            recipe,
            settings=settings or (),
            name=name,
            options=TrainOptions(
                init=init,
                start=start,
                opponents=shares(opponents),
                iterations=iterations,
                rollouts=rollouts,
                updates=updates,
                pseudo_reward=pseudo_reward,
                memory=memory,
                plans=plans,
                own=of_games("train", game, told),
            ),
            seed=seed,
            device=device,
            worker=workers,
            resume=resume,
            progress=progress,
        )
    _tell_of_training(game, run, recipe, name or recipe, evaluation)


def _tell_of_training(
    game: str, run: "Run", recipe: str, name: str, evaluation: Mapping[str, Any]
) -> None:
    """What came out, where it lies, and what may follow."""
    brought = games.commands(game)
    (brought.print_evaluation or _print_evaluation)(evaluation)
    steps, seconds = evaluation["steps"], evaluation["seconds"]
    print(f"{run.model(name)}: {steps:,} steps in {seconds:.0f} s")
    met = f"compete {game} {name} {next(iter(load(game).players), '')}".rstrip()
    can_play = "compete" in brought.verbs and getattr(load(game).recipe(recipe), "plays", True)
    plays = [met] if can_play else []
    next_step(run, game, *plays, f"report {run.folder}")


def evaluate(
    model: Annotated[Path, typer.Argument(help="The model's folder: RUN/models/NAME.")],
    split: Annotated[str, typer.Option(help="Which matches: train, val or test.")] = "val",
    samples: Annotated[
        Path | None, typer.Option(help="Samples of this run instead of the model's own.")
    ] = None,
    device: Annotated[str, typer.Option(help="Where torch computes: cpu or cuda.")] = "cpu",
    json: JsonOption = False,
) -> None:
    """Say what a trained model is worth on recorded decisions.

    A policy that was refined by play is judged by how well it still foretells what was recorded.

    Example: understudy evaluate runs/arena/models/imitate --split val
    """
    from understudy.data.runs import Run
    from understudy.pipeline import train as train_stage

    given = None if samples is None else Run.existing(samples)
    found = train_stage.evaluate(model, split=split, samples=given, device=device)
    if json:
        print(json_text.dumps(found, indent=2))
        return
    for name, layer in found.get("layers", {"": found}).items():
        if name:
            out_console.print(f"{name}:")
        _print_evaluation(layer, split)


def _print_evaluation(evaluation: Mapping[str, Any], split: str = "test") -> None:
    from understudy.report.terminal import evaluation_tables

    for table in evaluation_tables(evaluation, split):
        out_console.print(table)


def options_of_games(command: str) -> list[Options]:
    """The functions by which games add options to a command."""
    brought = [games.commands(name) for name in games.names()]
    return [one.options[command] for one in brought if command in one.options]


def of_games(command: str, game: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """What the stage is told of the options that games add to a command."""
    found = dict[str, Any]()
    for options in options_of_games(command):
        mine = {option.name for option in added_options(options)} & set(told)
        found |= options(game, **{name: told[name] for name in mine})
    return found


def report(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write. [default: RUN/report.html]")
    ] = None,
    look: OpenOption = False,
) -> None:
    """Write one page that shows a whole run.

    Strength, training, samples, replays; one file that works offline.

    Example: understudy report runs/arena --open
    """
    from understudy.data.runs import Run
    from understudy.pipeline import report as report_stage

    show(report_stage.report(Run.existing(run), out), look)


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs, or models: RUN/models/NAME.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path(
        "compare.html"
    ),
    look: OpenOption = False,
) -> None:
    """Write one page that shows runs or models side by side.

    What differs in their settings, their curves over each other, and who is stronger where they
    played the same seeds.

    Example: understudy compare runs/arena runs/other -o compare.html --open
    """
    from understudy.pipeline import report as report_stage

    show(report_stage.compare(runs, out), look)


def check(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    json: JsonOption = False,
) -> None:
    """Read every file of a run; say what is damaged, missing, stale or foreign.

    Exit code 1 if anything is.

    Example: understudy check runs/arena
    """
    from understudy.data.runs import Run
    from understudy.trust.check import check as look_through

    found = look_through(Run.existing(run))
    if json:
        told = [one._asdict() | {"path": str(one.path)} for one in found.findings]
        print(json_text.dumps(told, indent=2))
    else:
        for one in found.findings:
            print(f"{one.kind}: {one.path}: {one.what.removeprefix(f'{one.path}: ')}")
        words = f"{len(found.findings)} findings" if found.findings else "all as it was written"
        print(f"{found.files:,} files, {found.sealed:,} of them sealed: {words}")
    if found.findings:
        sys.exit(1)


def compact(
    run: Annotated[Path, typer.Argument(help="The run's folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run to write.")],
    resume: ResumeOption = True,
) -> None:
    """Merge a run's recordings into few large files, in a run of their own.

    For recordings of many thousands of files. The run itself stays as it is.

    Example: understudy compact runs/arena --out runs/arena-compact
    """
    from understudy.data.elsewhere.compact import compact as merge
    from understudy.data.runs import Run, read_manifest

    source, target = Run.existing(run).recordings, Run(out).recordings
    manifest = read_manifest(source)
    if manifest is None or manifest["finished"] is None:
        raise InputError(f"{source} holds no finished recording. The command that began it goes on")
    if source.resolve() == target.resolve():
        raise InputError(f"--out {out} is the run itself; choose another")
    game = load(str(manifest["settings"]["game"]))
    has_results = any(source.glob(f"{game.results.name}-*.parquet"))  # imports have none
    tables = (*game.recordings, *([game.results] if has_results else []))
    before, after = merge(source, target, tables, manifest, resume=resume)
    print(f"{before:,} shards of each table are {after:,} in {out}; go on there with --out {out}")


def replay(
    match: Annotated[
        str,
        typer.Argument(
            metavar="MATCH",
            help="RUN/NAME, the NAME of a match in any run, or a match file (Dota).",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write.")] = Path("replay.html"),
    look: OpenOption = False,
) -> None:
    """Write a page that plays one recorded match.

    Example: understudy replay runs/arena/expert-rusher-17 -o replay.html --open
    """
    from understudy.data.runs import RUNS, Run
    from understudy.pipeline import report as report_stage

    path = Path(match)
    if path.is_file():
        page = report_stage.replay_file(path, out)
    elif len(path.parts) > 1:
        page = report_stage.replay(Run.existing(path.parent), path.name, out)
    else:
        page = report_stage.replay_anywhere(RUNS, match, out)
    show(page, look)


def recipes(
    game: GameArg,
    recipe: Annotated[
        str | None, typer.Argument(help="Show this recipe's settings instead.")
    ] = None,
) -> None:
    """List the ways to train, and the scripted players; or the settings of one recipe.

    Example: understudy recipes arena refine-ppo
    """
    from understudy.report.terminal import words_table

    chosen = load(game)
    leagues = {} if chosen.league is None else chosen.league().recipes
    if recipe is not None:
        from understudy.learn.settings import settings_of

        found = settings_of(leagues[recipe] if recipe in leagues else chosen.recipe(recipe))
        rows = [(one.name, one.written, f"{one.meaning} ({one.words})") for one in found]
        out_console.print(words_table(recipe, rows, ("setting", "default", "meaning")))
        how = f"league {game} --recipe" if recipe in leagues else f"train {game}"
        print(f"Change some: understudy {how} {recipe} --set NAME=VALUE")
        return
    about = {name: one.description for name, one in chosen.recipes().items()}
    in_leagues = {name: one.description for name, one in leagues.items()}
    tables = {"recipes": about, "leagues": in_leagues, "scripted players": chosen.players}
    for title, named in tables.items():
        if named:
            out_console.print(words_table(title, list(named.items())))
    print(f"All settings of one: understudy recipes {game} {next(iter(about), 'RECIPE')}")
