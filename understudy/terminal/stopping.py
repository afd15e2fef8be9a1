"""Ctrl-C and a request to end (SIGTERM) are one thing: one line, nothing half-written."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping() -> Iterator[list[int]]:
    """Both signals raise KeyboardInterrupt in the block; yields which have come.

    A second one ends the process at once, whatever is running: files appear whole or not at all.
    """
    came = list[int]()

    def stop(number: int, _frame: FrameType | None) -> None:
        if came:
            os._exit(128 + number)
        came.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield came  # signals are the main thread's alone
        return
    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield came
    finally:
        for number, action in before.items():
            signal.signal(number, action)
