"""`selftest`: the program attacks itself and says what came of it."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from understudy.terminal.console import out_console
from understudy.terminal.options import SeedOption

KEPT = Path("selftest-failures")


def selftest(
    minutes: Annotated[float, typer.Option(help="How long.", min=0.01)] = 10.0,
    seed: SeedOption = 0,
    only: Annotated[
        str | None,
        typer.Option(help="Only kinds whose names begin so, by comma; see the table."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(help="At most so many cases of each kind.", min=1)
    ] = None,
    tally: Annotated[
        Path | None, typer.Option(help="Add up here, and go on from here the next time.")
    ] = None,
    keep: Annotated[Path, typer.Option(help="Where cases that went wrong stay.")] = KEPT,
) -> None:
    """Attack this program: damaged files, kills, hostile agents, answers and names, full disks.

    Exit code 1 if anything was lost, hung, or went wrong in silence.

    Example: understudy selftest --minutes 5
    """
    from rich.table import Table

    from understudy.cli.app import main
    from understudy.errors import InputError
    from understudy.trust.attacks.kinds import KINDS
    from understudy.trust.campaign import COLUMNS, by_family, campaign

    if not hasattr(os, "fork"):
        raise InputError("selftest kills and forks processes as only Linux and macOS can")
    wanted = only.split(",") if only else [""]
    chosen = [name for name in KINDS if name.startswith(tuple(wanted))]
    if unknown := [name for name in wanted if not any(one.startswith(name) for one in KINDS)]:
        raise InputError(f"there is no attack '{unknown[0]}'; there is {', '.join(KINDS)}")
    found = campaign(
        main,
        {name: KINDS[name] for name in chosen},
        seconds=60 * minutes,
        seed=seed,
        kept=keep,
        most=most,
        tally=tally,
        tell=lambda line: print(line, file=sys.stderr, flush=True),
    )
    table = Table("attack", *COLUMNS, title="what was tried, and what went wrong")
    for kind, row in by_family(found.counts).items():
        table.add_row(kind, *(f"{row[name]:,}" for name in COLUMNS))
    out_console.print(table)
    if found.wrong:
        print(f"{found.wrong} went wrong; each with its command in {keep}")
        sys.exit(1)
