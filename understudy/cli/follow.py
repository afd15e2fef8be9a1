"""The command `follow`: a run's recordings grow with logs that grow."""

from pathlib import Path
from typing import Annotated

import typer

from understudy.pipeline.game import load
from understudy.terminal.console import complain, counted, next_step
from understudy.terminal.options import OutOption, run_of


def follow(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where logs are being written.")],
    game: Annotated[str, typer.Option(help="Whose logs they are.")] = "arena",
    out: OutOption = None,
    every: Annotated[float, typer.Option(help="Seconds between two looks.", min=0.05)] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
) -> None:
    """Keep a run's recordings up with logs that are still being written.

    Whole lines are copied to OUT/followed as they come; a log that is renamed and begun anew is
    read on. Ctrl-C ends it, and the same command goes on.

    Example: understudy follow served --game arena --out runs/live
    """
    from understudy.pipeline.import_matches import Imports
    from understudy.serve.follow import follow as keep_up

    run = run_of(out, game)

    def tell(found: Imports, lines: int) -> None:
        print(
            f"{lines:,} new lines: {counted(found.matches, 'match')} in {run.recordings}",
            flush=True,
        )
        complain(found.rejected)

    keep_up(load(game), run, folder, every=every, once=once, tell=tell)
    if run.recordings.is_dir():
        next_step(run, game, f"encode {game}")
    else:
        print(f"There are no logs (*.jsonl) in {folder} yet")
