"""Dota on the command line: `record` from many sources, and what only Dota has."""

import json as json_text
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.errors import InputError
from understudy.games.dota.report import planned, terminal
from understudy.pipeline.game import load
from understudy.terminal.commands import Commands
from understudy.terminal.console import complain, counted, next_step, out_console
from understudy.terminal.options import (
    JsonOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    names,
    run_of,
)
from understudy.terminal.progress import reading_progress
from understudy.terminal.secret import secret

if TYPE_CHECKING:
    from understudy.data.runs import Run
    from understudy.games.dota.sources.api import Asker
    from understudy.pipeline.game import Awaited, Imported


KEY = "UNDERSTUDY_DOTA_KEY"
"""The environment variable that holds the key of an API."""


@dataclass(frozen=True)
class Sources:
    """Where matches come from: files, tables, made-up ones, an API; one or more of them."""

    files: Annotated[
        list[Path] | None,
        typer.Option(
            help="Match files of OpenDota, or a folder of them (JSON, JSONL, .gz); often."
        ),
    ] = None
    tables: Annotated[
        list[Path] | None,
        typer.Option(
            help="A folder of Parquet tables, with our columns, or a run; may be given often."
        ),
    ] = None
    synthetic: Annotated[
        int | None, typer.Option(help="Make up so many matches whose chances are known.", min=1)
    ] = None
    api: Annotated[
        str | None,
        typer.Option(help="Download from here: base address of an API that answers as OpenDota's."),
    ] = None


@dataclass(frozen=True)
class Wanted:
    """What an API is asked for, and how."""

    matches: Annotated[
        str | None, typer.Option(help="With --api: match numbers by comma, or a file of them.")
    ] = None
    league: Annotated[int | None, typer.Option(help="With --api: all of a league.")] = None
    pro: Annotated[
        int | None, typer.Option(help="With --api: so many of the newest professional.", min=1)
    ] = None
    api_key: Annotated[
        str | None,
        typer.Option(
            help=f"With --api: the file that holds your key, or - to be asked. [default: ${KEY}]"
        ),
    ] = None
    pause: Annotated[float, typer.Option(help="With --api: seconds between requests.", min=0.0)] = (
        1.0
    )


NOWHERE, NOTHING = Sources(), Wanted()


def record(
    out: OutOption = None,
    sources: Sources = NOWHERE,
    wanted: Wanted = NOTHING,
    seed: SeedOption = 0,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Take in matches: from files, tables, an API, or made up.

    Stopped in the middle, the same command goes on; files that came since are added. From elsewhere
    the next time, matches are added to those that are there.
    Nothing about who played is kept.

    Example: understudy record dota --files matches/
    """
    from understudy.pipeline import import_matches as import_matches_stage

    run = run_of(out, "dota")
    imports, settings = _matches(run, sources, wanted, seed, quiet)
    with reading_progress(imports, quiet) as watched:
        taken = import_matches_stage.take_in(load("dota"), run, watched, settings, resume=resume)
    print(f"{counted(taken.matches, 'match')} in {run.recordings}")
    if taken.known:
        print(f"{counted(taken.known, 'match')} left out: in the run already")
    for what, count in sorted(taken.missing.items()):
        print(f"missing: {count:,} {what}")
    next_step(run, "dota", "encode dota")
    complain(taken.rejected)


def _matches(
    run: "Run", sources: Sources, wanted: Wanted, seed: int, quiet: bool
) -> "tuple[Iterable[Imported | Awaited], dict[str, Any]]":
    """The matches of all sources that were named, and what the manifest says of them."""
    from understudy.games.dota.sources.match_files import read_logs
    from understudy.games.dota.sources.synthetic import World, generate
    from understudy.games.dota.sources.table_import import read_tables

    found, settings = list["Iterable[Imported | Awaited]"](), dict[str, Any]()
    if sources.files:
        found.append(read_logs(*sources.files))
        settings["files"] = [str(path) for path in sources.files]
    if sources.tables:
        found.append(read_tables(*sources.tables))
        settings["tables"] = [str(path) for path in sources.tables]
    if sources.synthetic is not None:
        found.append(generate(World(seed=seed), sources.synthetic))
        settings |= {"synthetic": sources.synthetic, "seed": seed}
    if sources.api is not None:
        _download(sources.api, wanted, run.downloads, quiet)
        found.append(read_logs(run.downloads))
        settings["api"] = sources.api
    if not found:
        options = ", ".join(f"--{name}" for name in vars(sources))
        raise InputError(f"say where matches come from, by one or more of {options}")
    return chain.from_iterable(found), settings


def _download(api: str, wanted: Wanted, folder: Path, quiet: bool) -> None:
    from rich.progress import track

    from understudy.games.dota.sources.api import Api, Asker, download

    ask = Asker(Api(api, secret(wanted.api_key, "--api-key", KEY), wanted.pause))
    numbers = list(dict.fromkeys(_numbers(ask, wanted)))
    failed: list[str] = []
    for number in track(numbers, "downloading", disable=quiet):
        failed += download(ask, [number], folder).failed
    complain(failed)
    if numbers and len(failed) == len(numbers):
        raise InputError(f"none of {len(numbers)} matches could be had, the first: {failed[0]}")


def _numbers(ask: "Asker", wanted: Wanted) -> list[int]:
    """The numbers of the matches to download."""
    from understudy.games.dota.sources.api import league_matches, numbers_in, pro_matches

    numbers: list[int] = []
    if wanted.matches is not None and Path(wanted.matches).is_file():
        numbers += numbers_in(Path(wanted.matches))
    else:
        for name in names(wanted.matches) or ():
            if not name.isdigit():
                raise InputError(f"'{name}' is neither a match number nor a file of them")
            numbers.append(int(name))
    if wanted.league is not None:
        numbers += league_matches(ask, wanted.league)
    if wanted.pro is not None:
        numbers += pro_matches(ask, wanted.pro)
    if not numbers:
        raise InputError("say what to download, by --matches, --league or --pro")
    return numbers


def encode_options(
    game: str,
    horizon: Annotated[
        int | None,
        typer.Option(help="Dota: seconds ahead to predict. [default: 180]", min=60),
    ] = None,
) -> dict[str, Any]:
    """What `encode` may be asked of Dota: how far ahead to predict."""
    if game != "dota":
        return {}
    from understudy.games.dota.features.encode import HORIZON

    if horizon is not None and horizon % 60:
        raise InputError(
            f"--horizon must be whole minutes, as 60, 120 or 180 seconds, not {horizon}"
        )
    return {"horizon": horizon or HORIZON}


def train_options(
    game: str,
    test_patch: Annotated[
        str | None,
        typer.Option(help="Dota: test on this patch, train on earlier ones: 7.39, say."),
    ] = None,
) -> dict[str, Any]:
    """What `train` may be asked of Dota: which patch to test on."""
    if test_patch is None:
        return {}
    if game != "dota":
        raise InputError(f"--test-patch is Dota's alone; {game} has no patches")
    from understudy.games.dota.facts import patch_number

    return {"test": patch_number(test_patch)}


def split(
    out: OutOption = None,
    by: Annotated[
        str, typer.Option(help="patch: the newest is the test; time: the last fifth.")
    ] = "patch",
    test: Annotated[
        str | None, typer.Option(help="With patch: test on this one. [default: the newest]")
    ] = None,
    since: Annotated[str, typer.Option(help="Leave out what is older than this patch.")] = "7.35",
    seed: SeedOption = 0,
) -> None:
    """Write which matches are trained on as files, which `train dota value-files` reads.

    In RUN/splits: train, val, test, and test_calib_N with test_eval_N for few-shot calibration.

    Example: understudy split dota --out runs/dota
    """
    from understudy.games.dota.facts import patch_number
    from understudy.games.dota.features.samples import read_samples
    from understudy.games.dota.value import splits

    if by not in ("patch", "time"):
        raise InputError(f"--by must be patch or time, not '{by}'")
    run = run_of(out, "dota")
    matches = read_samples(run.samples).outline()
    first = patch_number(since)
    if by == "patch":
        chosen = splits.by_patch(matches, patch_number(test) if test else None, first)
    else:
        chosen = splits.by_time(matches, first)
    paths = splits.write_split(run.splits, chosen, seed)
    counts = ", ".join(
        f"{len(getattr(chosen, name)):,} {name}" for name in ("train", "val", "test")
    )
    print(f"{counts}: {len(paths)} files in {run.splits}")


def drift(
    out: OutOption = None,
    model: Annotated[
        Path | None,
        typer.Option(help="The value model, as RUN/models/value. [default: the one shipped]"),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Say patch by patch whether a trained value model is still right on a run's samples.

    The run may be another than the model's own: record and encode matches of a newer patch, then
    ask. Matches the model was trained on are left out where it says which they were.

    Example: understudy drift dota --out runs/new --model runs/old/models/value
    """
    from understudy.games.dota.advice.match_context import SHIPPED
    from understudy.games.dota.features.samples import read_samples
    from understudy.games.dota.value.checkpoint import MODEL_FILE
    from understudy.games.dota.value.checkpoint import load as load_value
    from understudy.games.dota.value.drift import watch

    folder = model or SHIPPED
    judged = watch(
        load_value(folder / MODEL_FILE), read_samples(run_of(out, "dota").samples), folder
    )
    if json:
        print(json_text.dumps(judged, indent=2))
        return
    out_console.print(terminal.drift_table(judged))
    print(f"trained on {', '.join(judged['trained_on'])}", end="")
    print(f"; {judged['left_out']:,} matches of training left out" if judged["left_out"] else "")


def calibrate(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Folder of a value model; shipped: ours.")
    ],
    matches: Annotated[
        Path, typer.Option(help="A run with samples of matches the model has not learnt from.")
    ],
    name: Annotated[str, typer.Option(help="What it is called there.")] = "value",
    method: Annotated[
        str,
        typer.Option(help="cautious: move only where matches left out gain; always: move."),
    ] = "cautious",
    json: JsonOption = False,
) -> None:
    """Bring a value model in line with a run's matches: RUN/models/NAME, a model like any other.

    Ratings of teams learn from the run's results, too. Needs 30 matches.

    Example: understudy calibrate dota shipped --matches runs/new
    """
    from understudy.data.runs import Run
    from understudy.games.dota.advice.match_context import SHIPPED
    from understudy.games.dota.value.calibrate import calibrate as calibrate_model
    from understudy.names import plain_name

    run = Run(matches)
    out = run.models / plain_name(name, "the name of a model")
    made = calibrate_model(SHIPPED if model == "shipped" else Path(model), run, out, method)
    if json:
        print(json_text.dumps({**made, "model": str(out)}, indent=2))
        return
    terminal.print_calibration(made)
    print(out)


def recommend(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="A match file of OpenDota, or RUN/NUMBER.")
    ],
    minute: Annotated[int, typer.Option(help="When.", min=0)],
    player: Annotated[
        int | None, typer.Option(help="One player, by slot 0 to 9. [default: all]", min=0, max=9)
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(help="RUN/models with value, items, wards. [default: those shipped]"),
    ] = None,
    by: Annotated[
        str,
        typer.Option(help="Order of items: frequency, as others buy; value, as the model likes."),
    ] = "frequency",
    plan: Annotated[
        bool, typer.Option("--plan", help="Plans for five minutes, rolled forward, and bands.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say what to do next at a minute of a match: items, wards, objectives.

    Each with how often others did it and what the value model thinks of it, its cost paid.

    Example: understudy recommend dota 8182370121.json.gz --minute 15 --player 0
    """
    from dataclasses import asdict

    from understudy.games.dota.advice.buying import ORDERS
    from understudy.games.dota.advice.match_context import load_models, open_match
    from understudy.games.dota.advice.recommend import advise
    from understudy.games.dota.planning.plan import planned_at

    by = "frequency" if by == "habit" else by  # what it was called before
    if by not in ORDERS:
        raise InputError(f"--by must be {' or '.join(ORDERS)}, not '{by}'")
    context, loaded = open_match(match, models), load_models(models)
    advice = advise(context, loaded, minute, player, by)
    teams = [0, 1] if player is None else [player // 5]
    ahead = planned_at(context, loaded.value, models, minute, teams) if plan else None
    if json:
        more = {"plans": [asdict(one) for one in ahead[0]], "next": ahead[1]} if ahead else {}
        print(json_text.dumps({**asdict(advice), **more}, indent=2))
        return
    terminal.print_advice(advice)
    if ahead and advice.chance is not None:
        planned.print_plans(ahead[0])
        planned.print_bands(ahead[1])


COMMANDS = Commands(
    verbs={
        "record": record,
        "split": split,
        "drift": drift,
        "calibrate": calibrate,
        "recommend": recommend,
    },
    about={
        "split": "Say which matches are trained on, as files.",
        "drift": "Say whether a trained model can be trusted on new matches.",
        "calibrate": "Bring a trained model in line with matches of a new patch.",
        "recommend": "Say what to do next in a recorded match.",
    },
    options={"encode": encode_options, "train": train_options},
    print_evaluation=terminal.print_evaluation,
)
