"""Who wants to know hears when something of a run is written: files are watched, not asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from anyio import to_thread
from watchfiles import awatch

from understudy.data.integrity.locks import LOCK
from understudy.data.runs import MANIFEST, LeagueFolder, ModelFolder, tasks_file
from understudy.studio.live.catalogue import Catalogue

TOGETHER = 0.7
"""Seconds for which changes are gathered before they are told."""
AGAIN = 5.0
"""Seconds between looks at stages that may die or fall silent."""
HEARTBEAT = 15.0
LISTS = "runs"
"""What a change of any run is called for those who look at all of them."""
_HERE = Path()
_NAMES = {
    *(MANIFEST, "evaluation.json", "notes.json", "report.html", "trials.jsonl"),
    *(ModelFolder(_HERE).metrics.name, tasks_file(_HERE).name),
    *(LeagueFolder(_HERE).state.name, LeagueFolder(_HERE).summary.name),
}


class Listener:
    """Somebody who looks on. Changes are a set: who is slow misses repetitions, nothing else."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._changed = dict[str, None]()
        self._wake = asyncio.Event()

    def tell(self, what: str) -> None:
        """Something has changed."""
        self._changed[what] = None
        self._wake.set()

    async def events(self) -> AsyncIterator[str]:
        """Server-sent events, until the listener goes."""
        yield ": here\n\n"
        while True:
            try:
                await asyncio.wait_for(self._wake.wait(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"
                continue
            await asyncio.sleep(TOGETHER / 2)
            changed, self._changed = list(self._changed), {}
            self._wake.clear()
            yield f"event: changed\ndata: {json.dumps(changed)}\n\n"


class Watch:
    """Looks at the runs whenever their files change, and tells the listeners."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._listeners = set[Listener]()
        self._stop = asyncio.Event()

    async def listen(self, topic: str) -> AsyncIterator[str]:
        """Events of one topic: a run by name, a job, or LISTS."""
        listener = Listener(topic)
        self._listeners.add(listener)
        try:
            async for event in listener.events():
                yield event
        finally:
            self._listeners.discard(listener)

    def tell(self, topic: str, what: str) -> None:
        """Let those who listen to a topic know."""
        for one in self._listeners:
            if one.topic == topic:
                one.tell(what)

    async def run(self) -> None:
        """Go on until cancelled."""
        try:
            await asyncio.gather(self._files(), self._clock())
        finally:
            self._stop.set()

    async def _files(self) -> None:
        places = [place for place in self.catalogue.places if place.is_dir()]
        async for changes in awatch(
            *places,
            watch_filter=lambda _, path: tells(path),
            step=round(1000 * TOGETHER),
            debounce=3000,
            stop_event=self._stop,
            ignore_permission_denied=True,
        ):
            await self._look({Path(path) for _, path in changes})

    async def _clock(self) -> None:
        while True:
            await asyncio.sleep(AGAIN)
            if self.catalogue.unfinished():
                await self.look()

    async def look(self) -> None:
        """See at once how everything stands, and tell; who has just written something asks."""
        await self._look(())

    async def _look(self, paths: Iterable[Path]) -> None:
        before = self.catalogue.runs
        await to_thread.run_sync(self.catalogue.look)
        now = self.catalogue.runs
        touched = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
        for path in paths:
            for name, one in now.items():
                if path.is_relative_to(one.run.folder):
                    inside = path.relative_to(one.run.folder)
                    self.tell(name, "/".join(inside.parts[:2]))
                    touched.add(name)
        for name in touched:
            self.tell(name, "stages")
        if touched:
            self.tell(LISTS, LISTS)


def tells(path: str) -> bool:
    """Whether a file's change says something of a run."""
    name = Path(path).name
    if name in _NAMES or name.endswith(".parquet"):
        return "/trials/" not in path and "/exploiters/" not in path
    return name.startswith(LOCK[0]) and name.endswith(LOCK[-5:])
