"""Long metrics are read piece by piece while others are answered; then whoever looks on is told."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from anyio import to_thread

from understudy.studio.live.curves import PIECE
from understudy.studio.live.drawing import Drawings
from understudy.studio.live.watch import Watch


class Reading:
    """What is being read."""

    def __init__(self, drawings: Drawings, watch: Watch) -> None:
        self._drawings, self._watch = drawings, watch
        self._tasks = dict[tuple[str, str], asyncio.Task[None]]()

    def begin(self, name: str, key: str, folders: Sequence[Path]) -> None:
        """Read the metrics of a run's part to their end, once."""
        if (name, key) not in self._tasks and folders:
            task = asyncio.create_task(self._read(name, key, folders))
            self._tasks[name, key] = task
            task.add_done_callback(lambda _: self._tasks.pop((name, key)))

    async def _read(self, name: str, key: str, folders: Sequence[Path]) -> None:
        for folder in folders:
            while await to_thread.run_sync(self._drawings.read_on, folder, 2 * PIECE):
                await asyncio.sleep(0.005)  # others have their turn
        self._watch.tell(name, key)
