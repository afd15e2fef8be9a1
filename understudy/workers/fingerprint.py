"""Whether another process would compute what this one does: versions, and our own code."""

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from understudy.versions import versions

Fingerprint = Mapping[str, str]
_NEEDED = ("python", "understudy", "numpy", "pyarrow", "our code")
"""Others may be missing where they are not used, but not differ."""


@cache
def _own_code() -> str:
    root, total = Path(__file__).parents[1], hashlib.blake2b(digest_size=6)
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()} ".encode() + path.read_bytes())
    return total.hexdigest()


def fingerprint() -> dict[str, str]:
    """Of this process."""
    return {**versions(), "our code": _own_code(), "machine": platform.machine()}


def difference(ours: Fingerprint, theirs: Fingerprint) -> str:
    """What differs, in words; "" where nothing does."""
    names = [name for name in ours if name in _NEEDED or name in theirs]
    return ", ".join(
        f"{name} is {theirs.get(name, 'missing')}, here {ours[name]}"
        for name in names
        if theirs.get(name) != ours[name]
    )
