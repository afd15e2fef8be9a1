"""Recordings: what happened in matches, played here. `compete` plays its matches the same way."""

from dataclasses import replace
from pathlib import Path

from understudy import workers
from understudy.data import shards
from understudy.data.runs import PART, Run, begin, finish
from understudy.pipeline.game import Game, Schedule, load
from understudy.pipeline.pairings import Fixture
from understudy.pipeline.tasks import Task, Workers, work

_TITLES = {"record": "recording", "compete": "competing", PART: "competing"}


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


def play(
    game: Game,
    folder: Path,
    stage: str,
    schedule: Schedule,
    worker: Workers,
    resume: bool,
    seconds_per_task: float | None,
    quiet: bool,
) -> None:
    """Have a schedule played into a folder: recordings and results."""
    game.require()  # before anything is written
    workers.parse(worker)
    begin(folder, stage, schedule.settings, resume=resume, growing=schedule.growing)
    path = folder.resolve()
    tasks = {
        key: Task(game.name, key, path, path, fixture) for key, fixture in schedule.fixtures.items()
    }
    tables = (game.results, *game.recordings)
    again = None
    if (alone := game.alone) is not None:

        def again(task: Task) -> Task:
            return replace(task, fixture=alone(task.fixture, seconds_per_task))

    work(
        *(_play_fixture, tasks, tables, worker, seconds_per_task, quiet, _TITLES[stage]),
        again=again,
    )


def _play_fixture(task: Task) -> None:
    """Play one fixture and write what came of it, the table that marks it as done last."""
    game = load(task.game)
    assert game.play is not None
    played = game.play(task.fixture)
    results = played.results
    if isinstance(task.fixture, Fixture):
        results = task.fixture.booked(results)
    for table in reversed(game.recordings):
        rows = played.recordings[table.name]
        shards.write_shard(shards.shard_path(task.target, table, task.key), rows)
    shards.write_shard(shards.shard_path(task.target, game.results, task.key), results)
