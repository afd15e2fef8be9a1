"""Players to results: who beats whom."""

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from understudy.data.results import read_results
from understudy.data.runs import Run, finish
from understudy.pipeline.game import Game, Schedule
from understudy.pipeline.record import play
from understudy.pipeline.tasks import Workers


class Competition(NamedTuple):
    """What came of letting players meet."""

    folder: Path
    results: pa.Table


def compete(
    game: Game,
    run: Run,
    schedule: Schedule,
    *,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> Competition:
    """Play a schedule for its results."""
    folder = run.result(schedule.name)
    play(game, folder, "compete", schedule, worker, resume, seconds_per_task, quiet)
    finish(folder, matches=schedule.matches)
    return Competition(folder, read_results(folder, game.results))
