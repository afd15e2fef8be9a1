"""What the stages share: tasks for workers, each of which leaves shards behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy import workers
from understudy.data import shards
from understudy.data.schema import Table
from understudy.errors import InputError

Workers = str | int | None
"""How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster; None: one per core."""


@dataclass(frozen=True)
class Task:
    """What a worker needs to do its part of a stage."""

    game: str
    key: str
    source: Path
    target: Path
    fixture: Any = None
    players: frozenset[str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    surveyed: Mapping[str, pa.Table] = field(default_factory=dict)


def work(
    function: Callable[[Task], None],
    tasks: Mapping[str, Task],
    tables: Sequence[Table],
    worker: Workers,
    seconds_per_task: float | None,
    quiet: bool,
    title: str,
    is_done: Callable[[str], bool] | None = None,
    again: Callable[[Task], Task] | None = None,
) -> None:
    """Run the tasks that are not done; every task must leave its shard of each of `tables`.

    One that ended the process it ran in is tried once more as `again` makes it.
    """
    folder = next(iter(tasks.values())).target

    def is_there(key: str) -> bool:
        return all(shards.shard_path(folder, table, key).is_file() for table in tables)

    outcomes = workers.run(
        function,
        tasks,
        workers=worker,
        title=title,
        seconds_per_task=seconds_per_task,
        is_done=is_done or is_there,
        quiet=quiet,
    )
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if again is not None and (hurt := [one.key for one in failed if one.hurt_its_process]):
        outcomes = workers.run(
            function,
            {key: again(tasks[key]) for key in hurt},
            workers=worker,
            title=f"{title} again, one by one",
            quiet=quiet,
        )
        failed = [one for one in (*failed, *outcomes) if one.error is not None]
        failed = [one for one in failed if one.key not in hurt or one in outcomes]
    if failed:
        raise InputError(
            f"{len(failed)} of {len(tasks)} tasks failed, the first ({failed[0].key}) because: "
            f"{failed[0].error}. The others are kept; the same command tries these again"
        )
    if missing := [key for key in tasks if not is_there(key)]:
        raise InputError(
            f"{len(missing)} tasks were done elsewhere but their files are not in {folder}: the "
            "workers must share this folder"
        )
