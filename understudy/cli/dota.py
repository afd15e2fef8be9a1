"""Dota's version of `record`, and what only Dota has."""

import json as json_text
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from understudy.cli.options import (
    JsonOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    complain,
    err_console,
    load_game,
    names,
    out_console,
    run_of,
)
from understudy.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from understudy.games import Awaited, Imported

ApiOption = Annotated[
    str | None,
    typer.Option(help="Download from here: base address of an API that answers as OpenDota's."),
]


def record(
    out: OutOption = None,
    files: Annotated[
        list[Path] | None,
        typer.Option(
            help="Match files of OpenDota, or a folder of them (JSON, JSONL, .gz); often."
        ),
    ] = None,
    tables: Annotated[
        list[Path] | None,
        typer.Option(help="A folder of Parquet tables already in our layout; may be given often."),
    ] = None,
    synthetic: Annotated[
        int | None, typer.Option(help="Make up so many matches whose chances are known.", min=1)
    ] = None,
    api: ApiOption = None,
    matches: Annotated[
        str | None, typer.Option(help="With --api: match numbers by comma, or a file of them.")
    ] = None,
    league: Annotated[int | None, typer.Option(help="With --api: all of a league.")] = None,
    pro: Annotated[
        int | None, typer.Option(help="With --api: so many of the newest professional.", min=1)
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="UNDERSTUDY_DOTA_KEY", help="With --api: your key.")
    ] = None,
    pause: Annotated[
        float, typer.Option(help="With --api: seconds between requests.", min=0.0)
    ] = 1.0,
    seed: SeedOption = 0,
    resume: ResumeOption = True,
    quiet: QuietOption = False,
) -> None:
    """Take in matches: from files, tables, an API, or made up.

    Stopped in the middle, the same command goes on; files that came since are added.
    Nothing about who played is kept. Example: understudy record dota --files matches/
    """
    from understudy.games.dota.sources.match_files import read_logs
    from understudy.games.dota.sources.synthetic import World, generate
    from understudy.games.dota.sources.table_import import read_tables
    from understudy.pipeline import import_matches as import_matches_stage

    game, run = load_game("dota"), run_of(out, "dota")
    _one_source(files=files, tables=tables, synthetic=synthetic, api=api)
    settings: dict[str, Any]
    imports: Iterable[Imported | Awaited]
    if files:
        imports, settings = read_logs(*files), {"files": [str(path) for path in files]}
    elif tables:
        imports, settings = read_tables(*tables), {"tables": [str(path) for path in tables]}
    elif synthetic is not None:
        imports = generate(World(seed=seed), synthetic)
        settings = {"synthetic": synthetic, "seed": seed}
    else:
        assert api is not None
        folder = run.downloads
        _download(api, api_key, pause, folder, matches, league, pro, quiet)
        imports, settings = read_logs(folder), {"api": api}
    with _reading(imports, quiet) as watched:
        found = import_matches_stage.take_in(game, run, watched, settings, resume=resume)
    print(f"{found.matches:,} matches in {run.recordings}")
    complain(found.rejected)


@contextmanager
def _reading(
    imports: "Iterable[Imported | Awaited]", quiet: bool
) -> "Iterator[Iterable[Imported | Awaited]]":
    """The same parts; how many have been read is shown. How many will come is not known before."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = TextColumn("reading matches: part {task.completed:.0f}, {task.fields[source]}")
    bar = Progress(
        SpinnerColumn(), columns, TimeElapsedColumn(), console=err_console, transient=True
    )
    task = bar.add_task("", total=None, source="")

    def watched() -> "Iterator[Imported | Awaited]":
        for part in imports:
            if not quiet:
                bar.start()
            bar.update(task, advance=1, source=part.source)
            yield part

    try:
        yield watched()
    finally:
        if bar.live.is_started:
            bar.stop()


def _one_source(**given: Any) -> None:
    chosen = [name for name, value in given.items() if value]
    if len(chosen) != 1:
        options = ", ".join(f"--{name}" for name in given)
        raise InputError(f"say where matches come from, by one of {options}")


def _download(
    api: str,
    key: str | None,
    pause: float,
    folder: Path,
    matches: str | None,
    league: int | None,
    pro: int | None,
    quiet: bool,
) -> None:
    from rich.progress import track

    from understudy.games.dota.sources.api import Api, Asker, download

    ask = Asker(Api(api, key, pause))
    wanted = list(dict.fromkeys(_wanted(ask, matches, league, pro)))
    failed: list[str] = []
    for number in track(wanted, "downloading", disable=quiet):
        failed += download(ask, [number], folder).failed
    complain(failed)
    if wanted and len(failed) == len(wanted):
        raise InputError(f"none of {len(wanted)} matches could be had, the first: {failed[0]}")


def _wanted(ask: Any, matches: str | None, league: int | None, pro: int | None) -> list[int]:
    from understudy.games.dota.sources.api import league_matches, numbers_in, pro_matches

    wanted: list[int] = []
    if matches is not None and Path(matches).is_file():
        wanted += numbers_in(Path(matches))
    else:
        for name in names(matches) or ():
            if not name.isdigit():
                raise InputError(f"'{name}' is neither a match number nor a file of them")
            wanted.append(int(name))
    if league is not None:
        wanted += league_matches(ask, league)
    if pro is not None:
        wanted += pro_matches(ask, pro)
    if not wanted:
        raise InputError("say what to download, by --matches, --league or --pro")
    return wanted


def encode_options(horizon: int | None) -> dict[str, int]:
    """What `encode` may be told about Dota."""
    from understudy.games.dota.features.encode import HORIZON

    if horizon is not None and horizon % 60:
        raise InputError(
            f"--horizon must be whole minutes, as 60, 120 or 180 seconds, not {horizon}"
        )
    return {"horizon": horizon or HORIZON}


def train_options(game: str, test_patch: str | None) -> dict[str, int]:
    """What `train` may be told about Dota."""
    from understudy.games.dota.facts import patch_number

    if test_patch is None:
        return {}
    if game != "dota":
        raise InputError(f"--test-patch is Dota's alone; {game} has no patches")
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
    from understudy.games.dota.value.checkpoint import MODEL_FILE, load
    from understudy.games.dota.value.drift import watch

    folder = model or SHIPPED
    judged = watch(load(folder / MODEL_FILE), read_samples(run_of(out, "dota").samples), folder)
    if json:
        print(json_text.dumps(judged, indent=2))
        return
    out_console.print(_drift_table(judged))
    print(f"trained on {', '.join(judged['trained_on'])}", end="")
    print(f"; {judged['left_out']:,} matches of training left out" if judged["left_out"] else "")


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
        str, typer.Option(help="Order of items: habit, as others buy; value, as the model likes.")
    ] = "habit",
    json: JsonOption = False,
) -> None:
    """Say what to do next at a minute of a match: items, wards, objectives.

    Each with how often others did it and what the value model thinks of it, its cost paid.

    Example: understudy recommend dota 8182370121.json.gz --minute 15 --player 0
    """
    from dataclasses import asdict

    from understudy.games.dota.advice.match_context import load_models, open_story
    from understudy.games.dota.advice.recommend import ORDERS, advise

    if by not in ORDERS:
        raise InputError(f"--by must be {' or '.join(ORDERS)}, not '{by}'")
    advice = advise(open_story(match), load_models(models), minute, player, by)
    if json:
        print(json_text.dumps(asdict(advice), indent=2))
        return
    print(f"match {advice.match_id}, minute {advice.minute}, patch {advice.patch}; ", end="")
    print(f"models trained on {', '.join(advice.trained_on)}")
    for reason in advice.reasons:
        print(reason)
    if advice.chance is None:
        return
    print(f"Radiant wins with {advice.chance:.0%}")
    for slot in sorted({line["slot"] for line in advice.items}):
        rows = [line for line in advice.items if line["slot"] == slot]
        title = f"{rows[0]['hero']} (player {slot}), about {rows[0]['cash']:,} gold at hand"
        out_console.print(_advice_table(title, ("item", "chance", "model", "why"), rows))
    for side in sorted({line["side"] for line in advice.wards}, reverse=True):
        rows = [line for line in advice.wards if line["side"] == side]
        title = f"{side}: where wards go (model: {rows[0]['model']})"
        out_console.print(_advice_table(title, ("x", "y", "chance", "why"), rows))
        rows = [line for line in advice.objectives if line["side"] == side]
        title = f"{side}: what may be taken"
        out_console.print(_advice_table(title, ("take", "model", "why"), rows))
    out_console.print(f"chance: how often others did it. {advice.view}.", highlight=False)


def _advice_table(title: str, names: tuple[str, ...], rows: list[dict[str, Any]]) -> "Table":
    table = _table(title, *names)
    for column in table.columns:
        column.no_wrap = column.header != "why"
        column.justify = "right" if column.header in ("x", "y", "chance", "model") else "left"
    for row in rows:
        table.add_row(*(_said(name, row[name]) for name in names))
    return table


def _said(name: str, value: Any) -> str:
    if name == "chance":
        return f"{value:.0%}" if value >= 0.1 else f"{value:.1%}"
    return f"{value:.0f}" if isinstance(value, float) else str(value)


# --- what training says --------------------------------------------------------------------------


def print_evaluation(evaluation: Mapping[str, Any]) -> None:
    """Of a value line-up or of a policy."""
    (print_line_up if "line_up" in evaluation else print_policy)(evaluation)


def print_policy(evaluation: Mapping[str, Any]) -> None:
    """A policy beside the counts it must beat."""
    print(f"counts: by {evaluation['counts']}")
    for name, scores in evaluation["policy"].items():
        title = f"{name}: {scores['decisions']:,} decisions of later matches"
        table = _table(title, "score", "ours", "counts", "difference, 95 % by match")
        for score, found in scores.items():
            if score != "decisions":
                values = (_short(found[who]) for who in ("ours", "counts"))
                table.add_row(score, *values, _signed(found["beside"]))
        out_console.print(table)


def print_line_up(evaluation: Mapping[str, Any]) -> None:
    """The whole line-up beside the bar, by minute, on few matches, and when not to trust it."""
    for table in (
        _line_up_table(evaluation),
        _bands_table(evaluation),
        *_few_shot_tables(evaluation),
        _drift_table(evaluation),
    ):
        out_console.print(table)
    error = evaluation["calibration_error"]
    print(f"calibration error of best: {error:.3f} (mean distance between said and seen)")


def _line_up_table(evaluation: Mapping[str, Any]) -> "Table":
    parts = evaluation["split"]
    words = (
        f"{name} {part['matches']:,} ({_span(part['patches'])})" for name, part in parts.items()
    )
    names = ("log\nloss", "beside LR-7", "AUC", "by\nmatch", "dGold\nRMSE", "dXP\nRMSE")
    table = _table(f"the line-up: {', '.join(words)}", "model", *names)
    for name, score in evaluation["line_up"].items():
        table.add_row(
            name.replace("XGBoost", "XGB"),
            _short(score["log_loss"]),
            _signed(score["beside_bar"]),
            _short(score["auc"]),
            _short(score["log_loss_by_match"]),
            f"{score['dgold_rmse']:,.0f}",
            f"{score['dxp_rmse']:,.0f}",
        )
    return table


def _span(patches: list[str]) -> str:
    return patches[0] if len(patches) == 1 else f"{patches[0]}-{patches[-1]}"


def _bands_table(evaluation: Mapping[str, Any]) -> "Table":
    table = _table("by minute", "minutes", "rows", "LR-7", "best", "best beside LR-7", "AUC")
    for band, found in evaluation["bands"].items():
        table.add_row(
            band,
            f"{found['rows']:,}",
            *(_short(found["log_loss"][name]) for name in ("LR-7", "best")),
            _signed(found["beside_bar"]),
            _short(found["auc"]["best"]),
        )
    return table


def _few_shot_tables(evaluation: Mapping[str, Any]) -> list["Table"]:
    """Means of every method; how far draws lie apart for the one to use."""
    from understudy.games.dota.value.calibration import CHOSEN

    rows = evaluation["few_shot"]
    methods = ("intercept", "platt", "isotonic", "shrunk")
    title = "calibrated on so many test matches: loss less that of zero-shot, mean of draws"
    chance = _table(title, "matches", *methods, f"{CHOSEN}, 95 % of draws")
    changes = _table(
        "and RMSE of the changes less that of zero-shot",
        *("matches", "dGold", "95 % of draws", "dXP", "95 % of draws"),
    )
    for row in rows:
        means = (f"{row[name]['mean']:+.4f}".replace("0.", ".") for name in methods)
        chance.add_row(str(row["matches"]), *means, _signed(row[CHOSEN]))
        parts = ((row[f"{name} shrunk"]) for name in ("dgold", "dxp"))
        words = [(f"{p['mean']:+.2f}", f"{p['low']:+.2f} to {p['high']:+.2f}") for p in parts]
        changes.add_row(str(row["matches"]), *words[0], *words[1])
    return [chance, changes] if rows else []


def _drift_table(evaluation: Mapping[str, Any]) -> "Table":
    title = "is it still right? (slope 1: leads mean what they meant; below: it is too sure)"
    table = _table(title, "patch", "matches", "log\nloss", "slope", "beyond\nrange", "verdict")
    table.columns[-1].justify = "left"
    for row in evaluation["drift"]:
        slope = f"{row['slope']:.2f} ({row['slope_low']:.2f} to {row['slope_high']:.2f})"
        share = f"{row['out_of_range']:.1%}"
        loss = _short(row["log_loss"])
        table.add_row(row["patch"], f"{row['matches']:,}", loss, slope, share, row["verdict"])
    return table


def _table(title: str, first: str, *others: str) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="right")
    return table


def _short(share: float) -> str:
    """.5362, to save room."""
    return f"{share:.4f}".removeprefix("0")


def _signed(found: Mapping[str, float]) -> str:
    """-.0285 (-.0414 to -.0153)."""
    parts = [f"{found[name]:+.4f}".replace("0.", ".", 1) for name in ("mean", "low", "high")]
    return f"{parts[0]} ({parts[1]} to {parts[2]})"
