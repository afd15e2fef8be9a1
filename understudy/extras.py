"""What pip installs on demand only: which extra brings which modules, and what to say without one.

The core plays the arena, trains and reports. All else is asked for before any work is planned, so
that a missing package is one line with its cure and leaves nothing half-done.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from importlib.util import find_spec
from typing import ParamSpec, TypeVar

from understudy.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

EXTRAS: dict[str, tuple[str, ...]] = {
    "scml": ("scml", "negmas"),
    "dota": ("xgboost",),
    "dask": ("distributed", "dask"),
    "openspiel": ("pyspiel", "open_spiel"),
    "pettingzoo": ("pygame",),
    "tune": ("optuna",),
    "logs": ("orjson",),
    "tensorboard": ("tensorboard",),
    "onnx": ("onnx", "onnxruntime"),
    "serve": ("fastapi", "uvicorn", "websockets"),
    "studio": ("jinja2", "watchfiles"),  # beside those of serve
}
"""The modules that each extra of pyproject.toml brings."""

_CURES = {
    module: f'pip install "understudy[{extra}]"' for extra in EXTRAS for module in EXTRAS[extra]
}
_PACKAGES = {"pyspiel": "open_spiel"}
"""Whose modules have another name than the package that brings them."""
_CURES |= {"scml_agents": "understudy setup scml-agents"}


def is_there(module: str) -> bool:
    """Whether a module can be imported; it is not."""
    return find_spec(module) is not None


def require(modules: Iterable[str], who: str) -> None:
    """InputError where `who` could not work because a module is not installed."""
    for module in modules:
        if not is_there(module):
            raise InputError(lacking(who, module))


def lacking(who: str, module: str) -> str:
    """One line: who needs what, and how to have it."""
    package = module.partition(".")[0]
    cure = _CURES.get(package, f"pip install {package}")
    name = _PACKAGES.get(package, package).replace("_", "-")
    return f"{who} needs the package {name}, which is not installed. Install it: {cure}"


def cured(missing: ImportError, who: str) -> InputError | None:
    """The same of an import that failed; None where it is no extra's package, so ours to mend."""
    package = (missing.name or "").partition(".")[0]
    return InputError(lacking(who, package)) if package in _CURES else None


def told(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose missing packages are told as a user reads them."""

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> R:
        try:
            return function(*given, **named)
        except ModuleNotFoundError as missing:
            if (mistake := cured(missing, f"understudy.{function.__name__}")) is None:
                raise
            raise mistake from missing

    return call
