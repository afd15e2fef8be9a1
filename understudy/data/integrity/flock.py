"""A lock on an open file that the kernel holds for as long as the process lives.

POSIX locks the file; Windows has only locks of bytes that others then cannot read, so there it is
a byte far behind the text.
"""

import os
from importlib import import_module
from types import ModuleType

_FAR = 1 << 30
_posix: ModuleType | None
try:
    _posix = import_module("fcntl")
except ImportError:
    _posix = None


def lock(descriptor: int, *, wait: bool) -> None:
    """Take it; BlockingIOError where another has it and we do not wait."""
    if _posix is None:
        _lock_far_byte(descriptor, wait)
    else:
        _posix.flock(descriptor, _posix.LOCK_EX | (0 if wait else _posix.LOCK_NB))


def _lock_far_byte(descriptor: int, wait: bool) -> None:
    windows = import_module("msvcrt")
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _FAR, os.SEEK_SET)
    try:
        windows.locking(descriptor, windows.LK_LOCK if wait else windows.LK_NBLCK, 1)
    except PermissionError as failure:
        raise BlockingIOError(*failure.args) from failure
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
