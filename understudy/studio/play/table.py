"""Tables: each a process with one match at a time, talked to in lines; few at once."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.studio.access import TOKEN_VARIABLE
from understudy.studio.play.host import Asked
from understudy.workers.processes import ENVIRONMENT

MOST_TABLES = 6
LARGEST_ANSWER = 8 << 20
"""Bytes of a line that comes back."""
OPENING_SECONDS, STEP_SECONDS = 120.0, 60.0


class Table:
    """A place for one match; its process begins with the first that is asked for."""

    def __init__(self, trouble: Path) -> None:
        self._trouble = trouble
        self._process: asyncio.subprocess.Process | None = None

    async def open(self, asked: Asked) -> dict[str, Any]:
        """Begin a match in place of the last one."""
        self._process = self._process or await _begun(self._trouble)
        return await self._answer(self._process, {"open": asked}, OPENING_SECONDS)

    async def keep(self) -> dict[str, Any]:
        """Have a match that is over written down."""
        assert self._process is not None
        return await self._answer(self._process, {"keep": True}, OPENING_SECONDS)

    async def do(self, done: Any) -> dict[str, Any]:
        """One decision; what came of it."""
        if self._process is None:
            raise InputError("no match was begun")
        return await self._answer(self._process, {"do": done}, STEP_SECONDS)

    async def _answer(
        self, process: asyncio.subprocess.Process, told: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(told).encode() + b"\n")
            async with asyncio.timeout(seconds):
                await process.stdin.drain()
                line = await process.stdout.readline()
        except TimeoutError as failure:
            raise InputError(f"the match has not answered within {seconds:g} s") from failure
        except (OSError, ValueError) as failure:
            raise InputError("the process of the match has ended") from failure
        if not line:
            raise InputError("the process of the match has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def close(self) -> None:
        """End its process."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


class Tables:
    """All of a studio."""

    def __init__(self, trouble: Path) -> None:
        """`trouble`: a file for what the processes say besides."""
        self._trouble = trouble
        self._taken = 0

    @contextlib.asynccontextmanager
    async def taken(self) -> AsyncIterator[Table]:
        """A table for as long as somebody sits at it."""
        if self._taken >= MOST_TABLES:
            raise InputError(f"{MOST_TABLES} matches are going on already; end one first")
        self._taken += 1
        table = Table(self._trouble)
        try:
            yield table
        finally:
            self._taken -= 1
            await asyncio.shield(table.close())


async def _begun(trouble: Path) -> asyncio.subprocess.Process:
    trouble.parent.mkdir(parents=True, exist_ok=True)
    kept = {name: told for name, told in os.environ.items() if name != TOKEN_VARIABLE}
    with trouble.open("wb") as said:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "understudy.studio.play.host"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=said,
            limit=LARGEST_ANSWER,
            env={**kept, **ENVIRONMENT},
        )
