"""The decorator of a game's compiled functions, with a cache that knows all their sources.

numba compiles constants of other modules in, but forgets its cache only when a function's own file
changes. Here the cache lies in a folder named after the content of all the game's sources, so a
changed rule is never played by stale code.
"""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit

Kernel = Callable[[Callable[..., Any]], Any]


def kernels_of(
    folder: Path, sources: str = "*.py", *, inlined: bool = True, in_any_order: bool = False
) -> Kernel:
    """The decorator for all compiled functions in a game's folder, whose `sources` are these files.

    It compiles without the GIL and without Python's division checks. References to array slices are
    not counted (the arrays outlive the call and nothing is allocated), and functions are `inlined`:
    that alone makes the arena's world 2.5 times as fast, and takes longer to compile. Sums
    `in_any_order` can be taken in vectors: for networks, whose last bits mean nothing.
    """
    cache = _cache_folder(folder, sources)

    def kernel(function: Callable[..., Any]) -> Any:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, cache
        try:
            settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
            if inlined:
                settings["forceinline"] = True
            if in_any_order:
                settings["fastmath"] = {"reassoc", "contract", "nsz"}
            return njit(cache=True, **settings)(function)
        finally:
            numba.config.CACHE_DIR = before

    return kernel


def _cache_folder(folder: Path, sources: str) -> str:
    """Where compiled code lies; folders of older sources are removed."""
    paths = sorted({path for pattern in sources.split() for path in folder.glob(pattern)})
    content = b"".join(path.read_bytes() for path in paths)
    name = f"numba-{hashlib.blake2b(content, digest_size=8).hexdigest()}"
    for old in (folder / "__pycache__").glob("numba-*"):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
    return str(folder / "__pycache__" / name)
