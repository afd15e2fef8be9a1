"""New processes and the signals that end us: what we fork hears them as the kernel means them."""

import contextlib
import os
import signal
from collections.abc import Iterator

_ENDING = (signal.SIGINT, signal.SIGTERM)


def fork() -> int:
    """os.fork; in the child both signals end it, from its first moment on.

    A handler of ours would raise there in the middle of what Python does after a fork.
    """
    with held_back(*_ENDING):
        child = os.fork()
        if child == 0:
            for number in _ENDING:
                signal.signal(number, signal.SIG_DFL)
    return child


@contextlib.contextmanager
def held_back(*numbers: signal.Signals) -> Iterator[None]:
    """These signals come after the block. A program that is begun in it never hears them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
