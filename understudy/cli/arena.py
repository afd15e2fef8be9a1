"""The arena's versions of `record` and `compete`."""

from pathlib import Path
from typing import Annotated

import typer

from understudy.cli import pairs
from understudy.cli.options import (
    LimitOption,
    OutOption,
    QuietOption,
    ResumeOption,
    SeedOption,
    WorkersOption,
    complain,
    load_game,
    run_of,
)

compete = pairs.competing("arena")


def record(
    out: OutOption = None,
    players: pairs.PlayersOption = None,
    opponents: pairs.OpponentsOption = None,
    matches: pairs.MatchesOption = 2000,
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
    if logs is None:
        pairs.recording("arena")(
            out=out,
            players=players,
            opponents=opponents,
            matches=matches,
            seed=seed,
            workers=workers,
            task_seconds=task_seconds,
            resume=resume,
            quiet=quiet,
        )
        return
    from understudy.pipeline import import_matches as import_matches_stage

    run = run_of(out, "arena")
    found = import_matches_stage.read_logs(load_game("arena"), run, logs, resume=resume)
    print(f"{found.matches:,} matches from {found.files} logs in {run.recordings}")
    complain(found.rejected)
