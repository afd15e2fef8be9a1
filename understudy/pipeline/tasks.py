"""What the stages share: tasks for workers, each of which leaves shards behind."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from understudy import workers
from understudy.data import shards
from understudy.data.files import write_bytes
from understudy.data.integrity.json_files import write_json
from understudy.data.runs import tasks_file
from understudy.data.schema import Table
from understudy.errors import InputError
from understudy.redaction import redacted_text
from understudy.workers import Shipment

Workers = str | int | None
"""How many processes; 0: this one; tcp://HOST:PORT: a Dask cluster; None: one per core."""

MOST_REASONS = 50
"""That are written down where tasks fail."""


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


def tell_of_tasks(
    folder: Path, table: str, total: int, failed: Mapping[str, str] | None = None
) -> None:
    """Write down how many tasks there are, and why some failed, for whoever looks on.

    A task is done when its shard of `table` is there.
    """
    write_json(tasks_file(folder), {"total": total, "table": table, "failed": failed or {}})


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
    ship: Callable[[Task], Shipment] | None = None,
) -> None:
    """Run the tasks that are not done; every task must leave its shard of each of `tables`.

    One that ended the process it ran in is tried once more as `again` makes it.
    """
    folder = next(iter(tasks.values())).target
    tell_of_tasks(folder, tables[0].name, len(tasks))

    def is_there(key: str) -> bool:
        return all(shards.shard_path(folder, table, key).is_file() for table in tables)

    outcomes = workers.run(
        function,
        tasks,
        workers=worker,
        title=title,
        seconds_per_task=seconds_per_task,
        is_done=is_done or is_there,
        ship=ship or _ship,
        put=write_bytes,
        quiet=quiet,
    )
    failed = [outcome for outcome in outcomes if outcome.error is not None]
    if again is not None and (hurt := [one.key for one in failed if one.hurt_its_process]):
        outcomes = workers.run(
            function,
            {key: again(tasks[key]) for key in hurt},
            workers=worker,
            title=f"{title} again, one by one",
            ship=ship or _ship,
            put=write_bytes,
            quiet=quiet,
        )
        failed = [one for one in (*failed, *outcomes) if one.error is not None]
        failed = [one for one in failed if one.key not in hurt or one in outcomes]
    if failed:
        reasons = {one.key: redacted_text(str(one.error)) for one in failed[:MOST_REASONS]}
        with contextlib.suppress(InputError):  # the disk may be full; that is told below
            tell_of_tasks(folder, tables[0].name, len(tasks), reasons)
        raise InputError(
            f"{len(failed)} of {len(tasks)} tasks failed, the first ({failed[0].key}) because: "
            f"{failed[0].error}. The others are kept; the same command tries these again"
        )
    if missing := [key for key in tasks if not is_there(key)]:
        raise InputError(
            f"{len(missing)} tasks ended without their files in {folder}: run the same command "
            "again"
        )


def _ship(task: Task) -> Shipment:
    """On a cluster: what it leaves behind comes back."""
    return Shipment(task.target)
