"""Waiting for the end of a child process, with a limit; it is not reaped."""

import os
import select
import time

_LOOK = 0.02  # seconds between two looks, where the kernel does not wake us


def ended_within(child: int, seconds: float) -> bool:
    """Whether a child ended within so many seconds."""
    until = time.monotonic() + seconds
    if not hasattr(os, "pidfd_open"):  # macOS
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK)
        return True
    watched = os.pidfd_open(child)
    try:
        poll = select.poll()
        poll.register(watched, select.POLLIN)
        while True:
            left = until - time.monotonic()
            if poll.poll(min(max(0.0, left), 60.0) * 1000):
                return True
            if left <= 0:
                return False
    finally:
        os.close(watched)
