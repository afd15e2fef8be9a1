"""The decorator of every compiled function of the arena, with a cache that knows all their sources.

numba compiles constants of other modules in, but forgets its cache only when a function's own file
changes. Here the cache lies in a folder named after the content of all the arena's sources, so a
changed rule is never played by stale code.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit


def kernel(function: Callable[..., Any]) -> Any:
    """Compile, without the GIL and without Python's division checks; cached between processes.

    Small functions are inlined, and references to array slices are not counted (the arrays outlive
    the call and nothing is allocated): that alone makes the world 2.5 times as fast.
    """
    before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _CACHE
    try:
        return njit(cache=True, nogil=True, error_model="numpy", forceinline=True, _nrt=False)(
            function
        )
    finally:
        numba.config.CACHE_DIR = before


def _cache_folder() -> str:
    """Where compiled code lies; folders of older sources are removed."""
    here = Path(__file__).parent
    sources = b"".join(path.read_bytes() for path in sorted(here.glob("*.py")))
    name = f"numba-{hashlib.blake2b(sources, digest_size=8).hexdigest()}"
    for old in (here / "__pycache__").glob("numba-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
    return str(here / "__pycache__" / name)


_CACHE = _cache_folder()
