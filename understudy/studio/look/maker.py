"""Work that needs a game's libraries, in a process beside the studio: it stays small and answers.

That process does one thing at a time, is killed when that takes too long, and ends when nobody has
asked for a while.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from understudy.errors import InputError
from understudy.workers.attempt import attempt, line_of
from understudy.workers.processes import Process

A = TypeVar("A")
R = TypeVar("R")
IDLE_SECONDS = 90.0
MOST_SECONDS = 120.0
MOST_WAITING = 40


class Maker:
    """Calls functions there. They stand at the top of a module and take one argument."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._one = asyncio.Lock()
        self._waiting = 0

    async def make(
        self, function: Callable[[A], R], argument: A, seconds: float = MOST_SECONDS
    ) -> R:
        """What a function returns; InputError with a line that says why it did not."""
        if self._waiting >= MOST_WAITING:
            raise InputError("too many pages are waiting to be made; ask again in a moment")
        self._waiting += 1
        try:
            async with self._one:
                return await self._made(function, argument, seconds)
        finally:
            self._waiting -= 1

    async def _made(self, function: Callable[[A], R], argument: A, seconds: float) -> R:
        process = self._process = self._process or Process(IDLE_SECONDS)
        running = process.submit(attempt, function, argument, seconds)
        try:
            value, error = await asyncio.shield(asyncio.wrap_future(running))
        except asyncio.CancelledError:
            raise  # the browser has gone; what it asked for is kept for the next who does
        except Exception as failure:  # its process died, by a crash or the limit
            raise InputError(f"that could not be made: {line_of(failure)[:200]}") from failure
        if error is not None:
            raise InputError(error)
        made: R = value
        return made

    def close(self) -> None:
        """End that process."""
        if self._process is not None:
            self._process.close()
            self._process = None
