"""Decisions over standard input and output: a line of JSON in, a line of JSON out, in order.

All lines that have come by the time one is read are answered together.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator

from understudy.serve.messages import LARGEST, refusal, written
from understudy.serve.service import Arrived, Service

_CHUNK = 1 << 16


def serve_lines(
    service: Service, given: int | None = None, say: Callable[[bytes], None] | None = None
) -> None:
    """Answer until the input ends."""
    source = sys.stdin.fileno() if given is None else given
    tell = say or _say
    try:
        for lines in _batches(source):
            for answer in _answers(service, lines):
                tell(answer + b"\n")
            if say is None:
                sys.stdout.buffer.flush()
    finally:
        service.close()


def _say(answer: bytes) -> None:
    sys.stdout.buffer.write(answer)


def _answers(service: Service, lines: list[bytes | None]) -> list[bytes]:
    """In order; None stands for a line that was too long."""
    now = time.perf_counter()
    good = [Arrived(line, now) for line in lines if line is not None]
    answers = iter(service.answer(good))
    refused = written(refusal(f"a line may have {LARGEST:,} bytes"))
    return [refused if line is None else next(answers) for line in lines]


def _batches(source: int) -> Iterator[list[bytes | None]]:
    """Lines as they come."""
    cutting = LineCutter()
    while chunk := os.read(source, _CHUNK):
        if found := cutting.cut(chunk):
            yield found
    if found := cutting.cut(b"\n"):
        yield found


class LineCutter:
    """Cuts what comes into lines, blank ones left out; None stands for one that is too long."""

    def __init__(self) -> None:
        self._rest = b""
        self._skipping = False
        """Inside a line that is too long and was told of."""

    def cut(self, chunk: bytes) -> list[bytes | None]:
        """The lines that end in a chunk; never is more kept of one than a line may have."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        found: list[bytes | None] = [
            None if len(line) > LARGEST else line for line in self._whole(whole) if line.strip()
        ]
        if len(self._rest) > LARGEST:
            found += [] if self._skipping else [None]
            self._rest, self._skipping = b"", True
        return found

    def _whole(self, lines: list[bytes]) -> list[bytes]:
        if lines and self._skipping:
            self._skipping = False
            return lines[1:]  # the first is the end of one that was too long
        return lines
