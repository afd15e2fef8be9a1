"""`setup`: packages that pip would bring with gigabytes nobody here needs."""

import importlib
import subprocess
import sys
from typing import Annotated

import typer

from understudy import extras
from understudy.errors import InputError

AGENTS = "scml-agents"
PINNED = {AGENTS: "scml-agents==0.5.2"}
"""As requirements/lock.txt has them."""
_LICENCE = "GPL-2.0-or-later, by its authors and the league's participants; this program ships none"


def setup(
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help=f"Which: {AGENTS}.")] = AGENTS,
) -> None:
    """Install the agents of the supply-chain league, without the 9 GB that they declare.

    None of those that entered in 2024 to 2026 imports what is left out (tensorflow, CUDA, Jupyter):
    all are imported in the end, and those that cannot be are named.

    Example: understudy setup scml-agents
    """
    if package not in PINNED:
        raise InputError(f"there is nothing to set up by the name '{package}'; there is {AGENTS}")
    extras.require(extras.EXTRAS["scml"], package)
    command = [*_installer(), "--no-deps", PINNED[package]]
    print(f"{PINNED[package]} ({_LICENCE})", "\n" + " ".join(command), flush=True)
    if code := subprocess.call(command):
        raise InputError(f"pip ended with code {code}; what it said is above")
    importlib.invalidate_caches()
    _tell_who_can_play()


def _installer() -> list[str]:
    """The command that installs into this very environment: pip, or uv where there is none."""
    if extras.is_there("pip"):
        return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    from shutil import which

    if (uv := which("uv")) is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise InputError("neither pip nor uv is here to install it with; install one of them first")


def _tell_who_can_play() -> None:
    from understudy.games.scml.players.importing import importable

    found = importable()
    failed = {name: why for name, why in found.items() if why is not None}
    print(f"{len(found) - len(failed)} of {len(found)} agents of the league can play")
    for name, why in failed.items():
        print(f"{name} cannot: {why}")
    if not failed:
        print("Next: understudy compete scml HRL Penguin AS0 --configs 20")
