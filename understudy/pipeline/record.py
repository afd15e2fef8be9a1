"""Recordings: what happened in matches, played here."""

from understudy.data.runs import Run, finish
from understudy.pipeline.game import Game, Schedule
from understudy.pipeline.playing import play
from understudy.pipeline.tasks import Workers


def record(
    game: Game,
    run: Run,
    schedule: Schedule,
    *,
    worker: Workers = None,
    resume: bool = True,
    seconds_per_task: float | None = None,
    quiet: bool = False,
) -> int:
    """Play a schedule and record its matches; how many there are."""
    play(game, run.recordings, "record", schedule, worker, resume, seconds_per_task, quiet)
    finish(run.recordings, matches=schedule.matches)
    return schedule.matches
