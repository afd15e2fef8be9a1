"""`verify scml`: our simulators beside each other and beside the real one."""

import sys
from typing import Annotated

import typer

from understudy.errors import InputError
from understudy.games.scml.commands.worlds import TrackOption
from understudy.terminal.console import err_console, out_console
from understudy.terminal.options import QuietOption, SeedOption, WorkersOption

BATCH = ("engine", "batch")


def verify(
    agents: Annotated[
        str, typer.Option(help="Who plays, by comma: names, all, FILE.py:CLASS.")
    ] = "all",
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

    Example: understudy verify scml --against batch
    """
    from understudy.games.scml.domain import track_named
    from understudy.games.scml.players.catalogue import INEXACT
    from understudy.games.scml.players.resolve import hosted_agents
    from understudy.games.scml.reference import verify as scml
    from understudy.games.scml.reference import verify_batch as batch

    if against not in ("scml", "batch"):
        raise InputError(f"there is nothing to verify against '{against}'; there is scml, batch")
    rules = track_named(track)
    refs = hosted_agents(agents, rules)
    left_out = {ref.name: INEXACT[ref.name] for ref in refs if ref.name in INEXACT}
    chosen = [ref.name for ref in refs if ref.name not in left_out]
    comparing, called = scml.compare, ("scml", "engine")
    if against == "batch":
        chosen, comparing, called = batch.comparable(chosen, rules), batch.compare_batch, BATCH
    results = scml.verify(
        chosen,
        worlds,
        seed,
        track=rules,
        own=[ref for ref in refs if ref.code is not None],
        comparing=comparing,
        worker=workers,
        quiet=quiet,
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
