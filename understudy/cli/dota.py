"""Dota's version of `record`, and what only Dota has."""

from pathlib import Path
from typing import Annotated, Any

import typer

from understudy.cli.options import (
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    complain,
    load_game,
    names,
    run_of,
)
from understudy.errors import InputError

ApiOption = Annotated[
    str | None,
    typer.Option(help="Download from here: base address of an API that answers as OpenDota's."),
]


def record(
    out: OutOption = None,
    files: Annotated[
        Path | None,
        typer.Option(help="Match files of OpenDota: one, or a folder (JSON, JSONL, also .gz)."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="A folder of Parquet tables already in our layout.")
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

    Nothing about who played is kept. Example: understudy record dota --files matches/
    """
    from understudy import stages
    from understudy.games.dota.layout import read_tables
    from understudy.games.dota.logs import read_logs
    from understudy.games.dota.synthetic import World, generate

    game, run = load_game("dota"), run_of(out, "dota")
    _one_source(files=files, tables=tables, synthetic=synthetic, api=api)
    settings: dict[str, Any]
    if files is not None:
        imports, settings = read_logs(files), {"files": str(files)}
    elif tables is not None:
        imports, settings = read_tables(tables), {"tables": str(tables)}
    elif synthetic is not None:
        imports = generate(World(seed=seed), synthetic)
        settings = {"synthetic": synthetic, "seed": seed}
    else:
        assert api is not None
        folder = run.folder / "downloads"
        _download(api, api_key, pause, folder, matches, league, pro, quiet)
        imports, settings = read_logs(folder), {"api": api}
    found = stages.take_in(game, run, imports, settings, resume=resume)
    print(f"{found.matches:,} matches in {run.recordings}")
    complain(found.rejected)


def _one_source(**given: Any) -> None:
    chosen = [name for name, value in given.items() if value is not None]
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

    from understudy.games.dota.download import Api, Asker, download

    ask = Asker(Api(api, key, pause))
    wanted = list(dict.fromkeys(_wanted(ask, matches, league, pro)))
    failed: list[str] = []
    for number in track(wanted, "downloading", disable=quiet):
        failed += download(ask, [number], folder).failed
    complain(failed)
    if wanted and len(failed) == len(wanted):
        raise InputError(f"none of {len(wanted)} matches could be had, the first: {failed[0]}")


def _wanted(ask: Any, matches: str | None, league: int | None, pro: int | None) -> list[int]:
    from understudy.games.dota.download import league_matches, numbers_in, pro_matches

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
    from understudy.games.dota.encode import HORIZON

    if horizon is not None and horizon % 60:
        raise InputError(
            f"--horizon must be whole minutes, as 60, 120 or 180 seconds, not {horizon}"
        )
    return {"horizon": horizon or HORIZON}
