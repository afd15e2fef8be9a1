"""What results rest on beside the command: who computed them, and in what order sets lay."""

import platform
import sys
from functools import cache
from importlib import metadata


def hash_seed() -> str:
    """What the order of sets rests on, and with it some players' moves: 0 in our own processes.

    "random" is any other: the environment may have changed since this process began (Dask's nannies
    put a seed of theirs into it), so it cannot tell.
    """
    return "random" if sys.flags.hash_randomization else "0"


def versions() -> dict[str, str]:
    """Of Python, of us, and of what we compute with."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    """Looked up once: a league writes hundreds of manifests, and each look takes milliseconds."""
    packages = (
        *("understudy", "numpy", "scipy", "numba", "pyarrow", "torch", "xgboost", "xgboost-cpu"),
        *("scml", "negmas", "scml-agents"),
    )
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # a machine that only trains may lack some
            continue
    return found
